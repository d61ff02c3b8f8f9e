import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

extension PlayerItem {
  /// Computes ``descriptionByteCount`` for an item of `asset` without a title.
  static func descriptionByteCount(_ asset: Asset, _ playlistEntry: PlaylistEntry?) -> Int {
    let location =
      switch asset.location {
      case .path(let path): path.count
      case .url(let url, _): url.text.utf8.count
      case .descriptor(let descriptor): descriptor.name.utf8.count
      case .source(let name, _): name.utf8.count
      case .data, .composition: 0
      }
    return location + asset.httpOptions.byteCount + (playlistEntry?.byteCount ?? 0)
  }
}

extension HTTPOptions {
  /// The number of bytes of the header fields, the user agent and the interface names.
  fileprivate var byteCount: Int {
    headerByteCount + (userAgent?.utf8.count ?? 0) + interfaces.reduce(0) { $0 + $1.utf8.count }
  }
}

extension PlaylistEntry {
  /// The number of bytes of the texts other than the location.
  fileprivate var byteCount: Int { metadata.values.reduce(title?.utf8.count ?? 0) { $0 + $1.utf8.count } }
}
