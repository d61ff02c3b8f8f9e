import CLibFuzzer
import Glibc

// What all fuzz targets share: how libFuzzer is run, and a folder for what they write.

/// Runs libFuzzer on `check`, which stops the process at whatever breaks a promise. Returns only when libFuzzer does.
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

/// Set once, before anything runs.
nonisolated(unsafe) private var fuzzed: (UnsafeRawBufferPointer) -> Void = { _ in }

/// A new folder where scripts/fuzz wants it, which removes it.
public func makeScratchFolder() -> String {
  let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var name = Array("\(parent)/playhead-fuzz-XXXXXX".utf8CString)
  guard mkdtemp(&name) != nil else { preconditionFailure("no folder: \(errno)") }
  return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Writes a file anew.
public func write(_ bytes: some Collection<UInt8>, to path: String) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(descriptor >= 0, "cannot write \(path): \(errno)")
  defer { close(descriptor) }
  let count = Array(bytes).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  precondition(count == bytes.count, "\(count) of \(bytes.count) bytes were written")
}
