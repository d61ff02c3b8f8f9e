import DequeModule
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Reads a part of an asset as sample buffers in order. Base class of ``AssetReaderTrackOutput`` and the other outputs.
///
/// Buffers are values, whose bytes are copied on write.
///
/// Threading: any thread, but only one thread at a time may copy buffers.
public class AssetReaderOutput: @unchecked Sendable {
  // `@unchecked Sendable`: the class and its subclasses have only constants.

  /// Whether other ranges can be read after one has been read. Default: false.
  public let supportsRandomAccess: Bool

  /// The state shared with the reader and the thread. The thread does not refer to the output, so releasing the reader
  /// ends the thread.
  struct State {
    var hasReader = false
    /// Whether the source is open.
    var wasOpened = false
    weak var reader: AssetReader?
    /// The source of the samples, from opening to the end.
    var source: (any SampleBufferSource)?
    var queue: Deque<SampleBuffer> = []
    var queuedByteCount = 0
    /// The number of queued bytes for which the thread that copies buffers waits; 0 for any samples, nil if no thread
    /// waits.
    var awaitedByteCount: Int?
    /// Not nil while the reading thread waits until the queue has space, or has fewer buffers than this number.
    var waitingMinimumCount: Int?
    /// The ranges to be read, the current one first.
    var ranges: Deque<TimeRange> = []
    /// Whether no other ranges will be read.
    var isFinal: Bool
    /// Whether nil was returned for the current ranges and other ranges can be requested.
    var isBetweenRanges = false
    /// Whether the output has ended: nil was returned, or will be, for all calls.
    var hasEnded = false
    var isCancelled = false
    var error: MediaError?
    var fault: MediaError?
  }

  private let signal: ConditionMutex<State>
  /// The maximum number of bytes read ahead, unless the source requires a minimum number of buffers.
  static let byteLimit = 1 << 20
  /// The overhead of a buffer in bytes. It limits the number of queued buffers without bytes.
  static let bufferByteCount = 512
  /// The number of queued bytes at which a waiting thread is woken, and the maximum wait for this number. A wake-up for
  /// each buffer would cost one sixth of the decoding time.
  static let wakingByteCount = 1 << 18
  static let gatheringNanoseconds: Int64 = 5_000_000

  init(supportsRandomAccess: Bool) {
    self.supportsRandomAccess = supportsRandomAccess
    signal = ConditionMutex(State(isFinal: !supportsRandomAccess))
  }

  // MARK: - Overridden by subclasses

  /// - Throws: `invalidArgument` for invalid settings.
  func check() throws(MediaError) {}

