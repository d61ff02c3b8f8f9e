// A worker program whose functions fail in every way: for tests of worker processes.
import CSandbox
import Glibc
import Isolation
import MediaCore

struct TestFunctions: WorkerFunctions {
  mutating func perform(
    _ function: Int, parameters: [UInt8], source: WorkerSource?, descriptors: [Int32]
  ) throws(MediaError) -> [UInt8] {
    switch function {
    // Its parameters.
    case 1: return parameters
    // The number of the file's bytes.
    case 2: return MessageEncoder.bytes(of: try count(source))
    // An error.
    case 3: throw MediaError(.invalidTime, "no time", operation: "test", underlying: "nothing")
    case 4: abort()
    case 5: sandbox_make_forbidden_call()
    // Everything that is left of the memory.
    case 6: while let memory = malloc(1 << 20) { memset(memory, 1, 1 << 20) }
    // Processor time without an end.
    case 7: while true { _ = getpid() }
    default: break
    }
    return []
  }

  private func count(_ source: WorkerSource?) throws(MediaError) -> Int {
    guard let source else { return -1 }
    switch source.bytes {
    case .descriptor(let descriptor):
      defer { close(descriptor) }
      return Int(lseek(descriptor, 0, SEEK_END))
    case .requested(let bytes):
      var buffer = [UInt8](repeating: 0, count: 1 << 17)
      var offset = 0
      while true {
        var failure: MediaError?
        let count = buffer.withUnsafeMutableBytes { buffer in
          do throws(MediaError) { return try bytes.read(into: buffer, at: Int64(offset)) } catch { failure = error }
          return 0
        }
        if let failure { throw failure }
        if count == 0 { return offset }
        offset += count
      }
    }
  }
}

exit(Worker.run(TestFunctions()))
