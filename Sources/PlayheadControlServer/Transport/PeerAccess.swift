import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol
import Synchronization

/// The access rights of users and groups. The daemon's own user has all rights.
package struct PeerAccess: Sendable, Hashable {
  /// The users that have `rights`.
  package var userIDs: Set<UInt32> = []
  /// The groups that have `rights`.
  package var groupIDs: Set<UInt32> = []
  /// The rights of these users and groups.
  package var rights: Rights = [.read, .control]
  /// The users that have at least the `read` right.
  package var watchingUserIDs: Set<UInt32> = []
  /// The groups that have at least the `read` right.
  package var watchingGroupIDs: Set<UInt32> = []

  package init() {}

  /// The rights of a peer. A peer without rights is refused.
  func rights(of peer: PeerCredentials) -> Rights {
    if peer.userID == geteuid() { return .all }
    var rightsOfPeer: Rights = []
    if userIDs.contains(peer.userID) || !groupIDs.isDisjoint(with: peer.groupIDs) {
      rightsOfPeer.formUnion(rights)
    }
    if watchingUserIDs.contains(peer.userID) || !watchingGroupIDs.isDisjoint(with: peer.groupIDs) {
      rightsOfPeer.insert(.read)
    }
    return rightsOfPeer
  }

  /// Shares the current access rights between threads. Threading: any.
  final class Box: Sendable {
    private let current: Mutex<PeerAccess>

    init(_ access: PeerAccess) { current = Mutex(access) }

    var value: PeerAccess {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }
  }
}

/// The peer of a served connection, and its rights.
struct Peer: Sendable {
  var credentials: PeerCredentials
  /// The rights that the listening socket allows, without those that `hello` dropped.
  var maximumRights: Rights
  var rights: Rights

  var userID: UInt32 { credentials.userID }
}

/// The decision about a new connection.
enum Admission {
  case refused(MediaError)
  case served(Peer)
}
