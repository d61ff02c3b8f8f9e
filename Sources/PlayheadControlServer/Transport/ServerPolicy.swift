import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadWireProtocol

/// The part of the server's configuration that can change while it runs.
package struct ServerPolicy: Sendable, Hashable {
  /// The access rights.
  package var access = PeerAccess()
  /// The limits. Limits of a connection apply to new connections.
  package var limits = WireLimits.standard
  /// The folders in which clients may write files. Default: none.
  package var writableRoots = FileRoots.nowhere
  /// Whether network access is allowed.
  package var isNetworkAllowed = true
  /// The servers that may be accessed.
  package var networkRules = NetworkRules()
  /// A PEM file of certificate authorities for `https:` servers. It replaces the system's authorities.
  /// Nil: the system's authorities.
  package var certificateAuthorityFile: String?

  /// The minimum duration of entries for automatic bookmarks. Nil: no automatic bookmarks.
  package var minimumBookmarkedDuration: MediaTime?
  /// Whether new entries start where playback of the same file last ended. The option `resume` of a command overrides
  /// this.
  package var resumesAtLastPosition = false
  /// Whether players that were playing when the last daemon ended play again. Read when the server starts.
  package var resumesPlayback = false

  package init() {}

  /// Sets the servers that may be accessed.
  ///
  /// - Throws: `invalid-argument`. See `NetworkRules`.
  package mutating func setNetworkRules(allow: [String], deny: [String]) throws(MediaError) {
    networkRules = try NetworkRules(allow: allow, deny: deny)
  }
}
