import PlayheadMediaCore

/// The supported playlist formats.
public enum PlaylistFormat: String, Sendable, Hashable, CaseIterable {
  /// M3U and M3U8, plain and extended.
  case m3u
  /// Winamp's PLS, versions 1 and 2.
  case pls
  /// XSPF version 1, https://www.xspf.org/spec.
  case xspf
  /// CUE sheets: parts of files.
  case cue
  /// RFC 8216: the segments of one stream.
  case hlsMedia = "hls-media"
  /// RFC 8216: the variants of one stream.
  case hlsMaster = "hls-master"

  /// The formats by file name extension.
  public static let extensions: [String: PlaylistFormat] = [
    "m3u": .m3u, "m3u8": .m3u, "pls": .pls, "xspf": .xspf, "cue": .cue,
  ]

  /// The format of a file by its content, or by its extension when the content is ambiguous; nil when the file is not
  /// a playlist.
  public init?(of bytes: [UInt8], extension: String?) { self.init(of: PlaylistText(bytes), extension: `extension`) }

  /// The number of bytes that are searched for NUL bytes, which never occur in text, and for the root element.
  private static let probedByteCount = 4_096

  /// Detects the format. `assumed` is the format when content and extension are ambiguous. It is not used for binary
  /// content.
  init?(of text: PlaylistText, extension: String?, assumed: PlaylistFormat? = nil) {
    let named = `extension`.flatMap { Self.extensions[$0] }
    var lines = text.lines()
    var first: ArraySlice<UInt8> = []
    while first.isEmpty, let line = lines.next() { first = line.bytes }
    if first.hasPrefix(ignoringCase: "#EXTM3U") {
      self = Self.hls(text) ?? .m3u
    } else if first.hasPrefix(ignoringCase: "#EXTINF:") {
      self = .m3u
    } else if first.hasPrefix(ignoringCase: "[playlist]") {
      self = .pls
    } else if text.bytes.prefix(Self.probedByteCount).contains(0) {
      return nil
    } else if first.first == UInt8(ascii: "<") {
      let head = text.bytes.prefix(Self.probedByteCount)
      guard named == .xspf || String(decoding: head, as: UTF8.self).contains("<playlist") else { return nil }
      self = .xspf
    } else if CueParser.recognizes(text) {
      self = .cue
    } else if let format = named ?? assumed {
      self = format
    } else {
      return nil
    }
  }

  /// The HLS format of an extended M3U playlist, by its tags (RFC 8216, sections 4.3.2 to 4.3.5). Nil without these
  /// tags.
  private static func hls(_ text: PlaylistText) -> PlaylistFormat? {
    let master = ["STREAM-INF:", "I-FRAME-STREAM-INF:", "MEDIA:", "SESSION-DATA:", "SESSION-KEY:"]
    let media = [
      "TARGETDURATION:", "MEDIA-SEQUENCE:", "DISCONTINUITY-SEQUENCE:", "ENDLIST", "PLAYLIST-TYPE:", "I-FRAMES-ONLY",
      "BYTERANGE:", "KEY:", "MAP:", "PROGRAM-DATE-TIME:", "PART-INF:", "SKIP:",
    ]
    var lines = text.lines()
    while let line = lines.next() {
      guard line.bytes.hasPrefix(ignoringCase: "#EXT-X-") else { continue }
      let tag = line.bytes.dropFirst("#EXT-X-".utf8.count)
      if master.contains(where: { tag.hasPrefix(ignoringCase: $0) }) { return .hlsMaster }
      if media.contains(where: { tag.hasPrefix(ignoringCase: $0) }) { return .hlsMedia }
    }
    return nil
  }
}
