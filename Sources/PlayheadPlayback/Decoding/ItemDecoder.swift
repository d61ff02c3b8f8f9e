import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The audio of one item, decoded in order from a position: its audio track, or silence if it has only video.
///
/// A *reversed* decoder reads the item backwards, on a mirrored timeline: a sample that ends at item time `t` begins at
/// `PlaybackRate.mirrorSeconds - t`, and the item's beginning is its end. All times and frames of this interface are
/// then mirrored, so that callers need no special case.
///
/// If the item is a part of its file, times and frames are those of the part, from 0.
///
/// Threading: the decode thread only. The class is not final, so that tests can make slow subclasses.
class ItemDecoder {
  /// The result of `read`.
  enum ReadResult {
    /// The number of frames read, and the position of the first one on the item's timeline, in frames.
    case frames(Int, position: Int64)
    case ended
    case cancelled
  }

  let itemID: PlayerItem.ID
  let asset: Asset
  /// The properties of the loaded asset.
  let properties: AssetProperties
  let reader: AudioTrackReader?
  /// Whether the item is read in reverse.
  private(set) var isReversed = false
  /// The reader for reverse playback.
  private lazy var reverseReader = reader.map { ReverseAudioReader($0, duration: properties.duration) }
  /// The format of `read`.
  let format: AudioFormat
  /// The gain with which the mixer multiplies the samples.
  private(set) var gain: Float = 1
  private let audioMix: AudioMixSlot
  private let timePitch: TimePitchSlot
  private let audioProcessorSlot: AudioProcessorSlot
  /// The track that is played; nil: silence.
  private let trackID: AssetTrack.ID?
  /// The frame at which reading ends, exclusive; nil: the item's end.
  private(set) var endFrame: Int64?
  /// The item's first frame, counted in the file, and its time.
  private let origin: Int64
  private let originTime: MediaTime
  /// The number of frames of the item if it is a part with an end; nil: to the end of the file.
  private let partFrameCount: Int64?
  /// The title and the metadata before the position that apply there, until they are reported.
  private var heldTitle: (time: MediaTime, title: StreamTitle)?
  private var heldGroup: TimedMetadataGroup?
  /// For silence: the next frame, and the frame after the last.
  private var silentFrame: Int64 = 0
  private let silentEnd: Int64

  /// Opens the item's asset. Blocks.
  ///
  /// - Throws: the errors of `Asset.load` and `AudioTrackReader`.
  init(_ source: DecodePipeline.Source) throws(MediaError) {
    itemID = source.itemID
    audioMix = source.audioMix
    timePitch = source.timePitch
    audioProcessorSlot = source.audioProcessors
    asset = source.asset
    let properties = try source.opening.load(source.asset)
    defer { source.opening.finish(source.asset) }
    self.properties = properties
    try source.mediaSelection.checkAudio(of: properties)
    try source.timeRange?.checkPart(of: properties, path: source.asset.displayPath)
    trackID = source.mediaSelection.audioTrackID(in: properties)
    if let trackID {
      // The default track is requested as nil, so that a file whose default track has changed since still plays.
      let reader = try source.opening.reader(
        source.asset, trackID: trackID == properties.audioTrackID ? nil : trackID, keepsFile: true,
        isPlayback: true)
      self.reader = reader
      format = reader.format
      silentEnd = 0
    } else {
      reader = nil
      format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
      silentEnd = properties.duration.frameIndex(rate: 48_000, rounding: .towardPositiveInfinity) ?? 0
    }
    let rate = format.sampleRateHz
    let first = source.timeRange?.start.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? 0
    origin = first
    originTime = MediaTime(frame: first, rate: rate)
    // The end is rounded like the start of the next part, so that no frame is lost or repeated between parts.
    partFrameCount = source.timeRange.flatMap { range in
      range.end.frameIndex(rate: rate, rounding: .towardNegativeInfinity).map { max(0, $0 - first) }
    }
    silentFrame = first
  }

  /// Returns whether this decoder plays the source: the same item, and the same choice of the track.
  func matches(_ source: DecodePipeline.Source) -> Bool {
    itemID == source.itemID && source.mediaSelection.audioTrackID(in: properties) == trackID
  }

  /// The position of the frame that the next read returns.
  var position: Int64 {
    guard isReversed else { return (reader?.position ?? silentFrame) - origin }
    return mirrored((reverseReader?.position ?? silentFrame) - origin)
  }

  /// The algorithm for rates other than 1.
  var timePitchAlgorithm: AudioTimePitchAlgorithm { timePitch.value }

  /// The processors of the item and its player.
  var audioProcessors: [AudioProcessorFactory] { audioProcessorSlot.value }

  /// The audio trimmed at the item's edges. The trim at the end is known once the end has been read.
  var startTrim: EdgeTrim { isReversed ? trimAfterEnd : trimBeforeStart }
  var endTrim: EdgeTrim { isReversed ? trimBeforeStart : trimAfterEnd }

