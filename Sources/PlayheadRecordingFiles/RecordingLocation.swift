import Glibc
// The location of a recording during and after recording.
//
// - The unfinished file is NAME.recording, in the same folder, and locked by the recorder.
// - A finished recording is renamed to NAME.
// - An unlocked NAME.recording is the remainder of a crash. The file is repaired and renamed to NAME, or to "NAME
//   (recovered).EXTENSION" if NAME exists.
// - A file that another process has opened is written in place. The other process renames it, and repairs it after a
//   crash of this process.
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadWholeFiles

/// The location of a recording's file.
public struct RecordingLocation: Sendable {
  /// The suffix of the name of an unfinished recording.
  public static let unfinishedSuffix = ".recording"

  /// The absolute path of the finished file. Bytes that are not UTF-8 are U+FFFD.
  public var path: String { String(decoding: pathBytes, as: UTF8.self) }
  /// The absolute path of the finished file, in bytes.
  package let pathBytes: [UInt8]
  package let file: WholeFile
  /// The file that another process has opened. Nil: this process opens the file.
  private let opened: OpenedFile?
  private let roots: FileRoots?

  /// The path of the unfinished file.
  package var unfinishedPath: [UInt8] { pathBytes + Self.unfinishedSuffix.utf8 }

  /// A file at an absolute path. No I/O.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the file.
  ///   - replaces: whether the recording may replace an existing file. The existing file stays until the recording is
  ///     finished. Default: false.
  public init(path: String, replaces: Bool = false) {
    self.init(path: Array(path.utf8), replaces: replaces, roots: nil)
  }

  /// - Parameter roots: the folders that may contain the file; nil: any location that the process may write to.
  package init(path: [UInt8], replaces: Bool, roots: FileRoots?) {
    self.init(path: path, replaces: replaces, hint: "use `replace` to replace it", roots: roots)
  }

  /// - Parameter hint: the hint in the error about an existing file.
  package init(path: [UInt8], replaces: Bool, hint: String, roots: FileRoots? = nil) {
    (pathBytes, self.roots, opened) = (path, roots, nil)
    let target = WholeFile(path: path, replaces: replaces, hint: hint, roots: roots)
    file = target.keepingUnfinished(as: target.name + Self.unfinishedSuffix.utf8)
  }

  /// An empty file that another process has opened. It keeps its audio after a failure. No I/O.
  package init(_ opened: OpenedFile) {
    (self.opened, roots) = (opened, nil)
    file = WholeFile(opened).keepingUnfinished(as: [])
    pathBytes = file.path
  }

  /// Whether another process has opened the file.
  package var isOpened: Bool { opened != nil }

  /// Closes a file that another process has opened. The location cannot be used afterwards.
  package func release() { opened?.release() }

  /// The result of a recovery.
  public struct Recovered: Sendable, Hashable {
    /// The path of the recovered file; nil if the file had no audio and was removed.
    public var path: String? { pathBytes.map { String(decoding: $0, as: UTF8.self) } }
    /// The path of the recovered file, in bytes.
    package var pathBytes: [UInt8]?
  }

  /// Repairs the remainder of a crashed recording to this location. Blocks.
  ///
  /// A file that another process has opened is repaired in place, and keeps its name.
  ///
  /// - Returns: nil if there is no such file, or a recorder has locked it.
  /// - Throws: `outsideRoots`; `readFailed` and `writeFailed`, after which the file still exists.
  public func recover() throws(MediaError) -> Recovered? {
    // A recovered recording never replaces an existing file.
    let target =
      if isOpened { file } else {
        WholeFile(path: pathBytes, replaces: false, hint: "", roots: roots)
          .keepingUnfinished(as: file.unfinishedName ?? [])
      }
    guard let remainder = try target.reopenUnfinished() else { return nil }
    guard try RecordingRepair.repair(remainder.descriptor) else {
      remainder.discard()
      return Recovered(pathBytes: nil)
    }
    return Recovered(pathBytes: try commit(remainder, target))
  }

  /// The file name without the folder.
  package var name: [UInt8] { file.name }

  /// Whether no file has the unfinished name, as far as this process can determine.
  package var isUnfinishedNameFree: Bool {
    isOpened || WholeFile(path: unfinishedPath, replaces: false, hint: "", roots: roots).isNameFree
  }

  /// Opens a recording that was made to this location, or recovered in its folder, for reading. Returns a negative
  /// number if it cannot be opened.
  package func open(_ path: [UInt8]) -> Int32 {
    if let opened { return fcntl(opened.descriptor, F_DUPFD_CLOEXEC, 0) }
    return Glibc.open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Removes a recording that was made to this location, or recovered in its folder.
  ///
  /// - Throws: `outsideRoots`; `fileNotFound`; `writeFailed`; `invalidState` for a file of another process.
  package func remove(_ path: [UInt8]) throws(MediaError) {
    guard !isOpened else {
      throw MediaError(.invalidState, "the recording can be deleted only by the client that opened it")
    }
    try WholeFile(path: path, replaces: true, hint: "", roots: roots).remove()
  }

  /// Renames the file to its name, or to the first free variant of it.
  private func commit(_ remainder: UnfinishedFile, _ target: WholeFile) throws(MediaError) -> [UInt8] {
    if isOpened {
      try remainder.commit()
      return pathBytes
    }
    for number in 0..<1_000 {
      let path = number == 0 ? pathBytes : Self.recoveredPath(pathBytes, number)
      let candidate = WholeFile(path: path, replaces: false, hint: "", roots: roots)
        .keepingUnfinished(as: target.unfinishedName ?? [])
      guard candidate.isNameFree else { continue }
      try remainder.commit(as: candidate)
      return path
    }
    throw MediaError(.fileExists, "a thousand recovered recordings have this name", operation: "recover")
  }

  package static func recoveredPath(_ path: [UInt8], _ number: Int) -> [UInt8] {
    let nameStart = (path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
    let dot = path[nameStart...].lastIndex(of: UInt8(ascii: "."))
    let end = dot.map { $0 > nameStart ? $0 : path.count } ?? path.count
    return Array(path[..<end]) + Array(" (recovered\(number == 1 ? "" : " \(number)"))".utf8) + Array(path[end...])
  }
}
