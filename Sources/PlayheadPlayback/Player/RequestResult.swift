import PlayheadMediaCore

/// Makes a request and waits for its result.
func resultOfRequest<Value: Sendable>(
  isolation: isolated (any Actor)? = #isolation,
  _ request: (@escaping @Sendable (Result<Value, MediaError>) -> Void) throws(MediaError) -> Void
) async throws(MediaError) -> Value {
  let result: Result<Value, MediaError> = await withCheckedContinuation(isolation: isolation) { continuation in
    do throws(MediaError) {
      try request { continuation.resume(returning: $0) }
    } catch {
      continuation.resume(returning: .failure(error))
    }
  }
  return try result.get()
}
