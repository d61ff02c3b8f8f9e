/// Converts the media type that a server states to a file name suffix, which FFmpeg uses as a hint for ambiguous bytes.
enum MediaTypeHint {
  private static let fileExtensions: [String: String] = [
    "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/aac": "aac", "audio/aacp": "aac", "audio/x-aac": "aac",
    "audio/flac": "flac",
    "audio/x-flac": "flac", "audio/ogg": "ogg", "application/ogg": "ogg", "audio/opus": "opus", "audio/mp4": "m4a",
    "audio/x-m4a": "m4a", "video/mp4": "mp4", "audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav",
    "audio/aiff": "aiff", "audio/x-aiff": "aiff", "audio/webm": "webm", "video/webm": "webm", "audio/x-matroska": "mka",
    "video/x-matroska": "mkv", "audio/ac3": "ac3", "video/mp2t": "ts", "audio/x-ms-wma": "wma", "audio/basic": "au",
  ]

  /// Returns `name` if it has a suffix or the type is unknown; otherwise `name` with the type's suffix.
  static func name(_ name: String, mediaType: String?) -> String {
    guard let fileExtension = mediaType.flatMap({ fileExtensions[$0] }) else { return name }
    let stem = name.split(separator: "/").last ?? ""
    let parts = stem.split(separator: ".")
    return parts.count > 1 && (2...5).contains(parts[parts.count - 1].count) ? name : "\(name).\(fileExtension)"
  }
}
