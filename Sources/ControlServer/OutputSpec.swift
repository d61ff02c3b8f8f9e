import MediaCore

/// What `--output` says: which output the daemon plays on, and how.
///
/// `auto`, `null`, `pulse[:SINK]`, `wav:PATH`, `pipe:PATH`, each with options behind commas: `rate=48000`, `channels=2`
/// and, for `wav` and `pipe`, `format=s16|s24|f32`. A comma with a word and `=` behind it always begins an option, so a
/// path cannot hold that; any other comma is part of it.
public struct OutputSpec: Sendable, Hashable {
  /// What is played on.
  public enum Kind: Sendable, Hashable {
    /// PulseAudio when it answers, otherwise silence until it does.
    case auto
    /// Silence, at real speed.
    case null
    /// A sink of PulseAudio; nil: its default one.
    case pulse(sink: String?)
    /// A WAV file, created or overwritten.
    case wav(path: String)
    /// A FIFO that gets bare samples.
    case pipe(path: String)
  }

  /// How samples are stored in files and pipes.
  public enum Encoding: String, Sendable, Hashable, CaseIterable {
    case s16, s24, f32
  }

  public var kind: Kind
  /// Frames a second; nil: the device's own, or 48,000 without a device.
  public var sampleRateHz: Int?
  /// Samples a frame; nil: the device's own, or 2 without a device.
  public var channelCount: Int?
  /// Signed 16-bit unless said.
  public var encoding = Encoding.s16

  public init(_ kind: Kind, sampleRateHz: Int? = nil, channelCount: Int? = nil, encoding: Encoding = .s16) {
    self.kind = kind
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.encoding = encoding
  }

  /// The format of an output without a device.
  public var format: AudioFormat {
    AudioFormat(sampleRateHz: sampleRateHz ?? 48_000, channelCount: channelCount ?? 2)
  }

  /// The file or FIFO that the output writes; nil for outputs without one.
  public var path: String? {
    switch kind {
    case .wav(let path), .pipe(let path): path
    case .auto, .null, .pulse: nil
    }
  }

  /// Whether the output takes time from whoever drives it: it can be used with a virtual clock.
  public var allowsVirtualClock: Bool {
    switch kind {
    case .auto, .pulse: false
    case .null, .wav, .pipe: true
    }
  }

  /// Reads the text of `--output`.
  ///
  /// Errors: `output-configuration` for anything but what is described above.
  public init(parsing text: String) throws(MediaError) {
    let (head, options) = Self.split(text)
    let colon = head.firstIndex(of: ":")
    let name = head[..<(colon ?? head.endIndex)]
    let argument = colon.map { String(head[head.index(after: $0)...]) }
    switch (name, argument) {
    case ("auto", nil): self.init(.auto)
    case ("null", nil): self.init(.null)
    case ("pulse", nil): self.init(.pulse(sink: nil))
    case ("pulse", let sink?) where !sink.isEmpty: self.init(.pulse(sink: sink))
    case ("wav", let path?) where !path.isEmpty: self.init(.wav(path: path))
    case ("pipe", let path?) where !path.isEmpty: self.init(.pipe(path: path))
    case ("wav", _), ("pipe", _): throw Self.failure("\(name) needs a path: \(name):PATH")
    default:
      throw Self.failure("there is no output \"\(head)\"; it is auto, null, pulse[:SINK], wav:PATH or pipe:PATH")
    }
    for option in options { try apply(option) }
  }

  private mutating func apply(_ option: (key: Substring, value: Substring)) throws(MediaError) {
    switch (option.key, kind) {
    case ("rate", _): sampleRateHz = try Self.number(option, in: AudioFormat.supportedSampleRatesHz)
    case ("channels", _): channelCount = try Self.number(option, in: AudioFormat.supportedChannelCounts)
    case ("format", .wav), ("format", .pipe):
      guard let encoding = Encoding(rawValue: String(option.value)) else {
        throw Self.failure("format is s16, s24 or f32, not \"\(option.value)\"")
      }
      self.encoding = encoding
    case ("format", _): throw Self.failure("only wav and pipe take format=")
    default: throw Self.failure("there is no option \"\(option.key)=\"; they are rate=, channels= and format=")
    }
  }

  /// Cuts the text at each comma behind which a word and `=` stand.
  private static func split(_ text: String) -> (head: Substring, options: [(key: Substring, value: Substring)]) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    func option(_ part: Substring) -> (key: Substring, value: Substring)? {
      guard let equals = part.firstIndex(of: "="), equals > part.startIndex,
        part[..<equals].allSatisfy({ $0.isASCII && $0.isLetter && $0.isLowercase })
      else { return nil }
      return (part[..<equals], part[part.index(after: equals)...])
    }
    var head = parts[0]
    var options: [(key: Substring, value: Substring)] = []
    for part in parts.dropFirst() {
      if let option = option(part) {
        options.append(option)
      } else if options.isEmpty {
        head = text[head.startIndex..<part.endIndex]
      } else {
        options[options.count - 1].value = text[options[options.count - 1].value.startIndex..<part.endIndex]
      }
    }
    return (head, options)
  }

  private static func number(
    _ option: (key: Substring, value: Substring), in range: ClosedRange<Int>
  ) throws(MediaError) -> Int {
    guard let number = Int(option.value), range.contains(number) else {
      throw failure("\(option.key) is from \(range.lowerBound) to \(range.upperBound), not \"\(option.value)\"")
    }
    return number
  }

  private static func failure(_ message: String) -> MediaError {
    MediaError(.outputConfiguration, message, operation: "--output")
  }
}
