import PlayheadMediaCore

/// A waveform of a file, and the file to write.
public struct WaveformFileRequest: Sendable, Hashable {
  /// The format of the waveform.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    case json, dat, png, svg
  }

  /// A file that the waveform is written to.
  public struct Output: Sendable, Hashable {
    public var file: FilePath
    public var format: Format
    /// Whether an existing file is replaced.
    public var replaces: Bool
    /// The width of an image in pixels. Nil: the default.
    public var width: Int?
    public var height: Int?
    /// Six hexadecimal digits. Nil: the default.
    public var color: String?
    public var background: String?
    public var hasAxis: Bool
    /// The bits of each value: 8 or 16.
    public var bits: Int

    public init(
      _ file: FilePath, _ format: Format, replaces: Bool = false, width: Int? = nil, height: Int? = nil,
      color: String? = nil, background: String? = nil, hasAxis: Bool = true, bits: Int = 16
    ) {
      (self.file, self.format, self.replaces) = (file, format, replaces)
      (self.width, self.height, self.color, self.background) = (width, height, color, background)
      (self.hasAxis, self.bits) = (hasAxis, bits)
    }
  }

  public var path: FilePath
  public var start: MediaTime
  /// The end of the range. Nil: the end of the file.
  public var end: MediaTime?
  /// The number of bins. At most one of ``binCount`` and ``framesPerBin`` is set.
  public var binCount: Int?
  public var framesPerBin: Int?
  public var mixesChannels: Bool
  /// The file to write. Nil: the reply contains the waveform.
  public var output: Output?
  public var network: NetworkOptions

  public init(
    _ path: FilePath, start: MediaTime = .zero, end: MediaTime? = nil, binCount: Int? = nil,
    framesPerBin: Int? = nil,
    mixesChannels: Bool = false, output: Output? = nil, network: NetworkOptions = NetworkOptions()
  ) {
    (self.path, self.start, self.end) = (path, start, end)
    (self.binCount, self.framesPerBin, self.mixesChannels) = (binCount, framesPerBin, mixesChannels)
    (self.output, self.network) = (output, network)
  }
}
