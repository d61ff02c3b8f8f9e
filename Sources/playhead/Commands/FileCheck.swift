// A check of the files that a user names, before the queue changes.
import Glibc
import PlayheadWireProtocol

/// Finds files that cannot be media, without decoding them.
enum FileCheck {
  /// The number of bytes at the start of a file that are inspected.
  private static let headByteCount = 4_096

  /// The maximum number of named files with the extension of a media format whose start is read. On a cold hard disk,
  /// each file takes a seek of about 10 ms.
  static let maximumInspectedMediaCount = 1_000

  /// The problem of a text file, which can be a playlist with another name.
  static let textFile = "a text file, not media"

  /// The reason why a path is neither a folder nor a media file that the user can read; nil otherwise.
  ///
  /// - Parameters:
  ///   - acceptsText: Whether text files are accepted, because the user declares them as playlists.
  ///   - inspectsMedia: Whether to read the start of files that have the extension of a media format.
  static func problem(of path: [UInt8], acceptsText: Bool, inspectsMedia: Bool) -> String? {
    var status = stat()
    guard stat(terminated(path), &status) == 0 else { return String(cString: strerror(errno)) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return nil
    case S_IFREG: break
    case S_IFIFO: return "a pipe, not a file; use - for standard input"
    case S_IFSOCK: return "a socket, not a file"
    default: return "a device, not a file"
    }
    guard access(terminated(path), R_OK) == 0 else { return String(cString: strerror(errno)) }
    guard status.st_size > 0 else { return "the file is empty" }
    let name = path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) } ?? path
    guard !acceptsText, inspectsMedia || !MediaNames.hasMediaExtension(name),
      FilePath(bytes: path)?.isNamedAsPlaylist != true
    else { return nil }
    return textProblem(of: path)
  }

  /// Whether a path is a folder.
  static func isFolder(_ path: [UInt8]) -> Bool {
    var status = stat()
    return stat(terminated(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func textProblem(of path: [UInt8]) -> String? {
    let descriptor = open(terminated(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: headByteCount)
    let count = head.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { return String(cString: strerror(errno)) }
    let isText = isText(Array(head.prefix(count)), isTruncated: count == headByteCount)
    return isText ? textFile : nil
  }

  /// Whether bytes are UTF-8 without control characters, and not the start of an HLS playlist.
  private static func isText(_ bytes: [UInt8], isTruncated: Bool) -> Bool {
    guard !bytes.starts(with: "#EXTM3U".utf8) else { return false }
    let isPrintable = bytes.allSatisfy { byte in
      byte >= 0x20 && byte != 0x7F || (0x09...0x0D).contains(byte)
    }
    guard isPrintable else { return false }
    // The last character may be incomplete.
    return (0...(isTruncated ? min(3, bytes.count) : 0)).contains { count in
      String(validating: bytes.dropLast(count), as: UTF8.self) != nil
    }
  }

  private static func terminated(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }
}
