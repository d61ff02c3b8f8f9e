import MediaAssets
import MediaCore

/// The sound of one item, decoded in order from a place on: its audio track, or silence where it has only video.
///
/// *Turned round* it is read backwards. Its timeline is mirrored then: what ends at the item's time `t` begins at
/// `PlaybackRate.mirrorSeconds - t`, the item's beginning is the end, and everything here is said in those times and
/// frames. So who reads it need not know.
///
/// Of an item that is a part of its file that part is all there is: times and frames are the item's, from 0 on.
///
/// Threading: the decode thread only. Not final, so that a test's may be slow.
class ItemDecoder {
  enum ReadResult {
    /// Frames, and the place of the first on the item's timeline, in frames.
    case frames(Int, position: Int64)
    case ended
    case cancelled
  }

  let itemID: PlayerItem.ID
  let asset: Asset
  /// What the asset was found to be.
  let properties: AssetProperties
  let reader: AudioTrackReader?
  /// Whether the item is turned round.
  private(set) var isReversed = false
  /// Reads it backwards.
  private lazy var reverseReader = reader.map { ReverseAudioReader($0, duration: properties.duration) }
  /// What `read` gives.
  let format: AudioFormat
  /// What its samples are to be multiplied with by the mixer.
  private(set) var gain: Float = 1
  private let audioMix: AudioMixSlot
  private let timePitch: TimePitchSlot
  /// The track that is played; nil: silence.
  private let trackID: AssetTrack.ID?
  /// Where reading ends, exclusive, as a frame; nil: at the item's end.
  private(set) var endFrame: Int64?
  /// The file's frame that is the item's first one, and its time.
  private let origin: Int64
  private let originTime: MediaTime
  /// Frames of the item; nil: up to the file's end.
  private let partFrames: Int64?
  /// Silence: the next frame, and the frame after the last.
  private var silentFrame: Int64 = 0
  private let silentEnd: Int64

  /// Opens the item's asset. Blocks. Errors: everything that `Asset.load` and `AudioTrackReader` throw.
  init(_ source: DecodePipeline.Source) throws(MediaError) {
    itemID = source.itemID
    audioMix = source.audioMix
    timePitch = source.timePitch
    asset = source.asset
    let properties = try source.opening.load(source.asset)
    defer { source.opening.finish(source.asset) }
    self.properties = properties
    try source.mediaSelection.checkAudio(of: properties)
    try source.timeRange?.checkPart(of: properties, path: source.asset.displayPath)
    trackID = source.mediaSelection.audioTrackID(in: properties)
    if let trackID {
      // Unless another was chosen, the file has its own way, be it another one by now.
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
    // What follows in the file begins at this frame: none is lost and none comes twice.
    partFrames = source.timeRange.flatMap { range in
      range.end.frameIndex(rate: rate, rounding: .towardNegativeInfinity).map { max(0, $0 - first) }
    }
    silentFrame = first
  }

  /// Whether it is what the source is to be played with: a track that was chosen since is another one.
  func plays(_ source: DecodePipeline.Source) -> Bool {
    itemID == source.itemID && source.mediaSelection.audioTrackID(in: properties) == trackID
  }

  /// The place of the frame that the next read gives.
  var position: Int64 {
    guard isReversed else { return (reader?.position ?? silentFrame) - origin }
    return mirrored((reverseReader?.position ?? silentFrame) - origin)
  }

  /// What the item is played with at another rate than 1.
  var timePitchAlgorithm: AudioTimePitchAlgorithm { timePitch.value }

  /// What was cut off the item's edges; that at the item's end is known once it has been read.
  var startTrim: EdgeTrim { isReversed ? trimBehind : trimBefore }
  var endTrim: EdgeTrim { isReversed ? trimBefore : trimBehind }

  /// A part that begins within the file has nothing cut off there, nor has one that ends there.
  private var trimBefore: EdgeTrim { origin == 0 ? reader?.startTrim ?? .none : .none }
  private var trimBehind: EdgeTrim {
    guard let reader else { return .none }
    guard let partFrames else { return reader.endTrim }
    return reader.end.map { $0.frame <= origin + partFrames } == true ? reader.endTrim : .none
  }

  /// A frame of the item in the mirror, and back.
  private func mirrored(_ frame: Int64) -> Int64 { PlaybackRate.mirrorSeconds * Int64(format.sampleRateHz) - frame }

  private func mirrored(_ time: MediaTime) -> MediaTime {
    MediaTime(value: PlaybackRate.mirrorSeconds, timescale: 1) - time
  }

  /// Finds out how loud it is to be. Blocks where tags are to be read that have not been.
  ///
  /// - Parameter opening: how that is given up: it is as loud as what is known says then, as where they cannot be read.
  func setLevel(_ policy: LevelPolicy, _ opening: AssetOpening) {
    guard policy.settings.mode != .off else {
      gain = 1
      return
    }
    let tags = try? opening.levelTags(of: asset)
    gain = policy.gain(for: tags ?? properties.levelTags).linear
  }

  /// Turns the item round, or back; then seek.
  func setReversed(_ isReversed: Bool) { self.isReversed = isReversed }

  /// Lets reading end at a time, at frame `floor(time * rate)`; nil: at the item's end. False, and reading goes on to the
  /// item's end, when it is past that frame already.
  func setEnd(_ time: MediaTime?) -> Bool {
    endFrame = time?.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity)
    let isAhead = endFrame.map { position <= $0 } ?? true
    if !isAhead { endFrame = nil }
    reverseReader?.lowestFrame = origin + (isReversed ? endFrame.map { max(0, mirrored($0)) } ?? 0 : 0)
    return isAhead
  }

