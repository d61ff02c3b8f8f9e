import Fuzzing
import NetworkIO

// Parses any bytes as data of servers and stations (titles interleaved with audio, and headers), and as addresses from
// users. The parsers must not trap. The result must not depend on how a stream is split. A user's password must never
// be reported.

/// Audio and titles when the bytes arrive in chunks of this size.
func station(_ bytes: UnsafeRawBufferPointer, interval: Int, pieceByteCount: Int) -> (
  sound: [UInt8], titles: [ICYMetadata]
) {
  var parser = ICYParser(interval: interval)
  var sound: [UInt8] = []
  var titles: [ICYMetadata] = []
  var start = 0
  while start < bytes.count {
    let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pieceByteCount, bytes.count)])
    parser.take(piece, sound: { sound += Array($0) }, title: { titles.append($0) })
    start += piece.count
  }
  return (sound, titles)
}

func check(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  let interval = Int(first) + 1
  let whole = station(bytes, interval: interval, pieceByteCount: bytes.count)
  precondition(
    whole == station(bytes, interval: interval, pieceByteCount: 1), "chunks of one byte give a different result")
  precondition(
    whole == station(bytes, interval: interval, pieceByteCount: 7), "chunks of seven bytes give a different result")
  precondition(whole.sound.count <= bytes.count, "more audio bytes than input bytes")
  _ = ICYMetadata(Array(bytes))
  var head = ResponseHead()
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    head.take(line: UnsafeRawBufferPointer(rebasing: line))
  }
  if let range = head.contentRange, let bytes = range.bytes, let total = range.total {
    precondition(bytes.upperBound < total, "a range after the end")
  }
  if let wait = head.retryAfter { precondition(wait >= .zero && wait <= .seconds(86_400), "a wait of \(wait)") }
  if let tag = head.strongETag { precondition(!tag.hasPrefix("W/"), "a weak ETag is reported as strong") }
  if let count = head.contentLength { precondition(count >= 0, "a length below 0") }
  if let interval = head.icyInterval { precondition(interval > 0, "an interval of 0 between titles") }
  if let type = head.mediaType { precondition(!type.contains(";"), "a type with parameters") }
  checkAddress(String(decoding: bytes, as: UTF8.self))
  checkAddress("http://\(String(decoding: bytes.prefix(200), as: UTF8.self))")
}

/// A redacted address is an address of the same location.
func checkAddress(_ text: String) {
  guard let url = try? HTTPURL(text) else { return }
  let bytes = Array(url.redacted.utf8)
  let start = bytes.firstIndex(of: UInt8(ascii: ":")).map { bytes[($0 + 3)...] } ?? []
  precondition(
    !start.prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "@")),
    "the redacted URL contains a user name: \(url.redacted)")
  guard let again = try? HTTPURL(url.redacted) else {
    preconditionFailure("the redacted URL is invalid: \(url.redacted)")
  }
  precondition(again.redacted == url.redacted, "redaction is not idempotent: \(url.redacted)")
  precondition(again.lastPathComponent == url.lastPathComponent, "the last path component differs: \(url.redacted)")
}

fuzz(check)
