/// Where the daemon listens and its clients look for it, unless they are told.
public enum SocketLocation {
  /// The path, and whether its folder lies in a place where anybody could have made it.
  public struct Choice: Sendable, Hashable {
    public var path: String
    /// The folder is Playhead's own: the daemon makes it when it is missing. Any other is made by who chose it.
    public var isOwnFolder: Bool
    /// The folder must belong to the user, who alone may write it: both sides check before they trust it.
    public var needsOwnedFolder: Bool
  }

  /// The sockets beside the one on which the daemon is driven.
  public enum Sibling: String, Sendable, Hashable, CaseIterable {
    /// Where everything can be watched, and nothing changed.
    case watch
    /// Where open files are handed over.
    case handoff
  }

  /// A socket beside the daemon's own: `handoff.sock` beside `control.sock`, `NAME-handoff.sock` beside any other `NAME.sock`.
  public static func path(of sibling: Sibling, beside control: String) -> String {
    let folder = control.lastIndex(of: "/").map { control[...$0] } ?? ""
    let name = control.dropFirst(folder.count)
    if name == "control.sock" { return "\(folder)\(sibling.rawValue).sock" }
    let stem = name.hasSuffix(".sock") ? name.dropLast(".sock".count) : name
    return "\(folder)\(stem)-\(sibling.rawValue).sock"
  }

  /// `$PLAYHEAD_SOCKET`; else `playhead/control.sock` in `$XDG_RUNTIME_DIR`, or in `/run/user/UID` when that is there; else
  /// `/tmp/playhead-UID/control.sock`.
  ///
  /// A value of the environment that is empty or no absolute path does not count (XDG Base Directory Specification 0.8).
  public static func choose(
    environment: (String) -> String?, userID: UInt32, isFolder: (String) -> Bool
  ) -> Choice {
    func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    if let path = absolute("PLAYHEAD_SOCKET") {
      return Choice(path: path, isOwnFolder: false, needsOwnedFolder: false)
    }
    if let folder = absolute("XDG_RUNTIME_DIR") {
      return Choice(path: "\(folder)/playhead/control.sock", isOwnFolder: true, needsOwnedFolder: false)
    }
    if isFolder("/run/user/\(userID)") {
      return Choice(path: "/run/user/\(userID)/playhead/control.sock", isOwnFolder: true, needsOwnedFolder: false)
    }
    return Choice(path: "/tmp/playhead-\(userID)/control.sock", isOwnFolder: true, needsOwnedFolder: true)
  }
}
