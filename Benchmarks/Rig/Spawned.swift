import Glibc
import PlayheadMediaCore
import RigSupport

/// A program with a known start time that is killed soon, if it has not ended. (`ChildProcess` starts programs through
/// a shell.)
final class Spawned {
  let started: HostTime
  private var processID = pid_t()
  private var hasEnded = false
  private let output: Int32

  init(_ command: [String], environment: [String: String] = [:]) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw RigError.system(call: "pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = ends[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    for (name, value) in environment { setenv(name, value, 1) }
    defer { for name in environment.keys where name != "HOME" { unsetenv(name) } }
    let arguments = command.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    started = .present
    let status = posix_spawnp(&processID, command[0], &actions, nil, arguments, environ)
    close(ends[1])
    guard status == 0 else { throw RigError.system(call: "posix_spawn \(command[0])", errno: status) }
  }

  /// The time of the program's first output.
  func waitForOutput() throws -> HostTime {
    var byte: UInt8 = 0
    guard read(output, &byte, 1) == 1 else { throw RigError.programFailed("a program ended before it was ready") }
    return .present
  }

  /// The time of the program's end, with exit status 0. Its output must fit into a pipe.
  func waitForEnd() throws -> HostTime {
    var status: Int32 = 0
    let ended = waitpid(processID, &status, 0) == processID
    let time = HostTime.present
    hasEnded = ended
    guard ended, status == 0 else { throw RigError.programFailed("a program ended with status \(status >> 8)") }
    return time
  }

  deinit {
    if !hasEnded {
      kill(processID, SIGKILL)
      var status: Int32 = 0
      waitpid(processID, &status, 0)
    }
    close(output)
  }
}
