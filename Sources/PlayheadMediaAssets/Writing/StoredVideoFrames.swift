import DequeModule

/// Queues encoded video frames until each has a final decoding time, which containers require. A pure value.
///
/// Frames without a decoding time, such as the first of a Matroska track, wait for a frame with one, or until
/// `maximumWaitingCount` others wait.
///
/// In a container, decoding times increase, and no frame is shown before it is decoded. Some source files break that
/// rule:
///
/// - A frame is decoded after it is shown (a negative composition offset).
/// - Two frames are decoded at the same time (hidden frames of VP9 in separate packets).
///
/// For such a frame, the decoding times of previous frames are moved to earlier times. Therefore a frame is retained
/// until `settlingCount` others follow it.
struct StoredVideoFrames: Sendable {
  /// A coded frame. Times and durations are in ticks of the track.
  struct Frame: Sendable {
    let data: [UInt8]
    /// The time at which the frame is shown.
    let ticks: Int64
    /// The time at which the frame is decoded; nil if the source does not state it.
    var decodeTicks: Int64?
    let duration: Int64
    let isKeyFrame: Bool
  }

  /// Maximum number of frames that wait. H.264 reorders 16 frames.
  static let maximumWaitingCount = 32
  /// Number of frames whose decoding times may still become earlier: twice the reordering of H.264.
  static let settlingCount = 32
  /// Maximum size in bytes of the retained frames. Codecs with larger frames do not reorder them.
  static let settlingByteCount = 16 << 20

  /// Frames without a decoding time, in decoding order.
  private var waiting: Deque<Frame> = []
  /// The times at which the waiting frames are shown, sorted.
  private var times: [Int64] = []
  /// The interval by which a frame is decoded before the next frame is shown. One value for the track keeps the
  /// durations even. Nil before the first guess.
  private var decodeLeadTicks: Int64?
  /// Frames with increasing decoding times. The times of the last `settlingCount` may still become earlier.
  private var timed: Deque<Frame> = []
  private var timedByteCount = 0
  private var isFinished = false

  /// Removes the next frame that can be written; nil if there is none.
  mutating func popFirst() -> Frame? {
    guard isFinished || timed.count > Self.settlingCount || timedByteCount > Self.settlingByteCount,
      let frame = timed.popFirst()
    else { return nil }
    timedByteCount -= frame.data.count
    return frame
  }

  /// Appends the next frame in decoding order.
  mutating func append(_ frame: Frame) {
    guard let decodeTicks = frame.decodeTicks else {
      waiting.append(frame)
      let index = times.firstIndex { $0 > frame.ticks } ?? times.endIndex
      times.insert(frame.ticks, at: index)
      if waiting.count > Self.maximumWaitingCount { estimateFirst() }
      return
    }
    // The waiting frames are decoded before this one, one duration apart, and not after they are shown.
    var next = decodeTicks
    for index in waiting.indices.reversed() {
      next = min(waiting[index].ticks, next - max(1, waiting[index].duration))
      waiting[index].decodeTicks = next
    }
    while let first = waiting.popFirst() { appendTimed(first, at: first.decodeTicks ?? first.ticks) }
    times = []
    appendTimed(frame, at: decodeTicks)
  }

  /// Ends the track: no frame follows.
  mutating func finish() {
    while !waiting.isEmpty { estimateFirst() }
    isFinished = true
  }

  /// Estimates the decoding time of the first waiting frame: the earliest presentation time of the waiting frames minus
  /// `decodeLeadTicks`, so that all later frames can be decoded before they are shown.
  private mutating func estimateFirst() {
    let decodeLeadTicks = decodeLeadTicks ?? zip(waiting, times).map { $1 - $0.ticks }.max() ?? 0
    self.decodeLeadTicks = decodeLeadTicks
    guard let frame = waiting.popFirst(), let time = times.first else { return }
    times.removeFirst()
    var decodeTicks = min(time - decodeLeadTicks, frame.ticks)
    for (index, laterFrame) in waiting.enumerated() {
      decodeTicks = min(decodeTicks, laterFrame.ticks - Int64(index) - 1)
    }
    appendTimed(frame, at: decodeTicks)
  }

  /// Appends a frame with a decoding time near `ticks`: after that of the previous frame, and not after the frame's
  /// presentation time.
  private mutating func appendTimed(_ frame: Frame, at ticks: Int64) {
    var frame = frame
    let following = timed.last?.decodeTicks.map { max(ticks, $0 + 1) } ?? ticks
    var latest = min(following, frame.ticks)
    frame.decodeTicks = latest
    timed.append(frame)
    timedByteCount += frame.data.count
    for index in timed.indices.dropLast().reversed() {
      latest -= 1
      guard let decodeTicks = timed[index].decodeTicks, decodeTicks > latest else { break }
      timed[index].decodeTicks = latest
    }
  }
}
