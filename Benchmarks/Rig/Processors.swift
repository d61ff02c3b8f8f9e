import Foundation
import Glibc
import RigSupport

/// On which processors processes may run, so that what is measured is a player and not where the scheduler happens to put it: waking who
/// waits on another processor costs several times what a short answer does, and who is asked after whom decides which it is.
enum Processors {
  /// Those that this process may use, of its `status` in proc(5).
  static func available() throws -> [Int] {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let field = "Cpus_allowed_list:"
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }) else { return [] }
    return line.dropFirst(field.count).trimmingCharacters(in: .whitespaces).split(separator: ",").flatMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
    }
  }

  /// Lets all threads that a process has run on these only.
  static func confine(_ process: pid_t, to processors: [Int]) throws {
    let list = processors.map { "\($0)" }.joined(separator: ",")
    try ChildProcess.run(["taskset", "--all-tasks", "--cpu-list", "--pid", list, "\(process)"])
  }
}
