import Fuzzing
import PlayheadMediaCore
import PlayheadPlaylists

/// Parses any bytes in one format, and stops when a property is violated.
///
/// Properties:
/// - no trap
/// - errors have the numbers of playlists
/// - locations are files or http URLs, without NUL
/// - ranges are valid
/// - a playlist that can be written reads back with the same locations, ranges and titles
func check(_ bytes: [UInt8], as format: PlaylistFormat) {
  checkRemote(bytes, as: format)
  let location = PlaylistLocation.file(Array("/music/list.\(format.rawValue)".utf8))
  let list: Playlist
  do throws(MediaError) { list = try Playlist(parsing: bytes, at: location) } catch {
    let codes: [MediaError.Code] = [.notAPlaylist, .damagedPlaylist, .playlistLimitExceeded]
    precondition(codes.contains(error.code), "unexpected error: \(error)")
    return
  }
  precondition(list.warnings.count <= PlaylistLimits.warningCount, "too many warnings")
  for entry in list.entries {
    switch entry.location {
    case .file(let path): precondition(path.first == UInt8(ascii: "/") && !path.contains(0), "invalid path")
    case .url(let url): precondition(url.hasPrefix("http") && url.utf8.allSatisfy { $0 > 32 && $0 < 127 }, "bad URL")
    }
    precondition(entry.range?.isValid != false && entry.range?.isEmpty != true, "invalid range")
    precondition(
      entry.title.map { !$0.isEmpty && $0.utf8.count <= PlaylistLimits.textByteCount } != false, "invalid title")
  }
  for format in [PlaylistFormat.m3u, .pls, .xspf, .cue] {
    guard let lines = try? list.lines(as: format, base: Array("/music".utf8)) else { continue }
    let text = Array(lines.joined(separator: "\n").utf8)
    guard let reparsed = try? Playlist(parsing: text, at: location) else {
      preconditionFailure("the written playlist cannot be parsed: \(lines)")
    }
    precondition(
      reparsed.entries.map(\.location) == list.entries.map(\.location),
      "locations changed during a round trip: \(lines)")
    precondition(
      reparsed.entries.map(\.range) == list.entries.map(\.range), "ranges changed during a round trip: \(lines)")
    guard let rewritten = try? reparsed.lines(as: format, base: Array("/music".utf8)) else {
      preconditionFailure("the parsed playlist cannot be written again: \(lines)")
    }
    precondition(rewritten == lines, "the second output differs: \(lines)")
  }
}

/// Parses the same bytes as a playlist from a server, which must not refer to local files.
func checkRemote(_ bytes: [UInt8], as format: PlaylistFormat) {
  let location = PlaylistLocation.url("https://user@h.example:81/a/b;c/list.\(format.rawValue)?q=/x#y")
  guard let list = try? Playlist(parsing: bytes, at: location) else { return }
  for entry in list.entries {
    guard case .url(let url) = entry.location else {
      preconditionFailure("a local file in a remote list: \(entry.location)")
    }
    precondition(url.hasPrefix("http") && url.utf8.allSatisfy { $0 > 32 && $0 < 127 }, "invalid URL: \(url)")
  }
}

/// Runs libFuzzer on the parser of one format.
public func fuzz(_ format: PlaylistFormat) {
  fuzz { bytes in check(Array(bytes), as: format) }
}
