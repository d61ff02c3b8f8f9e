// How a file's sound comes out: FrameReader decodes and places frames; this class cuts them so that what a caller reads
// is one unbroken count of samples from the asked-for place on, and converts them straight into the caller's memory.
// It never sleeps and never takes a lock; only `cancel` may be called while another call runs.
import LibAV
import MediaCore
import NetworkIO

/// Reads the sound of a track as it lies in the file, without gaps, as interleaved float32 at its own rate and channel count.
///
/// Positions are frames: 0 is the presentation start, after the encoder's priming; of a track with `edits` the media's own
/// first frame. They are contiguous between seeks: where packets are missing, or the track begins late, silence is read.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` from any thread.
final class MediaTrackReader: SoundReader, @unchecked Sendable {
  // `@unchecked Sendable`: only `interrupt` is touched from other threads, and it is Sendable.

  typealias ReadResult = AudioTrackReader.ReadResult

  /// What is read: the track's rate and channel count.
  let format: AudioFormat
  /// How samples are handed over; interleaved.
  let sampleFormat: SampleFormat
  /// The track that is read.
  let trackID: AssetTrack.ID
  /// Speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when the file does not say.
  let channelMask: UInt64?
  /// The place of the frame that the next read gives.
  var position: Int64 = 0
  /// Where the time of the last seek went.
  var lastSeekTimings = SeekTimings()
  /// What was cut off in front of the first frame.
  private(set) var startTrim = EdgeTrim.none
  /// What was cut off behind the last frame; known once the end has been read.
  var endTrim = EdgeTrim.none
  /// Where the sound ends; known once the end has been read.
  var end: TrackEnd?

  /// What of the media is heard when, by an edit list that FFmpeg does not follow to the frame; nil for every other track.
  let edits: EditedTimeline?

  let interrupt: Interrupt
  let displayPath: String
  let reader: FrameReader
  /// Keeps the packet index.
  let asset: Asset
  var positioning: ContainerFormat.Positioning
  let prerollFrames: Int64
  let edges: TrackEdges
  /// Bytes in the file when it was opened.
  let byteCount: Int64
  /// Frames from here on are not the track's (the encoder's padding); nil where FFmpeg cuts them off.
  var endFrame: Int64?
  /// Where the container says that the track ends, to tell a file that breaks off; with how much doubt.
  let promisedEnd: (frame: Int64, toleranceFrames: Int64)?
  /// Seeks go no further; nil when nobody knows where the sound ends.
  var seekLimit: Int64?
  /// Places after a seek are as exact as those of a read from the start.
  let hasExactPlaces: Bool
  /// The file as it was at the last seek.
  var identity: FileIdentity?
  /// How many times a seek found that the file had been written to.
  var changeCount = 0
  private var converter: FrameConverter
  /// Whether the reader's frame still has something to give.
  var hasFrame = false
  var isAtEnd = false
  /// Since the last seek everything from here on is decoded rightly; what comes before it only warmed the decoder up.
  var firstRightFrame: Int64 = 0
  /// Every place since the last seek is counted, or told by timestamps as fine as frames.
  var isPlaceExact = true
  /// Up to here silence stands for packets at the end that did not decode.
  var silentEnd: Int64 = 0
  /// The track's end as the container says it, or guesses.
  let declaredEnd: Int64?
  /// Reading what is not needed costs somebody's network.
  let isRemote: Bool
  /// There is no going back: a stream.
  let isForwardOnly: Bool
  /// The error of a file with video whose audio track has no packets. Nil otherwise.
  private(set) var emptiness: MediaError?
  /// Why the sound ends before its time.
  var breakOff: MediaError?
  /// Said by `takeWarning`.
  var warning: MediaError?
  /// Why the position since the last seek is not proved; nil where it is.
  var positionDoubt: PositionDoubt?
  /// After an interruption the demuxer may stand anywhere: seek to `position` before reading.
  var mustReposition = false
  /// Found while there were still frames to hand over; thrown by the next read.
  var pendingError: MediaError?

