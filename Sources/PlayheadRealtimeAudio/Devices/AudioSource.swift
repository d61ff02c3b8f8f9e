import PlayheadMediaCore

/// A device, or a substitute for a device, that delivers audio to a `CaptureQueue`.
///
/// Lifecycle: `open` → `start` → any number of `setRunning` → `close`.
///
/// The source writes to the queue from one thread at a time: code that runs there is on the *source's side*. Only the
/// device's library may allocate, lock or log there. Frames are lost when the queue is full or the device skips frames;
/// the queue counts them.
public protocol AudioSource: AnyObject, Sendable {
  /// The source's text form, for users and for `record.status`: `pulse:NAME`, `manual`.
  var label: String { get }

  /// Opens the device and returns the format of its audio: float32, interleaved. Afterwards the device is idle and
  /// captures nothing.
  ///
  /// Blocks, at most for the source's timeout.
  ///
  /// - Throws: `sourceUnavailable`, `sourceConfiguration`.
  func open() throws(MediaError) -> AudioFormat

  /// Sets the queue that receives the audio. Call it once, after `open`; the queue must have the format that `open`
  /// returned.
  ///
  /// - Parameters:
  ///   - queue: The queue that receives the audio.
  ///   - onFailure: Called at most once, from any thread, when the device is lost. Afterwards only `close` may be
  ///     called. Earlier audio is in the queue.
  func start(into queue: CaptureQueue, onFailure: @escaping @Sendable (MediaError) -> Void)

  /// Starts or pauses the device. Any thread, one call at a time; returns without waiting for the device.
  ///
  /// Audio captured before a pause is still written to the queue. An implementation must not call the recorder.
  func setRunning(_ isRunning: Bool)

  /// Ends the source. Blocks until none of its callbacks runs; not from the source's side. Idempotent.
  func close()
}
