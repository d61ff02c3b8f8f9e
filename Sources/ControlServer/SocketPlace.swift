import Glibc
import WireProtocol

/// Where the daemon listens.
public struct SocketPlace: Sendable {
  /// An absolute path.
  public var path: String
  /// The folder is Playhead's own, and made when it is missing.
  public var isOwnFolder = false
  /// The folder lies where anybody could have made it, so it must be the user's alone.
  public var needsOwnedFolder = false

  /// What was asked for on the command line, made absolute; else what `SocketLocation` chooses.
  public init(asked: String?) {
    guard let asked else {
      let choice = SocketLocation.choose(
        environment: { getenv($0).map { String(cString: $0) } }, userID: geteuid(),
        isFolder: { path in
          var status = stat()
          return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        })
      path = choice.path
      isOwnFolder = choice.isOwnFolder
      needsOwnedFolder = choice.needsOwnedFolder
      return
    }
    path = asked
    guard !asked.hasPrefix("/"), let folder = getcwd(nil, 0) else { return }
    path = "\(String(cString: folder))/\(asked)"
    free(folder)
  }
}

/// What a socket of the daemon's is for; the name is what systemd calls it by (`FileDescriptorName=`).
public enum SocketRole: String, Sendable, Hashable, CaseIterable {
  case control, watch, handoff

  /// Beside the control socket.
  var sibling: SocketLocation.Sibling? {
    switch self {
    case .control: nil
    case .watch: .watch
    case .handoff: .handoff
    }
  }
}

extension SocketRole {
  /// What a socket that was handed over is for: as its name says, or else by what it is; nil for what is no such socket.
  public init?(named name: String, descriptor: Int32) {
    func listens(for kind: SocketListener.Kind) -> String? { SocketListener.path(of: descriptor, listeningFor: kind) }
    if let role = SocketRole(rawValue: name) {
      guard listens(for: role == .handoff ? .packets : .stream) != nil else { return nil }
      self = role
    } else if listens(for: .packets) != nil {
      self = .handoff
    } else if let path = listens(for: .stream) {
      self = path.hasSuffix("watch.sock") ? .watch : .control
    } else {
      return nil
    }
  }
}
