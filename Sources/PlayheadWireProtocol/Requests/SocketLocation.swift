/// The default path of the daemon's socket.
package enum SocketLocation {
  /// A socket path, and the checks that its folder needs.
  package struct Choice: Sendable, Hashable {
    package var path: String
    /// Whether the folder belongs to Playhead, so that the daemon creates it if it is missing. The user must create any
    /// other folder.
    package var createsFolder: Bool
    /// Whether the folder must belong to the user, and must be writable only by the user. Both sides check this,
    /// because any user could have created the folder.
    package var requiresFolderOwnership: Bool
  }

  /// The sockets next to the control socket.
  package enum Sibling: String, Sendable, Hashable, CaseIterable {
    /// A socket for observers, without control rights.
    case watch
    /// A socket for passing open files to the daemon.
    case handoff
  }

  /// The path of a socket next to the control socket: `handoff.sock` next to `control.sock`, `NAME-handoff.sock` next
  /// to any other `NAME.sock`.
  package static func path(of sibling: Sibling, nextTo control: String) -> String {
    let folder = control.lastIndex(of: "/").map { control[...$0] } ?? ""
    let name = control.dropFirst(folder.count)
    if name == "control.sock" { return "\(folder)\(sibling.rawValue).sock" }
    let stem = name.hasSuffix(".sock") ? name.dropLast(".sock".count) : name
    return "\(folder)\(stem)-\(sibling.rawValue).sock"
  }

  /// Selects the first available path:
  ///
  /// 1. `$PLAYHEAD_SOCKET`
  /// 2. `playhead/control.sock` in `$XDG_RUNTIME_DIR`
  /// 3. `playhead/control.sock` in `/run/user/UID`, if that folder exists
  /// 4. `/tmp/playhead-UID/control.sock`
  ///
  /// Ignores environment variables that are empty or not an absolute path (XDG Base Directory Specification 0.8).
  package static func choose(
    environment: (String) -> String?, userID: UInt32, isFolder: (String) -> Bool
  ) -> Choice {
    func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    if let path = absolute("PLAYHEAD_SOCKET") {
      return Choice(path: path, createsFolder: false, requiresFolderOwnership: false)
    }
    if let folder = absolute("XDG_RUNTIME_DIR") {
      return Choice(path: "\(folder)/playhead/control.sock", createsFolder: true, requiresFolderOwnership: false)
    }
    if isFolder("/run/user/\(userID)") {
      return Choice(
        path: "/run/user/\(userID)/playhead/control.sock", createsFolder: true, requiresFolderOwnership: false)
    }
    return Choice(path: "/tmp/playhead-\(userID)/control.sock", createsFolder: true, requiresFolderOwnership: true)
  }
}
