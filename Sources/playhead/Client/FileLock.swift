// Waits for another process that has a file locked.
import Glibc

enum FileLock {
  /// The descriptors of the thread that waits.
  private struct Wait {
    var file: Int32
    /// The end of a pipe, which the thread closes when it had the lock.
    var pipe: Int32
  }

  /// Waits until no process has a file locked (flock(2)), or until the time is over.
  ///
  /// flock(2) has no time limit. Therefore, another thread waits for the lock. After the time limit, the thread and its
  /// descriptors remain until the file is free.
  ///
  /// - Returns: Whether the file is free. True for a file that cannot be opened. False if no thread can be started.
  static func waitUntilFree(_ path: [UInt8], milliseconds: Int32) -> Bool {
    // Some network file systems lock only files that are open for writing.
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return true }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      close(file)
      return false
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard startThread(Wait(file: file, pipe: ends[1])) else {
      close(file)
      close(ends[1])
      return false
    }
    let deadline = Deadline(milliseconds: milliseconds)
    var polled = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&polled, 1, deadline.milliseconds(atMost: -1))
      if count < 0, errno == EINTR { continue }
      return count > 0
    }
  }

  private static func startThread(_ wait: Wait) -> Bool {
    let argument = UnsafeMutablePointer<Wait>.allocate(capacity: 1)
    argument.initialize(to: wait)
    // Signals interrupt the thread that called `waitUntilFree`.
    var (allSignals, originalMask) = (sigset_t(), sigset_t())
    sigfillset(&allSignals)
    pthread_sigmask(SIG_BLOCK, &allSignals, &originalMask)
    defer { pthread_sigmask(SIG_SETMASK, &originalMask, nil) }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { argument in
        guard let argument = argument?.assumingMemoryBound(to: Wait.self) else { return nil }
        let wait = argument.move()
        argument.deallocate()
        while flock(wait.file, LOCK_EX) != 0, errno == EINTR {}
        close(wait.file)
        close(wait.pipe)
        return nil
      }, argument)
    guard error == 0 else {
      argument.deallocate()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
