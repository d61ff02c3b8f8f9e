import Foundation
import Glibc
import RigSupport

/// Confines processes to processors, so that results do not depend on the scheduler. Waking a thread on another
/// processor takes several times as long as a short reply, and the order of requests would decide which processor is
/// used.
enum Processors {
  /// The processors that this process may use, from its `status` (proc(5)).
  static func available() throws -> [Int] {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let field = "Cpus_allowed_list:"
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }) else { return [] }
    return line.dropFirst(field.count).trimmingCharacters(in: .whitespaces).split(separator: ",").flatMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
    }
  }

  /// Confines all threads of a process to these processors.
  static func confine(_ process: pid_t, to processors: [Int]) throws {
    let list = processors.map { "\($0)" }.joined(separator: ",")
    try ChildProcess.run(["taskset", "--all-tasks", "--cpu-list", "--pid", list, "\(process)"])
  }
}
