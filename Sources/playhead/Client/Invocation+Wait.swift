import PlayheadMediaCore
import PlayheadWireProtocol

extension Invocation {
  /// The options of `wait` with conditions that the client evaluates.
  struct WaitOptions: Equatable {
    /// The conditions that the client evaluates.
    var conditions: [ValueCondition] = []
    /// The conditions that the daemon evaluates.
    var daemonConditions: [[UInt8]] = []
    /// The maximum time in seconds; nil for no limit.
    var timeout: Double?
    var player: [UInt8]?
  }

  /// Parses `--wait`, or `--wait=SECONDS`. Returns false for any other argument.
  mutating func parseDaemonWait(_ argument: [UInt8]) throws(Misuse) -> Bool {
    let text = String(decoding: argument, as: UTF8.self)
    if text == "--wait" {
      daemonWait = .infinity
      return true
    }
    guard text.hasPrefix("--wait=") else { return false }
    guard let seconds = Double(text.dropFirst("--wait=".count)), seconds >= 0 else {
      throw Misuse(message: "--wait needs a number of seconds, such as --wait=5")
    }
    daemonWait = seconds
    return true
  }

  /// Whether the argument is a parameter of the command, such as `wait=ready`, and not a number of seconds.
  func isWaitParameter(_ argument: [UInt8], among options: [Subcommand.Option]) -> Bool {
    let text = String(decoding: argument, as: UTF8.self)
    guard options.contains(where: { $0.name == ParameterName.wait.rawValue }) else { return false }
    return text == "--wait" || text.hasPrefix("--wait=") && Double(text.dropFirst("--wait=".count)) == nil
  }

  /// The end of the wait for the daemon, from now on; nil for no limit.
  static func deadline(in seconds: Double) -> ContinuousClock.Instant? {
    seconds.isFinite && seconds < 1e9 ? ContinuousClock.now + .seconds(seconds) : nil
  }

  /// The action of `wait`. The daemon evaluates the conditions that it knows. The client evaluates `daemon` and the
  /// conditions on other values.
  mutating func parseWait(_ words: [[UInt8]]) throws(Misuse) -> Action {
    var options = WaitOptions()
    var includesDaemon = false
    var others: [[UInt8]] = []
    for word in words.dropFirst() {
      if word.elementsEqual("daemon".utf8) {
        includesDaemon = true
      } else if word.starts(with: "timeout=".utf8) || word.starts(with: "player=".utf8) {
        others.append(word)
      } else if Self.daemonForms.contains(where: { word.starts(with: $0.utf8) }) || Self.isCondition(word) {
        options.daemonConditions.append(word)
      } else {
        options.conditions.append(try ValueCondition(parsing: String(decoding: word, as: UTF8.self)))
      }
    }
    let rest = words.filter { !$0.elementsEqual("daemon".utf8) }
    guard includesDaemon || !options.conditions.isEmpty else { return .request(words) }
    options.player = others.last { $0.starts(with: "player=".utf8) }.map { Array($0.dropFirst("player=".utf8.count)) }
    // The options have the same form as those of any other `wait`.
    let line: [UInt8]
    do throws(MediaError) {
      let conditions = options.daemonConditions.isEmpty ? [Array("ended".utf8)] : options.daemonConditions
      line = try RequestEncoder().words([Array("wait".utf8)] + conditions + others)
      options.timeout = Arguments<WaitCommand>(parsed: try RequestCheck.arguments(line)).timeout?.seconds
    } catch { throw Misuse(message: error.message) }
    if includesDaemon { daemonWait = daemonWait ?? options.timeout ?? .infinity }
    guard !options.conditions.isEmpty else {
      return options.daemonConditions.isEmpty ? .wait(options) : .request(rest)
    }
    return .wait(options)
  }

  /// The beginnings of conditions that only the daemon evaluates.
  private static let daemonForms = ["time>", "time<", "status=", "item=", "silence>="]

  /// Whether the daemon evaluates the condition.
  private static func isCondition(_ word: [UInt8]) -> Bool {
    guard let line = try? RequestEncoder().words([Array("wait".utf8), word]) else { return false }
    return (try? RequestCheck.arguments(line)) != nil
  }
}
