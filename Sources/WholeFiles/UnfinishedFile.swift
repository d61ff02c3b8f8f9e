import Glibc
import MediaCore

extension WholeFile {
  /// Begins a file that is written bit by bit, at any of its places. Nothing has its name until `commit`.
  ///
  /// Errors: those of `check`; `writeFailed`.
  public func begin() throws(MediaError) -> UnfinishedFile { try UnfinishedFile(self) }

  /// Takes up what is left of the file under its `unfinishedName`; nil when there is nothing, or somebody is at it.
  ///
  /// Errors: `outsideRoots`; `writeFailed`.
  public func adopt() throws(MediaError) -> UnfinishedFile? {
    precondition(unfinishedName != nil, "only what has a name until it is whole can be taken up")
    return try UnfinishedFile(adopting: self)
  }
}

/// A file that is being written beside its place; gone with the object unless it is put there, or has a name of its own until then.
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
    let name = file.unfinishedName ?? file.temporaryName
    let descriptor = WholeFile.withCString(name) { openat(folder, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    // Nobody else looks for it under a name that nobody knows.
    guard descriptor >= 0, file.unfinishedName == nil || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let failure = errno == EEXIST || errno == EWOULDBLOCK ? file.isBegun : file.failure("open")
      if descriptor >= 0 { close(descriptor) }
      close(folder)
      throw failure
    }
    (self.descriptor, self.file, self.folder, temporaryName) = (descriptor, file, folder, name)
  }

  fileprivate init?(adopting file: WholeFile) throws(MediaError) {
    let folder = try file.openParent()
    let name = file.unfinishedName ?? []
    let descriptor = WholeFile.withCString(name) { openat(folder, $0, O_RDWR | O_NOFOLLOW | O_CLOEXEC) }
    guard descriptor >= 0 else {
      let failure = errno == ENOENT ? nil : file.failure("open")
      close(folder)
      if let failure { throw failure }
      return nil
    }
    var (opened, named) = (stat(), stat())
    // Whoever was at it may have put it in its place before it was locked.
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

  deinit { if file.unfinishedName == nil { giveUp() } else { leave() } }

  /// Writes behind what was written. Errors: `writeFailed`.
  public func append(_ bytes: [UInt8]) throws(MediaError) { try file.writeAll(bytes, descriptor) }

  /// Puts it in its place, whole. On an error there is nothing of it, unless it has a name of its own.
  ///
  /// Errors: `fileExists` when one has come there meanwhile that is not to be replaced; `writeFailed`.
  public func commit() throws(MediaError) { try commit(as: file) }

  /// Puts it, whole, in another place of the same folder.
  ///
  /// Errors: as `commit()`.
  public func commit(as file: WholeFile) throws(MediaError) {
    precondition(isOpen, "the file has been put in its place or given up")
    var error: MediaError?
    // Else a file of no bytes may have its name after the power went.
    if fsync(descriptor) != 0 { error = file.failure("fsync") }
    // What is locked is, until it has its name.
    let lock = file.unfinishedName == nil ? -1 : dup(descriptor)
    if close(descriptor) != 0, error == nil { error = file.failure("close") }
    isOpen = false
    defer {
      if lock >= 0 { close(lock) }
      close(folder)
    }
    do throws(MediaError) {
      if let error { throw error }
      try file.put(temporaryName, in: folder)
    } catch {
      if file.unfinishedName == nil { remove() }
      throw error
    }
  }

  /// Removes it.
  public func giveUp() {
    guard isOpen else { return }
    remove()
    leave()
  }

  /// Leaves what there is under the name that it has.
  public func leave() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
    close(folder)
  }

  private func remove() { _ = WholeFile.withCString(temporaryName) { unlinkat(folder, $0, 0) } }
}
