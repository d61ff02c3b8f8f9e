// Reads the tracks of an asset faster than they are played, as AVAssetReader does. Each output has a reader of its own and a thread that
// decodes ahead of who copies, a bounded way: who reads one output only waits for no other.
import LibAV
import MediaCore
import RealtimeAudio
import Synchronization

/// Reads an asset's tracks as sample buffers.
///
/// Threading: any thread. `startReading` blocks while the asset is opened, and `copyNextSampleBuffer` until there is something.
public final class AssetReader: Sendable {
  /// What has become of it.
  public enum Status: String, Sendable, Hashable {
    /// Not begun.
    case unknown
    case reading
    /// Everything has been copied.
    case completed
    /// `error` says why.
    case failed
    case cancelled
  }

  struct State {
    var status = Status.unknown
    var error: MediaError?
    var timeRange = TimeRange(start: .zero, duration: .positiveInfinity)
    var outputs: [AssetReaderOutput] = []
    var opening: AssetOpening?
  }

  /// What is read.
  public let asset: Asset
  private let state = Mutex(State())

  /// A reader that has not begun. No I/O.
  public init(asset: Asset) { self.asset = asset }

  /// Who lets go of a reader that is at work cancels it.
  deinit { cancelReading() }

  /// What has become of it.
  public var status: Status { state.withLock { $0.status } }

  /// Why it failed; nil unless it did.
  public var error: MediaError? { state.withLock { $0.error } }

  /// What of the asset is read: from frame `floor(start * rate)` of each track up to frame `floor(end * rate)`. All of it, unless set;
  /// where it lies behind a track's end, nothing.
  public var timeRange: TimeRange { state.withLock { $0.timeRange } }

  // MARK: - Before

  /// Sets what is read. Before `startReading`.
  ///
  /// Errors: `invalidState` once reading has begun; `invalidTime` for a start that is no number from 0 on, or a length below 0.
  public func setTimeRange(_ range: TimeRange) throws(MediaError) {
    try Self.check(range)
    try change { state throws(MediaError) in state.timeRange = range }
  }

  /// Adds an output. Before `startReading`.
  ///
  /// Errors: `invalidState` for an output that has a reader, and once reading has begun; `invalidArgument` for settings that nothing is
  /// read as.
  public func add(_ output: AssetReaderOutput) throws(MediaError) {
    try output.check()
    try change { state throws(MediaError) in
      guard output.attach(self) else {
        throw MediaError(.invalidState, "the output has a reader already", operation: "add")
      }
      state.outputs.append(output)
    }
  }

  private func change(_ body: (inout State) throws(MediaError) -> Void) throws(MediaError) {
    let result = state.withLock { state in
      Result { () throws(MediaError) in
        guard state.status == .unknown else {
          throw MediaError(.invalidState, "reading has begun", operation: "AssetReader")
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
      throw MediaError(.invalidTime, "a range that is read begins at a number from 0 on", operation: "timeRange")
    }
  }

  // MARK: - Reading

  /// Opens the asset, and begins to read ahead. Blocks while it opens. Once.
  ///
  /// Errors: `invalidState` without outputs and the second time; `cancelled`; those of `AudioTrackReader`. After those of opening the
  /// reader has failed.
  public func startReading() throws(MediaError) {
    let opening = AssetOpening()
    let begun = state.withLock { state -> Result<([AssetReaderOutput], TimeRange), MediaError> in
      guard state.status == .unknown else {
        return .failure(MediaError(.invalidState, "reading begins once", operation: "startReading"))
      }
      guard !state.outputs.isEmpty else {
        return .failure(MediaError(.invalidState, "a reader has an output at least", operation: "startReading"))
      }
      state.status = .reading
      state.opening = opening
      return .success((state.outputs, state.timeRange))
    }
    let (outputs, range) = try begun.get()
    do throws(MediaError) {
      let properties = try opening.load(asset)
      defer { opening.finish(asset) }
      for output in outputs { try output.open(asset, properties, opening, range) }
      let isCancelled = state.withLock { state in
        state.opening = nil
        return state.status != .reading
      }
      guard !isCancelled else { throw Self.cancelled }
      for output in outputs { output.begin() }
    } catch {
      end(error.code == .cancelled ? .cancelled : .failed, error.code == .cancelled ? nil : error)
      // What was opened after that it was cancelled.
      for output in outputs { output.cancel() }
      throw error
    }
  }

  /// Ends it: who waits for samples has none. Does not block; also while another thread copies samples. Nothing once it has ended.
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

  /// An output has no more.
  func outputEnded(with error: MediaError?) {
    if let error { return end(.failed, error) }
    let isOver = state.withLock { state in state.outputs.allSatisfy(\.isOver) }
    if isOver { end(.completed, nil) }
  }
}
