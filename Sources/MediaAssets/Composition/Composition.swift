import MediaCore

/// Parts of assets put together on one timeline: as AVMutableComposition. A value; `Asset(composition:)` makes it something that can be
/// played, read and put into other compositions.
///
/// Each track has segments one behind the other: ranges of tracks of assets, and between them silence or black. What sounds at one
/// time in several tracks is added up (`AssetReaderAudioMixOutput` has volumes for that). All times are exact; a segment of sound begins
/// with the frame nearest to its start, and a boundary between two is one frame for both, so that none is missing or comes twice. Its
/// first frame is the one nearest to the start of its range in the asset's sound, at the composition's rate.
///
/// The sound has the rate of the first segment of the first track that has one, and as many channels as the sound with most of them.
/// Segments of another rate or with fewer channels are converted as a reader of the asset with these settings would. All is float32 on
/// the way: integers that are asked for are rounded from that.
public struct Composition: Sendable {
  /// Compositions within compositions, this one counted.
  public static let maximumDepth = 8

  /// In the order in which they were added.
  public private(set) var tracks: [CompositionTrack] = []
  private var nextID: AssetTrack.ID = 0

  /// Nothing: no tracks.
  public init() {}

  /// Where the longest track ends; 0 when there is nothing.
  public var duration: MediaTime { tracks.map(\.duration).max() ?? .zero }

  /// A track by its number; nil when there is none.
  public func track(_ id: AssetTrack.ID) -> CompositionTrack? { tracks.first { $0.id == id } }

  // MARK: - Tracks

  /// Adds an empty track, and answers its number. Errors: `invalidArgument` for what is neither sound nor video.
  @discardableResult
  public mutating func addTrack(_ mediaType: AssetTrack.MediaType) throws(MediaError) -> AssetTrack.ID {
    guard mediaType == .audio || mediaType == .video else {
      throw MediaError(
        .invalidArgument, "a composition has tracks of sound and video, not \(mediaType.rawValue)",
        operation: "addTrack")
    }
    defer { nextID += 1 }
    tracks.append(CompositionTrack(id: nextID, mediaType: mediaType))
    return nextID
  }

  /// Takes a track out. Errors: `noSuchTrack`.
  public mutating func removeTrack(_ id: AssetTrack.ID) throws(MediaError) { tracks.remove(at: try index(of: id)) }

  // MARK: - Editing all tracks

