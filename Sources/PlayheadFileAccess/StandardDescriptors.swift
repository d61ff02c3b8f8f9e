import Glibc

/// The descriptors 0, 1 and 2 of the process.
package enum StandardDescriptors {
  /// Opens those that are closed, so that no later file or socket becomes standard input, output or error.
  ///
  /// They refer to `/dev/null` in the opposite direction, so that reading standard input and writing output or error
  /// still fail with EBADF. Call it before the process opens anything else.
  package static func openMissing() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free descriptor, which is `descriptor`.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
