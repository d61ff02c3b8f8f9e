import MediaAssets
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

/// Items from lists.
extension PlayerItem {
  /// An item for each entry of a list; how many were left out, `skipped` gets. Entries that are parts of the same file share an asset.
  public static func items(
    of playlist: Playlist, prefersPreciseDuration: Bool = false
  ) -> (items: [PlayerItem], skippedCount: Int) {
    var assets = PlaylistAssets(prefersPreciseDuration: prefersPreciseDuration)
    let items = playlist.entries.compactMap { entry in
      assets.asset(for: entry).map { PlayerItem(asset: $0, timeRange: entry.range, playlistEntry: entry) }
    }
    return (items, playlist.entries.count - items.count + playlist.skippedCount)
  }

  /// Reads the list in a file, on a thread of its own, and makes items of it. Errors: those of
  /// `Playlist.init(contentsOf:assumed:)`.
  public static func items(ofListAt path: String) async throws(MediaError) -> (items: [PlayerItem], skippedCount: Int) {
    let result = await withCheckedContinuation { continuation in
      NamedThread.detached(name: "read-list") {
        continuation.resume(
          returning: Result { () throws(MediaError) in try Playlist(contentsOf: Array(path.utf8)) })
      }
    }
    return items(of: try result.get())
  }
}

/// The assets of a list's entries: one for each place.
public struct PlaylistAssets {
  private let prefersPreciseDuration: Bool
  private let options: HTTPOptions
  private let origin: HTTPOrigin?
  private var assets: [PlaylistPlace: Asset] = [:]

  /// None yet.
  ///
  /// - Parameters:
  ///   - options: how servers are asked.
  ///   - list: the place of the list. Entries of other origins get no header fields; see `HTTPOptions.headerScope`.
  public init(
    prefersPreciseDuration: Bool, options: HTTPOptions = HTTPOptions(), listedAt list: PlaylistPlace? = nil
  ) {
    self.prefersPreciseDuration = prefersPreciseDuration
    self.options = options
    origin = list?.origin
  }

  /// The asset of an entry's place; nil when nothing there can be played.
  public mutating func asset(for entry: PlaylistEntry) -> Asset? {
    // Whole files are often many, and seldom the same.
    guard entry.range != nil else { return makeAsset(entry.place) }
    if let asset = assets[entry.place] { return asset }
    let asset = makeAsset(entry.place)
    assets[entry.place] = asset
    return asset
  }

  private func makeAsset(_ place: PlaylistPlace) -> Asset? {
    switch place {
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
  /// What a part of an asset lasts: to the range's end, or to the asset's when that comes first.
  func partDuration(in properties: AssetProperties) -> MediaTime {
    guard properties.duration.isNumeric else { return duration.isNumeric ? duration : properties.duration }
    return max(.zero, min(end, properties.duration) - start)
  }

  /// What of an asset's chapter lies in the part, in the part's times; nil when nothing does.
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

  /// Errors: `invalidTime` when no part of an asset is there.
  func checkPart(of properties: AssetProperties, path: String) throws(MediaError) {
    guard isValid, !isEmpty, start.isNumeric, start >= .zero, start.epoch == 0 else {
      throw MediaError(.invalidTime, "\(self) is no part of a file: \(path)")
    }
    guard properties.duration.isNumeric, properties.providesPreciseDuration, start >= properties.duration else {
      return
    }
    throw MediaError(
      .invalidTime,
      "the part begins at \(start.decimalDescription) s and the file ends at \(properties.duration.decimalDescription) s:"
        + " \(path)")
  }
}
