import MediaAssets
import MediaCore
import RealtimeAudio

/// Puts passes of items one after another into a stream, in the output's format, and describes what it puts where.
///
/// Items of the output's own format are decoded straight into the ring. Others go through a converter; passes of one
/// format that follow each other share it, so that what comes out equals the conversion of their concatenation; what keeps
/// the pitch is shared by passes of any formats. A pass
/// of another format begins at the next frame after the exact end of the one before, which is carried without rounding.
///
/// All passes of a stream are played at one rate. At the rates 1 and -1 that costs nothing; at another one the converter makes
/// the sound faster or slower, and every frame of the item counts for as many of the stream as that says. Backwards items
/// come turned round, in times that grow (`ItemDecoder`), and so they are counted here.
///
/// Threading: the decode thread only.
final class StreamWriter {
  enum WriteResult { case written, ended, cancelled }

  /// Frames decoded at once.
  private static let pieceFrames = 4_096

  private let stream: RenderStream
  let format: AudioFormat
  let playbackRate: PlaybackRate
  /// How fast that is, whichever way.
  let speed: PlaybackRate
  private var converter: (any SoundConverter)?
  /// How the passes that are converted at the rate 1 go through it, the newest last.
  private var conversions: [Conversion] = []
  /// Frames that have gone into the converter, from the beginning of its own count.
  private var convertedFrame: Int64 = 0
  /// The stream's frame that is the converter's output frame 0.
  private var convertedFromFrame: Int64 = 0
  /// Where what has been put in so far ends.
  private var place = ExactPlace()
  private var scratch: [Float] = []
  private var itemID: PlayerItem.ID = 0
  /// The item whose gain was put into the stream last.
  private var levelledID: PlayerItem.ID?
  /// What was put in, until it is taken.
  private var untoldLevel: (itemID: PlayerItem.ID, gain: Float)?
  private var passIndex = -1
  private var sourceFormat = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  /// The item's frame that is read next, if nothing is missing; nil before the first read.
  private var expectedPosition: Int64?
  /// Time spent in converters so far.
  private(set) var convertNanoseconds: Int64 = 0

  init(stream: RenderStream, format: AudioFormat, playbackRate: PlaybackRate = .normal) {
    self.stream = stream
    self.format = format
    self.playbackRate = playbackRate
    speed = playbackRate.magnitude
  }

  /// Whether a piece can be written.
  var hasRoom: Bool { stream.writableFrameCount >= min(Self.pieceFrames, stream.capacityFrames / 2) }

  /// The stream's frame at which what has been put in ends: the first at or behind its exact end.
  var endFrame: Int64 { max(0, place.roundedUp) }

  // MARK: - Beginning

  /// The stream begins with `item` at `start`. Answers the item's time at frame 0: with zero tolerances that of the
  /// first output frame at or behind the asked-for frame.
  ///
  /// - Parameter rest: the conversion in another stream whose rest this one is, and from which of its output frames on.
  func start(
    with item: ItemDecoder, at start: PlayerStateMachine.Start, restOf rest: Conversion.Rest? = nil
  ) throws(MediaError) -> MediaTime {
    var start = start
    start.time = playbackRate.growing(start.time)
    if playbackRate.isReverse { swap(&start.toleranceBefore, &start.toleranceAfter) }
    return playbackRate.growing(try startGrowing(with: item, at: start, restOf: rest))
  }

  /// The same in times that grow.
  private func startGrowing(
    with item: ItemDecoder, at start: PlayerStateMachine.Start, restOf rest: Conversion.Rest?
  ) throws(MediaError) -> MediaTime {
    let (source, rate) = (item.format, item.format.sampleRateHz)
    itemID = item.itemID
    passIndex = 0
    sourceFormat = source
    putLevel(of: item)
    guard speed == .normal else {
      if let algorithm = stretch(of: item) { return try startStretching(item, at: start, algorithm) }
      return try startConverting(item, at: start)
    }
    guard rate != format.sampleRateHz else {
      let time = try item.seek(to: start.time, before: start.toleranceBefore, after: start.toleranceAfter)
      if source != format { converter = try AudioConverter(from: source, to: format) }
      describe(time)
      return time
    }
    if let time = try startResampling(item, restOf: rest) { return time }
    let first = try seek(item, to: start)
    let made = try AudioConverter(
      from: source, to: format, historyStart: item.position, firstInputFrame: max(first, item.position))
    return startResampling(item, with: made, countedFrom: 0)
  }

