import Glibc

/// Tells threads apart.
enum ThreadIdentity {
  /// A number that no two living threads share; never 0.
  static var current: UInt64 { UInt64(pthread_self()) }
}