  /// Opens the source of the samples. Blocks. May be called on any thread; another thread uses the source.
  func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    preconditionFailure("a subclass must override makeSource")
  }

  // MARK: - Samples

  /// Returns the next samples; nil at the end, for which the reader's `status` states the reason. Blocks until samples
  /// are available. Returns nil before reading has started.
  ///
  /// With ``supportsRandomAccess``, nil means that the ranges have been read and others can be requested.
  public func copyNextSampleBuffer() -> SampleBuffer? {
    let result =
      signal.withState { Self.next(&$0) }
      ?? signal.wait(until: HostTime(nanoseconds: HostTime.now.nanoseconds + Self.gatheringNanoseconds)) { state in
        Self.next(&state, minimumByteCount: Self.wakingByteCount)
      } ?? signal.wait { Self.next(&$0) }
    let wakesThread = signal.withState { state in
      let wakes =
        state.waitingMinimumCount.map { state.queue.count < $0 || state.queuedByteCount <= Self.byteLimit / 2 } ?? false
      if wakes { state.waitingMinimumCount = nil }
      return wakes
    }
    if wakesThread { signal.update { _ in } }
    switch result {
    case .buffer(let buffer): return buffer
    case .end(let error): signal.withState { $0.reader }?.outputEnded(with: error)
    case .nothing, nil: break
    }
    return nil
  }

  private enum NextResult {
    case buffer(SampleBuffer)
    case nothing
    case end(MediaError?)
  }

  /// Returns the next samples; nil if the caller must wait.
  ///
  /// - Parameter minimumByteCount: the number of queued bytes to wait for while more bytes can arrive.
  private static func next(_ state: inout State, minimumByteCount: Int = 0) -> NextResult? {
    guard state.wasOpened, !state.hasEnded, !state.isCancelled else { return .nothing }
    let isEnded = state.error != nil || state.ranges.isEmpty
    let isEnough = !state.queue.isEmpty && state.queuedByteCount >= minimumByteCount
    state.awaitedByteCount = isEnded || isEnough ? nil : minimumByteCount
    guard state.awaitedByteCount == nil else { return nil }
    if let buffer = state.queue.popFirst() {
      state.queuedByteCount -= cost(of: buffer)
      return .buffer(buffer)
    }
    state.hasEnded = state.error != nil || state.isFinal
    state.isBetweenRanges = !state.hasEnded
    return state.hasEnded ? .end(state.error) : .nothing
  }

  /// The first fault of the file that did not stop reading; nil if there is none so far. Faults are packets that did
  /// not decode, wrong durations, and jumps in timestamps. Undecodable audio is replaced with silence, and undecodable
  /// video with the previous frame.
  public var fault: MediaError? { signal.withState { $0.fault } }

  // MARK: - Random access

  /// Reads these ranges one after another instead of the reader's range. Call after ``copyNextSampleBuffer()`` has
  /// returned nil. Has no effect after the reader has failed or was cancelled.
  ///
  /// - Throws: `invalidState` for an output without random access, before nil was returned, or after the configuration
  ///   is final; `invalidTime` for invalid ranges, and ranges that overlap or are out of order.
  public func reset(forReadingTimeRanges ranges: [TimeRange]) throws(MediaError) {
    var before: TimeRange?
    for range in ranges {
      try AssetReader.check(range)
      guard before.map({ $0.end <= range.start && $0.start < range.start }) ?? true else {
        throw MediaError(.invalidTime, "time ranges must be in order and must not overlap", operation: "reset")
      }
      before = range
    }
    let mayRead = signal.update { state in
      if state.isCancelled, !state.isFinal { return true }
      guard state.isBetweenRanges, !state.isFinal else { return false }
      state.isBetweenRanges = false
      state.ranges = Deque(ranges)
      return true
    }
    guard mayRead else {
      throw MediaError(
        .invalidState,
        "ranges can be reset only with random access, after nil was returned, and before the configuration is final",
        operation: "reset")
    }
  }

  /// Declares that no other ranges will be read: the output ends after the current ones.
  public func markConfigurationAsFinal() {
    let reader = signal.update { state -> AssetReader? in
      state.isFinal = true
      guard state.isBetweenRanges, !state.hasEnded else { return nil }
      (state.isBetweenRanges, state.hasEnded) = (false, true)
      return state.reader
    }
    reader?.outputEnded(with: nil)
  }

  // MARK: - Used by the reader

  /// Attaches the output to a reader. Returns false if it has one already.
  func attach(_ reader: AssetReader) -> Bool {
    signal.update { state in
      guard !state.hasReader else { return false }
      (state.hasReader, state.reader) = (true, reader)
      return true
    }
  }

  /// Whether the output has ended.
  var hasEnded: Bool { signal.withState { $0.hasEnded } }

  /// Opens the source of the samples. Blocks.
  func open(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening, _ range: TimeRange
  ) throws(MediaError) {
    let source = try makeSource(asset, properties, opening)
    signal.update { state in
      state.wasOpened = true
      // The output may have been cancelled meanwhile.
      guard !state.isCancelled else { return }
      (state.source, state.ranges) = (source, [range])
    }
  }

  /// Starts to read ahead.
  func startReadingAhead() {
    guard let source = signal.withState({ $0.source }) else { return }
    let signal = signal
    NamedThread.detached(name: "playhead-reader") {
      Self.run(signal, source)
      // Releasing the source closes its files.
      signal.update { $0.source = nil }
    }
  }

  /// Cancels the output and closes its source.
  func cancel() {
    // Set the flag before the read returns, so that its error is not reported as a failure.
    let source = signal.update { state in
      state.isCancelled = true
      state.queue = []
      state.queuedByteCount = 0
      defer { state.source = nil }
      return state.source
    }
    source?.cancel()
  }

  // MARK: - Reading thread

  private static func run(_ signal: ConditionMutex<State>, _ source: any SampleBufferSource) {
    do throws(MediaError) {
      while let range = nextRange(signal) {
        try source.start(range)
        while let buffer = try source.read() {
          guard enqueue(buffer, to: signal, minimumCount: source.minimumReadAheadCount) else { return }
        }
        noteFault(of: source, signal)
        signal.update { state in
          // Empty if the output has been cancelled meanwhile.
          _ = state.ranges.popFirst()
        }
      }
    } catch {
      // Samples before the error have been read.
      noteFault(of: source, signal)
      signal.update { state in
        if !state.isCancelled { state.error = error }
      }
    }
  }

  private static func noteFault(of source: any SampleBufferSource, _ signal: ConditionMutex<State>) {
    guard let fault = source.popFault() else { return }
    signal.update { state in state.fault = state.fault ?? fault }
  }

  /// Waits for a range to read; returns nil if no range follows.
  private static func nextRange(_ signal: ConditionMutex<State>) -> TimeRange? {
    let range: TimeRange?? = signal.wait { state in
      if state.isCancelled { return .some(nil) }
      if let range = state.ranges.first { return range }
      return state.isFinal ? .some(nil) : nil
    }
    return range ?? nil
  }

  private static func cost(of buffer: SampleBuffer) -> Int { buffer.data.count + bufferByteCount }

  /// Waits for space in the queue and appends a buffer. Returns false if the output was cancelled.
  private static func enqueue(_ buffer: SampleBuffer, to signal: ConditionMutex<State>, minimumCount: Int) -> Bool {
    var wakes = false
    let cost = cost(of: buffer)
    let isEnqueued: Bool? = signal.wait { state in
      if state.isCancelled { return false }
      guard state.queue.count < minimumCount || state.queuedByteCount + cost <= byteLimit else {
        state.waitingMinimumCount = minimumCount
        return nil
      }
      state.waitingMinimumCount = nil
      state.queue.append(buffer)
      state.queuedByteCount += cost
      wakes = state.awaitedByteCount.map { state.queuedByteCount >= $0 } ?? false
      if wakes { state.awaitedByteCount = nil }
      return true
    }
    if wakes { signal.update { _ in } }
    return isEnqueued ?? false
  }
}
