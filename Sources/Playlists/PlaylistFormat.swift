import MediaCore

/// The kinds of lists that are told apart.
public enum PlaylistFormat: String, Sendable, Hashable, CaseIterable {
  /// M3U and M3U8, plain and extended.
  case m3u
  /// Winamp's, versions 1 and 2.
  case pls
  /// https://www.xspf.org/spec, version 1.
  case xspf
  /// CUE sheets: parts of files.
  case cue
  /// RFC 8216: the segments of one stream.
  case hlsMedia = "hls-media"
  /// RFC 8216: variants of one stream.
  case hlsMaster = "hls-master"

  /// What the extensions of names say.
  public static let extensions: [String: PlaylistFormat] = [
    "m3u": .m3u, "m3u8": .m3u, "pls": .pls, "xspf": .xspf, "cue": .cue,
  ]

  /// What the content of a file says it is, or where that is open its extension; nil: no list.
  public init?(of bytes: [UInt8], extension: String?) { self.init(of: PlaylistText(bytes), extension: `extension`) }

  /// So much of a file is looked through for bytes that no text has.
  private static let probedByteCount = 4_096

  /// `assumed`: what it is if neither says; nothing is assumed of what is no text.
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

  /// RFC 8216, sections 4.3.2 to 4.3.5: the tags that make a list of names a stream.
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
