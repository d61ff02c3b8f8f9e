import Glibc
import PlayheadMediaCore

/// The audio that a pipe sink has played. A separate thread reads it and keeps it in memory, up to a limit.
///
/// Threading: any thread. Waits block on a condition that the reader thread signals. A timeout is an error.
package final class Capture: @unchecked Sendable {
  // `@unchecked Sendable`: all state after `mutex` is protected by it.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var storage: [StereoFrame] = []
  /// The arrivals of frames: the position after the frames of each read, and its time (`CLOCK_MONOTONIC`).
  private var arrivals: [(end: Int, time: HostTime)] = []
  private var hasEnded = false
  private var hasOverflowed = false
  private let limitFrames: Int
  /// The reader thread until it is joined.
  private var thread: pthread_t?
  private let wakeup: Pipe

  /// Starts reading the FIFO at `path`.
  init(path: String, limitBytes: Int) throws {
    limitFrames = limitBytes / 4
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw RigError.system(call: "open \(path)", errno: errno) }
    // The maximum size of the pipe, so that a busy machine loses no frames. 1031: F_SETPIPE_SZ (fcntl(2)).
    _ = fcntl(descriptor, 1031, 1 << 20)
    do { wakeup = try Pipe() } catch {
      close(descriptor)
      throw error
    }
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    let reader = Unmanaged.passRetained(
      Reader(capture: self, descriptor: descriptor, wakeup: wakeup.readEnd))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Reader>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, reader.toOpaque())
    guard status == 0 else { throw RigError.system(call: "pthread_create", errno: status) }
    self.thread = thread
  }

  deinit {
    if let thread { pthread_detach(thread) }
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Ends the thread. May be called once.
  func stop() {
    wakeup.closeWriteEnd()
    if let thread { pthread_join(thread, nil) }
    thread = nil
  }

  // MARK: - Played audio

  /// Frames captured so far.
  package var frameCount: Int { withLock { storage.count } }

  /// The frames from position `from` on: all, or `count` of them.
  package func frames(from: Int = 0, count: Int? = nil) -> [StereoFrame] {
    withLock {
      let start = min(max(0, from), storage.count)
      return Array(storage[start..<min(storage.count, count.map { start + $0 } ?? storage.count)])
    }
  }

  /// The time at which the frame at `position` was read from the pipe; nil if it was not read yet or was removed.
  package func arrival(of position: Int) -> HostTime? {
    withLock {
      var (low, high) = (0, arrivals.count)
      while low < high {
        let middle = (low + high) / 2
        if arrivals[middle].end <= position { low = middle + 1 } else { high = middle }
      }
      return low < arrivals.count ? arrivals[low].time : nil
    }
  }

  /// The runs of time code from position `from` on.
  package func runs(from: Int = 0) -> [TimeCode.Run] {
    TimeCode.runs(in: frames(from: from)).map { run in
      var run = run
      run.position += from
      return run
    }
  }

  /// Waits until `total` frames have been captured.
  package func waitForFrames(_ total: Int, timeOutSeconds: Int = 30) throws {
    try wait(timeOutSeconds, for: "\(total) captured frames") { $0.count >= total ? true : nil }
  }

  /// Waits for `count` more frames.
  package func waitForMoreFrames(_ count: Int, timeOutSeconds: Int = 30) throws {
    try waitForFrames(frameCount + count, timeOutSeconds: timeOutSeconds)
  }

  /// Waits for the first frame at or after position `from` for which `condition` is true. Returns its position.
  @discardableResult
  package func waitForFrame(
    from: Int = 0, timeOutSeconds: Int = 30, where condition: (StereoFrame) -> Bool
  ) throws -> Int {
    var next = max(0, from)
    return try wait(timeOutSeconds, for: "a certain frame") { frames in
      while next < frames.count {
        if condition(frames[next]) { return next }
        next += 1
      }
      return nil
    }
  }

  /// Waits for the first frame, at or after position `from`, of file `file` with an index of `index` or later; nil
  /// matches any. Returns its position in the capture.
  @discardableResult
  package func waitForCode(
    file: Int? = nil, index: Int? = nil, from: Int = 0, timeOutSeconds: Int = 30
  ) throws -> Int {
    try waitForFrame(from: from, timeOutSeconds: timeOutSeconds) { frame in
      guard let code = TimeCode.decode(frame) else { return false }
      return (file == nil || file == code.file) && (index.map { code.index >= $0 } ?? true)
    }
  }

  /// Waits for `count` consecutive silent frames at or after position `from`. Returns the position of the first one.
  @discardableResult
  package func waitForSilence(_ count: Int, from: Int = 0, timeOutSeconds: Int = 30) throws -> Int {
    var next = max(0, from)
    var length = 0
    return try wait(timeOutSeconds, for: "\(count) frames of silence") { frames in
      while next < frames.count {
        length = frames[next] == .silence ? length + 1 : 0
        next += 1
        if length == count { return next - count }
      }
      return nil
    }
  }

  /// Waits until the device has closed its end of the pipe, and all its frames have been captured.
  package func waitForEnd(timeOutSeconds: Int = 30) throws {
    try wait(timeOutSeconds, for: "the end of the pipe") { _ in hasEnded ? true : nil }
  }

  /// Removes all captured frames. Positions start at 0 again.
  package func clear() {
    withLock {
      storage.removeAll(keepingCapacity: true)
      arrivals = []
    }
  }

  // MARK: - Internals

  private func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  @discardableResult
  private func wait<Result>(
    _ seconds: Int, for what: String, _ condition: ([StereoFrame]) -> Result?
  ) throws -> Result {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += seconds
    return try withLock {
      while true {
        if let result = condition(storage) { return result }
        if hasOverflowed {
          throw RigError.programFailed("the capture is full at \(limitFrames) frames")
        }
        if hasEnded {
          throw RigError.programFailed("the sound server ended while waiting for \(what)")
        }
        if pthread_cond_timedwait(self.condition, mutex, &deadline) == ETIMEDOUT {
          if let result = condition(storage) { return result }
          throw RigError.timedOut("\(what) (\(storage.count) frames captured)")
        }
      }
    }
  }

  private func append(_ frames: [StereoFrame], at time: HostTime) {
    withLock {
      let remaining = limitFrames - storage.count
      storage.append(contentsOf: frames.prefix(remaining))
      arrivals.append((storage.count, time))
      if frames.count > remaining { hasOverflowed = true }
      pthread_cond_broadcast(condition)
    }
  }

  private func end() {
    withLock {
      hasEnded = true
      pthread_cond_broadcast(condition)
    }
  }

  /// State of the reader thread.
  private final class Reader {
    let capture: Capture
    let descriptor: Int32
    let wakeup: Int32

    init(capture: Capture, descriptor: Int32, wakeup: Int32) {
      self.capture = capture
      self.descriptor = descriptor
      self.wakeup = wakeup
    }

    deinit { close(descriptor) }

    func run() {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var polled = [
          pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
          pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
        ]
        if poll(&polled, 2, -1) < 0, errno != EINTR { break }
        if polled[1].revents != 0 { break }
        guard polled[0].revents != 0 else { continue }
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { continue }
        if count <= 0 { break }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        bytes.append(contentsOf: buffer[..<count])
        let whole = bytes.count / 4
        let frames = bytes.withUnsafeBytes { StereoFrame.frames(of: $0) }
        bytes.removeFirst(whole * 4)
        capture.append(
          frames, at: HostTime(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)))
      }
      capture.end()
    }
  }
}
