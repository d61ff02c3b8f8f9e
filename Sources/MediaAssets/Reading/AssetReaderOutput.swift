import DequeModule
import MediaCore
import RealtimeAudio

/// Something that is read of an asset, as sample buffers in order: `AssetReaderTrackOutput` and its kin.
///
/// Buffers are values: each has its bytes to itself, whoever changes them.
/// Threading: any thread; buffers are copied by one at a time.
public class AssetReaderOutput: @unchecked Sendable {
  // `@unchecked Sendable`: what the class and those derived from it have are constants.

  /// Other ranges can be read when one has been; set before reading begins.
  public let supportsRandomAccess: Bool

  /// What the output shares with its reader and its thread, which knows nothing of the output: who lets go of a reader ends it.
  struct State {
    var hasReader = false
    /// What it reads is open.
    var hasBegun = false
    weak var reader: AssetReader?
    /// What is read, from the opening to the end.
    var pass: (any ReadPass)?
    var queue: Deque<SampleBuffer> = []
    var queuedByteCount = 0
    /// Bytes that who copies waits for, 0 for whatever comes; nil: nobody waits.
    var wantedByteCount: Int?
    /// The thread waits for room, or until fewer buffers than this are left; nil: it does not.
    var waitingLeastCount: Int?
    /// To be read, the present one first.
    var ranges: Deque<TimeRange> = []
    /// No other ranges will come.
    var isFinal: Bool
    /// Nil was returned for the present ranges, and others can be asked for.
    var isBetweenRanges = false
    /// Nil was returned, or would be, for good.
    var isOver = false
    var isCancelled = false
    var error: MediaError?
    var fault: MediaError?
  }

  private let signal: WakeSignal<State>
  /// Bytes that are read ahead, or as many buffers as the pass says at least.
  static let byteLimit = 1 << 20
  /// What a buffer costs besides its bytes, of which it may have none.
  static let bufferByteCount = 512
  /// Bytes that who waits for samples is woken for, and how long for so many: waking it for each buffer would cost a sixth of decoding.
  static let wakingByteCount = 1 << 18
  static let gatheringNanoseconds: Int64 = 5_000_000

  init(supportsRandomAccess: Bool) {
    self.supportsRandomAccess = supportsRandomAccess
    signal = WakeSignal(State(isFinal: !supportsRandomAccess))
  }

  // MARK: - What those derived from it say

  /// Errors: `invalidArgument` for settings that nothing is read as.
  func check() throws(MediaError) {}

