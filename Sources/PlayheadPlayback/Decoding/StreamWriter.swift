import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Writes passes of items one after another into a stream, in the output's format, and records the position of each
/// pass.
///
/// Items in the output's format are decoded directly into the ring; others are converted. Successive passes of one
/// format share the converter, so that the result equals the conversion of their concatenation. A `StretchStage`, which
/// keeps the pitch, is shared by passes of any formats. A pass of another format begins at the next frame after the
/// exact end of the previous one, which is computed without rounding. The audio processors of an item process its audio
/// before the conversion.
///
/// All passes of a stream are played at one rate. At other rates than 1 and -1 the converter changes the tempo, and the
/// number of frames changes accordingly. In reverse, `ItemDecoder` uses a mirrored timeline. *Decoder time* is time on
/// that timeline in reverse, and item time otherwise.
///
/// Threading: the decode thread only.
final class StreamWriter {
  enum WriteResult { case written, ended, cancelled }

  /// The number of frames decoded at once.
  static let chunkFrames = 4_096

  let output: StreamOutput
  let format: AudioFormat
  let playbackRate: PlaybackRate
  /// The magnitude of the rate.
  let rateMagnitude: PlaybackRate
  /// Internal for tests.
  var converter: (any SampleConverter)?
  private var hasDrainFailed = false
  private var drainError: MediaError?
  /// The conversions of passes at rate 1, the newest last.
  private var conversions: [Conversion] = []
  /// The index of the converter's next input frame. For a resampler that starts within an item, the count begins at the
  /// item's position.
  private var converterInputFrame: Int64 = 0
  /// The stream frame for output frame 0 of the converter.
  private var converterFirstStreamFrame: Int64 = 0
  /// Whether the converter was made for the pass that is about to start.
  private var beginsConversion = false
  /// The exact end of the audio decoded so far, as a stream frame.
  private var endPosition = ExactPosition()
  private var scratch: [Float] = []
  /// The item whose audio was written last.
  private(set) var itemID: PlayerItem.ID = 0
  /// The item whose gain was written to the stream last.
  private var gainItemID: PlayerItem.ID?
  /// The gain that was written and has not been reported.
  private var pendingGain: (itemID: PlayerItem.ID, gain: Float)?
  private var passIndex = -1
  private(set) var sourceFormat = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  /// The audio processors of the current pass; nil without any.
  var processors: AudioProcessorChain?
  /// A sample that a processor made and that was not finite, until it is reported.
  var nonFiniteSample: (itemID: PlayerItem.ID, time: MediaTime)?
  /// The last item with such a sample.
  var nonFiniteItemID: PlayerItem.ID?
  /// The next item frame if no frame is missing; nil before the first read.
  var expectedPosition: Int64?
  /// The time spent in converters so far.
  private(set) var convertNanoseconds: Int64 = 0

  init(stream: RenderStream, format: AudioFormat, playbackRate: PlaybackRate = .normal) {
    output = StreamOutput(stream)
    self.format = format
    self.playbackRate = playbackRate
    rateMagnitude = playbackRate.magnitude
  }

  /// Whether a chunk can be written.
  var hasFreeSpace: Bool { output.writableFrameCount >= min(Self.chunkFrames, output.stream.capacityFrames / 2) }

  /// The stream frame at the end of the audio decoded so far: the first frame at or after the exact end.
  var endFrame: Int64 { max(0, endPosition.roundedUp) }

  // MARK: - Start

  /// Starts the stream with `item` at the time of `request`. Returns the item time of frame 0: with zero tolerances the
  /// time of the first output frame at or after the requested frame.
  ///
  /// - Parameter continuation: the conversion in another stream that this stream continues, and the frame of that
  ///   stream at which it does.
  func start(
    with item: ItemDecoder, at request: PlayerStateMachine.DecodeRequest,
    continuing continuation: Conversion.Continuation? = nil
  ) throws(MediaError) -> MediaTime {
    var request = request
    request.time = playbackRate.mirroredInReverse(request.time)
    if playbackRate.isReverse { swap(&request.toleranceBefore, &request.toleranceAfter) }
    return playbackRate.mirroredInReverse(try startOnDecoderTimeline(with: item, at: request, continuing: continuation))
  }

