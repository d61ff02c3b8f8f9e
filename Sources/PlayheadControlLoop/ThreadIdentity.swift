import Glibc

/// Identifies threads.
enum ThreadIdentity {
  /// The id of the current thread. No two living threads share it; never 0.
  static var current: UInt64 { UInt64(pthread_self()) }
}
