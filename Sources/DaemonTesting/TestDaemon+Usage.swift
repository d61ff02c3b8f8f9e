import Glibc
import RigSupport

extension TestDaemon {
  /// The processor time that the daemon's threads have used, in nanoseconds.
  package func processorNanoseconds() throws -> Int64 {
    try process.threadFiles("schedstat").reduce(0) { sum, text in
      sum + (text.split(separator: " ").first.flatMap { Int64($0) } ?? 0)
    }
  }

  /// The memory that the daemon has allocated, in kilobytes. Pages of files do not count: the share of the daemon in
  /// them grows when another daemon ends.
  package func memoryKilobytes() throws -> Int {
    let rollup = String(decoding: try Files.read("/proc/\(process.id)/smaps_rollup"), as: UTF8.self)
    guard let line = rollup.split(separator: "\n").first(where: { $0.hasPrefix("Pss_Anon:") }),
      let kilobytes = Int(line.filter(\.isNumber))
    else { throw RigError.programFailed("no Pss_Anon in smaps_rollup: \(rollup)") }
    return kilobytes
  }

  /// The sorted names of the daemon's threads. Only the first thread has the name of the program.
  ///
  /// A new thread has that name until it names itself, so the names are read again until no other thread has it. The
  /// number of reads is limited, because the threads of a library may keep the name.
  package func threadNames() throws -> [String] {
    var names: [String] = []
    for _ in 0..<10_000 {
      names = try process.threadFiles("comm").map { $0.filter { $0 != "\n" } }.sorted()
      if names.count(where: { $0 == "playheadd" }) <= 1 { break }
      sched_yield()
    }
    return names
  }

  /// The contents of `/proc/PID/task/TID/status` of each thread.
  package func threadStates() throws -> [String] { try process.threadFiles("status") }
}

extension Program {
  /// The child processes of all threads of the program. The children of a thread that ends belong to another thread.
  package func childProcesses() throws -> [pid_t] {
    try threadFiles("children").flatMap { $0.split(separator: " ").compactMap { pid_t($0) } }
  }

  /// The contents of a file of each thread. Skips threads that have ended.
  fileprivate func threadFiles(_ name: String) throws -> [String] {
    try tasks().compactMap { task in
      let bytes = try? Files.read("/proc/\(id)/task/\(task)/\(name)")
      // A thread that ended after its file was opened has no content.
      return bytes.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
    }
  }

  private func tasks() throws -> [String] {
    guard let folder = opendir("/proc/\(id)/task") else {
      throw Program.Failure(description: "the program has ended")
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.first?.isNumber == true { names.append(name) }
    }
    return names
  }
}

/// Raises the descriptor limit of this process to the maximum.
package func raiseDescriptorLimit() {
  var limit = rlimit()
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
  limit.rlim_cur = limit.rlim_max
  setrlimit(resource, &limit)
}