  /// Starts the stream. `request` and the result have decoder times.
  private func startOnDecoderTimeline(
    with item: ItemDecoder, at request: PlayerStateMachine.DecodeRequest,
    continuing continuation: Conversion.Continuation?
  ) throws(MediaError) -> MediaTime {
    let (source, rate) = (item.format, item.format.sampleRateHz)
    itemID = item.itemID
    passIndex = 0
    sourceFormat = source
    writeGain(of: item)
    try prepareProcessors(for: item)
    guard rateMagnitude == .normal else {
      if let algorithm = stretchAlgorithm(for: item) { return try startStretching(item, at: request, algorithm) }
      return try startConverting(item, at: request)
    }
    guard rate != format.sampleRateHz else {
      let time = try item.seek(to: request.time, before: request.toleranceBefore, after: request.toleranceAfter)
      try readHistory(of: item)
      if source != format { converter = try AudioConverter(from: source, to: format) }
      appendSegment(time)
      return time
    }
    if let time = try startResampling(item, continuing: continuation) { return time }
    let first = try seek(item, to: request)
    try readHistory(of: item)
    let resampler = try AudioConverter(
      from: source, to: format, historyStart: item.position, firstInputFrame: max(first, item.position))
    return startResampling(item, with: resampler, countedFrom: 0)
  }

  /// Starts the stream in the middle of a conversion of another stream, with the same resampling phase. Returns nil if
  /// the conversion cannot be continued, for example because its history is too short.
  private func startResampling(
    _ item: ItemDecoder, continuing continuation: Conversion.Continuation?
  ) throws(MediaError) -> MediaTime? {
    guard let continuation, continuation.conversion.source == item.format,
      continuation.conversion.itemID == item.itemID, let start = continuation.historyStart(to: format),
      start.history >= continuation.conversion.offset
    else { return nil }
    let offset = continuation.conversion.offset
    _ = try item.seek(
      to: MediaTime(frame: start.history - offset, rate: item.format.sampleRateHz), before: .zero, after: .zero)
    guard item.position == start.history - offset else { return nil }
    try readHistory(of: item)
    let resampler = try AudioConverter(
      from: item.format, to: format, historyStart: start.history, firstInputFrame: start.history,
      firstOutputFrame: start.firstOutputFrame)
    return startResampling(item, with: resampler, countedFrom: offset)
  }

  /// Starts the stream with a resampler. Returns the decoder time of frame 0.
  ///
  /// - Parameter offset: the converter's input frame for frame 0 of the item.
  private func startResampling(
    _ item: ItemDecoder, with resampler: AudioConverter, countedFrom offset: Int64
  ) -> MediaTime {
    let rate = item.format.sampleRateHz
    converter = resampler
    converterInputFrame = item.position + offset
    converterFirstStreamFrame = -resampler.firstOutputFrame
    conversions = [
      Conversion(
        itemID: item.itemID, passIndex: passIndex, source: item.format, streamFrame: 0, firstFrame: 0, offset: offset,
        firstStreamFrame: converterFirstStreamFrame)
    ]
    endPosition = ExactPosition(frame: -resampler.firstOutputFrame)
    endPosition.advance(by: converterInputFrame, ofRate: rate, inRate: format.sampleRateHz)
    var time = MediaTime(frame: resampler.firstOutputFrame, rate: format.sampleRateHz)
    if offset != 0 { time = time - MediaTime(frame: offset, rate: rate) }
    appendSegment(time, at: 0)
    return time
  }

  /// Starts the stream at a rate other than 1. Output frames are counted from the beginning of the conversion. The
  /// first frame heard is therefore at the requested time or less than a frame after it.
  private func startConverting(
    _ item: ItemDecoder, at request: PlayerStateMachine.DecodeRequest
  ) throws(MediaError) -> MediaTime {
    let rate = item.format.sampleRateHz
    let first = try seek(item, to: request)
    try readHistory(of: item)
    let beginning = MediaTime(frame: item.position, rate: rate)
    let isExact = request.toleranceBefore == .zero && request.toleranceAfter == .zero && request.time.isNumeric
    let target = isExact ? request.time : MediaTime(frame: first, rate: rate)
    let framesBeforeTarget = (target - beginning).frameCount(
      rate: format.sampleRateHz, playbackRate: rateMagnitude, rounding: .towardPositiveInfinity)
    let dropped = max(0, framesBeforeTarget ?? 0)
    converter = try AudioConverter(
      from: item.format, to: format, playbackRate: rateMagnitude, droppedFrameCount: dropped)
    endPosition = ExactPosition(frame: -dropped)
    let time = MediaTime(
      beginning, advancedByFrames: dropped, rate: format.sampleRateHz, playbackRate: rateMagnitude)
    appendSegment(time, at: 0)
    return time
  }

