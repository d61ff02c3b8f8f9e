// A worker program with functions that fail in various ways, for tests of worker processes.
import CPlayheadSandbox
import CSystemCalls
import Glibc
import PlayheadIsolation
import PlayheadMediaCore

/// Has the fields of `AssetExportSession.Outcome`.
struct Outcome: Codable {
  var duration: MediaTime
  var byteCount: Int64
  var fault: MediaError?
}

/// Has the fields of `ReadRequest`.
struct ReadRequest: Codable {
  var file = 0
  var offset: Int64 = 0
  var count = 1
}

/// Has the cases of `ExportReport`.
enum Report: Codable {
  case alive
  case progress(Int?)
}

/// A system call with a path (`CSystemCalls`).
struct PathCall: Codable {
  var index: Int
  var path: String
}

/// A system call on a process (`CSystemCalls`).
struct ProcessCall: Codable {
  var index: Int32
  var process: Int32
}

struct TestFunctions: WorkerFunctions {
  private var frames = FrameFunctions(name: "")
  private var stored = StoredFunctions(name: "")
  private var sources: [WorkerSource] = []

  mutating func perform(_ request: WorkerRequest) throws(MediaError) -> [UInt8] {
    switch request.function {
    // Returns its parameters.
    case 1: return request.parameters
    // Returns the total number of bytes of all files.
    case 2:
      var sum = 0
      for source in request.sources { sum += try count(source) }
      return MessageEncoder.bytes(of: sum)
    // Throws an error.
    case 3: throw MediaError(.invalidTime, "no time", operation: "test", underlying: "nothing")
    case 4: abort()
    case 5: sandbox_make_forbidden_call()
    // Allocates all remaining memory.
    case 6: while let memory = malloc(1 << 20) { memset(memory, 1, 1 << 20) }
    // Uses processor time indefinitely.
    case 7: while true { _ = getpid() }
    // Sends 100 reports, then returns its parameters.
    case 9:
      for number in 0..<100 { request.report(number) }
      return request.parameters
    // Opens files for function 11.
    case 10:
      sources = request.sources
      return request.parameters
    // Reads the files of function 10 indefinitely.
    case 11: while true { for source in sources { _ = try count(source) } }
    // Requests bytes indefinitely, and receives none of them. The socket is descriptor 3, and the kind of message is 6.
    case 12:
      let message: [UInt8] = [6] + MessageEncoder.bytes(of: ReadRequest())
      while write(3, message, message.count) > 0 {}
    // Makes a system call with a path. Returns its error number, or 0.
    case 13:
      guard let call = try? MessageDecoder.value(PathCall.self, from: request.parameters) else { abort() }
      return MessageEncoder.bytes(of: Int(path_call_make(Int32(call.index), call.path)))
    // Sends a report to the address of a Unix socket. The socket is descriptor 3, and the kind of message is 8.
    case 14:
      guard let path = try? MessageDecoder.value(String.self, from: request.parameters) else { abort() }
      return MessageEncoder.bytes(of: path_call_send(3, 8, path) >= 0)
    // Makes a system call on a process. Returns its error number, or 0.
    case 15:
      guard let call = try? MessageDecoder.value(ProcessCall.self, from: request.parameters) else { abort() }
      return MessageEncoder.bytes(of: process_call_make(call.index, call.process))
    // The number of `AssetWorkerFunction.export`.
    case 17: return try export(request)
    // The number of `AssetWorkerFunction.openFrames`, and those of the functions on open frames.
    case 22:
      for descriptor in request.descriptors { close(descriptor) }
      frames = FrameFunctions(name: name(of: request))
      return frames.open()
    case 23: return frames.perform(request.parameters)
    // The number of `AssetWorkerFunction.openStored`, and that of the functions on open samples.
    case 25:
      for descriptor in request.descriptors { close(descriptor) }
      stored = StoredFunctions(name: name(of: request))
      return stored.open()
    case 26: return stored.perform(request.parameters)
    // The numbers of the functions that close frames and samples.
    case 24, 27: return MessageEncoder.bytes(of: true)
    default: break
    }
    return []
  }

  /// Runs an export whose behaviour depends on the file name.
  private func export(_ request: WorkerRequest) throws(MediaError) -> [UInt8] {
    let descriptor = request.descriptors[0]
    var outcome = Outcome(duration: .zero, byteCount: 0)
    switch name(of: request) {
    case "crash": abort()
    case "claims-bytes": outcome.byteCount = 5
    case "claims-no-duration": outcome.duration = .indefinite
    case "repeats-progress": for _ in 0..<2 { request.report(Report.progress(3)) }
    case "exceeds-progress": request.report(Report.progress(21))
    case "reports-nonsense": request.report("nonsense")
    // Writes up to its limit. The signal for the limit is ignored.
    case "fills-disk":
      signal(SIGXFSZ, SIG_IGN)
      let bytes = [UInt8](repeating: 1, count: 1 << 20)
      while write(descriptor, bytes, bytes.count) > 0 { outcome.byteCount = Int64(lseek(descriptor, 0, SEEK_CUR)) }
      throw MediaError(.writeFailed, "the file cannot be written", operation: "write")
    case "waits": while true { sleep(1) }
    default: break
    }
    return MessageEncoder.bytes(of: outcome)
  }

  /// Returns the name of the first file, without its folder.
  private func name(of request: WorkerRequest) -> String {
    request.sources.first?.displayName.split(separator: "/").last.map(String.init) ?? ""
  }

  private func count(_ source: WorkerSource) throws(MediaError) -> Int {
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
