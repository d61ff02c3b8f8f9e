import PlayheadMediaCore
import PlayheadPlayerModel

/// The durations of the steps between a request to start or seek and the first audible sample. All durations are in
/// nanoseconds of the control loop's clock. On a virtual clock decoding takes no time.
public struct StartReport: Sendable, Hashable {
  /// The kind of the request.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Starts an item or resumes playback.
    case start
    /// Seeks in an item.
    case seek
    /// Replaces the decoded audio that follows the current item. The new audio is heard after the current item, so the
    /// report has no device time.
    case splice
  }

  /// The kind of the request.
  public var kind: Kind
  /// The item that was started.
  public var itemID: PlayerItem.ID
  /// The item time at which playback was requested to begin.
  public var requested: MediaTime
  /// The item time at which playback begins.
  public var reached: MediaTime
  /// The time until the decode thread began the work. The request waits for the output, for a pending seek that must be
  /// heard first, and for the thread.
  public var waitNanoseconds: Int64 = 0
  /// The time to open the file; 0 if it was open.
  public var openNanoseconds: Int64 = 0
  /// The time to find the position in the file by its index, including reading the index.
  public var indexNanoseconds: Int64 = 0
  /// The time to read packets from that position to the first frame.
  public var demuxNanoseconds: Int64 = 0
  /// The time to decode up to the first frame, and from there the amount required before playback can begin.
  public var decodeNanoseconds: Int64 = 0
  /// The time to convert to the output's sample rate and channels.
  public var resampleNanoseconds: Int64 = 0
  /// The time to pass the decoded audio to the mixer.
  public var commitNanoseconds: Int64 = 0
  /// The time from the commit until the first frame was heard. Nil while it is not heard because the player is paused,
  /// and for `splice`.
  public var deviceNanoseconds: Int64?

  /// The sum of all durations: from the request until the first frame was heard, or until the commit if the frame is
  /// not heard.
  public var totalNanoseconds: Int64 {
    waitNanoseconds + openNanoseconds + indexNanoseconds + demuxNanoseconds + decodeNanoseconds + resampleNanoseconds
      + commitNanoseconds + (deviceNanoseconds ?? 0)
  }
}

/// The instants of a start that are known so far. The report is computed from them.
struct StartTrace: Sendable {
  var kind: StartReport.Kind
  var itemID: PlayerItem.ID
  var requested: MediaTime
  /// The instant of the request.
  var requestedAt: HostTime
  /// The work of the decode thread; nil if the audio was already decoded.
  var preparation: Preparation?
  /// The instant at which the control loop learned that the mixer had accepted the stream, and the item time of the
  /// first frame.
  var commit: (time: HostTime, reached: MediaTime)?
  /// The stream whose first run is awaited, and the first output frame of that run.
  var streamID: UInt64 = 0
  var firstFrame: Int64?
  /// The instant at which that frame is heard.
  var heardAt: HostTime?

  /// The report; nil before the commit.
  var report: StartReport? {
    guard let commit else { return nil }
    var report = StartReport(kind: kind, itemID: itemID, requested: requested, reached: commit.reached)
    var commitStart = requestedAt
    if let preparation {
      report.waitNanoseconds = max(0, preparation.beganAt.nanoseconds(since: requestedAt))
      report.openNanoseconds = preparation.openNanoseconds
      report.indexNanoseconds = preparation.indexNanoseconds
      report.demuxNanoseconds = preparation.demuxNanoseconds
      report.decodeNanoseconds = preparation.decodeNanoseconds
      report.resampleNanoseconds = preparation.resampleNanoseconds
      commitStart = preparation.endedAt
    }
    report.commitNanoseconds = max(0, commit.time.nanoseconds(since: commitStart))
    report.deviceNanoseconds = heardAt.map { max(0, $0.nanoseconds(since: commit.time)) }
    return report
  }
}

/// The work of the decode thread for the first samples of a generation. All instants are on the control loop's clock.
struct Preparation: Sendable {
  /// The item time of the first frame.
  var time = MediaTime.zero
  /// The reason why `time` is not proven; nil if it is proven.
  var positionDoubt: PositionDoubt?
  /// The item's native sample rate.
  var sourceRateHz = 0
  let beganAt: HostTime
  private(set) var endedAt: HostTime
  private(set) var openNanoseconds: Int64 = 0
  private(set) var indexNanoseconds: Int64 = 0
  private(set) var demuxNanoseconds: Int64 = 0
  private(set) var resampleNanoseconds: Int64 = 0

  init(beganAt: HostTime) {
    self.beganAt = beganAt
    endedAt = beganAt
  }

  /// The time between `beganAt` and `endedAt` that is not part of another duration.
  var decodeNanoseconds: Int64 {
    endedAt.nanoseconds(since: beganAt) - openNanoseconds - indexNanoseconds - demuxNanoseconds - resampleNanoseconds
  }

  /// Records that the file is open.
  mutating func recordOpening(at time: HostTime) {
    openNanoseconds = max(0, time.nanoseconds(since: endedAt))
    endedAt = time
  }

  /// Records that the position has been found. The reader may measure with another clock, so its durations are limited
  /// to the time that has passed.
  mutating func recordSeek(at time: HostTime, indexNanoseconds index: Int64, demuxNanoseconds demux: Int64) {
    let duration = max(0, time.nanoseconds(since: endedAt))
    indexNanoseconds = min(max(0, index), duration)
    demuxNanoseconds = min(max(0, demux), duration - indexNanoseconds)
    endedAt = time
  }

  /// Records that enough audio is decoded for playback.
  mutating func recordCompletion(at time: HostTime, resampleNanoseconds resample: Int64) {
    resampleNanoseconds = min(max(0, resample), max(0, time.nanoseconds(since: endedAt)))
    endedAt = time
  }
}
