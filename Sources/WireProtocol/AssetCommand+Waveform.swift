import MediaCore

extension AssetCommand {
  /// What is to be seen of a file, and where it is written.
  public struct Waveform: Sendable, Hashable {
    /// How it is written.
    public enum Form: String, Sendable, Hashable, CaseIterable {
      case json, dat, png, svg
    }

    /// A file that it is written into.
    public struct Output: Sendable, Hashable {
      public var file: FilePath
      public var form: Form
      /// Even if there is a file.
      public var replaces: Bool
      /// Of a picture, in pixels; nil: what is usual.
      public var width: Int?
      public var height: Int?
      /// Six hexadecimal digits; nil: what is usual.
      public var color: String?
      public var background: String?
      public var hasAxis: Bool
      /// Of a value: 8 or 16.
      public var bits: Int

      public init(
        _ file: FilePath, _ form: Form, replaces: Bool = false, width: Int? = nil, height: Int? = nil,
        color: String? = nil, background: String? = nil, hasAxis: Bool = true, bits: Int = 16
      ) {
        (self.file, self.form, self.replaces) = (file, form, replaces)
        (self.width, self.height, self.color, self.background) = (width, height, color, background)
        (self.hasAxis, self.bits) = (hasAxis, bits)
      }
    }

    public var path: FilePath
    public var start: MediaTime
    /// Nil: the end.
    public var end: MediaTime?
    /// Into how many it is cut, or how many frames each has; at most one of the two.
    public var binCount: Int?
    public var framesPerBin: Int?
    public var mixesChannels: Bool
    /// Nil: it is answered.
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
}
