/// Limits on the resources of a worker process. They reach the program as its arguments, in decimal, in the order of the properties.
package struct WorkerLimits: Sendable, Hashable {
  /// Bytes of memory that is written to, but for shared memory. Default: 384 MiB.
  package var dataByteCount: UInt64 = 384 << 20
  /// Open descriptors. Default: 64.
  package var openFileCount: UInt64 = 64
  /// Bytes of a file that it writes. Default: 0, it writes none.
  package var fileByteCount: UInt64 = 0

  /// The default limits.
  package init() {}

  /// Bytes of address space: the code of libraries and the stacks of threads need up to 640 MiB.
  var addressSpaceByteCount: UInt64 { dataByteCount + (640 << 20) }

  /// Seconds of processor time of one task, or of the part of a task that follows a report.
  package static let processorSeconds: UInt64 = 600

  var arguments: [String] { [dataByteCount, openFileCount, fileByteCount].map { "\($0)" } }

  /// Reads the arguments of a program; nil where they are not those of a worker.
  init?(arguments: some Collection<String>) {
    let numbers = arguments.compactMap { UInt64($0) }
    guard arguments.count == 3, numbers.count == 3 else { return nil }
    (dataByteCount, openFileCount, fileByteCount) = (numbers[0], numbers[1], numbers[2])
  }
}
