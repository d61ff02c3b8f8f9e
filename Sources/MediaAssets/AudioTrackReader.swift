// What a track sounds like on the asset's timeline. Mostly that is what MediaTrackReader reads; where an edit list puts
// together several stretches of media, AudioTrackReader+Edits.swift goes from one to the next.
import LibAV
import MediaCore
import NetworkIO

/// Reads the sound of an asset as interleaved numbers, float32 unless said, at the track's own rate and channel count, with exact positions.
///
/// Positions are frames on the asset's timeline: 0 is its presentation start, after the encoder's priming. They are
/// contiguous between seeks: where packets are missing, or the track begins late, silence is read.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` from any thread.
public final class AudioTrackReader: @unchecked Sendable {
  // `@unchecked Sendable`: only the interrupt of `sound` is touched from other threads, and it is Sendable.

  /// What a read came to.
  public enum ReadResult: Sendable, Hashable {
    /// So many frames, at least 1; `position` is the first one's place.
    case frames(Int, position: Int64)
    case endOfTrack
    /// `cancel()` was used; nothing was read.
    case cancelled
  }

  /// Where a track's sound ends.
  public struct TrackEnd: Sendable, Hashable, Codable {
    /// The frame behind the last one.
    public var frame: Int64
    /// Every frame up to it was counted, or placed by timestamps as fine as frames.
    public var isExact: Bool
  }

  private let sound: any SoundReader
  /// Where a read is among the edits; nil for a track whose media is heard as it is.
  var edited: EditedPlace?

  /// Opens the asset, loading it if need be, and decodes the first piece of its sound. Blocks.
  ///
  /// - Parameters:
  ///   - trackID: the track to read; nil: the one that the file would have played; of a composition all, added up.
  ///   - encoding: what is read: 8, 16 or 32 bits, or float, in this machine's order; interleaved.
  ///
  /// Errors: `invalidArgument` for another encoding; those of `Asset.load()`; `noPlayableTracks` when it has no sound; `noSuchTrack` when the file has no such sound
  /// track; `decodeFailed` when none of it decodes.
  public convenience init(
    asset: Asset, trackID: AssetTrack.ID? = nil, encoding: PCMEncoding = .float32
  ) throws(MediaError) {
    let interrupt = Interrupt()
    _ = try asset.load(interrupt: interrupt, keepsOpen: true)
    defer { asset.dropKept() }
    try self.init(asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: trackID, encoding: encoding)
  }

  /// As above, without loading, and with a choice of what may be opened: for tests of reads that block.
  ///
  /// - Parameter isPlayback: a player plays what is read, so that the isolation `worker` reads in this process.
  init(
    asset: Asset, interrupt: Interrupt, kinds: FileSource.Kinds, trackID: AssetTrack.ID? = nil,
    encoding: PCMEncoding = .float32, log: NetworkLog? = nil, keepsFile: Bool = false, isPlayback: Bool = false
  ) throws(MediaError) {
    let sampleFormat = try SampleWriter.format(of: encoding)
    self.encoding = encoding
    switch try MediaFile.find(asset, interrupt: interrupt, kinds: kinds, log: log) {
    case .stream(let session, var fetcher):
      fetcher.isPlayback = isPlayback
      sound = try SegmentedTrackReader(
        session: session.rendition(trackID, fetcher: fetcher, interrupt: interrupt), fetcher: fetcher,
        interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat)
      edited = nil
    case .composition(let composition):
      sound = try CompositionSoundReader(
        composition, interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat, log: log)
      edited = nil
    case .bytes(let source):
      if let lease = try asset.isolation.readingLease(isPlayback: isPlayback) {
        sound = try IsolatedAudioReader(
          lease, source: source, displayName: asset.displayPath, trackID: trackID, encoding: encoding,
          readsAhead: !isPlayback)
        // The worker's reader follows the edits.
        edited = nil
      } else {
        let media = try MediaTrackReader(
          asset: asset, demuxer: try MediaFile.demuxer(source, of: asset), byteCount: source.byteCount ?? 0,
          interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat)
        sound = media
        edited = media.edits.map { EditedPlace(timeline: $0, warns: $0.hasUnusualRates) }
      }
      if let source = source.byteSource { asset.noteReading(source) }
      if keepsFile { asset.keepFile(source) }
    }
  }

  /// What reads a file; only a file has edits.
  var media: MediaTrackReader {
    guard let media = sound as? MediaTrackReader else { preconditionFailure("a stream is no file") }
    return media
  }

  // MARK: - What is read

