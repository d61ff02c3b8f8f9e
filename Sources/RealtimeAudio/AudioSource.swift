import MediaCore

/// A device, or what stands for one, that gives sound to a `CaptureQueue`.
///
/// Life: `open` → `start` → any number of `setRunning` → `close`. It writes into the queue from one thread at a time (its *side*),
/// where nothing allocates, locks or logs but what the device's own library does. What is lost on the way (the queue was full, or the
/// device skipped something) it tells the queue, which counts it.
public protocol AudioSource: AnyObject, Sendable {
  /// What it is, for people and for `record.status`: `pulse:NAME`, `manual`.
  var label: String { get }

  /// Opens the device and tells the format of what it gives: float32, interleaved. Blocks, at most for the source's own time-out.
  /// Afterwards the device is there and idle: nothing listens.
  ///
  /// Errors: `sourceUnavailable`, `sourceConfiguration`.
  func open() throws(MediaError) -> AudioFormat

  /// Says where sound goes to. Once, after `open`; the queue has the format that it told.
  ///
  /// `onFailure` is called at most once, from any thread, when the device is gone; after it only `close` remains. What came before
  /// is in the queue.
  func start(into queue: CaptureQueue, onFailure: @escaping @Sendable (MediaError) -> Void)

  /// Starts or pauses the device. Any thread, one call at a time; returns without waiting for the device. Audio that was
  /// captured before a pause is still written to the queue. An implementation must not call the recorder.
  func setRunning(_ isRunning: Bool)

  /// Ends the source. Blocks until none of its callbacks runs; not from the source's own side. Idempotent.
  func close()
}