  /// Only an edge of the file is trimmed: an edge of a part within the file has no trim.
  private var trimBeforeStart: EdgeTrim { origin == 0 ? reader?.startTrim ?? .none : .none }
  private var trimAfterEnd: EdgeTrim {
    guard let reader else { return .none }
    guard let partFrameCount else { return reader.endTrim }
    return reader.end.map { $0.frame <= origin + partFrameCount } == true ? reader.endTrim : .none
  }

  /// The duration of the item, as far as it is known.
  var itemDuration: MediaTime {
    if let partFrameCount { return MediaTime(frame: partFrameCount, rate: format.sampleRateHz) }
    return properties.duration.isNumeric ? properties.duration - originTime : properties.duration
  }

  /// Converts between a frame of the item and its mirrored frame.
  private func mirrored(_ frame: Int64) -> Int64 { PlaybackRate.mirrorSeconds * Int64(format.sampleRateHz) - frame }

  private func mirrored(_ time: MediaTime) -> MediaTime {
    MediaTime(value: PlaybackRate.mirrorSeconds, timescale: 1) - time
  }

  /// Determines the gain. Blocks while tags are read that are not known yet.
  ///
  /// - Parameter opening: cancels the reading of tags. After cancellation or a failure the gain follows from the tags
  ///   known so far.
  func updateGain(_ policy: GainPolicy, _ opening: AssetOpening) {
    guard policy.settings.mode != .off else {
      gain = 1
      return
    }
    let tags = try? opening.loudnessTags(of: asset)
    gain = policy.gain(for: tags ?? properties.loudnessTags).linear
  }

  /// Sets the direction. The caller must then seek.
  func setReversed(_ isReversed: Bool) { self.isReversed = isReversed }