  /// Nothing more is read.
  func endHere() { endFrame = position }

  /// Goes to a place; answers where the next frame lies, within the tolerances.
  func seek(to time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> MediaTime {
    // In the mirror what lies before a time lies behind it.
    if isReversed { return mirrored(try seekBackwards(to: mirrored(time), before: after, after: before)) }
    let place = filePlace(of: time, before: before, after: after)
    if let reader {
      return try reader.seek(to: place.time, toleranceBefore: place.before, toleranceAfter: place.after) - originTime
    }
    let frame =
      place.time.isPositiveInfinity
      ? silentEnd : place.time.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    silentFrame = max(origin, min(frame, silentEnd))
    return MediaTime(frame: silentFrame - origin, rate: format.sampleRateHz)
  }

  /// A time of the item in its file, and tolerances that do not lead out of the part; nothing changes for an item that is the
  /// whole file.
  private func filePlace(
    of time: MediaTime, before: MediaTime, after: MediaTime
  ) -> (time: MediaTime, before: MediaTime, after: MediaTime) {
    guard origin > 0 || partFrames != nil else { return (time, before, after) }
    let end = partFrames.map { MediaTime(frame: origin + $0, rate: format.sampleRateHz) } ?? .positiveInfinity
    let place = max(originTime, min(originTime + time, end))
    guard place.isNumeric else { return (place, before, .zero) }
    return (place, min(before, place - originTime), min(after, end - place))
  }

  /// At its beginning even a stream is at its end backwards; from anywhere else it cannot be read so.
  private func seekBackwards(
    to time: MediaTime, before: MediaTime, after: MediaTime
  ) throws(MediaError) -> MediaTime {
    if !properties.isSeekable, time > .zero {
      throw MediaError(asset.codeOfStreams, "a stream is not played backwards: \(asset.displayPath)", operation: "seek")
    }
    let place = filePlace(of: time, before: before, after: after)
    if let reverseReader {
      let found = try reverseReader.seek(
        to: place.time, toleranceBefore: place.before, toleranceAfter: place.after)
      reverseReader.lowestFrame = origin
      return max(.zero, found - originTime)
    }
    let frame =
      place.time.isPositiveInfinity
      ? silentEnd : place.time.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
    silentFrame = max(origin, min(frame, silentEnd))
    return MediaTime(frame: silentFrame - origin, rate: format.sampleRateHz)
  }

  /// Decodes up to `capacityFrames` interleaved frames, as loud as the item's mix wants them.
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
    // Each frame's volume is that of its time, whichever way it is read.
    let firstFrame = mirrored(position) - Int64(frameCount)
    Self.turnRound(samples, frameCount: frameCount, channelCount: channelCount)
    mix.apply(
      to: samples, frameCount: frameCount, channelCount: channelCount, firstFrame: firstFrame, sampleRateHz: rate)
    Self.turnRound(samples, frameCount: frameCount, channelCount: channelCount)
  }

  private static func turnRound(_ samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int) {
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
    var wanted = capacityFrames
    let end = isReversed ? endFrame : [endFrame, partFrames].compactMap { $0 }.min()
    if let end {
      guard position < end else { return .ended }
      wanted = Int(min(Int64(wanted), end - position))
    }
    if isReversed, let reverseReader {
      switch try reverseReader.read(into: samples, capacityFrames: wanted) {
      case .frames(let count, let position): return .frames(count, position: mirrored(position - origin))
      case .endOfTrack: return .ended
      case .cancelled: return .cancelled
      }
    }
    if let reader {
      switch try reader.read(into: samples, capacityFrames: wanted) {
      case .frames(let count, let position): return .frames(count, position: position - origin)
      case .endOfTrack: return .ended
      case .cancelled: return .cancelled
      }
    }
    let count = min(wanted, Int(isReversed ? silentFrame - origin : silentEnd - silentFrame))
    guard count > 0 else { return .ended }
    samples.update(repeating: 0, count: count * format.channelCount)
    let first = position
    silentFrame += Int64(isReversed ? -count : count)
    return .frames(count, position: first)
  }

  func resetCancellation() { reader?.resetCancellation() }

  /// Packets that did not decode since the last call.
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    reader?.takeSkippedPackets().map { ($0.count, $0.time - originTime, $0.error) }
  }

  /// What a stream said since the last call that it plays, and from when on.
  func takeTitles() -> [(time: MediaTime, title: StreamTitle)] { reader?.takeTitles() ?? [] }

  /// What it says besides of what has been decoded, each with how many of its frames have been decoded since.
  func takeTimedMetadata() -> [(group: TimedMetadataGroup, laterFrames: Int64)] {
    (reader?.takeTimedMetadata() ?? []).map { group in
      let group = group.moved(by: originTime)
      let frame = group.time.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? position
      return (group, group.isHeld ? 0 : max(0, position - frame))
    }
  }

  /// What is wrong with the file though it plays, found since the last call.
  func takeWarning() -> (time: MediaTime, error: MediaError)? {
    (isReversed ? reverseReader?.takeWarning() : reader?.takeWarning()).map { ($0.time - originTime, $0.error) }
  }

  /// Tells the asset where its sound ends, once the end has been read; answers what that changes, nil for nothing.
  func refineDuration() -> AssetProperties? {
    guard let reader, let end = reader.end, end.isExact else { return nil }
    return asset.refine(audioEnd: MediaTime(frame: end.frame, rate: format.sampleRateHz), trackID: trackID)
  }
}

extension Asset {
  /// Why a stream of it is heard only as it comes.
  var codeOfStreams: MediaError.Code { descriptor == nil ? .rangesNotSupported : .onlyInOrder }
}
