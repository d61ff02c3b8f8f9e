/// Some samples of a track that follow each other, with what they are and when: as CMSampleBuffer.
///
/// A *sample* is the smallest part that has a time: of plain numbers (PCM) a frame of sound, of anything coded a packet. The
/// bytes belong to the value. Every value is consistent: the initializer refuses what is not.
public struct SampleBuffer: Sendable, Hashable {
  /// What the samples are.
  public let format: FormatDescription
  /// The samples' bytes, one after another.
  public let data: [UInt8]
  /// How many samples there are.
  public let sampleCount: Int
  /// Bytes of each sample; empty when all are as long as each other.
  public let sampleByteCounts: [Int]
  /// When the first sample is presented; before what is cut off at its start.
  public let presentationTime: MediaTime
  /// When the first sample is decoded; invalid when as it is presented.
  public let decodeTime: MediaTime
  /// How long all of it is presented, before anything is cut off; invalid when not known.
  public let duration: MediaTime
  /// What else is to be known of the buffer.
  public var attachments: Attachments

  /// What is to be known of a buffer besides its samples.
  public struct Attachments: Sendable, Hashable {
    /// How much of what its start decodes to is not to be heard: an encoder's padding, or a cut.
    public var trimAtStart: MediaTime
    /// How much of what its end decodes to is not to be heard.
    public var trimAtEnd: MediaTime
    /// It does not go on where the one before ended: samples are missing, or the decoder begins anew.
    public var isDiscontinuity: Bool
    /// Decoding can begin with its first sample.
    public var isSync: Bool

    /// Nothing special, unless said.
    public init(
      trimAtStart: MediaTime = .zero, trimAtEnd: MediaTime = .zero, isDiscontinuity: Bool = false, isSync: Bool = true
    ) {
      self.trimAtStart = trimAtStart
      self.trimAtEnd = trimAtEnd
      self.isDiscontinuity = isDiscontinuity
      self.isSync = isSync
    }
  }

  /// Samples of a track.
  ///
  /// - Parameters:
  ///   - sampleByteCounts: bytes of each sample; empty: all are as long as each other.
  ///   - decodeTime: invalid: as it is presented.
  ///   - duration: invalid: not known.
  /// Errors: `invalidArgument` when sizes and bytes do not agree, `invalidTime` for times that are no times.
  public init(
    format: FormatDescription, data: [UInt8], sampleCount: Int = 1, sampleByteCounts: [Int] = [],
    presentationTime: MediaTime, decodeTime: MediaTime = .invalid, duration: MediaTime = .invalid,
    attachments: Attachments = Attachments()
  ) throws(MediaError) {
    try Self.check(format: format, byteCount: data.count, sampleCount: sampleCount, sampleByteCounts: sampleByteCounts)
    let lengths = [duration, attachments.trimAtStart, attachments.trimAtEnd].filter(\.isValid)
    guard presentationTime.isNumeric, decodeTime.isNumeric || !decodeTime.isValid,
      lengths.allSatisfy({ $0.isNumeric && $0 >= .zero }), attachments.trimAtStart.isValid,
      attachments.trimAtEnd.isValid
    else { throw MediaError(.invalidTime, "a sample buffer's times are numbers, and lengths are not below zero") }
    self.format = format
    self.data = data
    self.sampleCount = sampleCount
    self.sampleByteCounts = sampleByteCounts
    self.presentationTime = presentationTime
    self.decodeTime = decodeTime
    self.duration = duration
    self.attachments = attachments
  }

  /// Frames of sound as plain numbers; how many there are and how long they last follows from the bytes.
  ///
  /// Errors: `invalidArgument` for a format that is no PCM, or bytes that are no whole frames of it.
  public init(
    pcm data: [UInt8], format: FormatDescription, presentationTime: MediaTime,
    attachments: Attachments = Attachments()
  ) throws(MediaError) {
    guard let audio = format.audio, let frameByteCount = audio.pcm?.byteCount(channelCount: audio.channelCount),
      frameByteCount > 0, let timescale = Int32(exactly: audio.sampleRateHz)
    else { throw MediaError(.invalidArgument, "\(format.codecName) is no sound as plain numbers") }
    let frameCount = data.count / frameByteCount
    try self.init(
      format: format, data: data, sampleCount: frameCount, presentationTime: presentationTime,
      duration: MediaTime(value: Int64(frameCount), timescale: timescale), attachments: attachments)
  }

  /// Frames of sound that the samples decode to, before anything is cut off; nil when only a decoder can tell.
  public var frameCount: Int? {
    guard let audio = format.audio else { return nil }
    if let frames = audio.framesPerPacket {
      let (count, overflow) = sampleCount.multipliedReportingOverflow(by: frames)
      return overflow ? nil : count
    }
    guard duration.isNumeric, let timescale = Int32(exactly: audio.sampleRateHz), timescale > 0 else { return nil }
    let frames = duration.convertScale(timescale)
    return frames.isNumeric ? Int(exactly: frames.value) : nil
  }

  /// When the samples end, before anything is cut off; invalid when it is not known how long they last.
  public var endTime: MediaTime { presentationTime + duration }

  /// When what is to be heard begins.
  public var outputPresentationTime: MediaTime { presentationTime + attachments.trimAtStart }

  /// How long what is to be heard lasts; zero when nothing is left, invalid when not known.
  public var outputDuration: MediaTime {
    guard duration.isValid else { return .invalid }
    return max(.zero, duration - attachments.trimAtStart - attachments.trimAtEnd)
  }

  /// Where each sample lies in `data`, in order.
  public var sampleRanges: [Range<Int>] {
    var start = 0
    return (0..<sampleCount).map { index in
      let count = sampleByteCounts.isEmpty ? data.count / sampleCount : sampleByteCounts[index]
      defer { start += count }
      return start..<start + count
    }
  }

  // MARK: - Internals

  private static func check(
    format: FormatDescription, byteCount: Int, sampleCount: Int, sampleByteCounts: [Int]
  ) throws(MediaError) {
    guard sampleCount >= 0 else { throw MediaError(.invalidArgument, "\(sampleCount) is no number of samples") }
    if sampleByteCounts.isEmpty {
      guard sampleCount == 0 ? byteCount == 0 : byteCount % sampleCount == 0 else {
        throw MediaError(.invalidArgument, "\(byteCount) bytes are not \(sampleCount) samples of one size")
      }
    } else {
      var rest = byteCount
      for count in sampleByteCounts {
        guard count >= 0, count <= rest else { break }
        rest -= count
      }
      guard sampleByteCounts.count == sampleCount, rest == 0,
        sampleByteCounts.allSatisfy({ $0 >= 0 && $0 <= byteCount })
      else {
        throw MediaError(.invalidArgument, "the sizes of \(sampleCount) samples are not those of \(byteCount) bytes")
      }
    }
    guard let audio = format.audio else { return }
    guard AudioFormat.supportedSampleRatesHz.contains(audio.sampleRateHz),
      AudioFormat.supportedChannelCounts.contains(audio.channelCount)
    else {
      throw MediaError(
        .invalidArgument, "there is no sound of \(audio.channelCount) channels at \(audio.sampleRateHz) Hz")
    }
    if let pcm = audio.pcm {
      let (expected, overflow) = pcm.byteCount(channelCount: audio.channelCount)
        .multipliedReportingOverflow(by: sampleCount)
      guard pcm.isSupported, sampleByteCounts.isEmpty, !overflow, expected == byteCount else {
        throw MediaError(.invalidArgument, "\(byteCount) bytes are not \(sampleCount) frames of \(pcm.codecName)")
      }
    }
  }
}
