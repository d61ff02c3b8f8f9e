/// The restrictions that the daemon has put on its own process, as `stats` reports them.
package struct SandboxStatus: Sendable, Hashable {
  /// The state of Landlock, the kernel's access control for unprivileged processes (landlock(7)).
  package enum Landlock: String, Sendable, Hashable {
    /// The kernel enforces the rules of the daemon.
    case active
    /// The configuration turns Landlock off.
    case off
    /// The kernel has no Landlock, or a system call filter forbids it.
    case unavailable
  }

  /// Whether `no_new_privs` is set: no program that the process executes gains privileges (prctl(2)).
  package var hasNoNewPrivileges: Bool
  /// The state of Landlock.
  package var landlock: Landlock
  /// The version of Landlock's interface in use. 0 unless Landlock is active.
  package var landlockVersion: Int

  /// Creates a status. Default: no restrictions.
  package init(hasNoNewPrivileges: Bool = false, landlock: Landlock = .off, landlockVersion: Int = 0) {
    self.hasNoNewPrivileges = hasNoNewPrivileges
    self.landlock = landlock
    self.landlockVersion = landlockVersion
  }
}
