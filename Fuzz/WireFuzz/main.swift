import Fuzzing
import PlayheadMediaCore
import PlayheadWireProtocol

// Passes any bytes to all code that reads text from a peer. The code must not trap. The result must not depend on how a
// stream is split, and written text must read back unchanged.

/// Decodes the values of a list, which a request contains as bytes.
func decodeList(of request: Request) {
  let parsed = request.arguments
  switch request.name {
  case QueueEditCommand.name: for _ in Arguments<QueueEditCommand>(parsed: parsed).ops {}
  case RemoveCommand.name: for _ in Arguments<RemoveCommand>(parsed: parsed).ids {}
  case AtCommand.name: for _ in Arguments<AtCommand>(parsed: parsed).times {}
  case WaitCommand.name: for _ in Arguments<WaitCommand>(parsed: parsed).conditions {}
  default: break
  }
}

/// The requests of a connection when its bytes arrive in chunks of this size.
func incoming(_ bytes: UnsafeRawBufferPointer, chunkByteCount: Int) -> [RequestReader.Incoming] {
  var reader = RequestReader()
  var found: [RequestReader.Incoming] = []
  var start = 0
  while start < bytes.count {
    let chunk = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + chunkByteCount, bytes.count)])
    var offset = 0
    while let next = reader.next(in: chunk, at: &offset) {
      found.append(next)
      if case .request(let request) = next { decodeList(of: request) }
      // Members are decoded when they are requested.
      if case .batch(let batch) = next {
        precondition(Array(batch).count == batch.count, "members of a batch are lost")
      }
      if case .close = next { return found }
    }
    start += chunk.count
  }
  return found
}

func check(_ bytes: UnsafeRawBufferPointer) {
  let whole = incoming(bytes, chunkByteCount: max(bytes.count, 1))
  precondition(whole == incoming(bytes, chunkByteCount: 1), "chunks of one byte give a different result")
  precondition(whole == incoming(bytes, chunkByteCount: 7), "chunks of seven bytes give a different result")

  let array = Array(bytes)
  _ = try? ServerLine(parsing: array)
  if let value = try? JSONValue(parsing: array.span) {
    var rewritten: [UInt8] = []
    value.append(to: &rewritten)
    precondition((try? JSONValue(parsing: rewritten.span)) == value, "JSON changed during a round trip")
  }

  let text = String(decoding: array, as: UTF8.self)
  if let expression = try? TimeExpression(parsing: text) {
    _ = try? expression.resolve(
      current: MediaTime(value: 7, timescale: 3), duration: MediaTime(value: 1_000_001, timescale: 44_100))
  }
  if let date = try? DateExpression(parsing: text) {
    // The offset from UTC changes by an hour in each quarter of a year.
    let instant = date.instant(after: WallTime(nanosecondsSince1970: 1_800_000_000_000_000_000)) { time in
      time.nanosecondsSince1970 / 7_776_000_000_000_000 % 2 == 0 ? 3_600 : 7_200
    }
    precondition(instant.nanosecondsSince1970 > -86_400_000_000_000, "a date is before 1970")
  }
  if let path = try? FilePath(text: text) {
    precondition((try? FilePath(text: path.text)) == path, "a path changed during a round trip")
    precondition((try? FilePath(text: path.url)) == path, "a path's URL changed during a round trip")
  }
  // Any text is one field of a reply.
  var line: [UInt8] = []
  Reply.ok(["text": .string(text)]).encode(to: .words, into: &line)
  precondition(
    line.filter { $0 == UInt8(ascii: "\n") }.count == 1 && line.last == UInt8(ascii: "\n"),
    "a reply is not exactly one line")
  line.removeLast()
  guard case .ok(_, let fields)? = try? ServerLine(parsing: line), fields["text"] == text else {
    preconditionFailure("a reply changed during a round trip")
  }
}

fuzz(check)
