import Glibc
import NIOCore
import NIOPosix

/// Who is at the other end of a Unix socket.
enum PeerCredentials {
  /// The user at the other end of a connection. On its event loop.
  static func userID(of channel: any Channel) -> UInt32? {
    let socket = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      userID(ofSocket: $0)
    }
    return socket ?? nil
  }

  /// The user who made the connection, as the kernel recorded it then (unix(7), SO_PEERCRED); nil when it cannot be told.
  static func userID(ofSocket descriptor: Int32) -> UInt32? {
    // struct ucred { pid_t pid; uid_t uid; gid_t gid; }, which needs _GNU_SOURCE to be visible.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    var byteCount = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount) == 0,
      byteCount == socklen_t(MemoryLayout.size(ofValue: credentials))
    else { return nil }
    return credentials.uid
  }
}
