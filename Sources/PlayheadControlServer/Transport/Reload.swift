import PlayheadMediaCore

/// The result of a configuration reload, as names of options.
public struct ReloadOutcome: Sendable, Hashable {
  /// The options with new values in effect.
  public var changed: [String]
  /// The options whose new values take effect at the next start of the daemon.
  public var restart: [String]

  public init(changed: [String], restart: [String]) { (self.changed, self.restart) = (changed, restart) }
}

/// Reloads the configuration in the background. Called on the control loop. Calls `completion` once with the result, on
/// any thread.
public typealias Reload =
  @Sendable (_ completion: @escaping @Sendable (Result<ReloadOutcome, MediaError>) -> Void) -> Void