  /// Starts the stream with a `StretchStage`. Frame 0 of the stream is frame `firstOutputFrame` of the item, counted at
  /// the stream's sample rate. The next input is the item's frame `position`.
  func startStretched(with stage: StretchStage, firstOutputFrame: Int64, readingFrom position: Int64) {
    converter = stage
    endPosition = ExactPosition()
    endPosition.advance(by: -firstOutputFrame, ofRate: Int(playbackRate.magnitude.millionths), inRate: 1_000_000)
    advance(by: position)
    appendSegment(MediaTime(frame: firstOutputFrame, rate: format.sampleRateHz), at: 0)
  }

  /// Seeks to the frame at which the conversion must begin, so that its output equals that of an uninterrupted pass.
  /// Returns the first item frame that is heard.
  private func seek(_ item: ItemDecoder, to request: PlayerStateMachine.DecodeRequest) throws(MediaError) -> Int64 {
    let rate = item.format.sampleRateHz
    var first = max(0, request.time.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? .max)
    if request.toleranceBefore > .zero || request.toleranceAfter > .zero || first == .max {
      _ = try item.seek(to: request.time, before: request.toleranceBefore, after: request.toleranceAfter)
      first = item.position
    }
    let history = AudioConverter.historyStart(
      before: first, from: item.format, to: format, playbackRate: rateMagnitude)
    if history != item.position || first != history {
      _ = try item.seek(to: MediaTime(frame: history, rate: rate), before: .zero, after: .zero)
    }
    return first
  }

  /// Whether a pass of `item` can follow without draining the processors and the converter first.
  func canShareConverter(with item: ItemDecoder) -> Bool {
    guard processorsContinue(with: item) else { return false }
    guard let converter else { return true }
    if let stage = converter as? StretchStage { return stage.algorithm == stretchAlgorithm(for: item) }
    return converter.input == item.format && stretchAlgorithm(for: item) == nil
  }

  /// Prepares the processors and the converter for the next pass, of `item`. Requires `canShareConverter(with:)` or
  /// `finish()` first.
  func preparePass(of item: ItemDecoder) throws(MediaError) {
    try prepareProcessors(for: item, continuing: true)
    try (converter as? StretchStage)?.startPass(with: item.format)
    guard converter == nil, item.format != format || rateMagnitude != .normal else { return }
    if let algorithm = stretchAlgorithm(for: item) {
      converter = try makeStage(from: item.format, algorithm)
    } else {
      converter = try AudioConverter(from: item.format, to: format, playbackRate: rateMagnitude)
    }
    beginsConversion = true
  }

  /// Starts the pass that was prepared, at `time` of `item`, the item's current position.
  func startPass(of item: ItemDecoder, at time: MediaTime) {
    passIndex += 1
    itemID = item.itemID
    sourceFormat = item.format
    writeGain(of: item)
    expectedPosition = nil
    if beginsConversion {
      (converterInputFrame, converterFirstStreamFrame) = (0, endFrame)
      beginsConversion = false
    }
    recordConversion(from: item.position)
    let start =
      time.isNumeric
      ? playbackRate.mirroredInReverse(time) : MediaTime(frame: item.position, rate: sourceFormat.sampleRateHz)
    // The segments of the previous pass can no longer change.
    output.describeReservedFrames()
    appendSegment(start)
  }

  /// Returns the point at which another stream can continue a pass that is cut off at a frame of this stream. Nil if
  /// that pass is not resampled.
  func continuation(ofPass index: Int, fromStreamFrame frame: Int64) -> Conversion.Continuation? {
    conversions.last { $0.passIndex == index && $0.streamFrame <= frame }.map {
      Conversion.Continuation(conversion: $0, streamFrame: frame)
    }
  }

  /// Records that the next input frame of the converter is frame `position` of the item.
  private func recordConversion(from position: Int64) {
    guard rateMagnitude == .normal, converter is AudioConverter, sourceFormat.sampleRateHz != format.sampleRateHz else {
      return
    }
    if conversions.count == Conversion.limit { conversions.removeFirst(Conversion.limit / 2) }
    conversions.append(
      Conversion(
        itemID: itemID, passIndex: passIndex, source: sourceFormat, streamFrame: endFrame,
        firstFrame: converterInputFrame, offset: converterInputFrame - position,
        firstStreamFrame: converterFirstStreamFrame))
  }

  /// Starts silence at `time` of the item; nil: at the end of the previous pass.
  func startSilence(itemID: PlayerItem.ID, at time: MediaTime?) {
    passIndex += 1
    self.itemID = itemID
    if let time { appendSegment(playbackRate.mirroredInReverse(time)) }
  }

