// The audio of a track on the asset's timeline. Usually MediaTrackReader reads it directly. For a track with an edit
// list, AudioTrackReader+Edits.swift reads the segments of the list in sequence.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the audio of an asset as interleaved samples, with the track's sample rate and channel count
/// and with exact positions.
///
/// Positions are frames on the asset's timeline. Position 0 is the presentation start, after the encoder's priming.
/// Positions are contiguous between seeks: missing packets and a late track start are read as silence.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
package final class AudioTrackReader: @unchecked Sendable {
  // `@unchecked Sendable`: other threads access only the interrupt of `reader`, which is Sendable.

  /// The result of a read.
  package enum ReadResult: Sendable, Hashable {
    /// The number of frames read, at least 1, and the position of the first one.
    case frames(Int, position: Int64)
    /// All samples of the track have been read.
    case endOfTrack
    /// ``AudioTrackReader/cancel()`` was called; nothing was read.
    case cancelled
  }

  /// The end of a track's audio.
  package struct TrackEnd: Sendable, Hashable, Codable {
    /// The position after the last frame.
    package var frame: Int64
    /// Whether all frames were counted, or their positions come from timestamps with a resolution of one frame.
    package var isExact: Bool
  }

  private let reader: any AudioReader
  /// The state of a read in a track with an edit list; nil for other tracks.
  var edited: EditedPosition?

  /// Opens the asset, loads it if necessary, and decodes the first audio. Blocks.
  ///
  /// - Parameters:
  ///   - asset: The asset to read.
  ///   - trackID: the track to read; nil: the track of ``AssetProperties/audioTrackID``. For a composition, nil mixes
  ///     all tracks.
  ///   - encoding: the encoding of the samples, interleaved: 8, 16 or 32 bits, or float, in the byte order of this
  ///     machine. Default: float32.
  /// - Throws: `invalidArgument` for another encoding; the errors of ``Asset/load()``; `noPlayableTracks` for an asset
  ///   without audio; `noSuchTrack` if there is no such audio track; `decodeFailed` if no packet decodes.
  package convenience init(
    asset: Asset, trackID: AssetTrack.ID? = nil, encoding: PCMEncoding = .float32
  ) throws(MediaError) {
    let interrupt = Interrupt()
    _ = try asset.load(interrupt: interrupt, keepsOpen: true)
    defer { asset.closeKeptSource() }
    try self.init(asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: trackID, encoding: encoding)
  }

  /// Opens the asset without loading it. `kinds` restricts the file types that may be opened, for
  /// tests of reads that block.
  ///
  /// - Parameter isPlayback: whether a player plays the audio; then the isolation `worker` reads in this process.
  init(
    asset: Asset, interrupt: Interrupt, kinds: FileSource.Kinds, trackID: AssetTrack.ID? = nil,
    encoding: PCMEncoding = .float32, log: NetworkLog? = nil, keepsFile: Bool = false, isPlayback: Bool = false
  ) throws(MediaError) {
    let sampleFormat = try SampleWriter.format(of: encoding)
    self.encoding = encoding
    switch try MediaFile.openLocation(of: asset, interrupt: interrupt, kinds: kinds, log: log) {
    case .stream(let session, var fetcher):
      fetcher.isPlayback = isPlayback
      reader = try SegmentedTrackReader(
        session: session.rendition(trackID, fetcher: fetcher, interrupt: interrupt), fetcher: fetcher,
        interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat)
      edited = nil
    case .composition(let composition):
      reader = try CompositionAudioReader(
        composition, interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat, log: log)
      edited = nil
    case .bytes(let source):
      if let lease = try asset.isolation.readingLease(isPlayback: isPlayback) {
        reader = try IsolatedAudioReader(
          lease, source: source, displayName: asset.displayPath, trackID: trackID, encoding: encoding,
          readsAhead: !isPlayback)
        // The reader in the worker process applies the edits.
        edited = nil
      } else {
        let media = try MediaTrackReader(
          asset: asset, demuxer: try MediaFile.demuxer(source, of: asset), byteCount: source.byteCount ?? 0,
          interrupt: interrupt, trackID: trackID, sampleFormat: sampleFormat)
        reader = media
        edited = media.edits.map { EditedPosition(timeline: $0, hasPendingWarning: $0.hasUnusualRates) }
      }
      if let source = source.byteSource { asset.noteReading(source) }
      if keepsFile { asset.keepFile(source) }
    }
  }

  /// The reader of a file. Only files have edits.
  var media: MediaTrackReader {
    guard let media = reader as? MediaTrackReader else { preconditionFailure("only files have a media track reader") }
    return media
  }

  // MARK: - Format and position

  /// The format of the frames: the track's sample rate and channel count.
  package var format: AudioFormat { reader.format }
  /// The track that this reader reads.
  package var trackID: AssetTrack.ID { reader.trackID }
  /// The encoding of the samples.
  package let encoding: PCMEncoding
  /// The size of a frame in bytes.
  package var frameByteCount: Int { reader.frameByteCount }
  /// The byte value that silence consists of.
  var silentByte: UInt8 { reader.silentByte }
  /// The speakers in native order, as FFmpeg's `AV_CH_*` bits; nil if the file does not state them.
  package var channelMask: UInt64? { reader.channelMask }
  /// The position of the next frame to read.
  package var position: Int64 { edited?.position ?? reader.position }
  /// The reason why ``position`` may be inexact since the last seek; nil if the position is proven.
  package var positionDoubt: PositionDoubt? { reader.positionDoubt }
  /// Returns the stream titles received since the last call, in order, each with the time from which it applies.
  package func popTitles() -> [(time: MediaTime, title: StreamTitle)] {
    reader.popTitles().map { (assetTime($0.time), $0.title) }
  }
  /// Returns the other timed metadata read since the last call, in order: date ranges, and ID3 tags between the audio.
  package func popTimedMetadata() -> [TimedMetadataGroup] { reader.popTimedMetadata() }
  /// The time that the last seek spent, by activity.
  package var lastSeekTimings: SeekTimings { reader.lastSeekTimings }
  /// The frames cut off before the first frame.
  package var startTrim: EdgeTrim { edited?.startTrim ?? reader.startTrim }
  /// The frames cut off after the last frame; known once the end has been read.
  package var endTrim: EdgeTrim { edited == nil ? reader.endTrim : editedEndTrim }
  /// The end of the audio; known once it has been read.
  package var end: TrackEnd? { edited == nil ? reader.end : edited?.end }

  // MARK: - Cancellation

  /// Cancels the running call and later calls until ``resetCancellation()``. Threading: any thread; does not block.
  package func cancel() { reader.cancel() }

  /// Allows reads again. They continue at the current position. Threading: any.
  package func resetCancellation() { reader.resetCancellation() }

  // MARK: - Faults

  /// Returns the number of packets that did not decode since the last call, with the time and error of
  /// the first; nil if none.
  package func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    reader.popSkippedPackets().map { ($0.count, assetTime($0.time), $0.error) }
  }

  /// Returns a fault of the file that does not prevent playback, found since the last call: `irregularTimestamps`,
  /// `wrongLength` or `unsupportedEdit`.
  package func popWarning() -> (time: MediaTime, error: MediaError)? {
    popEditWarning() ?? reader.popWarning().map { (assetTime($0.time), $0.error) }
  }

  // MARK: - Reading

  /// Reads up to `capacityFrames` frames; fewer only at the end or after cancellation. Blocks.
  ///
  /// Audio after a change of the sample rate or channel count is converted to ``format``.
  ///
  /// - Parameters:
  ///   - output: a buffer for `capacityFrames` interleaved frames, with the alignment of the samples.
  ///   - capacityFrames: The maximum number of frames.
  /// - Throws: `readFailed`; `damagedFile`, after the last frame, if the file ends too early; `conversionFailed`.
  package func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    if edited == nil { return try reader.read(into: output, capacityFrames: capacityFrames) }
    return try readEdited(into: output, capacityFrames: capacityFrames)
  }

  /// Seeks to a time; the next read begins there. Blocks.
  ///
  /// With tolerances of zero the next frame is the one that contains `time`: frame `floor(time * rate)`. Larger
  /// tolerances allow a cheaper position: in nearby audio that is already decoded, or without any decoding except the
  /// preroll. Times outside the asset are clamped.
  ///
  /// - Returns: the time of the next frame.
  /// - Throws: `invalidTime`; `cancelled`; `readFailed`, `damagedFile`.
  package func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    guard let timeline = edited?.timeline else {
      return try reader.seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter)
    }
    try discardChangedEnd()
    let (target, allowed) = try SeekTarget.frames(
      time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, sampleRateHz: format.sampleRateHz,
      last: edited?.end?.frame ?? timeline.endFrame ?? Int64.max / 8)
    try seekEdited(toFrame: target, within: allowed)
    return MediaTime(frame: position, rate: format.sampleRateHz)
  }

  /// Whether the positions of audio after damage depend on where reading began.
  ///
  /// The timestamps of such audio contradict the lengths of its packets. Only a read from the start knows which packets
  /// do not decode.
  var dependsOnDamage: Bool {
    guard let media = reader as? MediaTrackReader, !media.isRemote else { return false }
    return media.reader.format.timestampSource == .container && media.positioning == .counted(.packets)
  }

  /// Continues at time 0. A file without an edit list is reopened, unless a worker process reads it.
  func restart() throws(MediaError) {
    if edited == nil, let media = reader as? MediaTrackReader { return try media.restart() }
    _ = try seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
  }

  /// Returns whether the audio of a file ends where the container states. Blocks.
  ///
  /// - Throws: `cancelled`.
  func endsAsDeclared() throws(MediaError) -> Bool {
    guard let media = reader as? MediaTrackReader else { return false }
    return edited == nil ? try media.endsAsDeclared() : true
  }

  /// Returns the exact number of audio frames from time 0. Blocks while it reads the whole file.
  ///
  /// Packets are decoded only if they do not state their lengths. Afterwards the reader is at the end.
  ///
  /// - Throws: the errors of ``read(into:capacityFrames:)``, except for a file that ends too early; `cancelled`.
  package func exactFrameCount() throws(MediaError) -> Int64 {
    let count = try reader.exactFrameCount()
    return edited == nil ? count : finishEdited(mediaFrameCount: count)
  }
}
