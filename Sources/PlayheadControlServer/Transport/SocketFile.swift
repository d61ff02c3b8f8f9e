import Glibc
import PlayheadWireProtocol

/// The location of the control socket. The other sockets are in the same folder.
package struct SocketFile: Sendable {
  /// An absolute path.
  package var path: String
  /// Whether the folder belongs to Playhead, so that the daemon creates it if it is missing.
  package var createsFolder = false
  /// Whether the folder must belong to the user alone, because any user could have created it.
  package var requiresFolderOwnership = false

  /// Uses the requested path, made absolute. Without a requested path, uses the path that `SocketLocation` chooses.
  package init(requestedPath: String?) {
    guard let requestedPath else {
      let choice = SocketLocation.choose(
        environment: { getenv($0).map { String(cString: $0) } }, userID: geteuid(),
        isFolder: { path in
          var status = stat()
          return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        })
      path = choice.path
      createsFolder = choice.createsFolder
      requiresFolderOwnership = choice.requiresFolderOwnership
      return
    }
    path = requestedPath
    guard !requestedPath.hasPrefix("/"), let folder = getcwd(nil, 0) else { return }
    path = "\(String(cString: folder))/\(requestedPath)"
    free(folder)
  }
}

/// The purpose of a socket. The raw value is the name that systemd uses (`FileDescriptorName=`).
package enum SocketRole: String, Sendable, Hashable, CaseIterable {
  case control, watch, handoff

  /// The socket next to the control socket. Nil for the control socket.
  var sibling: SocketLocation.Sibling? {
    switch self {
    case .control: nil
    case .watch: .watch
    case .handoff: .handoff
    }
  }
}

extension SocketRole {
  /// Determines the role of an inherited socket from its name, or else from its type and path. Nil if it is not a
  /// suitable socket.
  package init?(named name: String, descriptor: Int32) {
    func listeningPath(for kind: SocketListener.Kind) -> String? {
      SocketListener.path(of: descriptor, listeningFor: kind)
    }
    if let role = SocketRole(rawValue: name) {
      guard listeningPath(for: role == .handoff ? .packets : .stream) != nil else { return nil }
      self = role
    } else if listeningPath(for: .packets) != nil {
      self = .handoff
    } else if let path = listeningPath(for: .stream) {
      self = path.hasSuffix("watch.sock") ? .watch : .control
    } else {
      return nil
    }
  }
}