  /// Puts a range of an asset in at a time: its sound, or its video, or both, each into the first track of its kind, which is added
  /// where there is none. What is there, and behind it, moves back by as much in all tracks. Loads the asset if that has not been done:
  /// blocks then.
  ///
  /// - Parameters:
  ///   - range: on the asset's timeline.
  ///   - time: where on this timeline; behind its end there is silence up to it.
  /// Errors: those of `Asset.load`; `invalidTime` for a range that is none, is empty, or reaches out of the asset, and for a time below
  /// 0; `invalidArgument` for an asset that is not composable; `mediaLimitExceeded` for compositions too deep in each other. Nothing
  /// is changed then.
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
      throw MediaError(.invalidArgument, "nothing of \(asset.displayPath) can be put in", operation: "insertTimeRange")
    }
    for mediaType in [AssetTrack.MediaType.audio, .video] where sources[mediaType] != nil {
      if !tracks.contains(where: { $0.mediaType == mediaType }) { try addTrack(mediaType) }
    }
    for index in tracks.indices {
      let source = sources.removeValue(forKey: tracks[index].mediaType)
      // What has nothing there needs nothing there.
      guard source != nil || time < tracks[index].duration else { continue }
      tracks[index].insert(source, range, at: time)
    }
  }

  /// Puts silence and black in, in all tracks; what is there moves back. Errors: `invalidTime`.
  public mutating func insertEmptyTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range, "insertEmptyTimeRange")
    for index in tracks.indices { tracks[index].insert(nil, range, at: range.start) }
  }

  /// Takes a range out of all tracks; what is behind it moves up. Errors: `invalidTime`.
  public mutating func removeTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range, "removeTimeRange")
    for index in tracks.indices { tracks[index].remove(range) }
  }

  /// Gives a range of all tracks another length. Video is shown faster or slower, silence gets shorter or longer.
  ///
  /// Errors: `unsupportedEdit` when there is sound in the range, which nothing here stretches; `invalidTime`. Nothing is changed then.
  public mutating func scaleTimeRange(_ range: TimeRange, toDuration duration: MediaTime) throws(MediaError) {
    try Self.check(range, duration)
    for track in tracks { try Self.checkScalable(track, range, to: duration) }
    for index in tracks.indices { tracks[index].scale(range, to: duration) }
  }

  // MARK: - Editing one track

  /// Puts a range of one track of an asset into one of these tracks; what is there moves back. Otherwise as the one of whole assets.
  ///
  /// - Parameter sourceTrackID: nil: the one of its kind that the asset would have played.
  /// Errors: as the one of whole assets, and: `noSuchTrack`, here or in the asset; `invalidArgument` for a track of another kind, and for
  /// sound that does not decode.
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
        .noSuchTrack, "there is no such \(mediaType.rawValue) track in \(asset.displayPath)",
        operation: "insertTimeRange")
    }
    guard track.mediaType == mediaType, mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected
    else {
      throw MediaError(
        .invalidArgument,
        "track \(track.id) of \(asset.displayPath) is \(track.mediaType.rawValue) and cannot be put into a track of \(mediaType.rawValue)",
        operation: "insertTimeRange")
    }
    let isPreferred = sourceTrackID == nil && mediaType == .audio
    tracks[index].insert(
      CompositionTrack.Source(asset: asset, trackID: isPreferred ? nil : track.id, track: track), range, at: time)
  }

  /// Puts silence or black into a track; what is there moves back. Errors: `noSuchTrack`, `invalidTime`.
  public mutating func insertEmptyTimeRange(_ range: TimeRange, inTrack id: AssetTrack.ID) throws(MediaError) {
    let index = try index(of: id)
    try Self.check(range, "insertEmptyTimeRange")
    tracks[index].insert(nil, range, at: range.start)
  }

  /// Takes a range out of a track; what is behind it moves up. Errors: `noSuchTrack`, `invalidTime`.
  public mutating func removeTimeRange(_ range: TimeRange, fromTrack id: AssetTrack.ID) throws(MediaError) {
    let index = try index(of: id)
    try Self.check(range, "removeTimeRange")
    tracks[index].remove(range)
  }

  /// Gives a range of a track another length, as the one of all tracks. Errors: `noSuchTrack`, `unsupportedEdit`, `invalidTime`.
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
        .invalidTime, "something is put in at a number from 0 on, not at \(time)", operation: "insertTimeRange")
    }
    guard (time + range.duration).isNumeric else {
      throw MediaError(.invalidTime, "no composition is so long", operation: "insertTimeRange")
    }
    guard asset.compositionDepth < maximumDepth else {
      throw MediaError(
        .mediaLimitExceeded, "compositions lie at most \(maximumDepth) deep in each other", operation: "insertTimeRange"
      )
    }
    let properties = try asset.load()
    guard properties.duration.isNumeric, properties.isSeekable else {
      throw MediaError(
        .invalidArgument, "\(asset.displayPath) is of no known length, or cannot be read from any place on",
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
        .invalidTime, "a range begins at a number from 0 on and lasts longer than 0, unlike \(range)",
        operation: operation)
    }
  }

  private static func check(_ range: TimeRange, _ duration: MediaTime) throws(MediaError) {
    try check(range, "scaleTimeRange")
    guard duration.isNumeric, duration > .zero, duration.epoch == 0, (range.start + duration).isNumeric else {
      throw MediaError(.invalidTime, "nothing lasts \(duration)", operation: "scaleTimeRange")
    }
  }

  private static func checkScalable(
    _ track: CompositionTrack, _ range: TimeRange, to duration: MediaTime
  ) throws(MediaError) {
    guard track.mediaType == .audio, duration != range.duration,
      track.segments(in: range).contains(where: { !$0.isEmpty })
    else { return }
    throw MediaError(
      .unsupportedEdit, "sound is not stretched: take it out of the range first, or play all at another rate",
      operation: "scaleTimeRange")
  }
}
