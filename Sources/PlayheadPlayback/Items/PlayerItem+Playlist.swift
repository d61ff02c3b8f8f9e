import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio

/// Items from playlists.
extension PlayerItem {
  /// Makes an item for each playable entry of a playlist. Entries that are parts of the same file share an asset.
  ///
  /// - Returns: the items, and the number of entries that were left out.
  public static func items(
    of playlist: Playlist, prefersPreciseDuration: Bool = false
  ) -> (items: [PlayerItem], skippedCount: Int) {
    var assets = PlaylistAssets(prefersPreciseDuration: prefersPreciseDuration)
    let items = playlist.entries.compactMap { entry in
      assets.asset(for: entry).map { PlayerItem(asset: $0, timeRange: entry.range, playlistEntry: entry) }
    }
    return (items, playlist.entries.count - items.count + playlist.skippedCount)
  }

  /// Reads a playlist file on a separate thread, and makes its items.
  ///
  /// <!-- listing: load-playlist -->
  /// ```swift
  /// let (items, skippedCount) = try await PlayerItem.items(ofPlaylistAt: "/music/evening.m3u8")
  /// try await player.append(items)
  /// print(skippedCount)
  /// ```
  ///
  /// - Throws: the errors of `Playlist.init(contentsOf:assumed:)`.
  public static func items(
    ofPlaylistAt path: String
  ) async throws(MediaError) -> (items: [PlayerItem], skippedCount: Int) {
    let result = await withCheckedContinuation { continuation in
      NamedThread.detached(name: "read-list") {
        continuation.resume(
          returning: Result { () throws(MediaError) in try Playlist(contentsOf: path) })
      }
    }
    return items(of: try result.get())
  }
}

/// The assets of the entries of a playlist: one for each location.
package struct PlaylistAssets: Sendable {
  private let prefersPreciseDuration: Bool
  private let options: HTTPOptions
  private let origin: HTTPOrigin?
  private var assets: [PlaylistLocation: Asset] = [:]

  /// Makes an empty set of assets.
  ///
  /// - Parameters:
  ///   - prefersPreciseDuration: Whether assets determine their exact durations.
  ///   - options: The HTTP options of the assets.
  ///   - playlistLocation: The location of the playlist. Entries of other origins get no header fields; see
  ///     `HTTPOptions.headerScope`.
  package init(
    prefersPreciseDuration: Bool, options: HTTPOptions = HTTPOptions(), playlistLocation: PlaylistLocation? = nil
  ) {
    self.prefersPreciseDuration = prefersPreciseDuration
    self.options = options
    origin = playlistLocation?.origin
  }

  /// Returns the asset of an entry; nil if its location is not playable.
  package mutating func asset(for entry: PlaylistEntry) -> Asset? {
    // Only parts share an asset: whole files are numerous and rarely repeated.
    guard entry.range != nil else { return makeAsset(entry.location) }
    if let asset = assets[entry.location] { return asset }
    let asset = makeAsset(entry.location)
    assets[entry.location] = asset
    return asset
  }

  private func makeAsset(_ location: PlaylistLocation) -> Asset? {
    switch location {
    case .file(let path):
      return Asset(path: path, options: options, prefersPreciseDuration: prefersPreciseDuration)
    case .url(let text):
      guard let url = try? HTTPURL(text) else { return nil }
      return Asset(
        url: url, options: options.inherited(from: origin, by: url), prefersPreciseDuration: prefersPreciseDuration)
    }
  }
}

extension TimeRange {
  /// Returns the duration of this part of an asset: up to the end of the range or of the asset, whichever comes first.
  func partDuration(in properties: AssetProperties) -> MediaTime {
    guard properties.duration.isNumeric else { return duration.isNumeric ? duration : properties.duration }
    return max(.zero, min(end, properties.duration) - start)
  }

  /// Returns the chapter clipped to this part, in times of the part; nil if they do not overlap.
  func part(of chapter: AssetChapter) -> AssetChapter? {
    let range = chapter.timeRange
    guard range.start < end, !range.end.isNumeric || range.end > start else { return nil }
    let first = max(.zero, range.start - start)
    let last = range.end.isNumeric ? min(range.end, end) : end
    return AssetChapter(
      titles: chapter.titles,
      timeRange: last.isNumeric
        ? TimeRange(start: first, end: last - start) : TimeRange(start: first, duration: range.duration),
      languageCode: chapter.languageCode)
  }

  /// Checks that this range is a valid part of the asset.
  ///
  /// - Throws: `invalidTime`.
  func checkPart(of properties: AssetProperties, path: String) throws(MediaError) {
    guard isValid, !isEmpty, start.isNumeric, start >= .zero, start.epoch == 0 else {
      throw MediaError(.invalidTime, "\(self) is not a valid part of a file: \(path)")
    }
    guard properties.duration.isNumeric, properties.providesPreciseDuration, start >= properties.duration else {
      return
    }
    throw MediaError(
      .invalidTime,
      "the part begins at \(start.decimalDescription) s and the file ends at"
        + " \(properties.duration.decimalDescription) s: \(path)")
  }
}
