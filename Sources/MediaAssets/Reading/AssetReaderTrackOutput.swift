import DequeModule
import MediaCore
import RealtimeAudio
import Synchronization

/// The sound of one track, decoded, as sample buffers in order.
///
/// Buffers are values: each has its bytes to itself, whoever changes them.
/// Threading: any thread; buffers are copied by one at a time.
public final class AssetReaderTrackOutput: Sendable {
  /// The track; nil: the one that the file would have played.
  public let trackID: AssetTrack.ID?
  /// What the samples are read as.
  public let settings: AudioReadSettings
  /// Other ranges can be read when one has been; set before reading begins.
  public let supportsRandomAccess: Bool

  /// What the output and its thread share. That knows nothing of the output, so that who lets go of a reader ends it.
  final class Shared: Sendable {
    struct State {
      var queue: Deque<SampleBuffer> = []
      var queuedByteCount = 0
      /// To be read, the present one first.
      var ranges: Deque<TimeRange> = []
      var isRangeRead = false
      var error: MediaError?
      var isCancelled = false
      /// No other ranges will come.
      var isFinal = false
      var fault: MediaError?
    }
    let signal = WakeSignal(State())
    let reader: AudioTrackReader

    init(_ reader: AudioTrackReader) { self.reader = reader }
  }

  private struct Place {
    weak var reader: AssetReader?
    var shared: Shared?
    /// It has been said that there is no more, and of the present ranges.
    var isOver = false
    var isBetweenRanges = false
    var isFinal: Bool
    var isCancelled = false
  }

  private let place: Mutex<Place?> = Mutex(nil)
  /// Bytes that are read ahead.
  static let byteLimit = 1 << 20

  /// An output that has no reader yet.
  public init(
    trackID: AssetTrack.ID? = nil, settings: AudioReadSettings = AudioReadSettings(), supportsRandomAccess: Bool = false
  ) {
    self.trackID = trackID
    self.settings = settings
    self.supportsRandomAccess = supportsRandomAccess
  }

  // MARK: - Samples

  /// The next samples; nil when there are no more, and the reader's `status` says why. Blocks until they are there.
  ///
  /// With `supportsRandomAccess` nil says that the ranges have been read: others can be asked for then.
  public func copyNextSampleBuffer() -> SampleBuffer? {
    guard let (reader, shared, isOver) = place.withLock({ $0.map { ($0.reader, $0.shared, $0.isOver) } }),
      let shared, !isOver
    else { return nil }
    enum Answer {
      case buffer(SampleBuffer)
      case end(MediaError?, isFinal: Bool)
    }
    let answer: Answer? = shared.signal.wait { state in
      if state.isCancelled { return .end(nil, isFinal: true) }
      if let buffer = state.queue.popFirst() {
        state.queuedByteCount -= buffer.data.count
        return .buffer(buffer)
      }
      if let error = state.error { return .end(error, isFinal: true) }
      return state.ranges.isEmpty ? .end(nil, isFinal: state.isFinal) : nil
    }
    // Room has come.
    shared.signal.update { _ in }
    switch answer {
    case .buffer(let buffer): return buffer
    case .end(let error, let isFinal):
      place.withLock { place in
        place?.isOver = isFinal
        place?.isBetweenRanges = !isFinal
      }
      if isFinal { reader?.outputEnded(with: error) }
      return nil
    case nil: return nil
    }
  }

