import Glibc
import MediaCore
import Testing

@testable import ControlServer

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

  @Test func foldersAndSocketAreMadeForTheUserAlone() throws {
    try withFolder { folder in
      let listener = try SocketListener(path: "\(folder)/a/s", makesFolder: true)
      #expect(mode("\(folder)/a") == 0o700)
      #expect(mode("\(folder)/a/s") == 0o600)
      listener.remove()
      #expect(mode("\(folder)/a/s") == nil)
      #expect(mode("\(folder)/a/s.lock") == nil)
    }
  }

  @Test func aFolderThatIsNotPlayheadsOwnIsNeverMade() throws {
    try withFolder { folder in
      #expect(code { _ = try SocketListener(path: "\(folder)/a/s") } == .fileNotFound)
      #expect(mode("\(folder)/a") == nil)
      // Nor are those above one that is.
      #expect(code { _ = try SocketListener(path: "\(folder)/a/b/s", makesFolder: true) } == .writeFailed)
      #expect(mode("\(folder)/a") == nil)
      close(open("\(folder)/s", O_CREAT | O_WRONLY, 0o644))
      #expect(code { _ = try SocketListener(path: "\(folder)/s/s") } == .fileNotFound)
      #expect(code { _ = try SocketListener(path: "\(folder)/s/s", makesFolder: true) } != nil)
    }
  }

  @Test func aLiveSocketIsAnErrorAndADeadOneIsReplaced() throws {
    try withFolder { folder in
      let path = "\(folder)/s"
      do {
        let first = try SocketListener(path: path)
        #expect(code { _ = try SocketListener(path: path) } == .invalidState)
        withExtendedLifetime(first) {}
      }
      // The first is gone without having removed anything.
      #expect(mode(path) == 0o600)
      let second = try SocketListener(path: path)
      second.remove()
    }
  }

  @Test func whatIsNoSocketStays() throws {
    try withFolder { folder in
      let path = "\(folder)/s"
      close(open(path, O_CREAT | O_WRONLY, 0o644))
      #expect(code { _ = try SocketListener(path: path) } == .notAFile)
      #expect(mode(path) == 0o644)
      #expect(mode(path + ".lock") == nil)
    }
  }

  @Test func pathsThatNoSocketCanHaveAreRefused() {
    #expect(code { _ = try SocketListener(path: "relative") } == .invalidArgument)
    #expect(code { _ = try SocketListener(path: "/" + String(repeating: "x", count: 107)) } == .invalidArgument)
  }

  @Test func aFolderThatIsOpenToOthersIsNotTrustedWhereAnybodyCouldHaveMadeIt() throws {
    try withFolder { folder in
      chmod(folder, 0o755)
      #expect(code { _ = try SocketListener(path: "\(folder)/s", needsOwnedFolder: true) } == .permissionDenied)
      chmod(folder, 0o700)
      let listener = try SocketListener(path: "\(folder)/s", needsOwnedFolder: true)
      listener.remove()
    }
  }
}