  /// What is read: the track's rate and channel count.
  public var format: AudioFormat { sound.format }
  /// The track that is read.
  public var trackID: AssetTrack.ID { sound.trackID }
  /// How the numbers are written that are read.
  public let encoding: PCMEncoding
  /// Bytes of a frame that is read.
  public var frameByteCount: Int { sound.frameByteCount }
  /// What silence is made of.
  var silentByte: UInt8 { sound.silentByte }
  /// Speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when the file does not say.
  public var channelMask: UInt64? { sound.channelMask }
  /// The place of the frame that the next read gives.
  public var position: Int64 { edited?.position ?? sound.position }
  /// Why `position` is not proved to be that of the next sample, since the last seek; nil where it is.
  public var positionDoubt: PositionDoubt? { sound.positionDoubt }
  /// What the stream said since the last call of what it plays, and from which time on; in order.
  public func takeTitles() -> [(time: MediaTime, title: StreamTitle)] {
    sound.takeTitles().map { (assetTime($0.time), $0.title) }
  }
  /// What the stream said since the last call besides, of what has been read: date ranges, and ID3 tags between the sound; in order.
  public func takeTimedMetadata() -> [TimedMetadataGroup] { sound.takeTimedMetadata() }
  /// Where the time of the last seek went.
  public var lastSeekTimings: SeekTimings { sound.lastSeekTimings }
  /// What was cut off in front of the first frame.
  public var startTrim: EdgeTrim { edited?.startTrim ?? sound.startTrim }
  /// What was cut off behind the last frame; known once the end has been read.
  public var endTrim: EdgeTrim { edited == nil ? sound.endTrim : editedEndTrim }
  /// Where the sound ends; known once the end has been read.
  public var end: TrackEnd? { edited == nil ? sound.end : edited?.end }

  // MARK: - Cancellation

  /// Makes the call that runs and those to come give up until `resetCancellation()`. Any thread; does not block.
  public func cancel() { sound.cancel() }

  /// Allows reading again; it goes on where it was. Any thread.
  public func resetCancellation() { sound.resetCancellation() }

  // MARK: - What is wrong

  /// Packets that did not decode since the last call, with the first one's place and error; nil when all did.
  public func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    sound.takeSkippedPackets().map { ($0.count, assetTime($0.time), $0.error) }
  }

  /// What is wrong with the file, though it plays, found since the last call: `irregularTimestamps`, `wrongLength`,
  /// `unsupportedEdit`.
  public func takeWarning() -> (time: MediaTime, error: MediaError)? {
    takeEditWarning() ?? sound.takeWarning().map { (assetTime($0.time), $0.error) }
  }

  // MARK: - Reading

  /// Reads up to `capacityFrames` frames, fewer only at the end or when cancelled. Blocks.
  ///
  /// - Parameter output: room for `capacityFrames` interleaved frames, aligned for their numbers.
  /// Errors: `readFailed`; `damagedFile`, after the last frame, when the file breaks off before its end;
  /// `unsupportedAudioFormat` when the sample rate changes in the middle; `conversionFailed`.
  public func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    if edited == nil { return try sound.read(into: output, capacityFrames: capacityFrames) }
    return try readEdited(into: output, capacityFrames: capacityFrames)
  }

  /// Goes to a time; the next read begins there. Blocks.
  ///
  /// With tolerances of zero the next frame is the one that contains `time`: frame `floor(time * rate)`. With more it is
  /// one within them that costs less to reach: in what is decoded already, when that is near, or where nothing more needs
  /// to be decoded than what makes the sound right. Times outside the asset are clamped.
  ///
  /// Answers the time of the next frame. Errors: `invalidTime`; `cancelled`; `readFailed`, `damagedFile`.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    guard let timeline = edited?.timeline else {
      return try sound.seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter)
    }
    try noteChangedEnd()
    let (target, allowed) = try SeekTarget.frames(
      time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, sampleRateHz: format.sampleRateHz,
      last: edited?.end?.frame ?? timeline.endFrame ?? Int64.max / 8)
    try seekEdited(toFrame: target, within: allowed)
    return MediaTime(frame: position, rate: format.sampleRateHz)
  }

  /// How many frames of sound there are from time 0 on, counted: by reading the whole file, without decoding where
  /// packets tell how long they are. Afterwards the reader is at the end. Blocks for as long as that takes.
  ///
  /// Errors: those of `read`, but that a file breaks off is none; `cancelled`.
  public func exactFrameCount() throws(MediaError) -> Int64 {
    let count = try sound.exactFrameCount()
    return edited == nil ? count : finishEdited(mediaFrameCount: count)
  }
}
