// Starts processes that continue after the client.
import CPlayheadMediaShims
import Glibc

enum DetachedProcess {
  /// The error number of posix_spawn(3).
  struct Failure: Error {
    var number: Int32
  }

  /// `POSIX_SPAWN_SETSID` of spawn.h, which the headers declare only with _GNU_SOURCE.
  private static let startsSession: Int16 = 0x80

  /// Starts a program in a new session, so that it continues after Ctrl-C and without the terminal. Its standard error
  /// is discarded. It gets no other descriptors than the three standard ones.
  ///
  /// - Parameters:
  ///   - program: The path, or a name that is searched for in `PATH`.
  ///   - arguments: The arguments, from the name of the program on.
  ///   - inheritsInput: Whether the program reads the client's standard input. False: it reads nothing.
  ///   - output: The descriptor of its standard output.
  /// - Returns: The id of the process.
  static func start(
    _ program: String, _ arguments: [String], inheritsInput: Bool, output: Int32
  ) throws(Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if !inheritsInput { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // The caller of the client may have descriptors open without FD_CLOEXEC.
    _ = media_shims_spawn_closing_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, startsSession)
    let words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var id = pid_t()
    let error = posix_spawnp(&id, program, &actions, &attributes, words, environ)
    guard error == 0 else { throw Failure(number: error) }
    return id
  }
}
