import PlayheadMediaCore

/// Combines parts of assets on one timeline, as AVMutableComposition. A value. `Asset(composition:)` makes an asset
/// that can be played, read and inserted into other compositions.
///
/// <!-- listing: compose -->
/// ```swift
/// var composition = Composition()
/// try composition.insertTimeRange(
///   TimeRange(start: .zero, end: .seconds(10)), of: Asset(path: "/music/one.flac"), at: .zero)
/// try composition.insertTimeRange(
///   TimeRange(start: .seconds(10), end: .seconds(60)), of: Asset(path: "/music/two.mp3"), at: composition.duration)
/// let item = PlayerItem(asset: Asset(composition: composition))
/// ```
///
/// Each track has consecutive segments: ranges of tracks of assets, and between them silence or black. The audio of
/// simultaneous tracks is added; ``AssetReaderAudioMixOutput`` applies volumes to the tracks.
///
/// All times are exact. An audio segment begins with the frame nearest to its start. The boundary of two segments is
/// the same frame for both, so no frame is missing or repeated. The first frame of a segment is the one nearest to the
/// start of its range in the asset's audio, at the composition's sample rate.
///
/// The audio has the sample rate of the first audio segment of the first track that has one, and the largest channel
/// count of all sources. Other segments are converted as by a reader of their asset with these settings. All processing
/// uses float32; requested integer samples are rounded from it.
public struct Composition: Sendable {
  /// Maximum number of nested compositions, including this one.
  public static let maximumDepth = 8

  /// The tracks, in the order in which they were added.
  public private(set) var tracks: [CompositionTrack] = []
  private var nextID: AssetTrack.ID = 0

  /// Creates a composition without tracks.
  public init() {}

  /// The end of the longest track; 0 for an empty composition.
  public var duration: MediaTime { tracks.map(\.duration).max() ?? .zero }

  /// Returns the track with an ID; nil if there is none.
  public func track(_ id: AssetTrack.ID) -> CompositionTrack? { tracks.first { $0.id == id } }

  // MARK: - Tracks

  /// Adds an empty track and returns its ID.
  ///
  /// - Throws: `invalidArgument` for a media type other than audio and video.
  @discardableResult
  public mutating func addTrack(_ mediaType: AssetTrack.MediaType) throws(MediaError) -> AssetTrack.ID {
    guard mediaType == .audio || mediaType == .video else {
      throw MediaError(
        .invalidArgument, "the media type of a composition track must be audio or video (got \(mediaType.rawValue))",
        operation: "addTrack")
    }
    defer { nextID += 1 }
    tracks.append(CompositionTrack(id: nextID, mediaType: mediaType))
    return nextID
  }

  /// Removes a track.
  ///
  /// - Throws: `noSuchTrack`.
  public mutating func removeTrack(_ id: AssetTrack.ID) throws(MediaError) { tracks.remove(at: try index(of: id)) }

  // MARK: - Editing all tracks

  /// Inserts a range of an asset: its audio, its video, or both, each into the first track of its media type. A missing
  /// track is added. The media of all tracks from `time` on moves to later times, by the inserted duration. Blocks to
  /// load the asset if it has not been loaded.
  ///
  /// On an error the composition does not change.
  ///
  /// - Parameters:
  ///   - range: The range on the asset's timeline.
  ///   - asset: The asset.
  ///   - time: The time on this timeline. If it is after the end, silence precedes the range.
  /// - Throws:
  ///   - the errors of `Asset.load`
  ///   - `invalidTime` for a range that is invalid, empty or not within the asset, and for a negative time
  ///   - `invalidArgument` for an asset that is not composable
  ///   - `mediaLimitExceeded` for compositions that are nested too deeply
  public mutating func insertTimeRange(_ range: TimeRange, of asset: Asset, at time: MediaTime) throws(MediaError) {
    let properties = try Self.properties(of: asset, range, at: time)
    var sources: [AssetTrack.MediaType: CompositionTrack.Source] = [:]
    if let track = properties.audioTrack, track.isAudible {
      sources[.audio] = CompositionTrack.Source(asset: asset, trackID: nil, track: track)
    }
    if let track = properties.tracks.first(where: { $0.mediaType == .video && $0.isDecodable && !$0.isProtected }) {
      sources[.video] = CompositionTrack.Source(asset: asset, trackID: track.id, track: track)
    }
    guard !sources.isEmpty else {
      throw MediaError(
        .invalidArgument, "\(asset.displayPath) has no track that a composition supports", operation: "insertTimeRange")
    }
    for mediaType in [AssetTrack.MediaType.audio, .video] where sources[mediaType] != nil {
      if !tracks.contains(where: { $0.mediaType == mediaType }) { try addTrack(mediaType) }
    }
    for index in tracks.indices {
      let source = sources.removeValue(forKey: tracks[index].mediaType)
      // A track that ends before `time` does not need an empty range.
      guard source != nil || time < tracks[index].duration else { continue }
      tracks[index].insert(source, range, at: time)
    }
  }

