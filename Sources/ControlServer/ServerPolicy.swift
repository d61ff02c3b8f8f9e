import FileAccess
import MediaCore
import NetworkIO
import WireProtocol

/// What the server allows, as far as that can change while it runs.
public struct ServerPolicy: Sendable, Hashable {
  /// Who may connect, and what for.
  public var access = PeerAccess()
  /// Those of a connection hold for the connections that come.
  public var limits = WireLimits.standard
  /// Where files are written on a client's word: nowhere unless said.
  public var writableRoots = FileRoots.nowhere
  /// Whether anything is asked of servers.
  public var isNetworkAllowed = true
  /// The servers that may be reached.
  public var networkRules = NetworkRules()
  /// A file of certificates (PEM): authorities that are believed of `https:` servers in place of the system's.
  public var certificateAuthorityFile: String?

  /// From which duration on entries leave a bookmark where they are left; nil: none does.
  public var shortestBookmarkedDuration: MediaTime?
  /// Whether new entries begin where they were left, unless a command says otherwise.
  public var resumesWhereLeft = false

  public init() {}

  /// Sets the servers that may be reached. Errors: `invalidArgument`; see `NetworkRules`.
  public mutating func setNetworkRules(allow: [String], deny: [String]) throws(MediaError) {
    networkRules = try NetworkRules(allow: allow, deny: deny)
  }
}
