import PlayheadIsolation
import Testing

extension WorkerPool {
  /// A new pool of the workers that users have.
  static func make() throws -> WorkerPool { WorkerPool(program: try #require(WorkerProgram.path())) }

  /// A new pool of workers that lie, depending on the name of the file (`worker-for-tests`).
  static func makeLying() throws -> WorkerPool {
    let folder = try #require(WorkerProgram.path()).split(separator: "/").dropLast().joined(separator: "/")
    return WorkerPool(program: "/\(folder)/worker-for-tests")
  }
}