  /// Inserts silence and black into all tracks. Media after the range moves to later times.
  ///
  /// - Throws: `invalidTime`.
  public mutating func insertEmptyTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range, "insertEmptyTimeRange")
    for index in tracks.indices { tracks[index].insert(nil, range, at: range.start) }
  }

  /// Removes a range from all tracks. Media after the range moves to earlier times.
  ///
  /// - Throws: `invalidTime`.
  public mutating func removeTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range, "removeTimeRange")
    for index in tracks.indices { tracks[index].remove(range) }
  }

  /// Changes the duration of a range of all tracks. Video is shown faster or slower; silence becomes shorter or longer.
  ///
  /// On an error the composition does not change.
  ///
  /// - Throws: `unsupportedEdit` if the range contains audio, which cannot be stretched; `invalidTime`.
  public mutating func scaleTimeRange(_ range: TimeRange, toDuration duration: MediaTime) throws(MediaError) {
    try Self.check(range, duration)
    for track in tracks { try Self.checkScalable(track, range, to: duration) }
    for index in tracks.indices { tracks[index].scale(range, to: duration) }
  }

  // MARK: - Editing one track

  /// Inserts a range of one track of an asset into a track. Media of that track after `time` moves to later times.
  /// Otherwise as ``insertTimeRange(_:of:at:)``.
  ///
  /// - Parameters:
  ///   - range: The range of the asset.
  ///   - sourceTrackID: The track of the asset; nil for the one of this media type that plays.
  ///   - asset: The asset.
  ///   - time: The time in the composition at which the range begins.
  ///   - id: The track of the composition.
  /// - Throws: The errors of ``insertTimeRange(_:of:at:)``; `noSuchTrack` for a missing track, here or in the asset;
  ///   `invalidArgument` for a track of another media type, and for tracks that cannot be decoded.
  public mutating func insertTimeRange(
    _ range: TimeRange, ofTrack sourceTrackID: AssetTrack.ID?, of asset: Asset, at time: MediaTime,
    inTrack id: AssetTrack.ID
  ) throws(MediaError) {
    let index = try index(of: id)
    let mediaType = tracks[index].mediaType
    let properties = try Self.properties(of: asset, range, at: time)
    let preferred =
      mediaType == .audio ? properties.audioTrack : properties.tracks.first { $0.mediaType == .video }
    guard let track = sourceTrackID.map({ id in properties.tracks.first { $0.id == id } }) ?? preferred else {
      throw MediaError(
        .noSuchTrack, "unknown \(mediaType.rawValue) track in \(asset.displayPath)",
        operation: "insertTimeRange")
    }
    guard track.mediaType == mediaType, mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected
    else {
      throw MediaError(
        .invalidArgument,
        "track \(track.id) (\(track.mediaType.rawValue)) of \(asset.displayPath) cannot be inserted into a "
          + "\(mediaType.rawValue) track",
        operation: "insertTimeRange")
    }
    let isPreferred = sourceTrackID == nil && mediaType == .audio
    tracks[index].insert(
      CompositionTrack.Source(asset: asset, trackID: isPreferred ? nil : track.id, track: track), range, at: time)
  }

  /// Inserts silence or black into a track. Its media after the range moves to later times.
  ///
  /// - Throws: `noSuchTrack`, `invalidTime`.
  public mutating func insertEmptyTimeRange(_ range: TimeRange, inTrack id: AssetTrack.ID) throws(MediaError) {
    let index = try index(of: id)
    try Self.check(range, "insertEmptyTimeRange")
    tracks[index].insert(nil, range, at: range.start)
  }

  /// Removes a range from a track. Its media after the range moves to earlier times.
  ///
  /// - Throws: `noSuchTrack`, `invalidTime`.
  public mutating func removeTimeRange(_ range: TimeRange, fromTrack id: AssetTrack.ID) throws(MediaError) {
    let index = try index(of: id)
    try Self.check(range, "removeTimeRange")
    tracks[index].remove(range)
  }

  /// Changes the duration of a range of a track, as ``scaleTimeRange(_:toDuration:)``.
  ///
  /// - Throws: `noSuchTrack`, `unsupportedEdit`, `invalidTime`.
  public mutating func scaleTimeRange(
    _ range: TimeRange, toDuration duration: MediaTime, inTrack id: AssetTrack.ID
  ) throws(MediaError) {
    let index = try index(of: id)
    try Self.check(range, duration)
    try Self.checkScalable(tracks[index], range, to: duration)
    tracks[index].scale(range, to: duration)
  }

  // MARK: - Checks

  private func index(of id: AssetTrack.ID) throws(MediaError) -> Int {
    guard let index = tracks.firstIndex(where: { $0.id == id }) else {
      throw MediaError(.noSuchTrack, "the composition has no track \(id)", operation: "composition")
    }
    return index
  }

  private static func properties(
    of asset: Asset, _ range: TimeRange, at time: MediaTime
  ) throws(MediaError) -> AssetProperties {
    try check(range, "insertTimeRange")
    guard time.isNumeric, time >= .zero, time.epoch == 0 else {
      throw MediaError(
        .invalidTime, "the insertion time must be numeric and at least 0 (got \(time))", operation: "insertTimeRange")
    }
    guard (time + range.duration).isNumeric else {
      throw MediaError(.invalidTime, "the composition would be too long", operation: "insertTimeRange")
    }
    guard asset.compositionDepth < maximumDepth else {
      throw MediaError(
        .mediaLimitExceeded, "compositions can be nested at most \(maximumDepth) deep", operation: "insertTimeRange"
      )
    }
    let properties = try asset.load()
    guard properties.duration.isNumeric, properties.isSeekable else {
      throw MediaError(
        .invalidArgument, "the duration of \(asset.displayPath) is unknown, or it is not seekable",
        operation: "insertTimeRange")
    }
    guard range.end <= properties.duration else {
      throw MediaError(
        .invalidTime,
        "\(asset.displayPath) ends at \(properties.duration.decimalDescription) s, before \(range.end.decimalDescription) s",
        operation: "insertTimeRange")
    }
    return properties
  }

  private static func check(_ range: TimeRange, _ operation: String) throws(MediaError) {
    guard range.start.isNumeric, range.start >= .zero, range.start.epoch == 0, range.duration.isNumeric,
      range.duration > .zero, range.duration.epoch == 0, range.end.isNumeric
    else {
      throw MediaError(
        .invalidTime, "a range must start at 0 or later and have a positive duration (got \(range))",
        operation: operation)
    }
  }

  private static func check(_ range: TimeRange, _ duration: MediaTime) throws(MediaError) {
    try check(range, "scaleTimeRange")
    guard duration.isNumeric, duration > .zero, duration.epoch == 0, (range.start + duration).isNumeric else {
      throw MediaError(
        .invalidTime, "the duration must be positive and numeric (got \(duration))", operation: "scaleTimeRange")
    }
  }

  private static func checkScalable(
    _ track: CompositionTrack, _ range: TimeRange, to duration: MediaTime
  ) throws(MediaError) {
    guard track.mediaType == .audio, duration != range.duration,
      track.segments(in: range).contains(where: { !$0.isEmpty })
    else { return }
    throw MediaError(
      .unsupportedEdit, "audio cannot be scaled: remove it from the range first, or change the playback rate",
      operation: "scaleTimeRange")
  }
}