  /// Records the decoder time of the next frame.
  ///
  /// If a pass begins between two frames, its time counts from the later frame. Times are then less than a frame late,
  /// and the exact start time of the pass is the time of a frame.
  private func appendSegment(_ decoderTime: MediaTime, at frame: Int64? = nil) {
    let time = playbackRate.mirroredInReverse(decoderTime)
    output.describe(
      StreamSegment(
        streamFrame: frame ?? endFrame, itemID: itemID, passIndex: Int32(clamping: passIndex), timeValue: time.value,
        timeScale: time.timescale, rateMillionths: playbackRate.millionths))
  }

  /// Writes the gain of the item that begins at `endFrame`. If the stream has no space for another gain, because it
  /// contains very many short items, the gain is written later. Until then the previous gain applies.
  private func writeGain(of item: ItemDecoder) {
    guard gainItemID != item.itemID,
      output.stream.setItemGain(item.gain, itemID: item.itemID, fromFrame: endFrame)
    else { return }
    gainItemID = item.itemID
    pendingGain = (item.itemID, item.gain)
  }

  /// Removes and returns the gain that was written to the stream since the last call; nil if there is none.
  func popPendingGain() -> (itemID: PlayerItem.ID, gain: Float)? {
    defer { pendingGain = nil }
    return pendingGain
  }

  /// Advances `endPosition` by a number of item frames.
  func advance(by frameCount: Int64) {
    endPosition.advance(
      by: frameCount, ofRate: sourceFormat.sampleRateHz * Int(rateMagnitude.millionths),
      inRate: format.sampleRateHz * 1_000_000)
  }

  // MARK: - Writing

  /// Decodes a chunk of `item` into the stream.
  func write(from item: ItemDecoder) throws(MediaError) -> WriteResult {
    writeGain(of: item)
    guard let region = output.writableRegion(atMost: Self.chunkFrames) else { return .written }
    guard converter != nil else {
      switch try item.read(into: region.samples, capacityFrames: region.count) {
      case .frames(let count, let position):
        checkContinuity(position, count)
        endPosition.advance(by: Int64(count), ofRate: 1, inRate: 1)
        commit(process(region.samples, frameCount: count, position: position))
        return .written
      case .ended: return .ended
      case .cancelled: return .cancelled
      }
    }
    return try readAndConvert(item)
  }

  /// Records a new segment if frames are missing, so that times stay exact.
  private func checkContinuity(_ position: Int64, _ count: Int) {
    if let expectedPosition, position != expectedPosition {
      appendSegment(MediaTime(frame: position, rate: sourceFormat.sampleRateHz))
      recordConversion(from: position)
    }
    expectedPosition = position + Int64(count)
  }

  /// The number of item frames read at once. Their converted output is at most one chunk, even at low rates.
  private var inputChunkFrames: Int {
    guard rateMagnitude < .normal else { return Self.chunkFrames }
    return max(64, Int(Int64(Self.chunkFrames) * rateMagnitude.millionths / 1_000_000))
  }

  private func readAndConvert(_ item: ItemDecoder) throws(MediaError) -> WriteResult {
    let inputFrames = inputChunkFrames
    let result = try withScratch(frameCount: inputFrames, of: sourceFormat) {
      samples throws(MediaError) -> ItemDecoder.ReadResult in
      let result = try item.read(into: samples, capacityFrames: inputFrames)
      if case .frames(let count, let position) = result {
        checkContinuity(position, count)
        advance(by: Int64(count))
        converterInputFrame += Int64(count)
        try convert(samples, frameCount: process(samples, frameCount: count, position: position))
      }
      return result
    }
    switch result {
    case .frames: return .written
    case .ended: return .ended
    case .cancelled: return .cancelled
    }
  }

  /// Calls `body` with memory for `frameCount` frames.
  func withScratch<Result>(
    frameCount: Int, of format: AudioFormat,
    _ body: (UnsafeMutablePointer<Float>) throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    let needed = frameCount * format.channelCount
    if scratch.count < needed { scratch = [Float](repeating: 0, count: needed) }
    return try scratch.withUnsafeMutableBufferPointer { buffer throws(MediaError) in
      guard let base = buffer.baseAddress else { preconditionFailure("no frames or no channels") }
      return try body(base)
    }
  }

