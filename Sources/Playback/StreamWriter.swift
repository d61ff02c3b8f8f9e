import MediaAssets
import MediaCore
import RealtimeAudio

/// Puts items one after another into a stream, in the output's format, and describes what it puts where.
///
/// Items of the output's own format are decoded straight into the ring. Others go through a converter; items of one
/// format that follow each other share it, so that what comes out equals the conversion of their concatenation.
///
/// Threading: the decode thread only.
final class StreamWriter {
  enum WriteResult { case written, ended, cancelled }

  /// Frames decoded at once.
  private static let pieceFrames = 4_096

  private let stream: RenderStream
  private let format: AudioFormat
  private var converter: AudioConverter?
  /// The stream's frame at which the converter's output began.
  private var converterBase: Int64 = 0
  private var scratch: [Float] = []
  private var itemID: PlayerItem.ID = 0
  private var sourceFormat = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  /// The item's frame that is read next, if nothing is missing; nil before the first read.
  private var expectedPosition: Int64?
  /// Time spent in converters so far.
  private(set) var convertNanoseconds: Int64 = 0

  init(stream: RenderStream, format: AudioFormat) {
    self.stream = stream
    self.format = format
  }

  /// Whether a piece can be written.
  var hasRoom: Bool { stream.writableFrameCount >= min(Self.pieceFrames, stream.capacityFrames / 2) }

  /// An item of format `source` follows, from `time` on.
  func begin(itemID: PlayerItem.ID, time: MediaTime, source: AudioFormat) throws(MediaError) {
    self.itemID = itemID
    sourceFormat = source
    expectedPosition = nil
    if source == format {
      converter = nil
    } else if converter?.input != source {
      converter = try AudioConverter(from: source, to: format)
      converterBase = stream.writtenFrame
    }
    describe(time)
  }

  /// Says that `time` of the item stands at the frame that is put in next.
  private func describe(_ time: MediaTime) {
    var frame = stream.writtenFrame
    var start = time
    if let converter {
      // The item begins between two output frames: the span begins at the later one, that much later in the item.
      let offset = converter.outputFrame(ofInputFrame: converter.inputFrameCount)
      frame = converterBase + offset
      start =
        time + MediaTime(frame: offset, rate: format.sampleRateHz)
        - MediaTime(frame: converter.inputFrameCount, rate: sourceFormat.sampleRateHz)
    }
    // A full queue of descriptions is emptied by the engine at each report; 1,024 of them are more than a stream holds.
    _ = stream.describe(
      SpanDescriptor(streamFrame: frame, itemID: itemID, timeValue: start.value, timeScale: start.timescale))
  }

  /// Decodes a piece of `item` into the stream.
  func write(from item: ItemDecoder) throws(MediaError) -> WriteResult {
    guard let region = stream.writableRegion(atMost: Self.pieceFrames) else { return .written }
    guard let converter else {
      switch try item.read(into: region.samples, capacityFrames: region.count) {
      case .frames(let count, let position):
        follow(position, count)
        stream.commit(frameCount: count)
        return .written
      case .ended: return .ended
      case .cancelled: return .cancelled
      }
    }
    return try convert(item, with: converter)
  }

  /// Time stays true when frames are missing: what follows is described anew.
  private func follow(_ position: Int64, _ count: Int) {
    if let expectedPosition, position != expectedPosition {
      describe(MediaTime(frame: position, rate: sourceFormat.sampleRateHz))
    }
    expectedPosition = position + Int64(count)
  }

  private func convert(_ item: ItemDecoder, with converter: AudioConverter) throws(MediaError) -> WriteResult {
    let inputFrames = Self.pieceFrames
    let needed = inputFrames * sourceFormat.channelCount
    if scratch.count < needed { scratch = [Float](repeating: 0, count: needed) }
    let result = try scratch.withUnsafeMutableBufferPointer { buffer throws(MediaError) -> ItemDecoder.ReadResult in
      guard let base = buffer.baseAddress else { return .ended }
      let result = try item.read(into: base, capacityFrames: inputFrames)
      if case .frames(let count, let position) = result {
        follow(position, count)
        try put(converter, base, frameCount: count)
      }
      return result
    }
    switch result {
    case .frames: return .written
    case .ended: return .ended
    case .cancelled: return .cancelled
    }
  }

  /// Converts `frameCount` frames into the ring; what finds no room stays in the converter until the next call.
  private func put(
    _ converter: AudioConverter, _ samples: UnsafePointer<Float>, frameCount: Int
  ) throws(MediaError) {
    let beginning = HostTime.now
    defer { convertNanoseconds += HostTime.now.nanoseconds(since: beginning) }
    var inputCount = frameCount
    while let region = stream.writableRegion(atMost: stream.capacityFrames) {
      let count = try converter.convert(
        samples, frameCount: inputCount, into: region.samples, capacityFrames: region.count)
      stream.commit(frameCount: count)
      inputCount = 0
      if count < region.count { return }
    }
    if inputCount > 0 {
      // No room at all: the converter keeps the input whole.
      var nothing: Float = 0
      _ = try converter.convert(samples, frameCount: inputCount, into: &nothing, capacityFrames: 0)
    }
  }

  /// The item is over; `next` is the format of the one that follows. Answers the stream's frame at which it ends.
  func endItem(next: AudioFormat?) throws(MediaError) -> Int64 {
    guard let converter else { return stream.writtenFrame }
    if next == converter.input {
      return converterBase + converter.outputFrame(ofInputFrame: converter.inputFrameCount)
    }
    // The exact end, rounded up to a frame; what the filter adds after it is cut, what it lacks is silence.
    let end = converterBase + converter.outputFrame(ofInputFrame: converter.inputFrameCount)
    while stream.writtenFrame < end,
      let region = stream.writableRegion(atMost: Int(end - stream.writtenFrame))
    {
      let count = try converter.drain(into: region.samples, capacityFrames: region.count)
      if count == 0 {
        region.samples.update(repeating: 0, count: region.count * format.channelCount)
        stream.commit(frameCount: region.count)
      } else {
        stream.commit(frameCount: count)
      }
    }
    self.converter = nil
    return stream.writtenFrame
  }

  /// Fills a piece with silence; the item's time goes on.
  func writeSilence() {
    guard let region = stream.writableRegion(atMost: Self.pieceFrames) else { return }
    region.samples.update(repeating: 0, count: region.count * format.channelCount)
    stream.commit(frameCount: region.count)
  }
}
