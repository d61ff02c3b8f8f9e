// Where a recording lies while it is being made, and what becomes of one that was not ended. Until it is whole it is NAME.recording, beside
// where it will be, and locked by whoever records. One that nobody has locked was left by a crash: it is repaired, and gets its name, or, if
// that is taken meanwhile, "NAME (recovered).ENDING".
import FileAccess
import Glibc
import MediaCore
import WholeFiles

/// The file of a recording.
public struct RecordingPlace: Sendable {
  /// What a recording's name ends with until it is whole.
  public static let unfinishedEnding = ".recording"

  /// Where it will be: absolute, bytes.
  public let path: [UInt8]
  let file: WholeFile
  private let roots: FileRoots?

  /// Where it is until it is whole.
  public var unfinishedPath: [UInt8] { path + Self.unfinishedEnding.utf8 }

  /// A file at an absolute path. No I/O.
  ///
  /// - Parameter replaces: even if there is a file, which stays until the recording is whole.
  public init(path: [UInt8], replaces: Bool = false) { self.init(path: path, replaces: replaces, roots: nil) }

  /// - Parameter roots: the folders below which it may lie; nil: wherever whoever calls may write.
  package init(path: [UInt8], replaces: Bool, roots: FileRoots?) {
    (self.path, self.roots) = (path, roots)
    let plain = WholeFile(path: path, replaces: replaces, hint: "`replace` replaces it", roots: roots)
    file = plain.kept(as: plain.name + Self.unfinishedEnding.utf8)
  }

  /// What has become of a recording that was not ended.
  public struct Recovered: Sendable, Hashable {
    /// Where it is now; nil: there was no sound in it, and nothing is left.
    public var path: [UInt8]?
  }

  /// Makes whole what a crash has left of a recording to this place; nil when there is none, or somebody is at it. Blocks.
  ///
  /// Errors: `outsideRoots`; `readFailed` and `writeFailed`, after which it is left as it was found.
  public func recover() throws(MediaError) -> Recovered? {
    // What was there before is not replaced by what nobody waited for.
    let plain = WholeFile(path: path, replaces: false, hint: "", roots: roots).kept(as: file.unfinishedName ?? [])
    guard let left = try plain.adopt() else { return nil }
    guard try RecordingRepair.repair(left.descriptor) else {
      left.giveUp()
      return Recovered(path: nil)
    }
    return Recovered(path: try put(left, plain))
  }

  /// Its name in its folder.
  var name: [UInt8] { file.name }

  /// Whether nothing is left under the name that it has until it is whole, as far as can be seen.
  var isUnfinishedGone: Bool {
    WholeFile(path: unfinishedPath, replaces: false, hint: "", roots: roots).isFree
  }

  /// Removes a recording that was made to this place, or recovered beside it.
  func remove(_ path: [UInt8]) throws(MediaError) {
    try WholeFile(path: path, replaces: true, hint: "", roots: roots).remove()
  }

  /// Gives it its name, or the first like it that is free.
  private func put(_ left: UnfinishedFile, _ plain: WholeFile) throws(MediaError) -> [UInt8] {
    for number in 0..<1_000 {
      let path = number == 0 ? path : Self.recoveredPath(path, number)
      let place = WholeFile(path: path, replaces: false, hint: "", roots: roots).kept(as: plain.unfinishedName ?? [])
      guard place.isFree else { continue }
      try left.commit(as: place)
      return path
    }
    throw MediaError(.fileExists, "there are a thousand recovered recordings of one name", operation: "recover")
  }

  static func recoveredPath(_ path: [UInt8], _ number: Int) -> [UInt8] {
    let nameStart = (path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
    let dot = path[nameStart...].lastIndex(of: UInt8(ascii: "."))
    let end = dot.map { $0 > nameStart ? $0 : path.count } ?? path.count
    return Array(path[..<end]) + Array(" (recovered\(number == 1 ? "" : " \(number)"))".utf8) + Array(path[end...])
  }
}
