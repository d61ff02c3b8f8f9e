import CLibFuzzer
import MediaCore
import WireProtocol

/// Feeds any bytes to the request reader and to the client's reader, and stops at whatever breaks a promise of theirs.
///
/// The first byte says in chunks of which size the rest arrives. Promises: no trap; the outcomes do not depend on the chunks; no
/// more of them than there are LFs (and one for an endless line); an error can be written, as one line that can be read; what JSON was read can be
/// written and read again.
@MainActor func check(_ input: [UInt8]) {
  guard let first = input.first else { return }
  let bytes = Array(input.dropFirst())
  let whole = outcomes(bytes, chunkByteCount: max(1, bytes.count))
  precondition(whole == outcomes(bytes, chunkByteCount: max(1, Int(first))), "the outcomes depend on the chunks")
  let lineCount = bytes.count { $0 == UInt8(ascii: "\n") }
  precondition(whole.count <= lineCount + 2, "more outcomes than lines")
  for outcome in whole {
    switch outcome {
    case .rejected(let rejection): checkReply(to: rejection)
    case .close(let error, let form):
      var written: [UInt8] = []
      Event.closing(error).encode(form: form, into: &written)
      precondition(written.firstIndex(of: UInt8(ascii: "\n")) == written.count - 1, "an event is not one line")
    case .request, .batch: break
    }
  }
  for line in bytes.split(separator: UInt8(ascii: "\n")) {
    let line = Array(line)
    _ = try? ServerLine(parsing: line)
    if let value = try? JSONValue(parsing: line.span) {
      var written: [UInt8] = []
      value.append(to: &written)
      precondition(!written.contains(UInt8(ascii: "\n")), "JSON on more than one line")
      precondition((try? JSONValue(parsing: written.span)) == value, "JSON does not come back as it was")
    }
    if let text = String(validating: line, as: UTF8.self) {
      var written = Array("ok x=".utf8)
      WordsText.append(text, to: &written)
      guard case .ok(_, let fields)? = try? ServerLine(parsing: written), fields["x"] == text else {
        preconditionFailure("a value does not come back as it was")
      }
    }
  }
}

@MainActor func outcomes(_ bytes: [UInt8], chunkByteCount: Int) -> [RequestReader.Incoming] {
  var reader = RequestReader()
  var result: [RequestReader.Incoming] = []
  for start in stride(from: 0, to: bytes.count, by: chunkByteCount) {
    let chunk = Array(bytes[start..<min(bytes.count, start + chunkByteCount)])
    var offset = 0
    while let next = reader.next(in: chunk.span, at: &offset) { result.append(next) }
  }
  return result
}

@MainActor func checkReply(to rejection: Rejection) {
  var written: [UInt8] = []
  rejection.reply.encode(to: rejection.address, into: &written)
  guard rejection.address.expectsReply else { return precondition(written.isEmpty, "a notification was answered") }
  precondition(written.firstIndex(of: UInt8(ascii: "\n")) == written.count - 1, "a reply is not one line")
  written.removeLast()
  switch rejection.address.form {
  case .words:
    guard case .error? = try? ServerLine(parsing: written) else { preconditionFailure("an error cannot be read") }
  case .json:
    precondition((try? JSONValue(parsing: written.span))?["error"] != nil, "an error is no JSON")
  }
}

var argumentCount = CommandLine.argc
var argumentVector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = LLVMFuzzerRunDriver(&argumentCount, &argumentVector) { data, byteCount in
  MainActor.assumeIsolated { check(Array(UnsafeBufferPointer(start: data, count: byteCount))) }
  return 0
}
