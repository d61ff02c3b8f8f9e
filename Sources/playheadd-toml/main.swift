// Reads TOML from standard input and writes it as JSON to standard output, with exit status 0. For invalid TOML it
// writes `LINE COLUMN MESSAGE`, with status 1.
//
// The daemon runs it only if it has a configuration file, for two reasons:
//
// - TOMLKit needs Foundation, which would cost the daemon 9 MB and 12 ms at each start.
// - A C++ parser is safer in a short-lived process. TOMLKit 0.6's parser fails an assertion on `[[[`.
//
// Time for the example file with the release build: 1 ms, or 4 ms while seven other processes compile.
import Glibc
import TOMLKit

/// All bytes of standard input.
private func readInput() -> [UInt8] {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = chunk.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
    if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EINTR { return bytes }
  }
}

/// Writes a text and exits with a status.
private func end(_ text: String, _ status: Int32) -> Never {
  var remaining = Array(text.utf8)[...]
  while !remaining.isEmpty {
    let count = remaining.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count > 0 { remaining = remaining.dropFirst(count) } else if errno != EINTR { exit(2) }
  }
  exit(status)
}

do {
  let table = try TOMLTable(string: String(decoding: readInput(), as: UTF8.self))
  end(table.convert(to: .json, options: [.quoteDateAndTimes, .quoteInfinitesAndNaNs, .allowUnicodeStrings]), 0)
} catch let error as TOMLParseError {
  end("\(error.source.begin.line) \(error.source.begin.column) \(error.description)", 1)
} catch {
  end("1 1 \(error)", 1)
}
