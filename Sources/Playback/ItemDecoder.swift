import MediaAssets
import MediaCore

/// The sound of one item, decoded in order from a place on: its audio track, or silence where it has only video.
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
  /// What `read` gives.
  let format: AudioFormat
  private let audioMix: AudioMixSlot
  private let timePitch: TimePitchSlot
  /// Where reading ends, exclusive, as a frame of the item; nil: at the item's end.
  private(set) var endFrame: Int64?
  /// Silence: the next frame, and the frame after the last.
  private var silentFrame: Int64 = 0
  private let silentEnd: Int64

  /// Opens the item's asset. Blocks. Errors: everything that `Asset.load` and `AudioTrackReader` throw.
  init(_ source: DecodePipeline.Source) throws(MediaError) {
    itemID = source.itemID
    audioMix = source.audioMix
    timePitch = source.timePitch
    asset = source.asset
    let properties = try source.asset.load()
    self.properties = properties
    if properties.hasAudio {
      let reader = try AudioTrackReader(asset: source.asset)
      self.reader = reader
      format = reader.format
      silentEnd = 0
    } else {
      reader = nil
      format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
      silentEnd = properties.duration.frameIndex(rate: 48_000, rounding: .towardPositiveInfinity) ?? 0
    }
  }

  /// The place of the frame that the next read gives.
  var position: Int64 { reader?.position ?? silentFrame }

  /// What the item is played with at another rate than 1.
  var timePitchAlgorithm: AudioTimePitchAlgorithm { timePitch.value }

  /// What was cut off the item's edges; that at the end is known once the end has been read.
  var startTrim: EdgeTrim { reader?.startTrim ?? .none }
  var endTrim: EdgeTrim { reader?.endTrim ?? .none }

  /// Lets reading end at a time of the item, at frame `floor(time * rate)`; nil: at the item's end. False, and reading
  /// goes on to the item's end, when it is past that frame already.
  func setEnd(_ time: MediaTime?) -> Bool {
    endFrame = time?.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity)
    guard let endFrame, position > endFrame else { return true }
    self.endFrame = nil
    return false
  }

  /// Nothing more is read.
  func endHere() { endFrame = position }

  /// Goes to a place; answers where the next frame lies, within the tolerances.
  func seek(to time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> MediaTime {
    if let reader { return try reader.seek(to: time, toleranceBefore: before, toleranceAfter: after) }
    let frame =
      time.isPositiveInfinity
      ? silentEnd : time.frameIndex(rate: format.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    silentFrame = max(0, min(frame, silentEnd))
    return MediaTime(frame: silentFrame, rate: format.sampleRateHz)
  }

  /// Decodes up to `capacityFrames` interleaved frames, as loud as the item's mix wants them.
  func read(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> ReadResult {
    let result = try decode(into: samples, capacityFrames: capacityFrames)
    if case .frames(let count, let position) = result {
      audioMix.value?.apply(
        to: samples, frameCount: count, channelCount: format.channelCount, firstFrame: position,
        sampleRateHz: format.sampleRateHz)
    }
    return result
  }

  private func decode(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> ReadResult {
    var wanted = capacityFrames
    if let endFrame {
      guard position < endFrame else { return .ended }
      wanted = Int(min(Int64(wanted), endFrame - position))
    }
    if let reader {
      switch try reader.read(into: samples, capacityFrames: wanted) {
      case .frames(let count, let position): return .frames(count, position: position)
      case .endOfTrack: return .ended
      case .cancelled: return .cancelled
      }
    }
    let count = min(wanted, Int(silentEnd - silentFrame))
    guard count > 0 else { return .ended }
    samples.update(repeating: 0, count: count * format.channelCount)
    defer { silentFrame += Int64(count) }
    return .frames(count, position: silentFrame)
  }

  func resetCancellation() { reader?.resetCancellation() }

  /// Packets that did not decode since the last call.
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? { reader?.takeSkippedPackets() }

  /// What is wrong with the file though it plays, found since the last call.
  func takeWarning() -> (time: MediaTime, error: MediaError)? { reader?.takeWarning() }

  /// Tells the asset where its sound ends, once the end has been read; answers what that changes, nil for nothing.
  func refineDuration() -> AssetProperties? {
    guard let reader, let end = reader.end, end.isExact else { return nil }
    return asset.refine(audioEnd: MediaTime(frame: end.frame, rate: format.sampleRateHz))
  }
}
