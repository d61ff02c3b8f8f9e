// The location of a recording during and after recording.
//
// - The unfinished file is NAME.recording, in the same folder, and locked by the recorder.
// - A finished recording is renamed to NAME.
// - An unlocked NAME.recording is the remainder of a crash. The file is repaired and renamed to NAME, or to "NAME
//   (recovered).EXTENSION" if NAME exists.
import FileAccess
import Glibc
import MediaCore
import WholeFiles

/// The location of a recording's file.
public struct RecordingLocation: Sendable {
  /// The suffix of the name of an unfinished recording.
  public static let unfinishedSuffix = ".recording"

  /// The absolute path of the finished file, in bytes.
  public let path: [UInt8]
  let file: WholeFile
  private let roots: FileRoots?

  /// The path of the unfinished file.
  public var unfinishedPath: [UInt8] { path + Self.unfinishedSuffix.utf8 }

  /// A file at an absolute path. No I/O.
  ///
  /// - Parameter replaces: whether the recording may replace an existing file. The existing file stays until the
  ///   recording is finished. Default: false.
  public init(path: [UInt8], replaces: Bool = false) { self.init(path: path, replaces: replaces, roots: nil) }

  /// - Parameter roots: the folders that may contain the file; nil: any location that the process may write to.
  package init(path: [UInt8], replaces: Bool, roots: FileRoots?) {
    (self.path, self.roots) = (path, roots)
    let target = WholeFile(path: path, replaces: replaces, hint: "use `replace` to replace it", roots: roots)
    file = target.keepingUnfinished(as: target.name + Self.unfinishedSuffix.utf8)
  }

  /// The result of a recovery.
  public struct Recovered: Sendable, Hashable {
    /// The path of the recovered file; nil if the file had no audio and was removed.
    public var path: [UInt8]?
  }

  /// Repairs the remainder of a crashed recording to this location. Blocks.
  ///
  /// - Returns: nil if there is no such file, or a recorder has locked it.
  /// - Throws: `outsideRoots`; `readFailed` and `writeFailed`, after which the file still exists.
  public func recover() throws(MediaError) -> Recovered? {
    // A recovered recording never replaces an existing file.
    let target = WholeFile(path: path, replaces: false, hint: "", roots: roots)
      .keepingUnfinished(as: file.unfinishedName ?? [])
    guard let remainder = try target.reopenUnfinished() else { return nil }
    guard try RecordingRepair.repair(remainder.descriptor) else {
      remainder.discard()
      return Recovered(path: nil)
    }
    return Recovered(path: try commit(remainder, target))
  }

  /// The file name without the folder.
  var name: [UInt8] { file.name }

  /// Whether no file has the unfinished name, as far as this process can determine.
  var isUnfinishedNameFree: Bool {
    WholeFile(path: unfinishedPath, replaces: false, hint: "", roots: roots).isNameFree
  }

  /// Removes a recording that was made to this location, or recovered in its folder.
  func remove(_ path: [UInt8]) throws(MediaError) {
    try WholeFile(path: path, replaces: true, hint: "", roots: roots).remove()
  }

  /// Renames the file to its name, or to the first free variant of it.
  private func commit(_ remainder: UnfinishedFile, _ target: WholeFile) throws(MediaError) -> [UInt8] {
    for number in 0..<1_000 {
      let path = number == 0 ? path : Self.recoveredPath(path, number)
      let candidate = WholeFile(path: path, replaces: false, hint: "", roots: roots)
        .keepingUnfinished(as: target.unfinishedName ?? [])
      guard candidate.isNameFree else { continue }
      try remainder.commit(as: candidate)
      return path
    }
    throw MediaError(.fileExists, "a thousand recovered recordings have this name", operation: "recover")
  }

  static func recoveredPath(_ path: [UInt8], _ number: Int) -> [UInt8] {
    let nameStart = (path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
    let dot = path[nameStart...].lastIndex(of: UInt8(ascii: "."))
    let end = dot.map { $0 > nameStart ? $0 : path.count } ?? path.count
    return Array(path[..<end]) + Array(" (recovered\(number == 1 ? "" : " \(number)"))".utf8) + Array(path[end...])
  }
}
