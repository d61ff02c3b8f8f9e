import LibAV
import MediaCore

/// What loading an asset found.
public struct AssetProperties: Sendable, Hashable, Codable {
  /// FFmpeg's name of the container's format, such as `flac` or `mov,mp4,m4a,3gp,3g2,mj2`.
  public private(set) var formatName: String
  /// From time 0 to the end of the longest track that plays; indefinite when not known.
  public private(set) var duration: MediaTime
  /// Whether `duration` is what the media really last, not an estimate.
  public private(set) var providesPreciseDuration: Bool
  public private(set) var tracks: [AssetTrack]
  /// The sound track that plays.
  public private(set) var audioTrackID: AssetTrack.ID?
  /// The reason why none of the file's audio tracks can be played: `unknownCodec`, `damagedFile` or
  /// `unsupportedAudioFormat`. Nil if one plays, or if the file has no audio.
  ///
  /// The asset gives its video, images and tags all the same. A file that has no decodable video either does not load.
  public let audioFault: MediaError?
  /// In order; none where the file has none.
  public let chapters: [AssetChapter]
  /// What was wrong with the file's list of chapters: `irregularChapters`. Nil when nothing was.
  public let chapterFault: MediaError?
  /// At which rate and how loud the file itself wants to be played; 1 where it does not say.
  public let preferredRate: Double
  public let preferredVolume: Float
  /// How loud the tags want it, and where on an album it is.
  public internal(set) var levelTags: LevelTags
  /// What the file says of the padding at the edges of the sound that plays.
  let audioEdges: TrackEdges?
  /// The container's time of the asset's time 0.
  let timelineOrigin: MediaTime
  /// Whether it can be read from any place on. Not so a stream.
  public private(set) var isSeekable: Bool
  /// Size of the file; 0 when nobody knows.
  public let byteCount: Int64

  /// Whether there is sound to play.
  public var hasAudio: Bool { audioTrackID != nil }
  /// Whether there is moving video; pictures do not count.
  public var hasVideo: Bool { tracks.contains { $0.mediaType == .video } }
  /// The sound track that plays.
  public var audioTrack: AssetTrack? { tracks.first { $0.id == audioTrackID } }

  /// Whether one of the tracks is of no use without a key.
  public var hasProtectedContent: Bool { tracks.contains(where: \.isProtected) }
  /// Whether it can be played: there is sound that decodes, or there is only video, for whose time silence is heard.
  public var isPlayable: Bool {
    hasAudio ? audioTrack.map { !$0.isProtected } ?? false : hasVideo && audioFault == nil
  }
  /// Whether its samples can be read.
  public var isReadable: Bool { tracks.contains(where: \.isAudible) }
  /// Whether its tracks can be parts of something else: they can be read, and it is known how long they are.
  public var isComposable: Bool { isReadable && duration.isNumeric }

  /// What of the sound that plays is heard when on the asset's timeline; nil where FFmpeg follows the file's edit list.
  var audioEdits: EditedTimeline? {
    guard let edits = audioEdges?.edits, let track = audioTrack, let rate = track.audioFormat?.sampleRateHz,
      let start = track.timeRange.start.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    else { return nil }
    // Video may begin before the movie's time 0.
    return edits.delayed(byFrames: start - edits.firstSoundFrame)
  }

