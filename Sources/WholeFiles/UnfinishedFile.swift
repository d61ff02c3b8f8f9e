import Glibc
import MediaCore

extension WholeFile {
  /// Begins a file that is written bit by bit, at any of its places. Nothing has its name until `commit`.
  ///
  /// Errors: those of `check`; `writeFailed`.
  public func begin() throws(MediaError) -> UnfinishedFile { try UnfinishedFile(self) }
}

/// A file that is being written beside its place; gone with the object unless it is put there.
///
/// Used by one thread at a time.
public final class UnfinishedFile {
  /// For writing and reading; open until the file is put in its place or given up.
  public let descriptor: Int32
  private let file: WholeFile
  /// What is done is done in this folder, whatever its path comes to mean meanwhile.
  private let folder: Int32
  private let temporaryName: [UInt8]
  private var isOpen = true

  fileprivate init(_ file: WholeFile) throws(MediaError) {
    let folder = try file.openFolder()
    let name = file.temporaryName
    let descriptor = WholeFile.withCString(name) { openat(folder, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    guard descriptor >= 0 else {
      let failure = file.failure("open")
      close(folder)
      throw failure
    }
    (self.descriptor, self.file, self.folder, temporaryName) = (descriptor, file, folder, name)
  }

  deinit { giveUp() }

  /// Writes behind what was written. Errors: `writeFailed`.
  public func append(_ bytes: [UInt8]) throws(MediaError) { try file.writeAll(bytes, descriptor) }

  /// Puts it in its place, whole. On an error there is nothing of it.
  ///
  /// Errors: `fileExists` when one has come there meanwhile that is not to be replaced; `writeFailed`.
  public func commit() throws(MediaError) {
    precondition(isOpen, "the file has been put in its place or given up")
    var error: MediaError?
    // Else a file of no bytes may have its name after the power went.
    if fsync(descriptor) != 0 { error = file.failure("fsync") }
    if close(descriptor) != 0, error == nil { error = file.failure("close") }
    isOpen = false
    defer { close(folder) }
    do throws(MediaError) {
      if let error { throw error }
      try file.put(temporaryName, in: folder)
    } catch {
      remove()
      throw error
    }
  }

  /// Removes it.
  public func giveUp() {
    guard isOpen else { return }
    isOpen = false
    remove()
    close(descriptor)
    close(folder)
  }

  private func remove() { _ = WholeFile.withCString(temporaryName) { unlinkat(folder, $0, 0) } }
}
