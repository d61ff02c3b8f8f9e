import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Delivers the audio of a source as sample buffers with host times; corresponds to AVCaptureSession with
/// AVCaptureAudioDataOutput.
///
/// <!-- listing: capture -->
/// ```swift
/// for try await buffer in AudioCapture(maximumDelay: .seconds(2), source: { PulseSource() }) {
///   print(buffer.hostTime, buffer.samples.presentationTime, buffer.lostFrameCount)
/// }
/// ```
///
/// Iteration opens the source and starts it. The capture ends when the iterator is released, when the task is
/// cancelled, or with an error if the source is lost. Each iterator captures separately.
///
/// A consumer that is later than `maximumDelay` may lose audio. Presentation times count lost frames, and the
/// first buffer after a loss has `isDiscontinuity`.
public struct AudioCapture: AsyncSequence, Sendable {
  /// Audio of a source.
  public struct Buffer: Sendable, Hashable {
    /// Interleaved 32-bit float samples. The presentation time of the first captured frame is zero.
    public let samples: SampleBuffer
    /// The time at which the first frame was captured, as far as the source knows it.
    public let hostTime: HostTime
    /// The number of frames that were lost just before the first frame.
    public let lostFrameCount: Int64
  }

  public typealias Element = Buffer
  public typealias Failure = MediaError

  /// The range of `maximumDelay`.
  public static let supportedDelays = MediaTime.milliseconds(10)...MediaTime.seconds(60)

  private let maximumDelay: MediaTime
  private let makeSource: @Sendable () -> any AudioSource

  /// Describes a capture. No I/O.
  ///
  /// - Parameters:
  ///   - maximumDelay: How late the consumer may be. Up to half a second more waits in memory. Default: 1 s.
  ///   - makeSource: Makes the source. Called once for each iterator, on the thread of the capture.
  public init(maximumDelay: MediaTime = .seconds(1), source makeSource: @escaping @Sendable () -> any AudioSource) {
    (self.maximumDelay, self.makeSource) = (maximumDelay, makeSource)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(maximumDelay, makeSource) }

  /// Receives the buffers of one capture.
  public struct Iterator: AsyncIteratorProtocol {
    /// Ends the capture when the last copy of the iterator is released.
    private final class Owner: Sendable {
      let session: CaptureSession
      init(_ session: CaptureSession) { self.session = session }
      deinit { session.stop() }
    }

    private let owner: Owner

    fileprivate init(_ maximumDelay: MediaTime, _ makeSource: @escaping @Sendable () -> any AudioSource) {
      owner = Owner(CaptureSession(maximumDelay: maximumDelay, source: makeSource))
    }

    /// Waits for the next buffer. Nil after the task was cancelled, and after an error was thrown.
    ///
    /// - Throws: `invalidTime` for a delay out of range; the errors of the source: `sourceUnavailable`,
    ///   `sourceConfiguration`, and the error with which it was lost.
    public func next(isolation actor: isolated (any Actor)?) async throws(MediaError) -> Buffer? {
      let session = owner.session
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation(isolation: actor) { session.next($0) }
      } onCancel: {
        session.stop()
      }
      return try result.get()
    }
  }
}
