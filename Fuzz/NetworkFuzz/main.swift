import Fuzzing
import PlayheadNetworkIO

// Parses any bytes as data of servers and stations (titles interleaved with audio, and headers), and as addresses from
// users. The parsers must not trap. The result must not depend on how a stream is split. A user's password must never
// be reported.

/// Audio and titles when the bytes arrive in chunks of this size.
func station(_ bytes: UnsafeRawBufferPointer, interval: Int, chunkByteCount: Int) -> (
  audio: [UInt8], titles: [ICYMetadata]
) {
  var parser = ICYParser(interval: interval)
  var audio: [UInt8] = []
  var titles: [ICYMetadata] = []
  var start = 0
  while start < bytes.count {
    let chunk = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + chunkByteCount, bytes.count)])
    parser.parse(chunk, audio: { audio += Array($0) }, title: { titles.append($0) })
    start += chunk.count
  }
  return (audio, titles)
}

func check(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  let interval = Int(first) + 1
  let whole = station(bytes, interval: interval, chunkByteCount: bytes.count)
  precondition(
    whole == station(bytes, interval: interval, chunkByteCount: 1), "chunks of one byte give a different result")
  precondition(
    whole == station(bytes, interval: interval, chunkByteCount: 7), "chunks of seven bytes give a different result")
  precondition(whole.audio.count <= bytes.count, "more audio bytes than input bytes")
  _ = ICYMetadata(Array(bytes))
  var head = ResponseHead()
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    head.parse(line: UnsafeRawBufferPointer(rebasing: line))
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
  guard let reparsed = try? HTTPURL(url.redacted) else {
    preconditionFailure("the redacted URL is invalid: \(url.redacted)")
  }
  precondition(reparsed.redacted == url.redacted, "redaction is not idempotent: \(url.redacted)")
  precondition(reparsed.lastPathComponent == url.lastPathComponent, "the last path component differs: \(url.redacted)")
}

fuzz(check)
