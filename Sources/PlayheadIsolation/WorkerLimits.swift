/// Limits on the resources of a worker process.
///
/// The arguments of the program are these limits, in decimal, in the order of the properties.
package struct WorkerLimits: Sendable, Hashable {
  /// Bytes of writable private memory (`RLIMIT_DATA`). Default: 384 MiB.
  package var dataByteCount: UInt64 = 384 << 20
  /// Open descriptors. Default: 64.
  package var openFileCount: UInt64 = 64
  /// Bytes of a file that the worker writes. Default: 0, no files.
  package var fileByteCount: UInt64 = 0

  /// The default limits.
  package init() {}

  /// Bytes of address space. The code of libraries and the stacks of threads need up to 640 MiB.
  var addressSpaceByteCount: UInt64 { dataByteCount + (640 << 20) }

  /// Seconds of processor time of one task, or of the part of a task that follows a report.
  package static let processorSeconds: UInt64 = 600

  /// The arguments of a worker program with these limits.
  var arguments: [String] { [dataByteCount, openFileCount, fileByteCount].map { "\($0)" } }

  /// Parses the arguments of a worker program; nil if they are invalid.
  init?(arguments: some Collection<String>) {
    let numbers = arguments.compactMap { UInt64($0) }
    guard arguments.count == 3, numbers.count == 3 else { return nil }
    (dataByteCount, openFileCount, fileByteCount) = (numbers[0], numbers[1], numbers[2])
  }
}
