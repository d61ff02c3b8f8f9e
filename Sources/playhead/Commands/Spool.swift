// A pipe on standard input of `load -`, `append -`, `insert -` and `replace -`. The daemon reads a pipe only as fast
// as it plays. Without the spool process, the writer would block in the foreground of the terminal while the player is
// paused, and the user could not enter `playhead play`.
import Glibc

/// Copies a pipe to another one, and stores the data that the reader does not accept yet in an unnamed file.
///
/// The file is a ring. When it is full, or the disk is, the writer of the input waits for the reader of the output.
struct Spool {
  /// The maximum number of stored bytes: 1 GiB, about 3 hours of stereo FLAC or 1.5 hours of stereo WAV.
  static let defaultCapacity = 1 << 30

  private static let chunkSize = 65_536
  /// The size from which an empty file is truncated, so that its space on the disk is freed.
  private static let retainedSize = 1 << 20

  private let (input, output): (Int32, Int32)
  /// The file; -1 if none could be created. Then only `unstored` contains data.
  private let file: Int32
  private let capacity: Int
  /// The total number of bytes written to the file and read from it, since it was last empty.
  private var (writtenCount, readCount) = (0, 0)
  /// Data that follows the stored data, and that the disk has no space for.
  private var unstored: [UInt8] = []
  private var hasInputEnded = false

  /// - Parameter capacity: The maximum size of the file in bytes, which is also limited by the free space. At least 1.
  init(from input: Int32, to output: Int32, capacity: Int) {
    (self.input, self.output) = (input, output)
    file = Self.makeFile()
    self.capacity = Self.capacity(of: file, atMost: capacity)
  }

  /// The maximum size of the file: `limit`, or half of the free space at the start if that is less. At least one chunk.
  private static func capacity(of file: Int32, atMost limit: Int) -> Int {
    var fileSystem = statvfs()
    guard file >= 0, fstatvfs(file, &fileSystem) == 0 else { return limit }
    let (free, overflow) = UInt64(fileSystem.f_bavail).multipliedReportingOverflow(by: UInt64(fileSystem.f_frsize))
    return overflow ? limit : min(limit, max(chunkSize, Int(free / 2)))
  }

  // MARK: - Start

  /// Starts a process that copies standard input, after `pass` has transferred the pipe with the copy.
  ///
  /// The process continues after Ctrl-C and without the terminal. If `pass` throws, no byte of standard input was read.
  ///
  /// - Parameter pass: Transfers the end of a pipe from which the copy can be read. `start` then closes the descriptor.
  /// - Returns: The result of `pass`. Nil if standard input is no pipe and no socket, or if the process cannot be
  ///   started.
  /// - Throws: The errors of `pass`.
  static func start<Token>(passing pass: (_ copy: Int32) throws -> Token) throws -> Token? {
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else { return nil }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { for end in ends { close(end) } }
    let token = try pass(ends[0])
    let arguments = ["playhead", "spool", "\(defaultCapacity)"]
    do throws(DetachedProcess.Failure) {
      _ = try DetachedProcess.start("/proc/self/exe", arguments, inheritsInput: true, output: ends[1])
    } catch {
      return nil
    }
    return token
  }

  /// An unnamed file in `TMPDIR`, `/var/tmp` or `/tmp`; -1 if none can be created.
  private static func makeFile() -> Int32 {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    for folder in [folder, "/var/tmp", "/tmp"] where folder.first == "/" {
      var template = Array("\(folder)/playhead-spool-XXXXXX".utf8CString)
      let descriptor = mkstemp(&template)
      guard descriptor >= 0 else { continue }
      unlink(template)
      return descriptor
    }
    return -1
  }

  // MARK: - Copying

  /// The number of bytes in the file that are not read yet.
  private var storedCount: Int { writtenCount - readCount }
  private var isEmpty: Bool { storedCount == 0 && unstored.isEmpty }

  /// Copies until the end of the input, or until the output is closed by its reader.
  mutating func run() {
    // A failed write is reported by its error.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    // The folder may be on a file system that is to be unmounted.
    _ = chdir("/")
    _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
    while !(hasInputEnded && isEmpty) {
      let canRead = !hasInputEnded && unstored.isEmpty && storedCount < capacity
      var descriptors = [
        // A negative descriptor is ignored.
        pollfd(fd: canRead ? input : -1, events: Int16(POLLIN), revents: 0),
        // Without POLLOUT, poll reports only that the reader has closed the pipe.
        pollfd(fd: output, events: isEmpty ? 0 : Int16(POLLOUT), revents: 0),
      ]
      if poll(&descriptors, 2, -1) < 0 {
        guard errno == EINTR else { return }
        continue
      }
      if descriptors[1].revents & Int16(POLLERR | POLLNVAL) != 0 { return }
      if descriptors[1].revents != 0, !writeOutput() { return }
      if descriptors[0].revents != 0 { readInput() }
    }
  }

  private mutating func readInput() {
    let start = writtenCount % capacity
    // A chunk is contiguous in the file.
    let limit = min(Self.chunkSize, capacity - start, capacity - storedCount)
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = bytes.withUnsafeMutableBytes { read(input, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    // A read error counts as the end.
    guard count > 0 else {
      hasInputEnded = true
      return
    }
    let stored = bytes[..<count].withUnsafeBytes { file < 0 ? 0 : max(0, pwrite(file, $0.baseAddress, count, start)) }
    writtenCount += stored
    unstored = Array(bytes[stored..<count])
  }

  /// Writes the data that comes next. Returns false if the reader has closed the pipe.
  private mutating func writeOutput() -> Bool {
    guard storedCount > 0 else {
      guard let count = write(unstored) else { return false }
      unstored.removeFirst(count)
      return true
    }
    let start = readCount % capacity
    var bytes = [UInt8](repeating: 0, count: min(Self.chunkSize, capacity - start, storedCount))
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, start) }
    guard count > 0, let written = write(Array(bytes[..<count])) else { return false }
    readCount += written
    if storedCount == 0 {
      if writtenCount > Self.retainedSize { _ = ftruncate(file, 0) }
      (writtenCount, readCount) = (0, 0)
    }
    return true
  }

  /// Writes to the output. Returns the number of written bytes, or nil if the output fails.
  private func write(_ bytes: [UInt8]) -> Int? {
    let count = bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
    return count
  }
}
