import PlayheadMediaCore
import Synchronization

/// A source without a device, which delivers the caller's samples: for programs that generate audio, and for tests.
///
/// <!-- listing: record-samples -->
/// ```swift
/// let source = ManualSource(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
/// let recorder = AudioRecorder(location: RecordingLocation(path: "/memos/tone.flac")) { source }
/// try recorder.record()
/// source.deliver(samples)
/// try recorder.stop()
/// ```
///
/// Threading: `deliver` and `recordLoss` on one thread at a time; the rest on any thread.
public final class ManualSource: AudioSource {
  private struct State: Sendable {
    var queue: CaptureQueue?
    var onFailure: (@Sendable (MediaError) -> Void)?
    var isOpen = false
    var isRunning = false
    var isClosed = false
  }

  /// The format of the delivered frames.
  public let format: AudioFormat
  public let label: String
  private let state = Mutex(State())
  private let openingError: MediaError?

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - format: The format of the delivered frames.
  ///   - label: The text form of the source.
  ///   - openingError: The error that `open` throws; nil if `open` succeeds.
  public init(format: AudioFormat, label: String = "manual", openingError: MediaError? = nil) {
    (self.format, self.label, self.openingError) = (format, label, openingError)
  }

  /// Whether the source delivers frames to its queue.
  public var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Whether `close` has been called.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Delivers frames, the first of which was captured at `hostTime`. Frames are discarded while the source is not
  /// running.
  ///
  /// - Parameters:
  ///   - samples: Whole frames, interleaved.
  ///   - hostTime: The time at which the first frame was captured. Default: now.
  public func deliver(_ samples: [Float], hostTime: HostTime = .now) {
    guard let queue = runningQueue else { return }
    samples.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      queue.write(base, frameCount: buffer.count / format.channelCount, hostTime: hostTime)
    }
  }

  /// Reports `frameCount` frames as lost.
  public func recordLoss(frameCount: Int) { runningQueue?.recordLoss(frameCount: frameCount) }

  /// Fails as if the device were lost.
  public func fail(_ error: MediaError) {
    let onFailure = state.withLock { state in
      defer { (state.onFailure, state.isRunning) = (nil, false) }
      return state.onFailure
    }
    onFailure?(error)
  }

  private var runningQueue: CaptureQueue? { state.withLock { $0.isRunning ? $0.queue : nil } }

  // MARK: - AudioSource

  public func open() throws(MediaError) -> AudioFormat {
    if let openingError { throw openingError }
    let isFirst = state.withLock { state in
      defer { state.isOpen = true }
      return !state.isOpen && !state.isClosed
    }
    guard isFirst else { throw MediaError(.invalidState, "a source can open only once") }
    return format
  }

  public func start(into queue: CaptureQueue, onFailure: @escaping @Sendable (MediaError) -> Void) {
    state.withLock { ($0.queue, $0.onFailure) = (queue, onFailure) }
  }

  public func setRunning(_ isRunning: Bool) {
    state.withLock { $0.isRunning = isRunning && $0.queue != nil && !$0.isClosed }
  }

  public func close() {
    state.withLock { ($0.isClosed, $0.isRunning, $0.queue, $0.onFailure) = (true, false, nil, nil) }
  }
}
