import CLibFuzzer
import Glibc

// Code that all fuzz targets share: starting libFuzzer, and a scratch folder.

/// Runs libFuzzer with `check`, which stops the process when a property is violated. Returns only when libFuzzer
/// returns.
///
/// `check` is called on this thread, with bytes that are valid during the call.
public func fuzz(_ check: @escaping (UnsafeRawBufferPointer) -> Void) {
  fuzzed = check
  var argumentCount = CommandLine.argc
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
  _ = LLVMFuzzerRunDriver(&argumentCount, &arguments) { data, count in
    fuzzed(UnsafeRawBufferPointer(start: data, count: count))
    return 0
  }
}

/// Runs `body` without reporting its allocations as leaks.
public func ignoringLeaks(_ body: () -> Void) {
  __lsan_disable()
  defer { __lsan_enable() }
  body()
}

/// Set once, before libFuzzer starts.
nonisolated(unsafe) private var fuzzed: (UnsafeRawBufferPointer) -> Void = { _ in }

/// A new folder in the location where scripts/fuzz expects and removes it.
public func makeScratchFolder() -> String {
  let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var name = Array("\(parent)/playhead-fuzz-XXXXXX".utf8CString)
  guard mkdtemp(&name) != nil else { preconditionFailure("no folder can be created: \(errno)") }
  return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Creates or replaces a file.
public func write(_ bytes: some Collection<UInt8>, to path: String) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(descriptor >= 0, "cannot write \(path): \(errno)")
  defer { close(descriptor) }
  let count = Array(bytes).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  precondition(count == bytes.count, "\(count) of \(bytes.count) bytes were written")
}
