import MediaCore

/// What became of a configuration that was read again: the names of options.
public struct ReloadOutcome: Sendable, Hashable {
  /// Those that are others from now on.
  public var changed: [String]
  /// Those that the daemon has other values of, and takes at its next start.
  public var restart: [String]

  public init(changed: [String], restart: [String]) { (self.changed, self.restart) = (changed, restart) }
}

/// Has the configuration read again, beside the caller, and tells once what became of it, on any thread. Called on the control loop.
public typealias Reload = @Sendable (_ told: @escaping @Sendable (Result<ReloadOutcome, MediaError>) -> Void) -> Void