  /// Sets the end of reading to frame `floor(time * rate)`; nil: the item's end.
  ///
  /// - Returns: false if the position is already past that frame. Reading then continues to the item's end.
  func setEnd(_ time: MediaTime?) -> Bool {
    endFrame = time?.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity)
    let isAhead = endFrame.map { position <= $0 } ?? true
    if !isAhead { endFrame = nil }
    reverseReader?.lowestFrame = origin + (isReversed ? endFrame.map { max(0, mirrored($0)) } ?? 0 : 0)
    return isAhead
  }

  /// Ends reading at the current position.
  func endAtCurrentPosition() { endFrame = position }

  /// Seeks and returns the time of the next frame, which is within the tolerances.
  func seek(to time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> MediaTime {
    // On the mirrored timeline the tolerances before and after are exchanged.
    if isReversed { return mirrored(try seekInReverse(to: mirrored(time), before: after, after: before)) }
    let target = filePosition(of: time, before: before, after: after)
    if let reader {
      return try reader.seek(to: target.time, toleranceBefore: target.before, toleranceAfter: target.after) - originTime
    }
    let frame =
      target.time.isPositiveInfinity
      ? silentEnd : target.time.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    silentFrame = max(origin, min(frame, silentEnd))
    return MediaTime(frame: silentFrame - origin, rate: format.sampleRateHz)
  }

  /// Converts a time of the item to a time in the file, and limits the tolerances to the part. Has no effect for an
  /// item that is the whole file.
  private func filePosition(
    of time: MediaTime, before: MediaTime, after: MediaTime
  ) -> (time: MediaTime, before: MediaTime, after: MediaTime) {
    guard origin > 0 || partFrameCount != nil else { return (time, before, after) }
    let end = partFrameCount.map { MediaTime(frame: origin + $0, rate: format.sampleRateHz) } ?? .positiveInfinity
    let position = max(originTime, min(originTime + time, end))
    guard position.isNumeric else { return (position, before, .zero) }
    return (position, min(before, position - originTime), min(after, end - position))
  }

  /// Seeks in reverse. In a stream that is not seekable only time 0 is supported: reverse playback ends there at once.
  private func seekInReverse(
    to time: MediaTime, before: MediaTime, after: MediaTime
  ) throws(MediaError) -> MediaTime {
    if !properties.isSeekable, time > .zero {
      throw MediaError(
        asset.streamErrorCode, "a stream cannot play in reverse: \(asset.displayPath)", operation: "seek")
    }
    let target = filePosition(of: time, before: before, after: after)
    if let reverseReader {
      let found = try reverseReader.seek(
        to: target.time, toleranceBefore: target.before, toleranceAfter: target.after)
      reverseReader.lowestFrame = origin
      return max(.zero, found - originTime)
    }
    let frame =
      target.time.isPositiveInfinity
      ? silentEnd : target.time.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
    silentFrame = max(origin, min(frame, silentEnd))
    return MediaTime(frame: silentFrame - origin, rate: format.sampleRateHz)
  }

  /// Decodes up to `capacityFrames` interleaved frames, with the volume of the item's mix.
  func read(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> ReadResult {
    let result = try decode(into: samples, capacityFrames: capacityFrames)
    if case .frames(let count, let position) = result {
      applyMix(to: samples, frameCount: count, position: position)
    }
    return result
  }

  private func applyMix(to samples: UnsafeMutablePointer<Float>, frameCount: Int, position: Int64) {
    guard let mix = audioMix.value else { return }
    let (channelCount, rate) = (format.channelCount, format.sampleRateHz)
    guard isReversed else {
      return mix.apply(
        to: samples, frameCount: frameCount, channelCount: channelCount, firstFrame: position, sampleRateHz: rate)
    }
    // The volume of a frame depends on its item time. The frames are therefore reversed into item order for the mix,
    // and back.
    let firstFrame = mirrored(position) - Int64(frameCount)
    Self.reverse(samples, frameCount: frameCount, channelCount: channelCount)
    mix.apply(
      to: samples, frameCount: frameCount, channelCount: channelCount, firstFrame: firstFrame, sampleRateHz: rate)
    Self.reverse(samples, frameCount: frameCount, channelCount: channelCount)
  }

  private static func reverse(_ samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int) {
    for frame in 0..<frameCount / 2 {
      let other = frameCount - 1 - frame
      for channel in 0..<channelCount {
        let sample = samples[frame * channelCount + channel]
        samples[frame * channelCount + channel] = samples[other * channelCount + channel]
        samples[other * channelCount + channel] = sample
      }
    }
  }

  private func decode(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> ReadResult {
    var requestedCount = capacityFrames
    let end = isReversed ? endFrame : [endFrame, partFrameCount].compactMap { $0 }.min()
    if let end {
      guard position < end else { return .ended }
      requestedCount = Int(min(Int64(requestedCount), end - position))
    }
    if isReversed, let reverseReader {
      switch try reverseReader.read(into: samples, capacityFrames: requestedCount) {
      case .frames(let count, let position): return .frames(count, position: mirrored(position - origin))
      case .endOfTrack: return .ended
      case .cancelled: return .cancelled
      }
    }
    if let reader {
      switch try reader.read(into: samples, capacityFrames: requestedCount) {
      case .frames(let count, let position): return .frames(count, position: position - origin)
      case .endOfTrack: return .ended
      case .cancelled: return .cancelled
      }
    }
    let count = min(requestedCount, Int(isReversed ? silentFrame - origin : silentEnd - silentFrame))
    guard count > 0 else { return .ended }
    samples.update(repeating: 0, count: count * format.channelCount)
    let first = position
    silentFrame += Int64(isReversed ? -count : count)
    return .frames(count, position: first)
  }

  func resetCancellation() { reader?.resetCancellation() }

  /// Discards the reports of audio before the position, which is not heard. The last title and metadata apply there.
  func discardReportsBeforePosition() {
    _ = reader?.popSkippedPackets()
    heldTitle = popTitles().last
    heldGroup = reader?.popTimedMetadata().last.map { group in
      TimedMetadataGroup(items: group.items, time: group.time, duration: group.duration, isCarriedOver: true)
    }
  }

  /// Removes and returns the packets that failed to decode since the last call; nil if there are none.
  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    reader?.popSkippedPackets().map { ($0.count, $0.time - originTime, $0.error) }
  }

  /// Removes and returns the titles that the stream reported since the last call, with their times.
  func popTitles() -> [(time: MediaTime, title: StreamTitle)] {
    defer { heldTitle = nil }
    return (heldTitle.map { [$0] } ?? []) + (reader?.popTitles() ?? [])
  }

  /// Removes and returns other metadata of the stream since the last call. `laterFrames` is the number of frames
  /// decoded after the metadata's time.
  func popTimedMetadata() -> [(group: TimedMetadataGroup, laterFrames: Int64)] {
    defer { heldGroup = nil }
    return ((heldGroup.map { [$0] } ?? []) + (reader?.popTimedMetadata() ?? [])).map { group in
      let group = group.relative(to: originTime)
      let frame = group.time.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? position
      return (group, group.isCarriedOver ? 0 : max(0, position - frame))
    }
  }

  /// Removes and returns a fault of the file that does not prevent playback; nil if there is none. Call until it
  /// returns nil.
  func popWarning() -> (time: MediaTime, error: MediaError)? {
    (isReversed ? reverseReader?.popWarning() : reader?.popWarning()).map { ($0.time - originTime, $0.error) }
  }

  /// Refines the duration of the asset once the end of the audio has been read. Returns the changed properties; nil if
  /// nothing changes.
  func refineDuration() -> AssetProperties? {
    guard let reader, let end = reader.end, end.isExact else { return nil }
    return asset.refine(audioEnd: MediaTime(frame: end.frame, rate: format.sampleRateHz), trackID: trackID)
  }
}

extension Asset {
  /// The error code for operations that a stream does not support because it plays only in order.
  var streamErrorCode: MediaError.Code { descriptor == nil ? .rangesNotSupported : .onlyInOrder }
}
