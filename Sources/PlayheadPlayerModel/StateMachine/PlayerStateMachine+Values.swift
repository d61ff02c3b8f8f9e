import PlayheadMediaCore

/// The values of the state machine: entries, decode requests, plans, actions and events.
extension PlayerStateMachine {
  package typealias Entry = QueueEntry

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
    /// The cross-fade from the pass `spliceAfter`, and the end of that pass, which is heard at the beginning of the
    /// generation; nil: none.
    package var crossfade: Crossfade?
    package var overlap: Overlap?

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

    package var pass: Pass {
      Pass(itemID: itemID, start: time, end: end, isSilence: isSilence, crossfade: crossfade)
    }

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
    /// The cross-fade with a pass that may follow the last one; nil: none.
    package var crossfade: Crossfade?
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
    case completeRange(RangeOutcome)
    case emit(Emission)
  }

  /// Events without times. `PlayerCore` adds the time.
  package enum Emission: Sendable, Hashable {
    case playedToEnd(ItemID)
    case failedToPlayToEnd(ItemID, MediaError)
    /// The current item failed while it was heard, and stays in the queue to be opened again.
    case failedWhilePlaying(ItemID, MediaError)
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

  /// The state of the output.
  package enum OutputStatus: Sendable, Hashable {
    case unavailable
    case ready
    /// The output is open, but accepts no audio.
    case stalled
  }

  /// The cross-fade of a pass with the following one.
  package struct PassOverlap: Sendable, Hashable {
    /// The time of the item at which the pass ends in its stream, because the following pass begins there.
    package var time: MediaTime
    package var crossfade: Crossfade
  }

  /// A pass of the current stream.
  package struct DecodedPass: Sendable, Hashable {
    package var id: PassID
    /// The pass as planned, with the changes that the decode thread has made.
    package var pass: Pass
    /// Whether the pass is played in reverse.
    package var isReverse: Bool
    /// The cross-fade that begins before the end of the pass; nil: the pass ends at its end.
    package var overlap: PassOverlap?
  }
}
