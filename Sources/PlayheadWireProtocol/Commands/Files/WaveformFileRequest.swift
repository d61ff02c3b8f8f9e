import PlayheadMediaCore

/// A waveform of a file, and the file to write.
package struct WaveformFileRequest: Sendable, Hashable {
  /// The format of the waveform.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case json, dat, png, svg
  }

  /// A file that the waveform is written to.
  package struct Output: Sendable, Hashable {
    package var file: FilePath
    package var format: Format
    /// Whether an existing file is replaced.
    package var replaces: Bool
    /// The width of an image in pixels. Nil: the default.
    package var width: Int?
    package var height: Int?
    /// Six hexadecimal digits. Nil: the default.
    package var color: String?
    package var background: String?
    package var hasAxis: Bool
    /// The bits of each value: 8 or 16.
    package var bits: Int

    package init(
      _ file: FilePath, _ format: Format, replaces: Bool = false, width: Int? = nil, height: Int? = nil,
      color: String? = nil, background: String? = nil, hasAxis: Bool = true, bits: Int = 16
    ) {
      (self.file, self.format, self.replaces) = (file, format, replaces)
      (self.width, self.height, self.color, self.background) = (width, height, color, background)
      (self.hasAxis, self.bits) = (hasAxis, bits)
    }
  }

  package var path: FilePath
  package var start: MediaTime
  /// The end of the range. Nil: the end of the file.
  package var end: MediaTime?
  /// The number of bins. At most one of ``binCount`` and ``framesPerBin`` is set.
  package var binCount: Int?
  package var framesPerBin: Int?
  package var mixesChannels: Bool
  /// The file to write. Nil: the reply contains the waveform.
  package var output: Output?
  package var network: NetworkOptions

  package init(
    _ path: FilePath, start: MediaTime = .zero, end: MediaTime? = nil, binCount: Int? = nil,
    framesPerBin: Int? = nil,
    mixesChannels: Bool = false, output: Output? = nil, network: NetworkOptions = NetworkOptions()
  ) {
    (self.path, self.start, self.end) = (path, start, end)
    (self.binCount, self.framesPerBin, self.mixesChannels) = (binCount, framesPerBin, mixesChannels)
    (self.output, self.network) = (output, network)
  }
}
