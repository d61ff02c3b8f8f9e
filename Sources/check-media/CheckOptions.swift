import MediaTesting
import PlayheadMediaCore

/// A check, by its name in reports and in `--only`.
enum Check: String, Sendable, CaseIterable {
  case tags, open, decode, duration, precise, reference, `repeat`, seek, play
  case playerSeek = "player-seek"
  case exportWAV = "export-wav"
  case exportCopy = "export-copy"
  case exportRange = "export-range"
  case exportVideo = "export-video"
}

/// The arguments of the process: one file, and the options of its checks.
struct CheckOptions: Sendable {
  /// An error in the arguments.
  struct UsageError: Error { var message: String }

  var path = ""
  var seed: UInt64 = 1
  var seekCount = 20
  /// Nil: every check.
  var only: Check?
  /// Audio from other decoders. At least one must agree.
  var references: [ReferenceAudio] = []
  /// A folder for exported files, which the caller removes. Copies of video remain there for a comparison.
  var scratch = "/tmp"

  static let usage =
    "usage: check-media --path FILE [--seed N] [--seeks N] [--only CHECK] [--scratch FOLDER]"
    + " [--reference NAME,FORMAT,RATE,CHANNELS,OFFSET,BYTES,STEPS,PATH]..."

  static func parse(_ arguments: [String]) -> Result<CheckOptions, UsageError> {
    var options = CheckOptions()
    var index = 0
    while index < arguments.count {
      guard index + 1 < arguments.count else { return .failure(UsageError(message: usage)) }
      let (name, value) = (arguments[index], arguments[index + 1])
      index += 2
      switch name {
      case "--path": options.path = value
      case "--scratch": options.scratch = value
      case "--seed":
        guard let seed = UInt64(value) else { return .failure(wrong(name, value, "0…\(UInt64.max)")) }
        options.seed = seed
      case "--seeks":
        guard let count = Int(value), (0...1_000_000).contains(count) else {
          return .failure(wrong(name, value, "0…1000000"))
        }
        options.seekCount = count
      case "--only":
        guard let check = Check(rawValue: value) else {
          return .failure(wrong(name, value, Check.allCases.map(\.rawValue).joined(separator: ", ")))
        }
        options.only = check
      case "--reference":
        guard let reference = ReferenceAudio(argument: value) else {
          return .failure(wrong(name, value, "NAME,FORMAT,RATE,CHANNELS,OFFSET,BYTES,STEPS,PATH"))
        }
        options.references.append(reference)
      default: return .failure(UsageError(message: usage))
      }
    }
    guard !options.path.isEmpty else { return .failure(UsageError(message: usage)) }
    return .success(options)
  }

  private static func wrong(_ name: String, _ value: String, _ accepted: String) -> UsageError {
    UsageError(message: "\(name) must be one of \(accepted) (got \(value))")
  }

  /// Random numbers determined by the seed, the file's name and the check.
  func random(for check: Check) -> SeededGenerator {
    var state = seed
    for byte in (path.split(separator: "/").last ?? "").utf8 { state = state &* 31 &+ UInt64(byte) }
    for byte in check.rawValue.utf8 { state = state &* 31 &+ UInt64(byte) }
    return SeededGenerator(seed: state)
  }
}
