import Glibc
import PlayheadMediaCore

extension WholeFile {
  /// Begins a file that is written incrementally, at any offset. The file gets its name in `commit`.
  ///
  /// - Throws: the errors of `check`; `writeFailed`.
  package func create() throws(MediaError) -> UnfinishedFile { try UnfinishedFile(self) }

  /// Opens the unfinished file under its `unfinishedName`, or the file that another process has opened. Nil when none
  /// exists, or when another writer has it locked.
  ///
  /// - Throws: `outsideRoots`; `writeFailed`.
  package func reopenUnfinished() throws(MediaError) -> UnfinishedFile? {
    precondition(unfinishedName != nil, "only a file with an unfinished name can be reopened")
    return try UnfinishedFile(reopening: self)
  }
}

/// A file that is being written under a temporary name in its folder, or in place if another process has opened it.
///
/// Releasing the object removes the file, unless it was committed or has an `unfinishedName`. An opened file becomes
/// empty instead of being removed. Threading: one thread at a time.
package final class UnfinishedFile {
  /// The descriptor for writing and reading; open until the file is committed, discarded or kept.
  package let descriptor: Int32
  private let file: WholeFile
  /// The open folder, so that all operations use it even if its path changes meanwhile. -1 for an opened file.
  private let folder: Int32
  private let temporaryName: [UInt8]
  /// Whether the file has no name yet (`O_TMPFILE`, open(2)).
  private var isUnnamed = false
  private var isOpen = true

  /// `O_TMPFILE`, which Glibc declares only with `_GNU_SOURCE`.
  private static let unnamedFlag: Int32 = 0o20_000_000 | O_DIRECTORY

  fileprivate init(_ file: WholeFile) throws(MediaError) {
    if let opened = file.opened {
      try opened.check()
      let descriptor = fcntl(opened.descriptor, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw file.failure("dup") }
      (self.descriptor, self.file, folder, temporaryName) = (descriptor, file, -1, [])
      return
    }
    let folder = try file.openFolderForWriting()
    let name = file.unfinishedName ?? file.temporaryName
    if file.isUnnamedUntilComplete {
      let descriptor = openat(folder, ".", Self.unnamedFlag | O_RDWR | O_CLOEXEC, 0o666)
      if descriptor >= 0 {
        (self.descriptor, self.file, self.folder, temporaryName) = (descriptor, file, folder, name)
        isUnnamed = true
        return
      }
    }
    let descriptor = WholeFile.withCString(name) { openat(folder, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    // A random temporary name needs no lock, because no other process searches for it.
    guard descriptor >= 0, file.unfinishedName == nil || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let failure = errno == EEXIST || errno == EWOULDBLOCK ? file.alreadyBeingWritten : file.failure("open")
      if descriptor >= 0 { close(descriptor) }
      close(folder)
      throw failure
    }
    (self.descriptor, self.file, self.folder, temporaryName) = (descriptor, file, folder, name)
  }

  fileprivate init?(reopening file: WholeFile) throws(MediaError) {
    if let opened = file.opened {
      let descriptor = fcntl(opened.descriptor, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw file.failure("dup") }
      (self.descriptor, self.file, folder, temporaryName) = (descriptor, file, -1, [])
      return
    }
    let folder = try file.openFolder()
    let name = file.unfinishedName ?? []
    let descriptor = WholeFile.withCString(name) { openat(folder, $0, O_RDWR | O_NOFOLLOW | O_CLOEXEC) }
    guard descriptor >= 0 else {
      let failure = errno == ENOENT ? nil : file.failure("open")
      close(folder)
      if let failure { throw failure }
      return nil
    }
    var (opened, named) = (stat(), stat())
    // Another writer may have committed the file before this lock.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0,
      WholeFile.withCString(name, { fstatat(folder, $0, &named, AT_SYMLINK_NOFOLLOW) }) == 0,
      opened.st_ino == named.st_ino, opened.st_dev == named.st_dev, opened.st_mode & S_IFMT == S_IFREG
    else {
      close(descriptor)
      close(folder)
      return nil
    }
    (self.descriptor, self.file, self.folder, temporaryName) = (descriptor, file, folder, name)
  }

  deinit { if file.unfinishedName == nil { discard() } else { closeAndKeep() } }

  /// Appends bytes.
  ///
  /// - Throws: `writeFailed`.
  package func append(_ bytes: [UInt8]) throws(MediaError) { try file.writeAll(bytes, descriptor) }

  /// Completes the file under its name. On an error nothing remains, unless the file has an `unfinishedName`.
  ///
  /// - Throws: `fileExists` when another file has been created meanwhile and must not be replaced; `writeFailed`.
  package func commit() throws(MediaError) { try commit(as: file) }

  /// Completes the file under another name in the same folder.
  ///
  /// - Throws: the errors of `commit()`.
  package func commit(as file: WholeFile) throws(MediaError) {
    precondition(isOpen, "the file has already been committed or discarded")
    var error: MediaError?
    // Without fsync(2), a power failure can leave an empty file under the name. An opened file gets its name from its
    // owner.
    if file.opened == nil, fsync(descriptor) != 0 { error = file.failure("fsync") }
    if isUnnamed, error == nil { error = giveTemporaryName() }
    // The duplicate descriptor retains the lock until the file has its name.
    let lock = file.unfinishedName == nil ? -1 : dup(descriptor)
    if close(descriptor) != 0, error == nil { error = file.failure("close") }
    isOpen = false
    defer {
      if lock >= 0 { close(lock) }
      closeFolder()
    }
    do throws(MediaError) {
      if let error { throw error }
      if file.opened == nil { try file.renameToFinalName(temporaryName, in: folder) }
    } catch {
      if file.unfinishedName == nil { remove() }
      throw error
    }
  }

  /// Links an unnamed file into its folder (linkat(2)).
  private func giveTemporaryName() -> MediaError? {
    let source = Array("/proc/self/fd/\(descriptor)".utf8)
    let status = WholeFile.withCStrings(source, temporaryName) {
      linkat(AT_FDCWD, $0, folder, $1, AT_SYMLINK_FOLLOW)
    }
    return status == 0 ? nil : file.failure("linkat")
  }

  /// Removes the file.
  package func discard() {
    guard isOpen else { return }
    remove()
    closeAndKeep()
  }

  /// Closes the file and retains it under its current name.
  package func closeAndKeep() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
    closeFolder()
  }

  private func closeFolder() { if folder >= 0 { close(folder) } }

  private func remove() {
    if let opened = file.opened {
      ftruncate(opened.descriptor, 0)
    } else {
      _ = WholeFile.withCString(temporaryName) { unlinkat(folder, $0, 0) }
    }
  }
}
