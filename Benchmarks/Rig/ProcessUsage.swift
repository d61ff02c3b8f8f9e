import Glibc
import MediaCore
import RigSupport

/// What a process has used so far, of all its threads.
struct ProcessUsage {
  /// Processor time, from the scheduler's own count.
  var processorNanoseconds: Double
  /// How often a thread went to sleep by itself: each time something has to wake it.
  var wakeups: Int
  var time: HostTime

  init(_ processID: pid_t) throws {
    time = .present
    processorNanoseconds = 0
    wakeups = 0
    for task in try Self.entries("/proc/\(processID)/task") {
      let folder = "/proc/\(processID)/task/\(task)"
      // A thread may end between the list and the look.
      guard let schedule = Self.text("\(folder)/schedstat"), let status = Self.text("\(folder)/status") else {
        continue
      }
      processorNanoseconds += schedule.split(separator: " ").first.flatMap { Double($0) } ?? 0
      wakeups += Self.field("voluntary_ctxt_switches", status)
    }
  }

  /// The part of one core used since `earlier`, in percent.
  func percent(since earlier: ProcessUsage) -> Double {
    100 * (processorNanoseconds - earlier.processorNanoseconds) / Double(time.nanoseconds(since: earlier.time))
  }

  func wakeupsPerSecond(since earlier: ProcessUsage) -> Double {
    Double(wakeups - earlier.wakeups) * 1e9 / Double(time.nanoseconds(since: earlier.time))
  }

  /// Its share of memory, in MB.
  static func proportionalMegabytes(_ processID: pid_t) throws -> Double {
    guard let text = text("/proc/\(processID)/smaps_rollup") else {
      throw RigError.programFailed("the memory of process \(processID) cannot be read")
    }
    return Double(field("Pss", text)) / 1_024
  }

  // MARK: - /proc

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
