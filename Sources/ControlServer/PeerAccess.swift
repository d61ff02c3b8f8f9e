import Glibc
import MediaCore
import Synchronization
import WireProtocol

/// Who may connect, and what for. The daemon's own user may everything.
public struct PeerAccess: Sendable, Hashable {
  /// Other users and groups with `rights`.
  public var userIDs: Set<UInt32> = []
  public var groupIDs: Set<UInt32> = []
  /// What they may.
  public var rights: Rights = [.read, .control]
  /// Users and groups that may watch, and no more.
  public var watchingUserIDs: Set<UInt32> = []
  public var watchingGroupIDs: Set<UInt32> = []

  public init() {}

  /// What a peer may; nothing: it is refused.
  func rights(of peer: PeerCredentials) -> Rights {
    if peer.userID == geteuid() { return .all }
    var found: Rights = []
    if userIDs.contains(peer.userID) || !groupIDs.isDisjoint(with: peer.groupIDs) { found.formUnion(rights) }
    if watchingUserIDs.contains(peer.userID) || !watchingGroupIDs.isDisjoint(with: peer.groupIDs) {
      found.insert(.read)
    }
    return found
  }

  /// What holds now, for whoever asks on whichever thread.
  final class Box: Sendable {
    private let present: Mutex<PeerAccess>

    init(_ access: PeerAccess) { present = Mutex(access) }

    var value: PeerAccess {
      get { present.withLock { $0 } }
      set { present.withLock { $0 = newValue } }
    }
  }
}

/// Who is at the other end of a connection that is served, and what it may.
struct Peer: Sendable {
  var credentials: PeerCredentials
  /// What anybody may who came in at that socket.
  var socketRights: Rights
  var rights: Rights

  var userID: UInt32 { credentials.userID }
}

/// What becomes of a connection.
enum Admission {
  case refused(MediaError)
  case served(Peer)
}
