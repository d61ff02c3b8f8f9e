import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadControlServer

@Suite struct SocketListenerTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/playhead-listener-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      for name in ["a/s", "a/s.lock", "s", "s.lock", "a", ""] { remove("\(folder)/\(name)") }
    }
    try body(folder)
  }

  private func code(_ body: () throws -> Void) -> MediaError.Code? {
    do { try body() } catch { return (error as? MediaError)?.code }
    return nil
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test func folderAndSocketAreAccessibleToTheUserOnly() throws {
    try withFolder { folder in
      let listener = try SocketListener(path: "\(folder)/a/s", createsFolder: true)
      #expect(mode("\(folder)/a") == 0o700)
      #expect(mode("\(folder)/a/s") == 0o600)
      listener.remove()
      #expect(mode("\(folder)/a/s") == nil)
      #expect(mode("\(folder)/a/s.lock") == nil)
    }
  }

  @Test func foldersOtherThanPlayheadsOwnAreNeverCreated() throws {
    try withFolder { folder in
      expectError(.fileNotFound) { try SocketListener(path: "\(folder)/a/s") }
      #expect(mode("\(folder)/a") == nil)
      // Parent folders of an existing folder are not created either.
      expectError(.writeFailed) { try SocketListener(path: "\(folder)/a/b/s", createsFolder: true) }
      #expect(mode("\(folder)/a") == nil)
      close(open("\(folder)/s", O_CREAT | O_WRONLY, 0o644))
      expectError(.fileNotFound) { try SocketListener(path: "\(folder)/s/s") }
      #expect(code { _ = try SocketListener(path: "\(folder)/s/s", createsFolder: true) } != nil)
    }
  }

  @Test func activeSocketIsAnErrorAndAStaleOneIsReplaced() throws {
    try withFolder { folder in
      let path = "\(folder)/s"
      do {
        let first = try SocketListener(path: path)
        expectError(.invalidState) { try SocketListener(path: path) }
        withExtendedLifetime(first) {}
      }
      // The first listener was released without removing the socket.
      #expect(mode(path) == 0o600)
      let second = try SocketListener(path: path)
      second.remove()
    }
  }

  /// For example the socket of systemd, when its unit starts while a manually started daemon runs.
  @Test func socketThatAnotherProcessBoundAtThePathIsNotRemoved() throws {
    try withFolder { folder in
      let path = "\(folder)/s"
      let listener = try SocketListener(path: path)
      close(listener.releaseDescriptor())
      #expect(unlink(path) == 0)
      let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      defer { close(other) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(other, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(status == 0)
      listener.remove()
      #expect(mode(path) != nil)
      #expect(mode(path + ".lock") == nil)
    }
  }

  /// Repeated starts with a group, with another group, and without a group. Only root can assign a group that it is
  /// not a member of.
  @Test(.enabled(if: geteuid() == 0)) func socketGroupAppliesToPlayheadsOwnFolderToo() throws {
    try withFolder { folder in
      let (ownFolder, path) = ("\(folder)/a", "\(folder)/a/s")
      func group(_ path: String) -> gid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_gid : nil
      }
      let rows: [(group: gid_t?, folder: mode_t)] = [
        (nil, 0o700), (65_533, 0o710), (65_533, 0o710), (65_534, 0o710), (nil, 0o700), (nil, 0o700), (65_533, 0o710),
      ]
      for row in rows {
        let listener = try SocketListener(
          path: path, permissions: .init(mode: row.group == nil ? 0o600 : 0o660, groupID: row.group),
          createsFolder: true, requiresFolderOwnership: true)
        print("group: \(row): \(mode(ownFolder) ?? 0) \(group(ownFolder) ?? 0) \(mode(path) ?? 0) \(group(path) ?? 0)")
        #expect(mode(ownFolder) == row.folder && mode(path) == (row.group == nil ? 0o600 : 0o660))
        if let expected = row.group { #expect(group(ownFolder) == expected && group(path) == expected) }
        listener.remove()
      }
    }
  }

  /// A folder that does not belong exclusively to the user is neither used nor changed. The same applies to the target
  /// of a link.
  @Test func folderOpenToOthersIsNotAssignedToAGroup() throws {
    try withFolder { folder in
      let (real, link) = ("\(folder)/a", "\(folder)/s")
      try #require(mkdir(real, 0o700) == 0 && symlink(real, link) == 0)
      func rejection(_ ownFolder: String) -> MediaError.Code? {
        code {
          _ = try SocketListener(
            path: "\(ownFolder)/s", permissions: .init(mode: 0o660, groupID: getegid()), createsFolder: true,
            requiresFolderOwnership: true)
        }
      }
      #expect(rejection(link) == .permissionDenied)
      #expect(mode(real) == 0o700)
      for open in [0o720, 0o740, 0o701, 0o750] as [mode_t] {
        chmod(real, open)
        #expect(rejection(real) == .permissionDenied)
        #expect(mode(real) == open)
      }
    }
  }

  @Test func fileThatIsNotASocketIsNotReplaced() throws {
    try withFolder { folder in
      let path = "\(folder)/s"
      close(open(path, O_CREAT | O_WRONLY, 0o644))
      expectError(.notAFile) { try SocketListener(path: path) }
      #expect(mode(path) == 0o644)
      #expect(mode(path + ".lock") == nil)
    }
  }

  /// Another user could replace the socket there. In a sticky folder only the owner of a file can.
  @Test func folderWritableByOthersIsRejectedUnlessSticky() throws {
    try withFolder { folder in
      for open in [0o777, 0o722, 0o770] as [mode_t] {
        chmod(folder, open)
        expectError(.permissionDenied, "\(open)") { try SocketListener(path: "\(folder)/s") }
        #expect(mode("\(folder)/s") == nil && mode("\(folder)/s.lock") == nil)
      }
      chmod(folder, 0o1777)
      try SocketListener(path: "\(folder)/s").remove()
    }
  }

  /// Only root can create a file of another user.
  @Test(.enabled(if: geteuid() == 0)) func lockFileOfAnotherUserIsRejectedAndKept() throws {
    try withFolder { folder in
      let lock = "\(folder)/s.lock"
      close(open(lock, O_CREAT | O_WRONLY, 0o666))
      try #require(chown(lock, 65_534, 65_534) == 0)
      chmod(folder, 0o1777)
      expectError(.permissionDenied) { try SocketListener(path: "\(folder)/s") }
      #expect(mode("\(folder)/s") == nil && mode(lock) != nil)
    }
  }

  @Test func relativeAndTooLongSocketPathsAreRejected() {
    expectError(.invalidArgument) { try SocketListener(path: "relative") }
    expectError(.invalidArgument) { try SocketListener(path: "/" + String(repeating: "x", count: 107)) }
  }

  @Test func folderReadableByOthersIsRejectedWhereTheUserMustOwnIt() throws {
    try withFolder { folder in
      chmod(folder, 0o755)
      expectError(.permissionDenied) { try SocketListener(path: "\(folder)/s", requiresFolderOwnership: true) }
      chmod(folder, 0o700)
      let listener = try SocketListener(path: "\(folder)/s", requiresFolderOwnership: true)
      listener.remove()
    }
  }
}