  /// The same where another stream was left in the middle of a conversion: goes on at the frame where that was, with the phase
  /// that it had there. nil: that conversion began too short a while before.
  private func startResampling(_ item: ItemDecoder, restOf rest: Conversion.Rest?) throws(MediaError) -> MediaTime? {
    guard let rest, rest.conversion.source == item.format, rest.conversion.itemID == item.itemID,
      let place = rest.historyStart(to: format), place.history >= rest.conversion.offset
    else { return nil }
    let offset = rest.conversion.offset
    _ = try item.seek(
      to: MediaTime(frame: place.history - offset, rate: item.format.sampleRateHz), before: .zero, after: .zero)
    guard item.position == place.history - offset else { return nil }
    let made = try AudioConverter(
      from: item.format, to: format, historyStart: place.history, firstInputFrame: place.history,
      firstOutputFrame: place.firstOutputFrame)
    return startResampling(item, with: made, countedFrom: offset)
  }

  /// - Parameter offset: which of the converter's frames the item's frame 0 is.
  private func startResampling(
    _ item: ItemDecoder, with made: AudioConverter, countedFrom offset: Int64
  ) -> MediaTime {
    let rate = item.format.sampleRateHz
    converter = made
    convertedFrame = item.position + offset
    convertedFromFrame = -made.firstOutputFrame
    conversions = [
      Conversion(
        itemID: item.itemID, passIndex: passIndex, source: item.format, streamFrame: 0, firstFrame: 0, offset: offset,
        firstStreamFrame: convertedFromFrame)
    ]
    place = ExactPlace(frame: -made.firstOutputFrame)
    place.advance(by: convertedFrame, ofRate: rate, inRate: format.sampleRateHz)
    var time = MediaTime(frame: made.firstOutputFrame, rate: format.sampleRateHz)
    if offset != 0 { time = time - MediaTime(frame: offset, rate: rate) }
    describe(time, at: 0)
    return time
  }

  /// The same at another rate than 1. Output frames are counted from where the conversion begins, so that the time of the
  /// first one heard lies at the time that is asked for, or less than a frame behind it.
  private func startConverting(
    _ item: ItemDecoder, at start: PlayerStateMachine.Start
  ) throws(MediaError) -> MediaTime {
    let rate = item.format.sampleRateHz
    let first = try seek(item, to: start)
    let beginning = MediaTime(frame: item.position, rate: rate)
    let isExact = start.toleranceBefore == .zero && start.toleranceAfter == .zero && start.time.isNumeric
    let wanted = isExact ? start.time : MediaTime(frame: first, rate: rate)
    let passed = (wanted - beginning).frameCount(
      rate: format.sampleRateHz, playbackRate: speed, rounding: .towardPositiveInfinity)
    let dropped = max(0, passed ?? 0)
    converter = try AudioConverter(
      from: item.format, to: format, playbackRate: speed, droppedFrameCount: dropped)
    place = ExactPlace(frame: -dropped)
    let time = MediaTime(
      beginning, advancedByFrames: dropped, rate: format.sampleRateHz, playbackRate: speed)
    describe(time, at: 0)
    return time
  }

  /// The stage begins the stream: its frame 0 is frame `heard` of the item, counted at the stream's rate, and what is put
  /// in next the item's frame `position`.
  func beginStretched(with stage: StretchStage, heardFrom heard: Int64, readingFrom position: Int64) {
    converter = stage
    place = ExactPlace()
    place.advance(by: -heard, ofRate: Int(playbackRate.magnitude.millionths), inRate: 1_000_000)
    advance(by: position)
    describe(MediaTime(frame: heard, rate: format.sampleRateHz), at: 0)
  }

