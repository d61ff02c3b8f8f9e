import LibAV
import MediaCore

/// Reads ranges of one track's sound as the numbers that are asked for. What it gives of a range is what a pass over the whole track
/// would give of it, at another rate than the track's, too.
///
/// Threading: one thread at a time, which may block.
final class SoundPass: ReadPass, @unchecked Sendable {
  // `@unchecked Sendable`: only the reader's interrupt is touched from other threads.

  /// Frames that are handed over together at most.
  static let pieceFrames = 8_192

  private let reader: AudioTrackReader
  private let encoding: PCMEncoding
  private let output: AudioFormat
  /// What the buffers are of.
  let format: FormatDescription
  /// For another rate, or other channels, than the track's.
  private var conversion: Conversion?
  /// The next frame that is handed over, and the one behind the last; counted at the rate that is read.
  private var next: Int64 = 0
  private var end: Int64?
  /// Nothing was handed over of this range.
  private var isFresh = true
  private var isFirstRange = true

  /// - Parameter reader: has to be of `SoundPass.encoding(for:of:)`.
  init(_ reader: AudioTrackReader, _ settings: AudioReadSettings) throws(MediaError) {
    self.reader = reader
    encoding = settings.encoding
    output = AudioFormat(
      sampleRateHz: settings.sampleRateHz ?? reader.format.sampleRateHz,
      channelCount: settings.channelCount ?? reader.format.channelCount)
    let isMixed = output.channelCount != reader.format.channelCount
    format = .pcm(
      encoding, sampleRateHz: output.sampleRateHz, channelCount: output.channelCount,
      channelMask: isMixed
        ? SampleLayout.defaultChannelMask(channelCount: output.channelCount) : reader.channelMask)
    if reader.format != output { conversion = try Conversion(from: reader.format, to: output, encoding) }
  }

  /// What a track is read as for these settings: what is asked for where only the form differs, float where it is converted.
  static func encoding(for settings: AudioReadSettings, of track: AudioFormat) -> PCMEncoding {
    let isConverted =
      settings.sampleRateHz.map { $0 != track.sampleRateHz } ?? false
      || settings.channelCount.map { $0 != track.channelCount } ?? false
    return isConverted ? .float32 : NativeSamples.native(of: settings.encoding)
  }

  /// Goes to a range: from frame `floor(start * rate)` up to frame `floor(end * rate)`, of the rate that is read.
  ///
  /// Errors: `invalidTime`; those of `AudioTrackReader.seek`.
  func begin(_ range: TimeRange) throws(MediaError) {
    guard range.start.isNumeric else {
      throw MediaError(.invalidTime, "cannot read from \(range.start) on", operation: "read")
    }
    isFresh = true
    end = range.end.isNumeric ? Self.frame(range.end, output.sampleRateHz) : nil
    // No track is so long.
    guard let first = Self.frame(range.start, output.sampleRateHz) else {
      (next, end) = (0, 0)
      return
    }
    next = first
    let wanted = try conversion?.begin(at: first) ?? first
    try seek(toFrame: wanted)
    // A live stream begins where it can, and one that does not go back goes on where it is.
    if reader.position > wanted { next = try conversion?.begin(atInput: reader.position) ?? reader.position }
  }

  private func seek(toFrame frame: Int64) throws(MediaError) {
    guard reader.position != frame else { return }
    _ = try reader.seek(
      to: MediaTime(frame: frame, rate: reader.format.sampleRateHz), toleranceBefore: .zero, toleranceAfter: .zero)
    // It is behind the end; or it is a stream, and comes.
    while reader.position < frame {
      guard try !piece(Int(min(frame - reader.position, Int64(Self.pieceFrames)))).isEmpty else {
        end = next
        return
      }
    }
  }

  func takeFault() -> MediaError? { reader.takeSkippedPackets()?.error ?? reader.takeWarning()?.error }

  func cancel() { reader.cancel() }

  private static func frame(_ time: MediaTime, _ rate: Int) -> Int64? {
    time.frameIndex(rate: rate, rounding: .towardNegativeInfinity).map { max(0, $0) }
  }

  /// What comes next of the range; nil at its end, or the track's.
  ///
  /// Errors: those of `AudioTrackReader.read`; `cancelled`.
  func read() throws(MediaError) -> SampleBuffer? {
    guard end.map({ next < $0 }) ?? true else { return nil }
    if conversion == nil, reader.position != next {
      // What a live stream did not have in time is left out.
      (next, isFresh) = (reader.position, true)
    }
    let left = end.map { $0 - next } ?? Int64(Self.pieceFrames)
    guard left > 0 else { return nil }
    let capacity = Int(min(left, Int64(Self.pieceFrames)))
    let bytes = if let conversion { try conversion.read(capacity, from: reader) } else { try piece(capacity) }
    let native = NativeSamples.native(of: encoding)
    let count = bytes.count / native.byteCount(channelCount: output.channelCount)
    guard count > 0 else { return nil }
    let buffer = try SampleBuffer(
      pcm: NativeSamples.packed(bytes, encoding, channelCount: output.channelCount), format: format,
      presentationTime: MediaTime(frame: next, rate: output.sampleRateHz),
      attachments: .init(isDiscontinuity: isFresh && !isFirstRange))
    next += Int64(count)
    (isFresh, isFirstRange) = (false, false)
    return buffer
  }

