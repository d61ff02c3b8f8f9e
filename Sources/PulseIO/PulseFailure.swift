import CPulse
import MediaCore

/// What libpulse said when a call failed; becomes a `MediaError` at the module's edge.
struct PulseFailure: Error {
  /// `PA_ERR_…`, positive.
  var code: Int32
  /// The libpulse call that failed.
  var call: String

  /// The failure that `context` remembers, for `call`.
  init(_ call: String, context: OpaquePointer?) {
    self.call = call
    code = context.map { pa_context_errno($0) } ?? Int32(PA_ERR_INTERNAL.rawValue)
  }

  /// A failure that libpulse has no memory of.
  init(_ call: String, code: pa_error_code_t) {
    self.call = call
    self.code = Int32(code.rawValue)
  }

  /// libpulse's words for the code, with the number.
  var text: String {
    let words = pa_strerror(code).map { String(cString: $0) } ?? "Unknown error"
    return "\(words) (\(code))"
  }

  /// The public error, with this failure beneath it.
  func mediaError(_ code: MediaError.Code, _ message: String) -> MediaError {
    MediaError(code, message, operation: call, underlying: text)
  }
}