  /// Goes to where the conversion has to begin for what is heard to be that of an uninterrupted pass; answers the
  /// item's frame that is heard first.
  private func seek(_ item: ItemDecoder, to start: PlayerStateMachine.Start) throws(MediaError) -> Int64 {
    let rate = item.format.sampleRateHz
    var first = max(0, start.time.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? .max)
    if start.toleranceBefore > .zero || start.toleranceAfter > .zero || first == .max {
      _ = try item.seek(to: start.time, before: start.toleranceBefore, after: start.toleranceAfter)
      first = item.position
    }
    let history = AudioConverter.historyStart(
      before: first, from: item.format, to: format, playbackRate: speed)
    if history != item.position || first != history {
      _ = try item.seek(to: MediaTime(frame: history, rate: rate), before: .zero, after: .zero)
    }
    return first
  }

  /// Whether `item` can follow without the converter being emptied first.
  func canFollowOn(_ item: ItemDecoder) -> Bool {
    guard let converter else { return true }
    if let stage = converter as? StretchStage { return stage.algorithm == stretch(of: item) }
    return converter.input == item.format && stretch(of: item) == nil
  }

  /// The next pass follows, which begins at `time` of `item`, where it stands; `canFollowOn` it or `finish()` first.
  func begin(_ item: ItemDecoder, at time: MediaTime) throws(MediaError) {
    try (converter as? StretchStage)?.goOn(with: item.format)
    passIndex += 1
    itemID = item.itemID
    sourceFormat = item.format
    putLevel(of: item)
    expectedPosition = nil
    if converter == nil, sourceFormat != format || speed != .normal {
      if let algorithm = stretch(of: item) {
        converter = try makeStage(from: sourceFormat, algorithm)
      } else {
        converter = try AudioConverter(from: sourceFormat, to: format, playbackRate: speed)
        convertedFrame = 0
        convertedFromFrame = endFrame
      }
    }
    rememberConversion(from: item.position)
    describe(
      time.isNumeric
        ? playbackRate.growing(time) : MediaTime(frame: item.position, rate: sourceFormat.sampleRateHz))
  }

  /// Where another stream is to go on with a pass that is cut off at a frame of this one; nil: no filter reaches over that.
  func rest(ofPass index: Int, fromStreamFrame frame: Int64) -> Conversion.Rest? {
    conversions.last { $0.passIndex == index && $0.streamFrame <= frame }.map {
      Conversion.Rest(conversion: $0, streamFrame: frame)
    }
  }

  /// From here on frame `position` of the pass's item is the next one to go into the converter.
  private func rememberConversion(from position: Int64) {
    guard speed == .normal, converter is AudioConverter, sourceFormat.sampleRateHz != format.sampleRateHz else {
      return
    }
    if conversions.count == Conversion.limit { conversions.removeFirst(Conversion.limit / 2) }
    conversions.append(
      Conversion(
        itemID: itemID, passIndex: passIndex, source: sourceFormat, streamFrame: endFrame, firstFrame: convertedFrame,
        offset: convertedFrame - position, firstStreamFrame: convertedFromFrame))
  }

  /// Silence follows, at `time` of the item; nil: where the pass before has ended.
  func beginSilence(itemID: PlayerItem.ID, at time: MediaTime?) {
    passIndex += 1
    self.itemID = itemID
    if let time { describe(playbackRate.growing(time)) }
  }

  /// Says that `time` of the item, as one that grows, stands at the frame that is put in next.
  ///
  /// Between two frames a pass counts as beginning at the later one: the time there is less than a frame late, and the
  /// pass's very beginning is a time that is heard.
  private func describe(_ growingTime: MediaTime, at frame: Int64? = nil) {
    let time = playbackRate.growing(growingTime)
    // There is room: no more passes are planned than the queue holds, and one pass is described more often only where
    // frames are missing in it.
    _ = stream.describe(
      SpanDescriptor(
        streamFrame: frame ?? endFrame, itemID: itemID, passIndex: Int32(clamping: passIndex), timeValue: time.value,
        timeScale: time.timescale, rateMillionths: playbackRate.millionths))
  }

