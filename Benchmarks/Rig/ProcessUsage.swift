import Glibc
import PlayheadMediaCore
import RigSupport

/// The resource usage of a process so far, over all its threads.
struct ProcessUsage {
  /// Processor time from the scheduler's statistics.
  var processorNanoseconds: Double
  /// Voluntary context switches: each one requires a wakeup.
  var wakeups: Int
  var time: HostTime

  init(_ processID: pid_t) throws {
    time = .present
    processorNanoseconds = 0
    wakeups = 0
    for task in try Self.entries("/proc/\(processID)/task") {
      let folder = "/proc/\(processID)/task/\(task)"
      // A thread may end between listing and reading.
      guard let schedule = Self.text("\(folder)/schedstat"), let status = Self.text("\(folder)/status") else {
        continue
      }
      processorNanoseconds += schedule.split(separator: " ").first.flatMap { Double($0) } ?? 0
      wakeups += Self.field("voluntary_ctxt_switches", status)
    }
  }

  /// The usage of a program and its child processes so far.
  init(family processID: pid_t) throws {
    self = try ProcessUsage(processID)
    for member in try Self.family(of: processID).dropFirst() {
      // A child process may end between listing and reading.
      guard let usage = try? ProcessUsage(member) else { continue }
      processorNanoseconds += usage.processorNanoseconds
      wakeups += usage.wakeups
    }
  }

  /// The share of one core since `earlier`, in percent.
  func percent(since earlier: ProcessUsage) -> Double {
    100 * (processorNanoseconds - earlier.processorNanoseconds) / Double(time.nanoseconds(since: earlier.time))
  }

  func wakeupsPerSecond(since earlier: ProcessUsage) -> Double {
    Double(wakeups - earlier.wakeups) * 1e9 / Double(time.nanoseconds(since: earlier.time))
  }

  /// The proportional memory of a program and its child processes, in MB.
  static func proportionalMegabytes(_ processID: pid_t) throws -> Double {
    var sum = 0.0
    for member in try family(of: processID) {
      // A child process may end between listing and reading.
      do { sum += try megabytes(member) } catch { if member == processID { throw error } }
    }
    return sum
  }

  private static func megabytes(_ processID: pid_t) throws -> Double {
    guard let text = text("/proc/\(processID)/smaps_rollup") else {
      throw RigError.programFailed("the memory of process \(processID) cannot be read")
    }
    return Double(field("Pss", text)) / 1_024
  }

  // MARK: - /proc

  /// A program and all its descendants, without the shell by which `ChildProcess` watches it.
  private static func family(of processID: pid_t) throws -> [pid_t] {
    var children: [pid_t: [pid_t]] = [:]
    for entry in try entries("/proc") {
      guard let member = pid_t(entry), let status = text("/proc/\(member)/status") else { continue }
      children[pid_t(field("PPid", status)), default: []].append(member)
    }
    var members = [processID]
    var next = 0
    while next < members.count {
      members += (children[members[next]] ?? []).filter { !isGuardian($0) }
      next += 1
    }
    return members
  }

  /// The watching shell has the command line of the shell that started the program.
  private static func isGuardian(_ processID: pid_t) -> Bool {
    text("/proc/\(processID)/cmdline")?.hasPrefix("/bin/sh\0-c\0(exec >/dev/null") ?? false
  }

  private static func field(_ name: String, _ text: String) -> Int {
    for line in text.split(separator: "\n") where line.hasPrefix("\(name):") {
      return line.split(whereSeparator: { $0 == ":" || $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        ?? 0
    }
    return 0
  }

  private static func text(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func entries(_ path: String) throws -> [String] {
    guard let folder = opendir(path) else { throw RigError.system(call: "opendir \(path)", errno: errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