  /// As the track has it, straight into the buffer's memory.
  private func piece(_ capacity: Int) throws(MediaError) -> [UInt8] {
    let frameByteCount = reader.frameByteCount
    var result: Result<AudioTrackReader.ReadResult, MediaError> = .success(.endOfTrack)
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity * frameByteCount) { room, filled in
      guard let base = room.baseAddress else { return }
      result = Result { () throws(MediaError) in try reader.read(into: base, capacityFrames: capacity) }
      if case .success(.frames(let count, _)) = result { filled = count * frameByteCount }
    }
    if try result.get() == .cancelled { throw AssetReader.cancelled }
    return bytes
  }
}

/// To another rate or other channels.
private final class Conversion {
  private let input: AudioFormat
  private let output: AudioFormat
  private let encoding: PCMEncoding
  private let writer: SampleWriter
  private var converter: AudioConverter
  private var isDrained = false
  private var incoming: [Float]
  /// Why the sound broke off, to be said behind what is still inside.
  private var failure: MediaError?

  init(from input: AudioFormat, to output: AudioFormat, _ encoding: PCMEncoding) throws(MediaError) {
    self.input = input
    self.output = output
    self.encoding = NativeSamples.native(of: encoding)
    writer = try SampleWriter(output, try SampleWriter.format(of: self.encoding))
    converter = try AudioConverter(from: input, to: output)
    incoming = [Float](repeating: 0, count: SoundPass.pieceFrames * input.channelCount)
  }

  /// What goes in begins at a frame, whatever lies before. Answers the first frame that comes out.
  func begin(atInput frame: Int64) throws(MediaError) -> Int64 {
    isDrained = false
    failure = nil
    converter = try AudioConverter(from: input, to: output, historyStart: frame, firstInputFrame: frame)
    return converter.firstOutputFrame
  }

  /// The first frame to come out. Answers which has to go in first.
  func begin(at first: Int64) throws(MediaError) -> Int64 {
    isDrained = false
    failure = nil
    let source =
      MediaTime(frame: first, rate: output.sampleRateHz).frameIndex(
        rate: input.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    let historyStart = AudioConverter.historyStart(before: source, from: input, to: output)
    converter = try AudioConverter(
      from: input, to: output, historyStart: historyStart, firstInputFrame: source, firstOutputFrame: first)
    return historyStart
  }

  /// Up to so many frames; none at the end.
  func read(_ capacity: Int, from reader: AudioTrackReader) throws(MediaError) -> [UInt8] {
    var samples = [Float](repeating: 0, count: capacity * output.channelCount)
    var count = try converted(nil, 0, &samples, capacity)
    while count == 0, !isDrained {
      var result: Result<AudioTrackReader.ReadResult, MediaError> = .success(.endOfTrack)
      incoming.withUnsafeMutableBufferPointer { room in
        guard let base = room.baseAddress else { return }
        result = Result { () throws(MediaError) in
          try reader.read(into: base, capacityFrames: SoundPass.pieceFrames)
        }
      }
      switch result {
      case .success(.frames(let read, _)): count = try converted(incoming, read, &samples, capacity)
      case .success(.cancelled): throw AssetReader.cancelled
      case .success(.endOfTrack): isDrained = true
      case .failure(let error):
        if error.code == .cancelled { throw error }
        (failure, isDrained) = (error, true)
      }
    }
    if count == 0, isDrained { count = try drained(&samples, capacity) }
    if count == 0, let failure { throw failure }
    return try written(samples, count)
  }

  private func converted(
    _ source: [Float]?, _ frameCount: Int, _ samples: inout [Float], _ capacity: Int
  ) throws(MediaError) -> Int {
    if isDrained { return 0 }
    return try Self.withPointers(source ?? incoming, &samples) { (source, target) throws(MediaError) in
      try converter.convert(source, frameCount: frameCount, into: target, capacityFrames: capacity)
    }
  }

  private func drained(_ samples: inout [Float], _ capacity: Int) throws(MediaError) -> Int {
    try Self.withPointers(incoming, &samples) { (_, target) throws(MediaError) in
      try converter.drain(into: target, capacityFrames: capacity)
    }
  }

  private func written(_ samples: [Float], _ count: Int) throws(MediaError) -> [UInt8] {
    let byteCount = count * encoding.byteCount(channelCount: output.channelCount)
    var failure: MediaError?
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { room, filled in
      samples.withUnsafeBufferPointer { source in
        guard let base = source.baseAddress, let target = room.baseAddress, count > 0 else { return }
        do throws(MediaError) {
          try writer.write(base, frameCount: count, into: target)
          filled = byteCount
        } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  private static func withPointers(
    _ source: [Float], _ target: inout [Float],
    _ body: (UnsafePointer<Float>, UnsafeMutablePointer<Float>) throws(MediaError) -> Int
  ) throws(MediaError) -> Int {
    var result: Result<Int, MediaError> = .success(0)
    source.withUnsafeBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        result = Result { () throws(MediaError) in try body(from, to) }
      }
    }
    return try result.get()
  }
}
