import PlayheadMediaCore

/// Selects the buffered audio of a playback stream to overwrite, so that commands are heard without delay. A value type
/// without side effects.
///
/// - A splice overwrites the buffered audio from a frame that the device will not have read (`SplicePlan`). It needs a
///   fresh timing, and the next timing shows whether it was in time.
/// - A jump replaces all buffered audio at the device's next read. The next timing reports its position.
struct StreamSplice {
  /// The maximum age of a timing that determines the current read position of the device.
  private static let freshNanoseconds: Int64 = 4_000_000

  /// The amounts that the device reads, and that are written at once.
  var blocks = DeviceBlocks()
  /// Whether the buffered audio must be overwritten at the next fresh timing.
  private(set) var isPending = false
  /// The first frame of the last splice, until a timing shows whether it was in time.
  private var unverifiedFrame: Int64?
  /// The timing that reports the position of the last jump; nil when it is known.
  private(set) var jumpTiming: UInt64?

  /// Requests a splice at the next fresh timing.
  mutating func request() { isPending = true }

  /// Withdraws the request, because a cork or a jump applies the commands.
  mutating func cancel() { isPending = false }

  /// Withdraws the check of the last splice, because the read position is no longer comparable.
  mutating func discardVerification() { unverifiedFrame = nil }

  /// Returns the first frame to overwrite with `plan`; nil if its timing is too old because this process was delayed.
  mutating func begin(_ plan: SplicePlan, writtenFrame: Int64) -> Int64? {
    guard plan.now.nanoseconds(since: plan.timing.hostTime) <= Self.freshNanoseconds else { return nil }
    isPending = false
    return min(plan.targetFrame, writtenFrame)
  }

  /// Records that the audio from `frame` on was overwritten. The server replies to the next timing after it has
  /// received the new audio.
  mutating func overwrote(fromFrame frame: Int64) { unverifiedFrame = frame }

  /// Returns whether the last splice was late: the device had read past its first frame. False if that is known.
  mutating func isLate(_ timing: DeviceTiming) -> Bool {
    defer { unverifiedFrame = nil }
    return unverifiedFrame.map { timing.readFrame > $0 } ?? false
  }

  /// Begins a jump, which replaces a pending splice.
  mutating func beginJump() { (isPending, unverifiedFrame) = (false, nil) }

  /// Records that the reply to timing `number` will report the position of the jump.
  mutating func awaitJump(timing number: UInt64) { jumpTiming = number }

  /// Records that the position of the jump is known.
  mutating func jumpCompleted() { jumpTiming = nil }

  /// The number of frames in the server's buffer, as far as the server has reported: it requests more audio after each
  /// read of the device.
  func bufferedCount(bufferFrameCount: Int) -> Int64 { Int64(bufferFrameCount - blocks.outstandingCount) }
}
