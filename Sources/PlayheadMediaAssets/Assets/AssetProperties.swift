import PlayheadLibAV
import PlayheadMediaCore

/// The properties of an asset, determined by loading it.
public struct AssetProperties: Sendable, Hashable, Codable {
  /// FFmpeg's name of the container format, such as `flac` or `mov,mp4,m4a,3gp,3g2,mj2`.
  public private(set) var formatName: String
  /// The time from 0 to the end of the longest audio or video track; indefinite when unknown.
  public private(set) var duration: MediaTime
  /// Whether ``duration`` is exact and not an estimate.
  public private(set) var providesPreciseDuration: Bool
  /// The tracks, in the order of the container.
  public private(set) var tracks: [AssetTrack]
  /// The audio track to play; nil if no audio track is playable.
  public private(set) var audioTrackID: AssetTrack.ID?
  /// The reason why none of the file's audio tracks can be played: `unknownCodec`, `damagedFile` or
  /// `unsupportedAudioFormat`. Nil if one plays, or if the file has no audio.
  ///
  /// The video, images and tags of the file are available nevertheless. A file that also has no decodable video does
  /// not load.
  public let audioFault: MediaError?
  /// The chapters in order; empty if the file has none.
  public let chapters: [AssetChapter]
  /// The problem of the file's chapter list: `irregularChapters`. Nil if there is none.
  public let chapterFault: MediaError?
  /// The playback rate and volume that the file itself requests; default: 1.
  public let preferredRate: Double
  /// The volume that the file itself requests; default: 1.
  public let preferredVolume: Float
  /// The loudness values of the tags, and the track's position on the album.
  public internal(set) var loudnessTags: LoudnessTags
  /// The title, artist and album in the tags that FFmpeg reads when it opens the file. ``Asset/titles`` are those of
  /// all tags, once they are loaded.
  private(set) var titles: AssetTitles
  /// The padding at the edges of the audio to play, as stated by the file.
  let audioEdges: TrackEdges?
  /// The container time that corresponds to time 0 of the asset.
  let timelineOrigin: MediaTime
  /// Whether reading can start at any position. False for a source whose bytes arrive once, such as a pipe.
  public private(set) var isSeekable: Bool
  /// The size of the file in bytes; 0 when unknown.
  public let byteCount: Int64

  /// Whether there is audio to play.
  public var hasAudio: Bool { audioTrackID != nil }
  /// Whether there is moving video; still images do not count.
  public var hasVideo: Bool { tracks.contains { $0.mediaType == .video } }
  /// The audio track to play.
  public var audioTrack: AssetTrack? { tracks.first { $0.id == audioTrackID } }

  /// Whether at least one track requires a decryption key.
  public var hasProtectedContent: Bool { tracks.contains(where: \.isProtected) }
  /// Whether the asset can be played: it has decodable audio, or it has only video, which plays with silence.
  public var isPlayable: Bool {
    hasAudio ? audioTrack.map { !$0.isProtected } ?? false : hasVideo && audioFault == nil
  }
  /// Whether the audio samples can be read.
  public var isReadable: Bool { tracks.contains(where: \.isAudible) }
  /// Whether the tracks can be inserted into a composition: they are readable and the duration is known.
  public var isComposable: Bool { isReadable && duration.isNumeric }

  /// The edit list of the audio to play, on the asset's timeline; nil if FFmpeg applies the file's edit list.
  var audioEdits: EditedTimeline? {
    guard let edits = audioEdges?.edits, let track = audioTrack, let rate = track.audioFormat?.sampleRateHz,
      let start = track.timeRange.start.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    else { return nil }
    // Video may begin before the movie's time 0.
    return edits.delayed(byFrames: start - edits.firstAudioFrame)
  }

