/// Consecutive samples of a track with their format and times, as CMSampleBuffer.
///
/// <!-- listing: make-sample-buffer -->
/// ```swift
/// let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)
/// let buffer = try SampleBuffer(pcm: bytes, format: format, presentationTime: .zero)
/// print(buffer.sampleCount, buffer.endTime)
/// ```
///
/// A *sample* is the smallest unit with a time: a frame for PCM audio, a packet for encoded media. The value owns its
/// bytes. Every value is consistent, because the initializers reject inconsistent arguments.
public struct SampleBuffer: Sendable, Hashable {
  /// The format of the samples.
  public let format: FormatDescription
  /// The bytes of all samples, in order.
  public let data: [UInt8]
  /// The number of samples.
  public let sampleCount: Int
  /// The number of bytes of each sample; empty when all samples have the same size.
  public let sampleByteCounts: [Int]
  /// The presentation time of the first sample, before trimming.
  public let presentationTime: MediaTime
  /// The decode time of the first sample; invalid when it equals the presentation time.
  public let decodeTime: MediaTime
  /// The duration of all samples before trimming; invalid when not known.
  public let duration: MediaTime
  /// Additional properties of the buffer.
  public var attachments: Attachments

  /// Properties of a buffer other than its samples.
  public struct Attachments: Sendable, Hashable, Codable {
    /// The duration to trim from the start of the decoded output: encoder padding or an edit.
    public var trimAtStart: MediaTime
    /// The duration to trim from the end of the decoded output.
    public var trimAtEnd: MediaTime
    /// Whether the buffer does not continue the previous one: samples are missing, or the decoder restarts.
    public var isDiscontinuity: Bool
    /// Whether decoding can begin with the first sample.
    public var isSync: Bool

    /// Creates attachments. Default: no trimming, no discontinuity, a sync sample.
    public init(
      trimAtStart: MediaTime = .zero, trimAtEnd: MediaTime = .zero, isDiscontinuity: Bool = false, isSync: Bool = true
    ) {
      self.trimAtStart = trimAtStart
      self.trimAtEnd = trimAtEnd
      self.isDiscontinuity = isDiscontinuity
      self.isSync = isSync
    }
  }

  /// Creates a buffer with samples of a track.
  ///
  /// - Parameters:
  ///   - format: The format of the samples.
  ///   - data: The bytes of all samples, in order.
  ///   - sampleCount: The number of samples. Default: 1.
  ///   - sampleByteCounts: the number of bytes of each sample; empty when all samples have the same size.
  ///   - presentationTime: The presentation time of the first sample, before trimming.
  ///   - decodeTime: the decode time of the first sample; invalid when it equals the presentation time.
  ///   - duration: the duration before trimming; invalid when not known.
  ///   - attachments: Additional properties.
  /// - Throws: `invalidArgument` when the sizes do not match the bytes. `invalidTime` when a time is not numeric or a
  ///   length is negative.
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
    else {
      throw MediaError(.invalidTime, "the times of a sample buffer must be numeric, and durations must not be negative")
    }
    self.format = format
    self.data = data
    self.sampleCount = sampleCount
    self.sampleByteCounts = sampleByteCounts
    self.presentationTime = presentationTime
    self.decodeTime = decodeTime
    self.duration = duration
    self.attachments = attachments
  }

  /// Creates a buffer with PCM frames. The number of bytes determines the number of frames and the duration.
  ///
  /// - Throws: `invalidArgument` when `format` is not PCM, or when the bytes are not whole frames.
  public init(
    pcm data: [UInt8], format: FormatDescription, presentationTime: MediaTime,
    attachments: Attachments = Attachments()
  ) throws(MediaError) {
    guard let audio = format.audio, let frameByteCount = audio.pcm?.byteCount(channelCount: audio.channelCount),
      frameByteCount > 0, let timescale = Int32(exactly: audio.sampleRateHz)
    else { throw MediaError(.invalidArgument, "the format must be PCM audio (got \(format.codecName))") }
    let frameCount = data.count / frameByteCount
    try self.init(
      format: format, data: data, sampleCount: frameCount, presentationTime: presentationTime,
      duration: MediaTime(value: Int64(frameCount), timescale: timescale), attachments: attachments)
  }

  /// The number of audio frames that the samples decode to, before trimming; nil when only a decoder can determine it.
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

  /// The end of the samples before trimming; invalid when the duration is not known.
  public var endTime: MediaTime { presentationTime + duration }

  /// The presentation time after trimming.
  public var outputPresentationTime: MediaTime { presentationTime + attachments.trimAtStart }

  /// The duration after trimming; zero when everything is trimmed, invalid when not known.
  public var outputDuration: MediaTime {
    guard duration.isValid else { return .invalid }
    return max(.zero, duration - attachments.trimAtStart - attachments.trimAtEnd)
  }

  /// The byte range of each sample in `data`, in order.
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
    guard sampleCount >= 0 else {
      throw MediaError(.invalidArgument, "the number of samples must not be negative (got \(sampleCount))")
    }
    if sampleByteCounts.isEmpty {
      guard sampleCount == 0 ? byteCount == 0 : byteCount % sampleCount == 0 else {
        throw MediaError(
          .invalidArgument, "\(byteCount) bytes cannot be divided into \(sampleCount) samples of equal size")
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
        throw MediaError(.invalidArgument, "the sizes of \(sampleCount) samples do not add up to \(byteCount) bytes")
      }
    }
    guard let audio = format.audio else { return }
    guard AudioFormat.supportedSampleRatesHz.contains(audio.sampleRateHz),
      AudioFormat.supportedChannelCounts.contains(audio.channelCount)
    else {
      throw MediaError(
        .invalidArgument, "unsupported audio format: \(audio.channelCount) channels at \(audio.sampleRateHz) Hz")
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
