// Selects media files in a folder: by extension, else by their first bytes.
import Glibc
import PlayheadWireProtocol

enum MediaNames {
  /// The extensions of files with audio, in lower case.
  private static let fileExtensions: Set<String> = [
    "3g2", "3gp", "aa3", "aac", "ac3", "adts", "adx", "aif", "aifc", "aiff", "alac", "amr", "ape", "asf", "au", "avi",
    "caf", "dff",
    "dsf", "dts", "eac3", "f4a", "f4v", "flac", "flv", "gsm", "it", "m2ts", "m4a", "m4b", "m4r", "m4v", "mid", "mka",
    "mkv", "mlp",
    "mod", "mov", "mp1", "mp2", "mp3", "mp4", "mpa", "mpc", "mpeg", "mpg", "mts", "nut", "oga", "ogg", "ogm", "ogv",
    "oma", "opus",
    "ra", "rm", "rmvb", "s3m", "shn", "snd", "spx", "tak", "thd", "truehd", "ts", "tta", "vob", "voc", "vqf", "w64",
    "wav", "wave",
    "weba", "webm", "wma", "wmv", "wv", "xm",
  ]

  /// The magic bytes of files with audio, and their offsets.
  private static let signatures: [(offset: Int, bytes: [UInt8])] = [
    (0, Array("fLaC".utf8)), (0, Array("OggS".utf8)), (0, Array("ID3".utf8)), (0, Array("RIFF".utf8)),
    (0, Array("RF64".utf8)),
    (0, Array("FORM".utf8)), (0, Array("caff".utf8)), (0, Array("MAC ".utf8)), (0, Array("wvpk".utf8)),
    (0, Array("TTA1".utf8)),
    (0, Array(".snd".utf8)), (0, Array("MPCK".utf8)), (0, Array("MP+".utf8)), (0, Array("DSD ".utf8)),
    (0, Array("#!AMR".utf8)),
    (0, [0x1A, 0x45, 0xDF, 0xA3]), (0, [0x30, 0x26, 0xB2, 0x75]), (4, Array("ftyp".utf8)), (0, [0xFF, 0xFB]),
    (0, [0xFF, 0xF1]),
    (0, [0xFF, 0xF9]), (0, [0xFF, 0xFA]), (0, [0xFF, 0xF3]), (0, [0x0B, 0x77]),
  ]

  /// The extension of a name, without the dot, in lower case; nil when missing. A leading dot begins no extension.
  static func fileExtension(of name: [UInt8]) -> String? {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, dot + 1 < name.count else { return nil }
    return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
  }

  /// Whether a name has the extension of a media format.
  static func hasMediaExtension(_ name: [UInt8]) -> Bool {
    fileExtension(of: name).map { fileExtensions.contains($0) } ?? false
  }

  /// Whether the file may be media: by its extension, or by its first bytes if it has none.
  static func canBeMedia(_ path: [UInt8], name: [UInt8]) -> Bool {
    if let fileExtension = fileExtension(of: name) {
      if fileExtensions.contains(fileExtension) { return true }
      // The dot in `Track 1.` and `5. Intro` begins no extension.
      guard fileExtension.contains(" ") else { return false }
    }
    return hasMediaSignature(path)
  }

  private static func hasMediaSignature(_ path: [UInt8]) -> Bool {
    // Do not block on a pipe without a writer: it is no media file.
    let descriptor = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: 16)
    let count = head.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    let bytes = head.prefix(max(0, count))
    return signatures.contains { $0.offset <= bytes.count && bytes.dropFirst($0.offset).starts(with: $0.bytes) }
  }
}
