import CPlayheadPulse
import PlayheadMediaCore

/// An error of a libpulse call; it becomes a `MediaError` in the module's public API.
struct PulseFailure: Error {
  /// `PA_ERR_…`, positive.
  var code: Int32
  /// The libpulse call that failed.
  var call: String

  /// Creates a failure of `call` from the last error of `context`.
  init(_ call: String, context: OpaquePointer?) {
    self.call = call
    code = context.map { pa_context_errno($0) } ?? Int32(PA_ERR_INTERNAL.rawValue)
  }

  /// Creates a failure that libpulse has not stored.
  init(_ call: String, code: pa_error_code_t) {
    self.call = call
    self.code = Int32(code.rawValue)
  }

  /// libpulse's text for the code, with the number.
  var text: String {
    let description = pa_strerror(code).map { String(cString: $0) } ?? "Unknown error"
    return "\(description) (\(code))"
  }

  /// Returns the public error, with this failure as the underlying one.
  func mediaError(_ code: MediaError.Code, _ message: String) -> MediaError {
    MediaError(code, message, operation: call, underlying: text)
  }
}
