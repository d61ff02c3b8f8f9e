// The program `playhead-worker` with crashes, for tests of the daemon. A file with the name
// `crash-STEP-SIGNAL.EXTENSION` crashes it in the step, by the signal: `crash-tags-SIGSEGV.flac`.
import CPlayheadSandbox
import Glibc
import PlayheadIsolation
import PlayheadMediaAssets
import PlayheadMediaCore

/// Has the fields of `LoadParameters`.
private struct LoadParameters: Codable {
  var prefersPreciseDuration: Bool
  var packetCount: Int
}

struct CrashingFunctions: WorkerFunctions {
  /// A step of the work on a file.
  private enum Step: String {
    case opening, decoding, tags, reading, image, export
  }

  private static let signals = [
    "SIGSEGV": SIGSEGV, "SIGABRT": SIGABRT, "SIGBUS": SIGBUS, "SIGFPE": SIGFPE, "SIGILL": SIGILL, "SIGKILL": SIGKILL,
  ]

  private var functions = AssetWorkerFunctions()
  /// The name of the open file, without its folder.
  private var name = ""

  mutating func perform(_ request: WorkerRequest) throws(MediaError) -> [UInt8] {
    if let source = request.sources.first {
      name = source.displayName.split(separator: "/").last.map(String.init) ?? ""
    }
    let words = name.prefix { $0 != "." }.split(separator: "-")
    if words.count == 3, words[0] == "crash", steps(of: request).contains(where: { $0.rawValue == words[1] }) {
      crash(String(words[2]))
    }
    return try functions.perform(request)
  }

  private func steps(of request: WorkerRequest) -> [Step] {
    switch AssetWorkerFunction(rawValue: request.function) {
    case .tryContainer: return [.opening, .decoding]
    case .load:
      let parameters = try? MessageDecoder.value(LoadParameters.self, from: request.parameters)
      return parameters?.packetCount == 0 ? [.opening] : [.opening, .decoding]
    case .loadMetadata, .readTags: return [.tags]
    case .readAudio: return [.reading]
    case .openVideo: return [.image]
    case .export: return [.export]
    default: return []
    }
  }

  private func crash(_ name: String) -> Never {
    if name == "SIGSYS" { sandbox_make_forbidden_call() }
    if let signal = Self.signals[name] { raise(signal) }
    preconditionFailure("unknown signal \(name)")
  }
}

exit(Worker.run(CrashingFunctions()))
