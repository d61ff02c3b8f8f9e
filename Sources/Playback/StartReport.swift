import MediaCore

/// Where the time went between asking for a start or a seek and hearing it. Nanoseconds on the clock of the control loop:
/// on a virtual clock decoding takes no time.
public struct StartReport: Sendable, Hashable {
  /// What was asked for.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// To begin an item, or to play on.
    case start
    /// To go somewhere in an item.
    case seek
    /// To follow another item than the one that had been decoded. Heard when it is due, so nothing is said of that.
    case splice
  }

  public var kind: Kind
  public var itemID: PlayerItem.ID
  /// The item's time that was to be heard first.
  public var requested: MediaTime
  /// The item's time that is heard first.
  public var reached: MediaTime
  /// Until the decode thread began: for the output, for a seek that was to be heard first, for the thread itself.
  public var waitNanoseconds: Int64 = 0
  /// Opening the file; 0 when it was open.
  public var openNanoseconds: Int64 = 0
  /// Finding the place in the file: the index, and what had to be read for it.
  public var indexNanoseconds: Int64 = 0
  /// Reading packets from that place up to the first frame.
  public var demuxNanoseconds: Int64 = 0
  /// Decoding up to the first frame, and from it on as much as has to be there before it can sound.
  public var decodeNanoseconds: Int64 = 0
  /// Converting to the output's sample rate and channels.
  public var resampleNanoseconds: Int64 = 0
  /// Handing the decoded sound to the device.
  public var commitNanoseconds: Int64 = 0
  /// From there until the first frame was heard; nil when nothing is heard yet, the player being paused, and for `splice`.
  public var deviceNanoseconds: Int64?

  /// From the request until the first frame was heard, or was handed to the device when it is not heard: the sum of the
  /// parts.
  public var totalNanoseconds: Int64 {
    waitNanoseconds + openNanoseconds + indexNanoseconds + demuxNanoseconds + decodeNanoseconds + resampleNanoseconds
      + commitNanoseconds + (deviceNanoseconds ?? 0)
  }
}

/// What is known so far of a start: instants as they come, from which the report is made.
struct StartTrace: Sendable {
  var kind: StartReport.Kind
  var itemID: PlayerItem.ID
  var requested: MediaTime
  /// When it was asked for.
  var askedAt: HostTime
  /// What the decode thread did; nil when everything was there already.
  var preparation: Preparation?
  /// When the render side was known to have taken the stream, and what the first frame is.
  var commit: (time: HostTime, reached: MediaTime)?
  /// The stream whose first run is waited for, and that run's first output frame.
  var streamID: UInt64 = 0
  var firstFrame: Int64?
  /// When that frame is heard.
  var heardAt: HostTime?

  /// Nil before the commit.
  var report: StartReport? {
    guard let commit else { return nil }
    var report = StartReport(kind: kind, itemID: itemID, requested: requested, reached: commit.reached)
    var committing = askedAt
    if let preparation {
      report.waitNanoseconds = max(0, preparation.beganAt.nanoseconds(since: askedAt))
      report.openNanoseconds = preparation.openNanoseconds
      report.indexNanoseconds = preparation.indexNanoseconds
      report.demuxNanoseconds = preparation.demuxNanoseconds
      report.decodeNanoseconds = preparation.decodeNanoseconds
      report.resampleNanoseconds = preparation.resampleNanoseconds
      committing = preparation.endedAt
    }
    report.commitNanoseconds = max(0, commit.time.nanoseconds(since: committing))
    report.deviceNanoseconds = heardAt.map { max(0, $0.nanoseconds(since: commit.time)) }
    return report
  }
}

/// How the decode thread came to the first samples of a generation. Instants on the clock of the control loop.
struct Preparation: Sendable {
  /// The item's time at the first frame.
  var time = MediaTime.zero
  /// Why the item's time at the first frame is not proved; nil where it is.
  var positionDoubt: PositionDoubt?
  /// The item's own frames per second.
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

  /// The rest of the time between `beganAt` and `endedAt`.
  var decodeNanoseconds: Int64 {
    endedAt.nanoseconds(since: beganAt) - openNanoseconds - indexNanoseconds - demuxNanoseconds - resampleNanoseconds
  }

  /// The file is open.
  mutating func opened(at time: HostTime) {
    openNanoseconds = max(0, time.nanoseconds(since: endedAt))
    endedAt = time
  }

  /// The place is found. What the reader measured is on another clock, perhaps: it counts for as much as has passed.
  mutating func sought(at time: HostTime, indexNanoseconds index: Int64, demuxNanoseconds demux: Int64) {
    let duration = max(0, time.nanoseconds(since: endedAt))
    indexNanoseconds = min(max(0, index), duration)
    demuxNanoseconds = min(max(0, demux), duration - indexNanoseconds)
    endedAt = time
  }

  /// Enough is decoded to be heard.
  mutating func prepared(at time: HostTime, resampleNanoseconds resample: Int64) {
    resampleNanoseconds = min(max(0, resample), max(0, time.nanoseconds(since: endedAt)))
    endedAt = time
  }
}
