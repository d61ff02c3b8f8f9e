import Testing

@testable import PlayheadWireProtocol

@Suite struct SocketLocationTests {
  private func choose(_ environment: [String: String], folders: Set<String> = []) -> SocketLocation.Choice {
    SocketLocation.choose(environment: { environment[$0] }, userID: 7, isFolder: folders.contains)
  }

  @Test func environmentVariableTakesPrecedence() {
    let environment = ["PLAYHEAD_SOCKET": "/a/b.sock", "XDG_RUNTIME_DIR": "/r"]
    #expect(choose(environment) == .init(path: "/a/b.sock", createsFolder: false, requiresFolderOwnership: false))
  }

  @Test func runtimeFolderIsUsedWhenNoAbsolutePathIsGiven() {
    let expected = SocketLocation.Choice(
      path: "/r/playhead/control.sock", createsFolder: true, requiresFolderOwnership: false)
    #expect(choose(["XDG_RUNTIME_DIR": "/r"]) == expected)
    #expect(choose(["XDG_RUNTIME_DIR": "/r", "PLAYHEAD_SOCKET": ""]) == expected)
    #expect(choose(["XDG_RUNTIME_DIR": "/r", "PLAYHEAD_SOCKET": "relative"]) == expected)
  }

  @Test func systemRuntimeFolderPrecedesACheckedFolderInTmp() {
    #expect(choose([:], folders: ["/run/user/7"]).path == "/run/user/7/playhead/control.sock")
    #expect(
      choose(["XDG_RUNTIME_DIR": "r"])
        == .init(path: "/tmp/playhead-7/control.sock", createsFolder: true, requiresFolderOwnership: true))
  }
}