  /// Opens the asset and decodes the first piece of its sound. Blocks. Errors: as `AudioTrackReader`'s.
  ///
  /// - Parameters:
  ///   - demuxer: the asset, opened.
  ///   - trackID: the track to read; nil: the one that the file would have played.
  ///   - keepsPackets: what is read for the first piece is kept for `FrameReader.nextStored`.
  init(
    asset: Asset, demuxer opened: Demuxer, byteCount: Int64, interrupt: Interrupt, trackID: AssetTrack.ID?,
    sampleFormat: SampleFormat = .float32, keepsPackets: Bool = false
  ) throws(MediaError) {
    self.interrupt = interrupt
    self.sampleFormat = sampleFormat
    self.asset = asset
    displayPath = asset.displayPath
    var demuxer = opened
    // The file may be another one than was loaded.
    var present = try AssetProperties(
      demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath, wantedTrackID: trackID)
    edits = present.audioEdits
    if edits != nil {
      do throws(AVFailure) { demuxer = try demuxer.reopened(ignoringEditLists: true) } catch {
        throw MediaError(error, path: asset.displayPath)
      }
      present = try AssetProperties(
        demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath, wantedTrackID: trackID)
    }
    try present.checkHasAudio(path: asset.displayPath)
    guard let track = present.audioTrack, let declared = track.audioFormat else {
      preconditionFailure("a track that plays has a format")
    }
    self.trackID = track.id
    let container = ContainerFormat(present.formatName)
    guard let edges = present.audioEdges else { preconditionFailure("a track that plays has edges") }
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
    positioning = container.positioning(of: reader.stream, hasVideo: present.hasVideo)
    prerollFrames = CodecPreroll.frameCount(
      codecName: track.codecName, sampleRateHz: format.sampleRateHz, declared: reader.stream.seekPrerollFrames)
    // FFmpeg's own CAF files count the last packet as whole.
    let isExact =
      CodecTraits.isLossless(codecName: track.codecName) && container.hasExactDurations
      && ![.movie, .caf].contains(container)
    let tolerance = isExact ? 0 : Int64(format.sampleRateHz / (container == .matroska ? 1 : 10))
    let end = track.timeRange.end.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero)
    // Matroska says how long the file is: another track may be what lasts so long. Pictures and fonts do not.
    let lastingTracks = present.tracks.filter { [.audio, .video, .subtitle].contains($0.mediaType) }
    let isPromised =
      track.providesPreciseDuration || container == .movie || container == .matroska && lastingTracks.count == 1
    declaredEnd = end
    isRemote = asset.isRemote
    isForwardOnly = !demuxer.source.isSeekable && asset.isRemote
    promisedEnd = end.flatMap { isPromised ? (frame: $0, toleranceFrames: tolerance) : nil }
    let isCutThere = container.endsAtTrackDuration && track.providesPreciseDuration || edges.endsAtSoundFrameCount
    endFrame = isCutThere ? end : nil
    seekLimit = track.providesPreciseDuration || isCutThere ? end : nil
    hasExactPlaces = container.hasExactDurations || positioning != .timestamps
    startTrim = Self.startTrim(reader, edges)
    if !hasFrame, let failure = reader.reports.takeSkipped()?.failure {
      throw MediaError(
        .decodeFailed, "none of the sound decodes: \(asset.displayPath)", operation: failure.call,
        underlying: failure.reason)
    }
    if !hasFrame {
      if present.hasVideo {
        emptiness = MediaError(
          .damagedFile, "the file has no packets of audio track \(track.id) (\(track.codecName)): \(asset.displayPath)",
          operation: "read")
      }
      pendingError = endError(at: 0) ?? emptiness
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

  /// Makes the call that runs and those to come give up until `resetCancellation()`. Any thread; does not block.
  func cancel() { interrupt.cancel() }

  /// Allows reading again; it goes on where it was. Any thread.
  func resetCancellation() { interrupt.reset() }

  /// Packets that did not decode since the last call, with the first one's place and error; nil when all did.
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    guard let skipped = reader.reports.takeSkipped() else { return nil }
    return (
      skipped.count, MediaTime(frame: skipped.frame, rate: format.sampleRateHz),
      MediaError(skippedPackets: skipped.count, skipped.failure, in: displayPath)
    )
  }

  /// What is wrong with the file, though it plays, found since the last call: `irregularTimestamps`, `wrongLength`.
  func takeWarning() -> (time: MediaTime, error: MediaError)? {
    if let fault = reader.reports.takeTimestampFault() {
      let time = MediaTime(frame: fault.frame, rate: format.sampleRateHz)
      let effect =
        switch fault.step {
        case .contiguous, .renumbered: "they are counted anew"
        case .hole: "silence fills the hole"
        case .overlap: "what comes twice is left out"
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

  /// Reads up to `capacityFrames` frames, fewer only at the end or when cancelled. Blocks.
  ///
  /// - Parameter output: room for `capacityFrames` interleaved frames.
  /// Errors: `readFailed`; `damagedFile`, after the last frame, when the file breaks off before its end;
  /// `unsupportedAudioFormat` when the sample rate changes in the middle; `conversionFailed`.
  func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> ReadResult {
    precondition(capacityFrames > 0, "a read needs room for a frame")
    if interrupt.isCancelled { return .cancelled }
    if let error = pendingError {
      pendingError = nil
      isAtEnd = true
      throw error
    }
    if mustReposition {
      do throws(MediaError) { try move(toFrame: position, within: position...position) } catch {
        if error.code == .cancelled { return .cancelled }
        throw error
      }
    }
    let start = position
    let (count, error) = filled(output, capacityFrames)
    if let error, count == 0 {
      isAtEnd = error.code != .cancelled
      throw error
    }
    pendingError = error
    if count > 0 { return .frames(count, position: start) }
    return mustReposition ? .cancelled : .endOfTrack
  }

  /// Makes sure that there is something to hand over from `position` on; false at the end or when cancelled.
  func advance() throws(MediaError) -> Bool {
    while !isAtEnd {
      if let endFrame, position >= endFrame {
        if try finish(at: endFrame) { break }
        continue
      }
      if hasFrame, reader.frameStart + Int64(reader.frame.frameCount) > position { return true }
      hasFrame = false
      if silentEnd > position { return true }
      switch try mapped({ () throws(AVFailure) in try reader.next() }) {
      case .frame: hasFrame = true
      case .cancelled:
        mustReposition = true
        return false
      case .endOfTrack: try reachEnd()
      }
    }
    return false
  }

  /// Hands over what the frame has from `position` on, or silence before it.
  func take(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int {
    var count = capacityFrames
    if let endFrame { count = min(count, Int(clamping: endFrame - position)) }
    let silence = (hasFrame ? reader.frameStart : silentEnd) - position
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

  /// What the stream said of what it plays, by what has been read up to now.
  func takeTitles() -> [(time: MediaTime, title: StreamTitle)] {
    reader.reports.takeTitles().map { (MediaTime(frame: max(0, $0.frame), rate: format.sampleRateHz), $0.title) }
  }

  func mapped<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw MediaError(error, path: displayPath) }
  }
}