  /// What was found to be wrong with the file, though it was read: packets that did not decode, which silence stands for, wrong lengths,
  /// times that jump. The first of it; nil: nothing up to here.
  public var fault: MediaError? { place.withLock { $0?.shared }?.signal.withState { $0.fault } }

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
    let shared = place.withLock { place -> Result<Shared?, MediaError> in
      guard supportsRandomAccess, let present = place, let shared = present.shared else {
        return .failure(
          MediaError(.invalidState, "other ranges can be read with random access, while reading", operation: "reset"))
      }
      if present.isCancelled, !present.isFinal { return .success(nil) }
      guard present.isBetweenRanges, !present.isFinal else {
        return .failure(
          MediaError(
            .invalidState, "other ranges can be read when nil was returned, and before the configuration is final",
            operation: "reset"))
      }
      place?.isBetweenRanges = false
      return .success(shared)
    }
    try shared.get()?.signal.update { $0.ranges = Deque(ranges) }
  }

  /// Says that no other ranges will be read: when the present ones have been, this output is through.
  public func markConfigurationAsFinal() {
    let (reader, shared, ends) = place.withLock { place -> (AssetReader?, Shared?, Bool) in
      let ends = place?.isBetweenRanges == true && place?.isOver == false
      place?.isFinal = true
      if ends { place?.isOver = true }
      return (place?.reader, place?.shared, ends)
    }
    shared?.signal.update { $0.isFinal = true }
    if ends { reader?.outputEnded(with: nil) }
  }

  // MARK: - What the reader does

  /// False when it has a reader already.
  func attach(_ reader: AssetReader) -> Bool {
    place.withLock { place in
      guard place == nil else { return false }
      place = Place(reader: reader, isFinal: !supportsRandomAccess)
      return true
    }
  }

  /// Whether nothing more will come of it.
  var isOver: Bool { place.withLock { $0?.isOver ?? false } }

  /// Opens its track and goes to where the range begins. Blocks.
  func open(_ asset: Asset, _ opening: AssetOpening, _ range: TimeRange) throws(MediaError) {
    var reader = try opening.reader(asset, trackID: trackID, encoding: NativeSamples.native(of: settings.encoding))
    if SoundPass.encoding(for: settings, of: reader.format) != NativeSamples.native(of: settings.encoding) {
      reader = try opening.reader(asset, trackID: reader.trackID)
    }
    let shared = Shared(reader)
    let isFinal = place.withLock { place in
      place?.shared = shared
      return place?.isFinal ?? true
    }
    shared.signal.update { state in
      state.ranges = [range]
      state.isFinal = isFinal
    }
  }

  /// Begins to read ahead.
  func begin() {
    guard let shared = place.withLock({ $0?.shared }) else { return }
    let settings = settings
    NamedThread.detached(name: "playhead-reader") { Self.run(shared, settings) }
  }

  func cancel() {
    let shared = place.withLock { place in
      place?.isCancelled = true
      return place?.shared
    }
    // Before the read gives up, so that this is no failure.
    shared?.signal.update { state in
      state.isCancelled = true
      state.queue = []
      state.queuedByteCount = 0
    }
    shared?.reader.cancel()
  }

  // MARK: - The thread

  private static func run(_ shared: Shared, _ settings: AudioReadSettings) {
    do throws(MediaError) {
      let pass = try SoundPass(shared.reader, settings)
      while let range = nextRange(shared) {
        try pass.begin(range)
        while let buffer = try pass.read() {
          guard hand(buffer, to: shared) else { return }
        }
        noteFault(shared)
        shared.signal.update { state in
          // None where it was cancelled meanwhile.
          _ = state.ranges.popFirst()
        }
      }
    } catch {
      // What breaks off has been read up to there.
      noteFault(shared)
      shared.signal.update { state in
        if !state.isCancelled { state.error = error }
      }
    }
  }

  private static func noteFault(_ shared: Shared) {
    guard let fault = shared.reader.takeSkippedPackets()?.error ?? shared.reader.takeWarning()?.error else { return }
    shared.signal.update { state in state.fault = state.fault ?? fault }
  }

  /// Waits for a range to be read; nil when none will come.
  private static func nextRange(_ shared: Shared) -> TimeRange? {
    let range: TimeRange?? = shared.signal.wait { state in
      if state.isCancelled { return .some(nil) }
      if let range = state.ranges.first { return range }
      return state.isFinal ? .some(nil) : nil
    }
    return range ?? nil
  }

  /// Waits for room; false when it was cancelled.
  private static func hand(_ buffer: SampleBuffer, to shared: Shared) -> Bool {
    let isThere: Bool? = shared.signal.wait { state in
      if state.isCancelled { return false }
      guard state.queue.isEmpty || state.queuedByteCount + buffer.data.count <= byteLimit else { return nil }
      state.queue.append(buffer)
      state.queuedByteCount += buffer.data.count
      return true
    }
    shared.signal.update { _ in }
    return isThere ?? false
  }
}
