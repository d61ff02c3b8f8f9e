import PlayheadMediaCore

/// The clock of a playback stream: the output frames of its bytes, and the frame that is heard at a time. A value type
/// without side effects.
///
/// The stream's byte 0 is output frame `baseFrame`; read and write indexes are converted to output frames. A jump or a
/// replay renumbers the frames.
struct StreamClock: Hashable {
  /// A frame, and the time at which it is heard.
  struct Point: Hashable {
    var frame: Int64
    var hostTime: HostTime
  }

  /// The effect of a timing on the clock.
  enum Update: Hashable {
    case unchanged
    /// The clock runs through this point. `isNew` if it has jumped there.
    case advanced(Point, isNew: Bool)
    /// The clock is paused and can start.
    case ready
  }

  /// The start of a paused clock.
  enum Start: Hashable {
    /// The device still plays its earlier buffer for this duration.
    case later(nanoseconds: Int64)
    /// The clock runs, and passes through this point.
    case started(Point)
  }

  /// A clock that starts within this duration starts now.
  private static let startToleranceNanoseconds: Int64 = 200_000
  /// Frames are released this long after they are heard, because a cork may return consumed audio.
  private static let releaseMarginNanoseconds: Int64 = 20_000_000

  let sampleRateHz: Int
  let bytesPerFrame: Int64
  /// The output frame of the stream's byte 0.
  private(set) var baseFrame: Int64
  /// The output frame of the server's write index.
  var writtenFrame: Int64
  /// The next frame that the device reads, at the last timing.
  var lastReadFrame: Int64
  /// The first frame that can be heard from now on: the frame at which the stream began, resumed or underran.
  private(set) var minimumHeardFrame: Int64
  private(set) var isRunning = false
  private var line: HeardClock

  /// A paused clock of a stream that begins at `frame`.
  init(sampleRateHz: Int, bytesPerFrame: Int, frame: Int64) {
    (self.sampleRateHz, self.bytesPerFrame) = (sampleRateHz, Int64(bytesPerFrame))
    (baseFrame, writtenFrame, lastReadFrame, minimumHeardFrame) = (frame, frame, frame, frame)
    line = HeardClock(sampleRateHz: sampleRateHz)
  }

  // MARK: - Frames

  /// Returns the output frame of a byte of the stream.
  func frame(ofByte index: Int64) -> Int64 { baseFrame + max(0, index) / bytesPerFrame }

  /// Renumbers the frames that the stream's bytes represent.
  mutating func renumber(byFrames movement: Int64) {
    baseFrame += movement
    writtenFrame += movement
    lastReadFrame += movement
    line.renumber(byFrames: movement)
  }

  /// Renumbers the frames after a jump: the server reports that the bytes up to `writtenFrame` end at `writeIndex`.
  /// Returns the difference.
  mutating func jumpCompleted(writeIndex: Int64) -> Int64 {
    let movement = writtenFrame - writeIndex / bytesPerFrame - baseFrame
    baseFrame += movement
    lastReadFrame += movement
    minimumHeardFrame += movement
    line.renumber(byFrames: movement)
    return movement
  }

  /// The first frame that the device may not have read, if the server has `bufferedCount` frames of the stream.
  func unreadFrame(bufferedCount: Int64) -> Int64 {
    max(lastReadFrame, min(writtenFrame, writtenFrame - bufferedCount))
  }

  // MARK: - Heard frames

  /// The number of timings since the clock became ready.
  var timingCount: Int { line.observationCount }

  /// Returns the frame heard at `time`, with its fraction; nil while the clock is paused.
  func heardFrame(at time: HostTime) -> Double? { isRunning ? line.heardFrame(at: time) : nil }

  /// Returns the frame that has certainly been heard at `time`, if the server may have dropped the audio of a duration.
  /// Nil while the clock is paused.
  func certainlyHeardFrame(at time: HostTime, possibleLossNanoseconds: Int64) -> Int64? {
    heardFrame(at: time).map {
      max(minimumHeardFrame, min(writtenFrame, Int64($0 - frames(inNanoseconds: possibleLossNanoseconds))))
    }
  }

  /// Returns the first frame that must be retained at `time`; nil while the clock is paused.
  func releasableFrame(at time: HostTime) -> Int64? {
    heardFrame(at: time).map {
      max(minimumHeardFrame, min(lastReadFrame, Int64($0 - frames(inNanoseconds: Self.releaseMarginNanoseconds))))
    }
  }

  /// Returns the time after `now` at which `frame` is heard; nil if that has happened or the clock is paused.
  func time(ofFrame frame: Int64, after now: HostTime) -> HostTime? {
    guard isRunning, let time = line.hostTime(ofFrame: Double(frame)), time > now else { return nil }
    return time
  }

  private func frames(inNanoseconds nanoseconds: Int64) -> Double { Double(nanoseconds) * Double(sampleRateHz) / 1e9 }

  // MARK: - Running

  /// Adds a timing.
  mutating func update(_ timing: DeviceTiming) -> Update {
    guard timing.isPlaying else { return .unchanged }
    let isNew = line.observe(frame: timing.heardFrame(sampleRateHz: sampleRateHz), at: timing.hostTime)
    guard let point = line.publishedPoint() else { return .unchanged }
    return isRunning ? .advanced(Point(frame: point.frame, hostTime: point.hostTime), isNew: isNew) : .ready
  }

  /// Starts the clock if the device has reached `minimumHeardFrame`. Nil before the first timing.
  mutating func start(at now: HostTime) -> Start? {
    guard let startTime = line.hostTime(ofFrame: Double(minimumHeardFrame)), let point = line.publishedPoint() else {
      return nil
    }
    let delay = startTime.nanoseconds(since: now)
    guard delay <= Self.startToleranceNanoseconds else { return .later(nanoseconds: delay) }
    isRunning = true
    return .started(
      point.frame < minimumHeardFrame
        ? Point(frame: minimumHeardFrame, hostTime: startTime) : Point(frame: point.frame, hostTime: point.hostTime))
  }

  /// Pauses the clock at `frame`, or at the frame heard at `now` if nil. Returns the frame at which it pauses; nil if
  /// it was paused already and stays at its frame.
  mutating func stop(at frame: Int64?, now: HostTime) -> Int64? {
    let stopFrame = frame ?? certainlyHeardFrame(at: now, possibleLossNanoseconds: 0)
    isRunning = false
    line.restart()
    if let stopFrame { minimumHeardFrame = stopFrame }
    return stopFrame
  }
}