  /// Opens what is read. Blocks. On whichever thread; the pass is used by another.
  func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    preconditionFailure("an output says what it reads")
  }

  // MARK: - Samples

  /// The next samples; nil when there are no more, and the reader's `status` says why. Blocks until they are there; nil before reading
  /// begins.
  ///
  /// With `supportsRandomAccess` nil says that the ranges have been read: others can be asked for then.
  public func copyNextSampleBuffer() -> SampleBuffer? {
    let answer =
      signal.withState { Self.next(&$0) }
      ?? signal.wait(until: HostTime(nanoseconds: HostTime.now.nanoseconds + Self.gatheringNanoseconds)) { state in
        Self.next(&state, least: Self.wakingByteCount)
      } ?? signal.wait { Self.next(&$0) }
    let wakesThread = signal.withState { state in
      let wakes =
        state.waitingLeastCount.map { state.queue.count < $0 || state.queuedByteCount <= Self.byteLimit / 2 } ?? false
      if wakes { state.waitingLeastCount = nil }
      return wakes
    }
    if wakesThread { signal.update { _ in } }
    switch answer {
    case .buffer(let buffer): return buffer
    case .end(let error): signal.withState { $0.reader }?.outputEnded(with: error)
    case .nothing, nil: break
    }
    return nil
  }

  private enum Answer {
    case buffer(SampleBuffer)
    case nothing
    case end(MediaError?)
  }

  /// What there is to copy; nil when that is to be waited for.
  ///
  /// - Parameter least: bytes that are worth being woken for, while others come.
  private static func next(_ state: inout State, least: Int = 0) -> Answer? {
    guard state.hasBegun, !state.isOver, !state.isCancelled else { return .nothing }
    let isEnded = state.error != nil || state.ranges.isEmpty
    let isEnough = !state.queue.isEmpty && state.queuedByteCount >= least
    state.wantedByteCount = isEnded || isEnough ? nil : least
    guard state.wantedByteCount == nil else { return nil }
    if let buffer = state.queue.popFirst() {
      state.queuedByteCount -= cost(of: buffer)
      return .buffer(buffer)
    }
    state.isOver = state.error != nil || state.isFinal
    state.isBetweenRanges = !state.isOver
    return state.isOver ? .end(state.error) : .nothing
  }

  /// What was found to be wrong with the file, though it was read: packets that did not decode, which silence stands for or pictures before them, wrong lengths,
  /// times that jump. The first of it; nil: nothing up to here.
  public var fault: MediaError? { signal.withState { $0.fault } }

  // MARK: - Random access

  /// Reads these ranges, one behind the other, when all that was to be read has been: nil was returned. In place of the reader's
  /// range. Nothing once the reader has failed or was cancelled.
  ///
  /// Errors: `invalidState` for an output without random access, before nil was returned, and once the configuration is final;
  /// `invalidTime` for ranges that overlap or are not in order, and what no range can be.
  public func reset(forReadingTimeRanges ranges: [TimeRange]) throws(MediaError) {
    var before: TimeRange?
    for range in ranges {
      try AssetReader.check(range)
      guard before.map({ $0.end <= range.start && $0.start < range.start }) ?? true else {
        throw MediaError(.invalidTime, "ranges follow each other and do not overlap", operation: "reset")
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
        "other ranges can be read with random access, when nil was returned, and before the configuration is final",
        operation: "reset")
    }
  }

  /// Says that no other ranges will be read: when the present ones have been, this output is through.
  public func markConfigurationAsFinal() {
    let reader = signal.update { state -> AssetReader? in
      state.isFinal = true
      guard state.isBetweenRanges, !state.isOver else { return nil }
      (state.isBetweenRanges, state.isOver) = (false, true)
      return state.reader
    }
    reader?.outputEnded(with: nil)
  }

  // MARK: - What the reader does

  /// False when it has a reader already.
  func attach(_ reader: AssetReader) -> Bool {
    signal.update { state in
      guard !state.hasReader else { return false }
      (state.hasReader, state.reader) = (true, reader)
      return true
    }
  }

  /// Whether nothing more will come of it.
  var isOver: Bool { signal.withState { $0.isOver } }

  /// Opens what is read. Blocks.
  func open(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening, _ range: TimeRange
  ) throws(MediaError) {
    let pass = try makePass(asset, properties, opening)
    signal.update { state in
      state.hasBegun = true
      // Else it has been cancelled meanwhile.
      guard !state.isCancelled else { return }
      (state.pass, state.ranges) = (pass, [range])
    }
  }

  /// Begins to read ahead.
  func begin() {
    guard let pass = signal.withState({ $0.pass }) else { return }
    let signal = signal
    NamedThread.detached(name: "playhead-reader") {
      Self.run(signal, pass)
      // What it had open is closed.
      signal.update { $0.pass = nil }
    }
  }

  /// Ends it, and closes what is open.
  func cancel() {
    // Before the read gives up, so that this is no failure.
    let pass = signal.update { state in
      state.isCancelled = true
      state.queue = []
      state.queuedByteCount = 0
      defer { state.pass = nil }
      return state.pass
    }
    pass?.cancel()
  }

  // MARK: - The thread

  private static func run(_ signal: WakeSignal<State>, _ pass: any ReadPass) {
    do throws(MediaError) {
      while let range = nextRange(signal) {
        try pass.begin(range)
        while let buffer = try pass.read() {
          guard hand(buffer, to: signal, leastCount: pass.leastAheadCount) else { return }
        }
        noteFault(of: pass, signal)
        signal.update { state in
          // None where it was cancelled meanwhile.
          _ = state.ranges.popFirst()
        }
      }
    } catch {
      // What breaks off has been read up to there.
      noteFault(of: pass, signal)
      signal.update { state in
        if !state.isCancelled { state.error = error }
      }
    }
  }

  private static func noteFault(of pass: any ReadPass, _ signal: WakeSignal<State>) {
    guard let fault = pass.takeFault() else { return }
    signal.update { state in state.fault = state.fault ?? fault }
  }

  /// Waits for a range to be read; nil when none will come.
  private static func nextRange(_ signal: WakeSignal<State>) -> TimeRange? {
    let range: TimeRange?? = signal.wait { state in
      if state.isCancelled { return .some(nil) }
      if let range = state.ranges.first { return range }
      return state.isFinal ? .some(nil) : nil
    }
    return range ?? nil
  }

  private static func cost(of buffer: SampleBuffer) -> Int { buffer.data.count + bufferByteCount }

  /// Waits for room; false when it was cancelled.
  private static func hand(_ buffer: SampleBuffer, to signal: WakeSignal<State>, leastCount: Int) -> Bool {
    var wakes = false
    let cost = cost(of: buffer)
    let isThere: Bool? = signal.wait { state in
      if state.isCancelled { return false }
      guard state.queue.count < leastCount || state.queuedByteCount + cost <= byteLimit else {
        state.waitingLeastCount = leastCount
        return nil
      }
      state.waitingLeastCount = nil
      state.queue.append(buffer)
      state.queuedByteCount += cost
      wakes = state.wantedByteCount.map { state.queuedByteCount >= $0 } ?? false
      if wakes { state.wantedByteCount = nil }
      return true
    }
    if wakes { signal.update { _ in } }
    return isThere ?? false
  }
}
