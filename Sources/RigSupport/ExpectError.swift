import PlayheadMediaCore
import Testing

/// Checks that `body` throws a `MediaError` with this code, and records an issue if it does not.
///
/// - Parameters:
///   - code: the expected code.
///   - comment: the beginning of the issue's text. Default: none.
///   - body: the call that must fail. Its result is ignored.
/// - Returns: the `MediaError` that was thrown, for further checks; nil if there was none.
@discardableResult
package func expectError<Result: ~Copyable>(
  _ code: MediaError.Code, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> MediaError? {
  do {
    _ = try body()
    return check(nil, code, comment(), sourceLocation)
  } catch { return check(error, code, comment(), sourceLocation) }
}

/// Checks that an asynchronous call throws a `MediaError` with this code, and records an issue if it does not.
@discardableResult
package func expectError<Result: ~Copyable>(
  _ code: MediaError.Code, _ comment: @autoclosure () -> Comment? = nil,
  isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Result
) async -> MediaError? {
  do {
    _ = try await body()
    return check(nil, code, comment(), sourceLocation)
  } catch { return check(error, code, comment(), sourceLocation) }
}

private func check(
  _ error: (any Error)?, _ code: MediaError.Code, _ comment: Comment?, _ sourceLocation: SourceLocation
) -> MediaError? {
  let mediaError = error as? MediaError
  if mediaError?.code != code {
    let outcome = error.map { "\($0)" } ?? "no error"
    let prefix = comment.map { "\($0): " } ?? ""
    Issue.record("\(prefix)expected error \(code), got \(outcome)", sourceLocation: sourceLocation)
  }
  return mediaError
}
