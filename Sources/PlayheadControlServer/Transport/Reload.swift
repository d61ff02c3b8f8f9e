import PlayheadMediaCore

/// The result of a configuration reload, as names of options.
package struct ReloadOutcome: Sendable, Hashable {
  /// The options with new values in effect.
  package var changed: [String]
  /// The options whose new values take effect at the next start of the daemon.
  package var restart: [String]

  package init(changed: [String], restart: [String]) { (self.changed, self.restart) = (changed, restart) }
}

/// Reloads the configuration in the background. Called on the control loop. Calls `completion` once with the result, on
/// any thread.
package typealias Reload =
  @Sendable (_ completion: @escaping @Sendable (Result<ReloadOutcome, MediaError>) -> Void) -> Void