  /// Says how loud the item is that follows at `endFrame`. Where the stream has no room for that, because it is full of items that
  /// are over before one hears them, it is said as soon as there is some, and until then the item before counts.
  private func putLevel(of item: ItemDecoder) {
    guard levelledID != item.itemID,
      stream.setLevel(item.gain, itemID: item.itemID, fromFrame: endFrame)
    else { return }
    levelledID = item.itemID
    untoldLevel = (item.itemID, item.gain)
  }

  /// The gain that has been put into the stream since the last call.
  func takeLevel() -> (itemID: PlayerItem.ID, gain: Float)? {
    defer { untoldLevel = nil }
    return untoldLevel
  }

  /// So many frames of the item are in the stream, or in the converter on their way to it.
  private func advance(by frameCount: Int64) {
    place.advance(
      by: frameCount, ofRate: sourceFormat.sampleRateHz * Int(speed.millionths),
      inRate: format.sampleRateHz * 1_000_000)
  }

  // MARK: - Writing

  /// Decodes a piece of `item` into the stream.
  func write(from item: ItemDecoder) throws(MediaError) -> WriteResult {
    putLevel(of: item)
    guard let region = stream.writableRegion(atMost: Self.pieceFrames) else { return .written }
    guard let converter else {
      switch try item.read(into: region.samples, capacityFrames: region.count) {
      case .frames(let count, let position):
        follow(position, count)
        place.advance(by: Int64(count), ofRate: 1, inRate: 1)
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
      rememberConversion(from: position)
    }
    expectedPosition = position + Int64(count)
  }

  /// Frames of the item that are read at once: what becomes of them is no more than a piece, however slow the rate is.
  private var inputPieceFrames: Int {
    guard speed < .normal else { return Self.pieceFrames }
    return max(64, Int(Int64(Self.pieceFrames) * speed.millionths / 1_000_000))
  }

  private func convert(_ item: ItemDecoder, with converter: any SoundConverter) throws(MediaError) -> WriteResult {
    let inputFrames = inputPieceFrames
    let needed = inputFrames * sourceFormat.channelCount
    if scratch.count < needed { scratch = [Float](repeating: 0, count: needed) }
    let result = try scratch.withUnsafeMutableBufferPointer { buffer throws(MediaError) -> ItemDecoder.ReadResult in
      guard let base = buffer.baseAddress else { return .ended }
      let result = try item.read(into: base, capacityFrames: inputFrames)
      if case .frames(let count, let position) = result {
        follow(position, count)
        advance(by: Int64(count))
        convertedFrame += Int64(count)
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
    _ converter: any SoundConverter, _ samples: UnsafePointer<Float>, frameCount: Int
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

  /// Whether frames that belong before `endFrame` wait in a filter for what follows them.
  var holdsBack: Bool { converter != nil && stream.writtenFrame < endFrame }

  /// Takes what the converter still holds, up to `endFrame`: what the filter adds after it is cut, what it lacks is
  /// silence. False when the ring had no room for all of it: call again.
  func finish() throws(MediaError) -> Bool {
    guard let converter else { return true }
    while stream.writtenFrame < endFrame {
      guard let region = stream.writableRegion(atMost: Int(endFrame - stream.writtenFrame)) else { return false }
      var count = try converter.drain(into: region.samples, capacityFrames: region.count)
      if count == 0 {
        region.samples.update(repeating: 0, count: region.count * format.channelCount)
        count = region.count
      }
      stream.commit(frameCount: count)
    }
    self.converter = nil
    return true
  }

  /// Fills a piece with silence; the item's time goes on.
  func writeSilence() {
    guard let region = stream.writableRegion(atMost: Self.pieceFrames) else { return }
    region.samples.update(repeating: 0, count: region.count * format.channelCount)
    place.advance(by: Int64(region.count), ofRate: 1, inRate: 1)
    stream.commit(frameCount: region.count)
  }
}
