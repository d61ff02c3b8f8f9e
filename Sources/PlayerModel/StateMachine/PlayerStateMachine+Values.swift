import MediaCore

/// The values of the state machine: entries, decode requests, plans, actions and events.
extension PlayerStateMachine {
  /// An item in the queue, with the data that the state machine needs.
  package struct Entry: Sendable, Hashable {
    package var id: ItemID
    package var status = ItemStatus.unknown
    package var duration = MediaTime.indefinite
    /// Whether `duration` is exact, not an estimate.
    package var isDurationPrecise = false
    /// The end times of forward and reverse playback; nil: the item's edges.
    package var forwardEnd: MediaTime?
    package var reverseEnd: MediaTime?
    /// Whether the whole item was decoded and is shorter than `shortestLoop`: it is not repeated.
    package var isTooShort = false
    /// Whether decoding failed before the end in the last pass.
    package var hasFailedBeforeEnd = false
    /// The start position when the item becomes current; nil: its beginning, or it has started.
    package var resumeTime: MediaTime?
    /// The length of the end of a pass that depends on the following audio: the reach of a filter, at rate 1.
    package var filterReach = MediaTime.zero

    package init(
      id: ItemID, status: ItemStatus = ItemStatus.unknown, duration: MediaTime = MediaTime.indefinite,
      isDurationPrecise: Bool = false, forwardEnd: MediaTime? = nil, reverseEnd: MediaTime? = nil,
      isTooShort: Bool = false, hasFailedBeforeEnd: Bool = false, resumeTime: MediaTime? = nil,
      filterReach: MediaTime = MediaTime.zero
    ) {
      self.id = id
      self.status = status
      self.duration = duration
      self.isDurationPrecise = isDurationPrecise
      self.forwardEnd = forwardEnd
      self.reverseEnd = reverseEnd
      self.isTooShort = isTooShort
      self.hasFailedBeforeEnd = hasFailedBeforeEnd
      self.resumeTime = resumeTime
      self.filterReach = filterReach
    }

    /// Whether only the id is known.
    var hasOnlyID: Bool { status == .unknown && self == Entry(id: id) }

    /// The end time of forward playback, as far as it is known.
    package var endTime: MediaTime {
      min(forwardEnd ?? .positiveInfinity, duration.isNumeric ? duration : .positiveInfinity)
    }

    /// The end time of playback at this rate; nil: the item's edge.
    package func end(at rate: PlaybackRate) -> MediaTime? { rate.isReverse ? reverseEnd : forwardEnd }

    /// The end time of playback at this rate; the time of the item's edge if none is set.
    package func endTime(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? reverseEnd ?? .zero : endTime }

    /// The latest valid seek target. Indefinite if the duration is an estimate, because the item may be longer.
    package var latestTime: MediaTime { isDurationPrecise ? duration : .indefinite }
  }

  /// A request to decode a generation: its first item, position and rate.
  package struct DecodeRequest: Sendable, Hashable {
    package var itemID: ItemID
    package var time = MediaTime.zero
    package var toleranceBefore = MediaTime.zero
    package var toleranceAfter = MediaTime.zero
    /// The seek that this request performs.
    package var seek: SeekToken?
    /// The cause of the time jump; nil without a jump, or at the beginning of an item.
    package var jumpCause: TimeJumpCause?
    /// Whether the generation continues the audible pass.
    package var isContinuation = false
    /// The pass of the current stream after which the generation is heard; nil: at once.
    package var spliceAfter: PassID?
    /// The end of the first pass; nil: the end of the item.
    package var end: MediaTime?
    /// Whether the generation starts after the item's end, in silence.
    package var isSilence = false
    /// The rate of all audio of the generation.
    package var rate = PlaybackRate.normal

    package init(
      itemID: ItemID, time: MediaTime = MediaTime.zero, toleranceBefore: MediaTime = MediaTime.zero,
      toleranceAfter: MediaTime = MediaTime.zero, seek: SeekToken? = nil, jumpCause: TimeJumpCause? = nil,
      isContinuation: Bool = false, spliceAfter: PassID? = nil, end: MediaTime? = nil, isSilence: Bool = false,
      rate: PlaybackRate = PlaybackRate.normal
    ) {
      self.itemID = itemID
      self.time = time
      self.toleranceBefore = toleranceBefore
      self.toleranceAfter = toleranceAfter
      self.seek = seek
      self.jumpCause = jumpCause
      self.isContinuation = isContinuation
      self.spliceAfter = spliceAfter
      self.end = end
      self.isSilence = isSilence
      self.rate = rate
    }

    package var pass: Pass { Pass(itemID: itemID, start: time, end: end, isSilence: isSilence) }

    /// Whether a new pass begins, so that the item's end is reported again when it is reached.
    var isNewPass: Bool { seek != nil || jumpCause == .repeat || jumpCause == .restart }
  }

  /// The passes that follow the decoded ones.
  package struct Plan: Sendable, Hashable {
    /// The number of passes of the generation that had begun when this plan was made. The decode thread may have begun
    /// more passes since, and skips as many of `passes`.
    package var begunCount = 0
    /// The end of the pass that is being decoded.
    package var currentEnd: MediaTime?
    package var passes: [Pass] = []

    package init(begunCount: Int = 0, currentEnd: MediaTime? = nil, passes: [Pass] = []) {
      self.begunCount = begunCount
      self.currentEnd = currentEnd
      self.passes = passes
    }
  }

  /// A command of the state machine, which `PlayerCore` runs.
  package enum Action: Sendable, Hashable {
    /// Decode into a new stream as requested.
    case prepare(generation: UInt64, DecodeRequest)
    /// Render the prepared stream from now on.
    case commit(generation: UInt64)
    /// Render the prepared stream from the end of the pass.
    case splice(generation: UInt64, after: PassID)
    /// Render nothing of the stream after the end of the pass.
    case truncate(after: PassID)
    /// End the pass, which is already decoded further, at this time, and render nothing after it.
    case shorten(PassID, at: MediaTime)
    /// End the pass, which is already decoded further, at this frame of its stream. Its audio continues until the
    /// following stream is available.
    case split(PassID, atStreamFrame: Int64)
    /// Render nothing: there is no item.
    case dropStream
    case setPlan(Plan)
    case setRunning(Bool)
    case completeSeek(SeekToken, SeekResult.Outcome)
    case emit(Emission)
  }

  /// Events without times. `PlayerCore` adds the time.
  package enum Emission: Sendable, Hashable {
    case playedToEnd(ItemID)
    case failedToPlayToEnd(ItemID, MediaError)
    case stalled(ItemID)
    case itemFailed(ItemID, MediaError)
    /// A playing player skipped a failed item.
    case itemSkipped(ItemID, MediaError)
    /// A pass ended, and another one follows.
    case transition(from: ItemID, to: ItemID)
  }

  /// The failure that paused the player.
  package struct FailureStop: Sendable, Hashable {
    package var itemID: ItemID
    package var error: MediaError
  }

  /// The state of the decode thread for this player.
  package enum Decoding: Sendable, Hashable {
    case idle
    case preparing(DecodeRequest)
    case active
  }

  /// A pass of the current stream.
  package struct DecodedPass: Sendable, Hashable {
    package var id: PassID
    /// The pass as planned, with the changes that the decode thread has made.
    package var pass: Pass
    /// Whether the pass is played in reverse.
    package var isReverse: Bool
  }
}
