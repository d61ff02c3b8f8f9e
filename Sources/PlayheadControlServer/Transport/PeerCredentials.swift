import CPlayheadMediaShims
import Glibc

/// The user and groups of the process at the other end of a Unix socket.
struct PeerCredentials: Sendable, Hashable {
  var userID: UInt32
  /// The primary group of the process, and its supplementary groups.
  var groupIDs: Set<UInt32>

  /// Reads the credentials that the kernel recorded when the connection was made (unix(7), SO_PEERCRED). Nil if they
  /// are not available.
  init?(ofSocket descriptor: Int32) {
    // The layout of struct ucred { pid_t pid; uid_t uid; gid_t gid; }, which glibc declares for _GNU_SOURCE only.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
    var byteCount = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount) == 0,
      byteCount == socklen_t(MemoryLayout.size(ofValue: credentials))
    else { return nil }
    userID = credentials.uid
    groupIDs = [credentials.gid]
    // Linux allows 65,536 groups per process. If the peer has more groups than this capacity, the call fails, and all
    // supplementary groups are ignored.
    let capacity = 256
    let supplementaryGroupIDs = [UInt32](unsafeUninitializedCapacity: capacity) { buffer, count in
      count = buffer.baseAddress.map { Int(max(0, media_shims_peer_groups(descriptor, $0, Int32(capacity)))) } ?? 0
    }
    groupIDs.formUnion(supplementaryGroupIDs)
  }
}