  /// Errors: `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`, `unknownFormat`, `damagedFile`.
  ///
  /// - Parameter wantedTrackID: the sound track to play instead of the one that the file would have; otherwise
  ///   `noSuchTrack` is thrown.
  init(demuxer: Demuxer, byteCount: Int64, displayPath: String, wantedTrackID: Int? = nil) throws(MediaError) {
    formatName = demuxer.formatName
    self.byteCount = byteCount
    isSeekable = demuxer.source.isSeekable || demuxer.source.byteSource == nil
    if let wantedTrackID {
      audioTrackID = try Self.checkAudio(wantedTrackID, demuxer, displayPath: displayPath)
      audioFault = nil
    } else {
      do throws(MediaError) {
        audioTrackID = try Self.chooseAudio(demuxer, displayPath: displayPath)
        audioFault = nil
      } catch {
        guard demuxer.streams.contains(where: { Self.mediaType(of: $0, in: demuxer) == .video && $0.hasDecoder })
        else { throw error }
        (audioTrackID, audioFault) = (nil, error)
      }
    }
    let format = ContainerFormat(demuxer.formatName)
    let preferences =
      format == .movie ? MoviePreferences { offset, count in demuxer.bytes(at: offset, count: count) } : nil
    // What a stream says of its length is about what it was made from: it does not end.
    let timing = ContainerTiming(demuxer: demuxer, byteCount: byteCount, isEndless: demuxer.isEndless)
    timelineOrigin = timing.origin
    audioEdges = audioTrackID.flatMap { timing.edges(of: demuxer.streams[$0]) }
    let subtitleCodecs = format == .matroska ? MatroskaSubtitles.codecNames(in: demuxer) : [:]
    tracks = demuxer.streams.map { stream in
      AssetTrack(
        stream, codecName: subtitleCodecs[stream.index], mediaType: Self.mediaType(of: stream, in: demuxer),
        format: format,
        timeRange: timing.timeRange(of: stream),
        providesPreciseDuration: timing.isPrecise(stream),
        isProtected: preferences?.protectedTrackIDs.contains(Int64(stream.containerID)) ?? false)
    }
    (duration, providesPreciseDuration) = Self.longest(of: tracks) ?? (timing.containerDuration, false)
    let list = ChapterList(
      demuxer: demuxer, format: format, origin: timing.origin, end: providesPreciseDuration ? duration : nil)
    chapters = list.chapters
    chapterFault = list.fault(displayPath: displayPath)
    preferredRate = preferences?.rate ?? 1
    preferredVolume = preferences?.volume ?? 1
    levelTags = LevelTags(demuxer: demuxer)
    guard tracks.contains(where: { $0.mediaType == .audio || $0.mediaType == .video }) else {
      throw MediaError(.noPlayableTracks, "the file has neither sound nor video: \(displayPath)")
    }
  }

  /// Whether what a worker process says can be what a file is: the worker may be in the hands of the file, and sums of its numbers must
  /// not overflow.
  var isPlausible: Bool {
    let numbers = [byteCount, audioEdges?.largestNumber ?? 0]
    return tracks.count <= 4_096 && numbers.allSatisfy { abs(max($0, -.max)) <= 1 << 53 }
      && tracks.indices.allSatisfy { tracks[$0].id == $0 && tracks[$0].isPlausible }
      && audioTrackID.map { tracks.indices.contains($0) && tracks[$0].audioFormat?.isSupported == true } ?? true
  }

  /// What a composition is: its tracks as they are numbered there.
  init(composition: Composition) {
    let format = composition.audioFormat
    formatName = "composition"
    byteCount = 0
    isSeekable = true
    tracks = composition.tracks.filter { !$0.segments.isEmpty }.map { track in
      AssetTrack(track, audioFormat: format, channelMask: composition.channelMask)
    }
    audioTrackID = tracks.first { $0.mediaType == .audio }?.id
    audioFault = nil
    (duration, providesPreciseDuration) = (composition.duration, true)
    (audioEdges, timelineOrigin) = (nil, .zero)
    chapters = []
    chapterFault = nil
    preferredRate = 1
    preferredVolume = 1
    levelTags = LevelTags()
  }

  /// Throws an error unless audio can be played: `audioFault`, or `noPlayableTracks` for a file without audio.
  ///
  /// - Parameters:
  ///   - path: the name of the file in the message.
  ///   - operation: the operation that needs the audio.
  package func checkHasAudio(path: String, operation: String? = nil) throws(MediaError) {
    guard !hasAudio else { return }
    throw audioFault ?? MediaError(.noPlayableTracks, "there is no audio in \(path)", operation: operation)
  }

  /// The end of the longest track that plays, and whether it is exact; nil when none says.
  private static func longest(of tracks: [AssetTrack]) -> (MediaTime, isPrecise: Bool)? {
    tracks.filter { ($0.mediaType == .audio || $0.mediaType == .video) && $0.timeRange.end.isNumeric }
      .max { $0.timeRange.end < $1.timeRange.end }
      .map { ($0.timeRange.end, $0.providesPreciseDuration) }
  }