  /// Returns free space in the stream; nil if there is none.
  func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int)? {
    output.writableRegion(atMost: frameCount)
  }

  /// Adds frames that were written to a region.
  func commit(_ frameCount: Int) { output.commit(frameCount) }

  /// Converts `frameCount` frames into the ring. Output that does not fit stays in the converter until the next call.
  func convert(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    guard let converter, frameCount > 0 else { return }
    let beginning = HostTime.now
    defer { convertNanoseconds += HostTime.now.nanoseconds(since: beginning) }
    var inputCount = frameCount
    while let region = output.writableRegion(atMost: .max) {
      let count = try converter.convert(
        samples, frameCount: inputCount, into: region.samples, capacityFrames: region.count)
      output.commit(count)
      inputCount = 0
      if count < region.count { return }
    }
    if inputCount > 0 {
      // The ring has no space at all: the converter keeps the whole input.
      var nothing: Float = 0
      _ = try converter.convert(samples, frameCount: inputCount, into: &nothing, capacityFrames: 0)
    }
  }

  /// Whether frames before `endFrame` are still in a processor or a filter that waits for more input.
  var hasFramesInConverter: Bool { output.writtenFrame < endFrame }

  /// Drains the processors, then the converter up to `endFrame`: cuts off excess output of the filter, and fills
  /// missing output with silence, also if the converter fails (`popDrainError`). Returns false if the ring had no space
  /// for all of it: call again.
  func finish() -> Bool {
    do throws(MediaError) {
      if !hasDrainFailed, try !flushProcessors() { return false }
    } catch {
      (hasDrainFailed, drainError) = (true, error)
    }
    processors?.endAudio()
    guard let converter else { return true }
    while output.writtenFrame < endFrame {
      guard let region = output.writableRegion(atMost: Int(endFrame - output.writtenFrame)) else { return false }
      var count = 0
      if !hasDrainFailed {
        do throws(MediaError) {
          count = try converter.drain(into: region.samples, capacityFrames: region.count)
        } catch {
          (hasDrainFailed, drainError) = (true, error)
        }
      }
      if count == 0 {
        region.samples.update(repeating: 0, count: region.count * format.channelCount)
        count = region.count
      }
      output.commit(count)
    }
    (self.converter, hasDrainFailed) = (nil, false)
    return true
  }

  /// Writes all frames before `frame` to the stream. Returns false if it had no space for all of them: call again.
  func finish(upTo frame: Int64) -> Bool {
    while passedFrame < frame {
      let passed = passedFrame
      // The converter may need the space of the reserve.
      let isFinished = finish()
      let isFlushed = output.flush(to: frame)
      if isFinished { return isFlushed }
      if passedFrame == passed { return false }
    }
    return true
  }

  /// Returns the error of a converter that failed in `finish`, once.
  func popDrainError() -> MediaError? {
    defer { drainError = nil }
    return drainError
  }

  /// The number of frames in the stream, without those that are reserved.
  var passedFrame: Int64 { output.stream.writtenFrame }

  /// The ID of the stream.
  var streamID: UInt64 { output.stream.id }

  /// See `RenderStream.requestSpaceWakeup`.
  func requestSpaceWakeup() { output.stream.requestSpaceWakeup() }

  // MARK: - Overlaps

  /// Removes the last frames of the pass that has ended, and mixes them with the following pass, which begins at the
  /// first of these frames.
  ///
  /// - Parameter gain: The gain of the frames relative to that of the following pass.
  func beginOverlap(of frameCount: Int64, _ crossfade: Crossfade, gain: Float) {
    let samples = output.takeReserved(Int(frameCount))
    endPosition = ExactPosition(frame: output.writtenFrame)
    beginOverlap(with: samples, crossfade, gain: gain)
  }

  /// Mixes the end of another pass with the next frames.
  ///
  /// - Parameter elapsed: The number of frames of the cross-fade that were heard in another stream.
  func beginOverlap(with samples: [Float], _ crossfade: Crossfade, gain: Float, elapsed: Int64 = 0) {
    output.mix(
      OutgoingAudio(
        samples, channelCount: format.channelCount, gain: gain, from: endFrame, elapsed: elapsed, crossfade: crossfade,
        sampleRateHz: format.sampleRateHz))
  }

  /// Writes a chunk of silence; the item time advances.
  func writeSilence() {
    guard let region = output.writableRegion(atMost: Self.chunkFrames) else { return }
    region.samples.update(repeating: 0, count: region.count * format.channelCount)
    endPosition.advance(by: Int64(region.count), ofRate: 1, inRate: 1)
    output.commit(region.count)
  }
}