  /// Determines the properties of an open container.
  ///
  /// - Parameter requestedTrackID: the audio track to play; nil: the automatic choice.
  /// - Throws: `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`, `unknownFormat`, `damagedFile`;
  ///   `noSuchTrack` if there is no audio track `requestedTrackID`.
  init(demuxer: Demuxer, byteCount: Int64, displayPath: String, requestedTrackID: Int? = nil) throws(MediaError) {
    formatName = demuxer.formatName
    self.byteCount = byteCount
    isSeekable = demuxer.source.isSeekable || demuxer.source.byteSource == nil
    if let requestedTrackID {
      audioTrackID = try Self.checkAudio(requestedTrackID, demuxer, displayPath: displayPath)
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
    // The length in the header of an endless stream describes its source file, not the stream.
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
    loudnessTags = LoudnessTags(demuxer: demuxer)
    titles = AssetTitles(DictionaryMetadata.items(of: demuxer))
    guard tracks.contains(where: { $0.mediaType == .audio || $0.mediaType == .video }) else {
      throw MediaError(.noPlayableTracks, "the file has neither audio nor video: \(displayPath)")
    }
  }

  /// Whether the values from a worker process are possible for a file. A malicious file may control the worker, and
  /// sums of the numbers must not overflow.
  var isPlausible: Bool {
    let numbers = [byteCount, audioEdges?.largestNumber ?? 0]
    return titles.isPlausible && tracks.count <= 4_096 && numbers.allSatisfy { abs(max($0, -.max)) <= 1 << 53 }
      && tracks.indices.allSatisfy { tracks[$0].id == $0 && tracks[$0].isPlausible }
      && audioTrackID.map { tracks.indices.contains($0) && tracks[$0].audioFormat?.isSupported == true } ?? true
  }

  /// Creates the properties of a composition, with its track IDs.
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
    loudnessTags = LoudnessTags()
    titles = AssetTitles()
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

  /// Returns the end of the longest audio or video track and whether it is exact; nil if no track has a known end.
  private static func longest(of tracks: [AssetTrack]) -> (MediaTime, isPrecise: Bool)? {
    tracks.filter { ($0.mediaType == .audio || $0.mediaType == .video) && $0.timeRange.end.isNumeric }
      .max { $0.timeRange.end < $1.timeRange.end }
      .map { ($0.timeRange.end, $0.providesPreciseDuration) }
  }

  /// Returns a copy with the exact end of an audio track. A longer video track still determines the duration.
  ///
  /// - Parameter trackID: the track; nil: the audio track to play.
  func withAudioEnd(_ end: MediaTime, trackID: AssetTrack.ID? = nil) -> AssetProperties {
    var refined = self
    guard let index = tracks.firstIndex(where: { $0.id == trackID ?? audioTrackID }) else { return self }
    refined.tracks[index].setEnd(end)
    if let (duration, isPrecise) = Self.longest(of: refined.tracks) {
      (refined.duration, refined.providesPreciseDuration) = (duration, isPrecise)
    }
    return refined
  }

  /// Returns a copy of the properties of an HLS segment for the whole stream.
  ///
  /// - Parameter nanoseconds: the duration of the stream in ns; nil: the stream is live and has no end.
  func asStream(durationNanoseconds nanoseconds: Int64?) -> AssetProperties {
    var stream = self
    stream.formatName = "hls"
    // The tags of a segment do not describe the stream.
    stream.titles = AssetTitles()
    stream.isSeekable = true
    // Rounded to microseconds; the error of the duration itself is larger.
    stream.duration =
      nanoseconds.map { MediaTime(value: ($0 + 500) / 1_000, timescale: 1_000_000) } ?? .indefinite
    stream.providesPreciseDuration = false
    if nanoseconds != nil {
      for index in stream.tracks.indices { stream.tracks[index].setEnd(stream.duration, isPrecise: false) }
    }
    return stream
  }

  /// Returns a copy with the caption formats in the frames of a video track.
  func withClosedCaptions(_ formats: [ClosedCaptionFormat], trackID: AssetTrack.ID) -> AssetProperties {
    var other = self
    if let index = tracks.firstIndex(where: { $0.id == trackID }) { other.tracks[index].closedCaptions = formats }
    return other
  }

  /// Returns a copy with other tracks, for a stream whose tracks are in several files.
  func withTracks(_ tracks: [AssetTrack], audioTrackID: AssetTrack.ID?) -> AssetProperties {
    var other = self
    (other.tracks, other.audioTrackID) = (tracks, audioTrackID)
    return other
  }

  /// Chooses the audio track to play; nil if there is no audio track.
  private static func chooseAudio(_ demuxer: Demuxer, displayPath: String) throws(MediaError) -> Int? {
    guard let candidate = demuxer.streams.first(where: { $0.mediaType == .audio }) else { return nil }
    let chosen = demuxer.preferredAudioStreamIndex.map { demuxer.streams[$0] }
    if chosen == nil, !candidate.hasDecoder {
      throw MediaError(.unknownCodec, "no decoder for the audio (\(candidate.codecName)) of \(displayPath)")
    }
    guard let chosen, let format = chosen.audioFormat else {
      if demuxer.isFormatGuessed { throw MediaError(.unknownFormat, "not a media file: \(displayPath)") }
      throw MediaError(.damagedFile, "the file is damaged: found no audio in \(displayPath)")
    }
    try format.checkSupported()
    return chosen.index
  }

  /// Checks that a requested audio track is playable, and returns its ID.
  private static func checkAudio(_ id: Int, _ demuxer: Demuxer, displayPath: String) throws(MediaError) -> Int {
    guard demuxer.streams.indices.contains(id), demuxer.streams[id].mediaType == .audio else {
      throw MediaError(.noSuchTrack, "there is no audio track \(id) in \(displayPath)")
    }
    guard demuxer.streams[id].hasDecoder else {
      throw MediaError(
        .unknownCodec, "no decoder for the audio (\(demuxer.streams[id].codecName)) of \(displayPath)")
    }
    guard let format = demuxer.streams[id].audioFormat else {
      throw MediaError(.damagedFile, "the file is damaged: found no data of track \(id) in \(displayPath)")
    }
    try format.checkSupported()
    return id
  }

  private static func mediaType(of stream: StreamInfo, in demuxer: Demuxer) -> AssetTrack.MediaType {
    switch stream.mediaType {
    case .audio: .audio
    // FFmpeg reads a still image as a format called png_pipe, jpeg_pipe, ...
    case .video: demuxer.formatName.hasSuffix("_pipe") ? .attachedPicture : .video
    case .subtitle: .subtitle
    case .attachedPicture: .attachedPicture
    case .other: .other
    }
  }
}
