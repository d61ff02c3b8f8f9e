import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadWireProtocol

/// The part of the server's configuration that can change while it runs.
public struct ServerPolicy: Sendable, Hashable {
  /// The access rights.
  public var access = PeerAccess()
  /// The limits. Limits of a connection apply to new connections.
  public var limits = WireLimits.standard
  /// The folders in which clients may write files. Default: none.
  public var writableRoots = FileRoots.nowhere
  /// Whether network access is allowed.
  public var isNetworkAllowed = true
  /// The servers that may be accessed.
  public var networkRules = NetworkRules()
  /// A PEM file of certificate authorities for `https:` servers. It replaces the system's authorities.
  /// Nil: the system's authorities.
  public var certificateAuthorityFile: String?

  /// The minimum duration of entries for automatic bookmarks. Nil: no automatic bookmarks.
  public var minimumBookmarkedDuration: MediaTime?
  /// Whether new entries start where playback of the same file last ended. The option `resume` of a command overrides
  /// this.
  public var resumesAtLastPosition = false
  /// Whether players that were playing when the last daemon ended play again. Read when the server starts.
  public var resumesPlayback = false

  public init() {}

  /// Sets the servers that may be accessed.
  ///
  /// - Throws: `invalid-argument`. See `NetworkRules`.
  public mutating func setNetworkRules(allow: [String], deny: [String]) throws(MediaError) {
    networkRules = try NetworkRules(allow: allow, deny: deny)
  }
}
