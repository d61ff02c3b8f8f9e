import LibAV
import MediaCore

/// What loading an asset found.
public struct AssetProperties: Sendable, Hashable {
  /// FFmpeg's name of the container's format, such as `flac` or `mov,mp4,m4a,3gp,3g2,mj2`.
  public let formatName: String
  /// From time 0 to the end of the longest track that plays; indefinite when not known.
  public private(set) var duration: MediaTime
  /// Whether `duration` is what the media really last, not an estimate.
  public private(set) var providesPreciseDuration: Bool
  public private(set) var tracks: [AssetTrack]
  /// The sound track that plays.
  public let audioTrackID: AssetTrack.ID?
  /// What the file says of the padding at the edges of the sound that plays.
  let audioEdges: TrackEdges?
  /// Size of the file.
  public let byteCount: Int64

  /// Whether there is sound to play.
  public var hasAudio: Bool { audioTrackID != nil }
  /// Whether there is moving video; pictures do not count.
  public var hasVideo: Bool { tracks.contains { $0.mediaType == .video } }
  /// The sound track that plays.
  public var audioTrack: AssetTrack? { tracks.first { $0.id == audioTrackID } }

  /// What of the sound that plays is heard when on the asset's timeline; nil where FFmpeg follows the file's edit list.
  var audioEdits: EditedTimeline? {
    guard let edits = audioEdges?.edits, let track = audioTrack, let rate = track.audioFormat?.sampleRateHz,
      let start = track.timeRange.start.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    else { return nil }
    // Video may begin before the movie's time 0.
    return edits.delayed(byFrames: start - edits.firstSoundFrame)
  }

  /// Errors: `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`, `unknownFormat`, `damagedFile`.
  init(demuxer: Demuxer, byteCount: Int64, displayPath: String) throws(MediaError) {
    formatName = demuxer.formatName
    self.byteCount = byteCount
    audioTrackID = try Self.chooseAudio(demuxer, displayPath: displayPath)
    let timing = ContainerTiming(demuxer: demuxer, byteCount: byteCount)
    audioEdges = audioTrackID.flatMap { timing.edges(of: demuxer.streams[$0]) }
    tracks = demuxer.streams.map { stream in
      AssetTrack(
        stream, mediaType: Self.mediaType(of: stream, in: demuxer), timeRange: timing.timeRange(of: stream),
        providesPreciseDuration: timing.isPrecise(stream))
    }
    guard tracks.contains(where: { $0.mediaType == .audio || $0.mediaType == .video }) else {
      throw MediaError(.noPlayableTracks, "the file has neither sound nor video: \(displayPath)")
    }
    (duration, providesPreciseDuration) = Self.longest(of: tracks) ?? (timing.containerDuration, false)
  }

  /// The end of the longest track that plays, and whether it is exact; nil when none says.
  private static func longest(of tracks: [AssetTrack]) -> (MediaTime, isPrecise: Bool)? {
    tracks.filter { ($0.mediaType == .audio || $0.mediaType == .video) && $0.timeRange.end.isNumeric }
      .max { $0.timeRange.end < $1.timeRange.end }
      .map { ($0.timeRange.end, $0.providesPreciseDuration) }
  }

  /// The same with the true end of the sound that plays. Video that is said to last longer still counts.
  func withAudioEnd(_ end: MediaTime) -> AssetProperties {
    var refined = self
    guard let index = tracks.firstIndex(where: { $0.id == audioTrackID }) else { return self }
    refined.tracks[index].setEnd(end)
    if let (duration, isPrecise) = Self.longest(of: refined.tracks) {
      (refined.duration, refined.providesPreciseDuration) = (duration, isPrecise)
    }
    return refined
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
