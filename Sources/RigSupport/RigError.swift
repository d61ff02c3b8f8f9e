/// An error of the rig. It always fails the test: no test is skipped.
package enum RigError: Error, CustomStringConvertible {
  /// A program that the tests need is not installed.
  case missingTool(String)
  /// A system call failed.
  case system(call: String, errno: Int32)
  /// A program failed, or ended although it should run.
  case programFailed(String)
  /// An awaited event did not occur.
  case timedOut(String)

  package var description: String {
    switch self {
    case .missingTool(let name): "the tests need the program \(name), which is not in PATH"
    case .system(let call, let number): "\(call) failed with errno \(number)"
    case .programFailed(let text): text
    case .timedOut(let text): "timed out waiting for \(text)"
    }
  }
}
