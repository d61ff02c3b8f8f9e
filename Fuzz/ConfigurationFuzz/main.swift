import Fuzzing

@testable import PlayheadDaemonConfiguration

// Parses any bytes as a configuration file. The parser must not trap, and must end. Each location must be in the text,
// and each message in one line.

/// The number of characters of each line.
func lengths(of bytes: [UInt8]) -> [Int] {
  var counts = [0]
  // A byte order mark is not part of the text.
  for byte in bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...] {
    if byte == UInt8(ascii: "\n") {
      counts.append(0)
    } else if byte & 0xC0 != 0x80 {
      counts[counts.count - 1] += 1
    }
  }
  return counts
}

func check(_ bytes: UnsafeRawBufferPointer) {
  let bytes = Array(bytes)
  let lengths = lengths(of: bytes)
  func check(_ line: Int, _ column: Int) {
    precondition(line >= 1 && line <= lengths.count, "invalid line \(line)")
    // An error at the end of a line is after its last character, or after its line break.
    precondition(column >= 1 && column <= lengths[line - 1] + 2, "invalid column \(column)")
  }
  do throws(TOMLValue.ParseError) {
    for fault in ConfigurationText(try TOMLValue.parse(bytes), file: "f").faults {
      guard let line = fault.line, let column = fault.column else { fatalError("no location: \(fault)") }
      check(line, column)
    }
  } catch {
    if let location = error.location { check(location.line, location.column) }
    precondition(!error.message.isEmpty && !error.message.utf8.contains { $0 < 0x20 }, "invalid message")
  }
}

fuzz(check)
