// Reads the tracks of an asset faster than real time, as AVAssetReader does. Each output has a separate reader, and a
// thread that decodes a limited amount ahead. Reading one output never waits for another.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// Reads an asset's tracks as sample buffers.
///
/// <!-- listing: read-audio -->
/// ```swift
/// let reader = AssetReader(asset: Asset(path: "/music/one.flac"))
/// try reader.setTimeRange(TimeRange(start: .seconds(90), end: .seconds(95)))
/// let output = AssetReaderTrackOutput(settings: AudioReadSettings(.signed16))
/// try reader.add(output)
/// try reader.startReading()
/// while let buffer = output.copyNextSampleBuffer() { use(buffer.data, buffer.presentationTime) }
/// if let error = reader.error { throw error }
/// ```
///
/// With `Asset.Isolation`, worker processes open the asset and decode its tracks. If a worker crashes, reading fails
/// with `damagedFile`.
///
/// Threading: any thread. ``startReading()`` blocks while the asset is opened, and
/// ``AssetReaderOutput/copyNextSampleBuffer()`` until samples are available.
public final class AssetReader: Sendable {
  /// The state of a reader.
  public enum Status: String, Sendable, Hashable {
    /// Reading has not started.
    case unknown
    /// Samples can be copied.
    case reading
    /// All samples have been copied.
    case completed
    /// Reading failed; `error` contains the reason.
    case failed
    /// Reading was cancelled.
    case cancelled
  }

  struct State {
    var status = Status.unknown
    var error: MediaError?
    var timeRange = TimeRange(start: .zero, duration: .positiveInfinity)
    var outputs: [AssetReaderOutput] = []
    var opening: AssetOpening?
  }

  /// The asset that is read.
  public let asset: Asset
  private let state = Mutex(State())

  /// Creates a reader that has not started. Performs no I/O.
  public init(asset: Asset) { self.asset = asset }

  /// Cancels reading if it is in progress.
  deinit { cancelReading() }

  /// The state of the reader.
  public var status: Status { state.withLock { $0.status } }

  /// The reason of the failure; nil if the reader has not failed.
  public var error: MediaError? { state.withLock { $0.error } }

  /// The range of the asset that is read: from frame `floor(start * rate)` of each track to before frame `floor(end *
  /// rate)`. Default: everything. Each track ends at its own end.
  public var timeRange: TimeRange { state.withLock { $0.timeRange } }

  // MARK: - Before reading

  /// Sets the range that is read. Call before ``startReading()``.
  ///
  /// - Throws: `invalidState` after reading has started; `invalidTime` for a start that is negative or not numeric, or
  ///   a negative duration.
  public func setTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range)
    try change { state throws(MediaError) in state.timeRange = range }
  }

  /// Adds an output. Call before ``startReading()``.
  ///
  /// - Throws: `invalidState` for an output that has a reader, or after reading has started; `invalidArgument` for
  ///   invalid settings.
  public func add(_ output: AssetReaderOutput) throws(MediaError) {
    try output.check()
    try change { state throws(MediaError) in
      guard output.attach(self) else {
        throw MediaError(.invalidState, "the output already has a reader", operation: "add")
      }
      state.outputs.append(output)
    }
  }

  private func change(_ body: (inout State) throws(MediaError) -> Void) throws(MediaError) {
    let result = state.withLock { state in
      Result { () throws(MediaError) in
        guard state.status == .unknown else {
          throw MediaError(.invalidState, "reading has already started", operation: "AssetReader")
        }
        try body(&state)
      }
    }
    try result.get()
  }

  static func check(_ range: TimeRange) throws(MediaError) {
    guard range.start.isNumeric, range.start >= .zero, range.duration.isNumeric || range.duration.isPositiveInfinity,
      range.duration >= .zero
    else {
      throw MediaError(
        .invalidTime, "a time range must start at 0 or later and have a duration of at least 0", operation: "timeRange")
    }
  }

  // MARK: - Reading

  /// Opens the asset and starts to read ahead. Blocks while it opens the asset. Call once.
  ///
  /// If opening fails, the reader fails.
  ///
  /// - Throws: `invalidState` without outputs or on a second call; `cancelled`; the errors of opening and reading.
  public func startReading() throws(MediaError) {
    let opening = AssetOpening()
    let started = state.withLock { state -> Result<([AssetReaderOutput], TimeRange), MediaError> in
      guard state.status == .unknown else {
        return .failure(MediaError(.invalidState, "reading can be started only once", operation: "startReading"))
      }
      guard !state.outputs.isEmpty else {
        return .failure(MediaError(.invalidState, "a reader needs at least one output", operation: "startReading"))
      }
      state.status = .reading
      state.opening = opening
      return .success((state.outputs, state.timeRange))
    }
    let (outputs, range) = try started.get()
    do throws(MediaError) {
      let properties = try opening.load(asset)
      defer { opening.finish(asset) }
      for output in outputs { try output.open(asset, properties, opening, range) }
      let isCancelled = state.withLock { state in
        state.opening = nil
        return state.status != .reading
      }
      guard !isCancelled else { throw Self.cancelled }
      for output in outputs { output.startReadingAhead() }
    } catch {
      end(error.code == .cancelled ? .cancelled : .failed, error.code == .cancelled ? nil : error)
      // Outputs may have been opened after the cancellation.
      for output in outputs { output.cancel() }
      throw error
    }
  }

  /// Cancels reading: threads waiting for samples get nil. Does not block, even while another thread copies samples.
  /// Has no effect after reading has ended.
  public func cancelReading() { end(.cancelled, nil) }

  static var cancelled: MediaError { MediaError(.cancelled, "reading was cancelled", operation: "read") }

  private func end(_ status: Status, _ error: MediaError?) {
    let (outputs, opening) = state.withLock { state -> ([AssetReaderOutput], AssetOpening?) in
      guard state.status == .unknown || state.status == .reading else { return ([], nil) }
      (state.status, state.error) = (status, error)
      defer { state.opening = nil }
      return (state.outputs, state.opening)
    }
    opening?.cancel()
    for output in outputs { output.cancel() }
  }

  /// Records that an output has ended.
  func outputEnded(with error: MediaError?) {
    if let error { return end(.failed, error) }
    let hasEnded = state.withLock { state in state.outputs.allSatisfy(\.hasEnded) }
    if hasEnded { end(.completed, nil) }
  }
}
