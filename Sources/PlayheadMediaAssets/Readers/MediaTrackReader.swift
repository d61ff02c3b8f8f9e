// FrameReader decodes frames and determines their positions. This class delivers them as one contiguous sequence of
// samples from the requested position on, and converts them directly into the caller's buffer. It never sleeps and
// never takes a lock. Only `cancel` may be called while another call runs.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the audio of a track as stored in the file, without gaps, as interleaved samples with the track's rate and
/// channel count.
///
/// Positions are frames. Position 0 is the presentation start, after the encoder's priming; for a track with `edits` it
/// is the first frame of the media. Positions are contiguous between seeks: missing packets and a late track start are
/// read as silence.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
final class MediaTrackReader: ResumableAudioReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads access only `interrupt`, which is Sendable.

  typealias ReadResult = AudioTrackReader.ReadResult

  /// The format of the frames: the track's sample rate and channel count.
  let format: AudioFormat
  /// The format of the delivered samples; interleaved.
  let sampleFormat: SampleFormat
  /// The track that this reader reads.
  let trackID: AssetTrack.ID
  /// The speakers in native order, as FFmpeg's `AV_CH_*` bits; nil if the file does not state them.
  let channelMask: UInt64?
  /// The position of the next frame to read.
  var position: Int64 = 0
  /// The time that the last seek spent, by activity.
  var lastSeekTimings = SeekTimings()
  /// The frames cut off before the first frame.
  private(set) var startTrim = EdgeTrim.none
  /// The frames cut off after the last frame; known once the end has been read.
  var endTrim = EdgeTrim.none
  /// The end of the audio; known once it has been read.
  var end: TrackEnd?

  /// The edit list, if FFmpeg does not follow it to the exact frame; nil for every other track.
  let edits: EditedTimeline?

  let interrupt: Interrupt
  let displayPath: String
  let reader: FrameReader
  /// The asset, which stores the packet index.
  let asset: Asset
  var positioning: ContainerFormat.Positioning
  let prerollFrames: Int64
  let edges: TrackEdges
  /// The size of the file in bytes when it was opened.
  let byteCount: Int64
  /// The position after which frames are the encoder's padding; nil if FFmpeg trims the padding.
  var endFrame: Int64?
  /// The value of `endFrame`; nil if the sample rate changes, because headers state the number of packets.
  var trustedEndFrame: Int64? { reader.hasOtherRates ? nil : endFrame }
  /// The end that the container states, with its tolerance, to detect a file that breaks off; nil if
  /// the container states none.
  let expectedEnd: (frame: Int64, toleranceFrames: Int64)?
  /// Whether the sample table was complete when the file was opened. That of a fragmented file grows.
  private(set) var hasCompleteSampleTable = false
  /// The limit of seeks; nil if the end of the audio is unknown.
  var seekLimit: Int64?
  /// Whether a seek has checked that the audio ends at the limit.
  var hasCheckedLimit = false
  /// Whether positions after a seek are as exact as those of a read from the start.
  let hasExactSeekPositions: Bool
  /// The identity of the file at the last seek.
  var identity: FileIdentity?
  /// The number of seeks that found the file changed.
  var changeCount = 0
  private var converter: FrameConverter
  /// Whether the reader's frame still has samples to deliver.
  var hasFrame = false
  var isAtEnd = false
  /// The first position since the last seek whose samples are right. Frames before it are preroll.
  var firstCorrectFrame: Int64 = 0
  /// Whether every position since the last seek was counted, or comes from timestamps with a resolution of one frame.
  var isPositionExact = true
  /// The end of the silence that replaces undecodable packets at the end.
  var silenceEnd: Int64 = 0
  /// The track's end that the container states or estimates.
  let declaredEnd: Int64?
  /// Whether unnecessary reads cost network traffic.
  let isRemote: Bool
  /// Whether the source is a stream that cannot seek.
  let isForwardOnly: Bool
  /// The error of a file with video whose audio track has no packets. Nil otherwise.
  private(set) var emptyTrackError: MediaError?
  /// The reason why the audio ends too early.
  var prematureEndError: MediaError?
  /// The warning for the next `popWarning`.
  var warning: MediaError?
  /// The reason why the position since the last seek is not proven; nil if it is proven.
  var positionDoubt: PositionDoubt?
  /// Whether `learnFrameGrid` has decoded what it needs.
  var hasLearnedFrameGrid = false
  /// Whether an interruption left the demuxer at an unknown position: seek to `position` before reading.
  var mustReposition = false
  /// An error found while frames remained to be delivered. The next read throws it.
  var pendingError: MediaError?

  /// Opens the asset and decodes the first audio. Blocks. Throws the errors of `AudioTrackReader`.
  ///
  /// - Parameters:
  ///   - demuxer: the open container of the asset.
  ///   - trackID: the track to read; nil: the track of `AssetProperties.audioTrackID`.
  ///   - keepsPackets: whether the packets read for the first frame are kept for `FrameReader.nextStored`.
  init(
    asset: Asset, demuxer opened: Demuxer, byteCount: Int64, interrupt: Interrupt, trackID: AssetTrack.ID?,
    sampleFormat: SampleFormat = .float32, keepsPackets: Bool = false
  ) throws(MediaError) {
    self.interrupt = interrupt
    self.sampleFormat = sampleFormat
    self.asset = asset
    displayPath = asset.displayPath
    var demuxer = opened
    // The file may have been replaced since the asset was loaded.
    var properties = try AssetProperties(
      demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath, requestedTrackID: trackID)
    edits = properties.audioEdits
    if edits != nil {
      do throws(AVFailure) { demuxer = try demuxer.reopened(ignoringEditLists: true) } catch {
        throw MediaError(error, path: asset.displayPath)
      }
      properties = try AssetProperties(
        demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath, requestedTrackID: trackID)
    }
    try properties.checkHasAudio(path: asset.displayPath)
    guard let track = properties.audioTrack, let declared = track.audioFormat else {
      preconditionFailure("an audible track has a format")
    }
    self.trackID = track.id
    let container = ContainerFormat(properties.formatName)
    guard let edges = properties.audioEdges else { preconditionFailure("an audible track has edges") }
    self.edges = edges
    self.byteCount = byteCount
    if !keepsPackets { demuxer.preferLargePackets() }
    do throws(AVFailure) {
      reader = try FrameReader(demuxer: demuxer, streamIndex: track.id, format: container, edges: edges)
      reader.stored.keepsPackets = keepsPackets
      hasFrame = try Self.decodeFirst(reader)
      let layout = reader.frame.layout
      let found = layout.map { AudioFormat(sampleRateHz: $0.sampleRateHz, channelCount: $0.channelCount) }
      format = hasFrame ? found ?? declared : declared
      channelMask = hasFrame ? layout?.channelMask : track.channelMask
      converter = FrameConverter(format: format, sampleFormat: sampleFormat)
    } catch {
      throw MediaError(error, path: asset.displayPath)
    }
    try format.checkSupported()
    isAtEnd = !hasFrame
    // Each stream of a chain counts from 0, but `VorbisPacketTimes` continues the count.
    let isUncounted = edges.isChain && track.codecName != "vorbis"
    positioning = isUncounted ? .decoded : container.positioning(of: reader.stream, hasVideo: properties.hasVideo)
    prerollFrames = CodecPreroll.frameCount(
      codecName: track.codecName, sampleRateHz: format.sampleRateHz, declared: reader.stream.seekPrerollFrames)
    // CAF files written by FFmpeg count the last packet as a whole packet.
    let isExact =
      CodecTraits.isLossless(codecName: track.codecName) && container.hasExactDurations
      && ![.movie, .caf].contains(container)
    let tolerance = isExact ? 0 : Int64(format.sampleRateHz / (container == .matroska ? 1 : 10))
    let end = track.timeRange.end.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero)
    // Matroska states the length of the file, and another track may determine it. Still images and fonts do not.
    let timedTracks = properties.tracks.filter { [.audio, .video, .subtitle].contains($0.mediaType) }
    let isEndReliable =
      track.providesPreciseDuration || container == .movie || container == .matroska && timedTracks.count == 1
    declaredEnd = end
    isRemote = asset.isRemote
    isForwardOnly = !demuxer.source.isSeekable && asset.isRemote
    expectedEnd = end.flatMap { isEndReliable ? (frame: $0, toleranceFrames: tolerance) : nil }
    let endsAtDeclaredEnd =
      container.endsAtTrackDuration && track.providesPreciseDuration || edges.endsAtAudioFrameCount
    endFrame = endsAtDeclaredEnd ? end : nil
    seekLimit = track.providesPreciseDuration || endsAtDeclaredEnd ? end : nil
    hasExactSeekPositions = container.hasExactDurations || positioning != .timestamps
    startTrim = Self.startTrim(reader, edges)
    let lastIndexed = demuxer.lastIndexedTicks(streamIndex: track.id).flatMap { reader.timeline?.frame(ofTicks: $0) }
    if let lastIndexed, let end { hasCompleteSampleTable = lastIndexed > end - Int64(format.sampleRateHz) }
    if !hasFrame, let failure = reader.reports.drainSkipped()?.failure {
      throw MediaError(
        .decodeFailed, "no audio can be decoded: \(asset.displayPath)", operation: failure.call,
        underlying: failure.reason)
    }
    if !hasFrame {
      if properties.hasVideo {
        emptyTrackError = MediaError(
          .damagedFile, "the file has no packets of audio track \(track.id) (\(track.codecName)): \(asset.displayPath)",
          operation: "read")
      }
      pendingError = endError(at: 0) ?? emptyTrackError
    }
  }

  private static func decodeFirst(_ reader: FrameReader) throws(AVFailure) -> Bool {
    switch try reader.next() {
    case .frame: true
    case .endOfTrack: false
    case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
    }
  }

  // MARK: - Cancellation

  /// Cancels the running call and later calls until `resetCancellation()`. Threading: any thread; does not block.
  func cancel() { interrupt.cancel() }

  /// Allows reads again. They continue at the current position. Threading: any.
  func resetCancellation() { interrupt.reset() }

  /// Returns the number of packets that did not decode since the last call, with the time and error of
  /// the first; nil if none.
  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    reader.reports.drainSkipped()?.report(sampleRateHz: format.sampleRateHz, path: displayPath)
  }

  /// Returns a fault of the file that does not prevent playback, found since the last call: `irregularTimestamps` or
  /// `wrongLength`.
  func popWarning() -> (time: MediaTime, error: MediaError)? {
    if let fault = reader.reports.drainTimestampFault() {
      let time = MediaTime(frame: fault.frame, rate: format.sampleRateHz)
      let effect =
        switch fault.step {
        case .contiguous, .discontinuity: "times are renumbered"
        case .gap: "silence fills the gap"
        case .overlap: "duplicate audio is skipped"
        }
      return (
        time,
        MediaError(
          .irregularTimestamps,
          "timestamps jump at \(time.decimalDescription) s in \(displayPath): \(effect)", operation: "read")
      )
    }
    defer { warning = nil }
    return warning.map { (MediaTime(frame: position, rate: format.sampleRateHz), $0) }
  }

  // MARK: - Reading

  /// Reads up to `capacityFrames` frames; fewer only at the end or after cancellation. Blocks.
  ///
  /// - Parameter output: a buffer for `capacityFrames` interleaved frames.
  /// - Throws: `readFailed`; `damagedFile`, after the last frame, if the file ends too early; `conversionFailed`.
  func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    try readFrames(into: output, capacityFrames: capacityFrames)
  }

  /// Ensures that a frame or silence is available from `position` on; returns false at the end or if cancelled.
  func advance() throws(MediaError) -> Bool {
    while !isAtEnd {
      if let endFrame = trustedEndFrame, position >= endFrame {
        if try finish(at: endFrame) { break }
        continue
      }
      if hasFrame, reader.frameStart + Int64(reader.frame.frameCount) > position { return true }
      hasFrame = false
      if silenceEnd > position { return true }
      switch try mapped({ () throws(AVFailure) in try reader.next() }) {
      case .frame: hasFrame = true
      case .cancelled:
        mustReposition = true
        return false
      case .endOfTrack: try handleEndOfPackets()
      }
    }
    return false
  }

  /// Delivers the samples of the frame from `position` on, or the silence before the frame.
  func copyAvailable(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int {
    var count = capacityFrames
    if let endFrame = trustedEndFrame { count = min(count, Int(clamping: endFrame - position)) }
    let silence = (hasFrame ? reader.frameStart : silenceEnd) - position
    if silence > 0 {
      count = min(count, Int(clamping: silence))
      output.initializeMemory(as: UInt8.self, repeating: silentByte, count: count * frameByteCount)
    } else {
      let offset = Int(-silence)
      count = min(count, reader.frame.frameCount - offset)
      try converter.convert(reader.frame, range: offset..<(offset + count), into: output, of: displayPath)
    }
    position += Int64(count)
    return count
  }

  /// Returns the stream titles received with the packets read so far.
  func popTitles() -> [(time: MediaTime, title: StreamTitle)] {
    reader.reports.drainTitles().map { (MediaTime(frame: max(0, $0.frame), rate: format.sampleRateHz), $0.title) }
  }

  /// Runs `body`, and converts its failure to a public error about this file.
  func mapped<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw MediaError(error, path: displayPath) }
  }
}
