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
