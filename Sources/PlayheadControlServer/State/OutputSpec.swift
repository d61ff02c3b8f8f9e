import PlayheadMediaCore

/// The output of the daemon and its format, as specified by `--output`.
///
/// The text is `auto`, `null`, `pulse[:SINK]`, `wav:PATH` or `pipe:PATH`, followed by options separated by commas. The
/// options are `rate=48000`, `channels=2` and, for `wav` and `pipe`, `format=s16|s24|f32`. A comma that is followed by
/// a word of lower-case letters and `=` begins an option, and cannot be part of a path. Any other comma is part of the
/// path.
package struct OutputSpec: Sendable, Hashable {
  /// The kind of output.
  package enum Kind: Sendable, Hashable {
    /// The default sink of PulseAudio, and silence while no server is available.
    case auto
    /// Silence in real time.
    case null
    /// A sink of PulseAudio. Nil: the default sink.
    case pulse(sink: String?)
    /// A WAV file, created or overwritten.
    case wav(path: String)
    /// A FIFO that receives raw samples without a header.
    case pipe(path: String)
  }

  /// The sample encoding in files and pipes.
  package enum Encoding: String, Sendable, Hashable, CaseIterable {
    case s16, s24, f32
  }

  package var kind: Kind
  /// The sample rate in Hz. Nil: the device's rate, or 48,000 without a device.
  package var sampleRateHz: Int?
  /// The number of channels. Nil: the device's number, or 2 without a device.
  package var channelCount: Int?
  /// The sample encoding in files and pipes. Default: signed 16 bit.
  package var encoding = Encoding.s16

  package init(_ kind: Kind, sampleRateHz: Int? = nil, channelCount: Int? = nil, encoding: Encoding = .s16) {
    self.kind = kind
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.encoding = encoding
  }

  /// The format of an output without a device.
  package var format: AudioFormat {
    AudioFormat(sampleRateHz: sampleRateHz ?? 48_000, channelCount: channelCount ?? 2)
  }

  /// The file or FIFO that the output writes. Nil for outputs without one.
  package var path: String? {
    switch kind {
    case .wav(let path), .pipe(let path): path
    case .auto, .null, .pulse: nil
    }
  }

  /// Whether the output works with a virtual clock.
  package var allowsVirtualClock: Bool {
    switch kind {
    case .auto, .pulse: false
    case .null, .wav, .pipe: true
    }
  }

  /// Parses the text of `--output`.
  ///
  /// - Throws: `output-configuration` for an invalid text.
  package init(parsing text: String) throws(MediaError) {
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
      throw Self.failure("output must be auto, null, pulse[:SINK], wav:PATH or pipe:PATH (got \"\(head)\")")
    }
    for option in options { try apply(option) }
  }

  private mutating func apply(_ option: (key: Substring, value: Substring)) throws(MediaError) {
    switch (option.key, kind) {
    case ("rate", _): sampleRateHz = try Self.number(option, in: AudioFormat.supportedSampleRatesHz)
    case ("channels", _): channelCount = try Self.number(option, in: AudioFormat.supportedChannelCounts)
    case ("format", .wav), ("format", .pipe):
      guard let encoding = Encoding(rawValue: String(option.value)) else {
        throw Self.failure("format must be s16, s24 or f32 (got \"\(option.value)\")")
      }
      self.encoding = encoding
    case ("format", _): throw Self.failure("format= applies to wav and pipe only")
    default: throw Self.failure("unknown option \"\(option.key)=\"; valid options: rate=, channels=, format=")
    }
  }

  /// Splits the text at each comma that is followed by a word of lower-case letters and `=`.
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
      throw failure(
        "\(option.key) must be between \(range.lowerBound) and \(range.upperBound) (got \"\(option.value)\")")
    }
    return number
  }

  private static func failure(_ message: String) -> MediaError {
    MediaError(.outputConfiguration, message, operation: "--output")
  }
}
