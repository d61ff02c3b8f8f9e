import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The unfinished recordings, for the next start: a folder with a symbolic link to each unfinished file.
///
/// Threading: any thread; calls block briefly.
public struct RecordingJournal: Sendable, Hashable {
  /// The path of the folder.
  public let folder: String

  /// Creates a journal in `folder`. The folder is created on first use.
  public init(folder: String) { self.folder = folder }

  /// Adds the path of an unfinished file.
  ///
  /// - Returns: The entry for `remove`.
  /// - Throws: `writeFailed`.
  func add(_ path: [UInt8]) throws(MediaError) -> String {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure("mkdir") }
    var generator = SystemRandomNumberGenerator()
    let entry = "\(folder)/\(generator.next() as UInt64)"
    let target = path.map(CChar.init(bitPattern:)) + [0]
    guard symlink(target, entry) == 0 else { throw failure("symlink") }
    return entry
  }

  /// Removes the entry of a file that is finished or deleted.
  func remove(_ entry: String) { unlink(entry) }

  /// Repairs unfinished recordings in their folders. An entry stays if its file cannot be repaired or is still being
  /// recorded.
  ///
  /// - Parameter report: called for each recording with its final path and the result.
  public func recover(
    _ report: (_ path: [UInt8], _ result: Result<RecordingLocation.Recovered, MediaError>) -> Void
  ) {
    for entry in entries {
      guard let target = target(of: entry), target.count > RecordingLocation.unfinishedSuffix.utf8.count,
        target.suffix(RecordingLocation.unfinishedSuffix.utf8.count).elementsEqual(
          RecordingLocation.unfinishedSuffix.utf8)
      else {
        remove(entry)
        continue
      }
      let path = Array(target.dropLast(RecordingLocation.unfinishedSuffix.utf8.count))
      do throws(MediaError) {
        if let recovered = try RecordingLocation(path: path, replaces: false, roots: nil).recover() {
          report(path, .success(recovered))
          remove(entry)
        } else if access(target.map(CChar.init(bitPattern:)) + [0], F_OK) != 0 {
          remove(entry)
        }
      } catch { report(path, .failure(error)) }
    }
  }

  // MARK: - Internals

  private var entries: [String] {
    guard let folder = opendir(folder) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append("\(self.folder)/\(name)") }
    }
    return names.sorted()
  }

  private func target(of entry: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { chars in
        chars.baseAddress.map { readlink(entry, $0, chars.count) } ?? -1
      }
    }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  private func failure(_ call: String) -> MediaError {
    let reason = String(cString: strerror(errno))
    return MediaError(.writeFailed, "\(folder): \(reason)", operation: call, underlying: reason)
  }
}
