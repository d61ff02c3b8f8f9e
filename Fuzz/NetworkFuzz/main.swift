import CLibFuzzer
import NetworkIO

// What servers and stations say, fed with anything: titles mixed into sound, and headers. It must not trap, and where a stream is
// cut into pieces changes nothing.

/// Sound and titles, when the bytes come in pieces of this size.
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
  precondition(whole == station(bytes, interval: interval, pieceByteCount: 1), "pieces of one byte read otherwise")
  precondition(whole == station(bytes, interval: interval, pieceByteCount: 7), "pieces of seven bytes read otherwise")
  precondition(whole.sound.count <= bytes.count, "more sound than bytes")
  _ = ICYMetadata(Array(bytes))
  var head = ResponseHead()
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    head.take(line: UnsafeRawBufferPointer(rebasing: line))
  }
  if let range = head.contentRange, let bytes = range.bytes, let total = range.total {
    precondition(bytes.upperBound < total, "a range behind the end")
  }
}

var argumentCount = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = LLVMFuzzerRunDriver(&argumentCount, &arguments) { data, count in
  check(UnsafeRawBufferPointer(start: data, count: count))
  return 0
}