  /// The same with the true end of a sound track; nil: the one that plays. Video that is said to last longer still counts.
  func withAudioEnd(_ end: MediaTime, trackID: AssetTrack.ID? = nil) -> AssetProperties {
    var refined = self
    guard let index = tracks.firstIndex(where: { $0.id == trackID ?? audioTrackID }) else { return self }
    refined.tracks[index].setEnd(end)
    if let (duration, isPrecise) = Self.longest(of: refined.tracks) {
      (refined.duration, refined.providesPreciseDuration) = (duration, isPrecise)
    }
    return refined
  }

  /// The same as what is found in a segment of an HLS stream; nil: it is live, and does not end.
  func ofStream(lasting nanoseconds: Int64?) -> AssetProperties {
    var stream = self
    stream.formatName = "hls"
    stream.isSeekable = true
    // To the microsecond: what it is rounded to is in any case more than that.
    stream.duration =
      nanoseconds.map { MediaTime(value: ($0 + 500) / 1_000, timescale: 1_000_000) } ?? .indefinite
    stream.providesPreciseDuration = false
    if nanoseconds != nil {
      for index in stream.tracks.indices { stream.tracks[index].setEnd(stream.duration, isPrecise: false) }
    }
    return stream
  }

  /// The same with captions within the frames of a video track.
  func withClosedCaptions(_ formats: [ClosedCaptionFormat], trackID: AssetTrack.ID) -> AssetProperties {
    var other = self
    if let index = tracks.firstIndex(where: { $0.id == trackID }) { other.tracks[index].closedCaptions = formats }
    return other
  }

  /// The same with other tracks, for what has them not in one file.
  func withTracks(_ tracks: [AssetTrack], audioTrackID: AssetTrack.ID?) -> AssetProperties {
    var other = self
    (other.tracks, other.audioTrackID) = (tracks, audioTrackID)
    return other
  }

  /// The sound track to play; nil when there is none at all.
  private static func chooseAudio(_ demuxer: Demuxer, displayPath: String) throws(MediaError) -> Int? {
    guard let candidate = demuxer.streams.first(where: { $0.mediaType == .audio }) else { return nil }
    let chosen = demuxer.preferredAudioStreamIndex.map { demuxer.streams[$0] }
    if chosen == nil, !candidate.hasDecoder {
      throw MediaError(.unknownCodec, "no decoder for the sound (\(candidate.codecName)) of \(displayPath)")
    }
    guard let chosen, let format = chosen.audioFormat else {
      if demuxer.isFormatGuessed { throw MediaError(.unknownFormat, "not a media file: \(displayPath)") }
      throw MediaError(.damagedFile, "the file is damaged: no sound could be found in \(displayPath)")
    }
    try format.checkSupported()
    return chosen.index
  }

  /// A sound track that was asked for.
  private static func checkAudio(_ id: Int, _ demuxer: Demuxer, displayPath: String) throws(MediaError) -> Int {
    guard demuxer.streams.indices.contains(id), demuxer.streams[id].mediaType == .audio else {
      throw MediaError(.noSuchTrack, "there is no sound track \(id) in \(displayPath)")
    }
    guard demuxer.streams[id].hasDecoder else {
      throw MediaError(
        .unknownCodec, "no decoder for the sound (\(demuxer.streams[id].codecName)) of \(displayPath)")
    }
    guard let format = demuxer.streams[id].audioFormat else {
      throw MediaError(.damagedFile, "the file is damaged: nothing of track \(id) could be found in \(displayPath)")
    }
    try format.checkSupported()
    return id
  }

  private static func mediaType(of stream: StreamInfo, in demuxer: Demuxer) -> AssetTrack.MediaType {
    switch stream.mediaType {
    case .audio: .audio
    // FFmpeg reads single pictures as formats called png_pipe, jpeg_pipe, ...
    case .video: demuxer.formatName.hasSuffix("_pipe") ? .attachedPicture : .video
    case .subtitle: .subtitle
    case .attachedPicture: .attachedPicture
    case .other: .other
    }
  }
}
