/// Why the rig could not do what a test asked for. Always a failure of the test: nothing is skipped.
public enum RigError: Error, CustomStringConvertible {
  /// A program that the tests need is not installed.
  case missingTool(String)
  /// A system call failed.
  case system(call: String, errno: Int32)
  /// A program ended with an error, or at all when it should have gone on.
  case programFailed(String)
  /// What was waited for did not come.
  case timedOut(String)

  public var description: String {
    switch self {
    case .missingTool(let name): "the tests need the program \(name), which is not in PATH"
    case .system(let call, let number): "\(call) failed with errno \(number)"
    case .programFailed(let text): text
    case .timedOut(let text): "timed out waiting for \(text)"
    }
  }
}
