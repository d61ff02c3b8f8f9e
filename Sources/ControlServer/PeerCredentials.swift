import CMediaShims
import Glibc

/// Who is at the other end of a Unix socket.
struct PeerCredentials: Sendable, Hashable {
  var userID: UInt32
  /// The process's own group, and the others that it is in.
  var groupIDs: Set<UInt32>

  /// Who made the connection, as the kernel recorded it then (unix(7), SO_PEERCRED); nil when it cannot be told.
  init?(ofSocket descriptor: Int32) {
    // struct ucred { pid_t pid; uid_t uid; gid_t gid; }, which needs _GNU_SOURCE to be visible.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    var byteCount = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount) == 0,
      byteCount == socklen_t(MemoryLayout.size(ofValue: credentials))
    else { return nil }
    userID = credentials.uid
    groupIDs = [credentials.gid]
    // As many as Linux lets a process have would be 65,536; who has more than these is not known by those behind them.
    let capacity = 256
    let others = [UInt32](unsafeUninitializedCapacity: capacity) { buffer, count in
      count = buffer.baseAddress.map { Int(max(0, media_shims_peer_groups(descriptor, $0, Int32(capacity)))) } ?? 0
    }
    groupIDs.formUnion(others)
  }
}
