import PlayheadMediaCore

/// Commands that start several players, or change their rates, on the same sample.
package typealias SynchronizedCommands = CommandList<PlayAtCommand, RateTogetherCommand>

/// A requested moment of playback or recording.
package enum RequestedMoment: Sendable, Hashable {
  /// As soon as possible.
  case now
  /// After this duration, which is not negative.
  case after(MediaTime)
  /// At this time of the daemon's clock, in seconds. Not negative.
  case instant(MediaTime)
  /// At this date, which follows the wall clock.
  case date(DateExpression)
  /// At this frame of the output. Not negative.
  case frame(Int64)
}

/// `play-at`: starts players together.
package enum PlayAtCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let time: Parameter<RequestedMoment>
    /// At least one.
    package let players: Parameter<WireList<String>>

    package init(_ list: inout ParameterListBuilder) {
      time = list.required(
        .time, .startMoment, "now|+TIME|DATE|TIME|frame:N",
        "the start: when all are ready (`now`), after a duration (`+TIME`), at a date or time of day (`DATE`), at an"
          + " instant of the monotonic clock (`TIME`), or at an output frame (`frame:N`)")
      players = list.list(.players, .playerName, "NAME", "the players")
    }
  }

  package struct Reply: ReplyFields {
    /// The output frame, counted from the opening of the output.
    package var frame: Int64
    /// Nil if the device is stopped.
    package var hostTime: HostTime?
    /// In output frames.
    package var late: Int64
    /// In output frames.
    package var spread: Int64

    package init(frame: Int64, hostTime: HostTime?, late: Int64, spread: Int64) {
      (self.frame, self.hostTime, self.late, self.spread) = (frame, hostTime, late, spread)
    }

    package static let fields: [Field<Self>] = [
      Field(.frame) { $0.frame }, Field(nullable: .hostTimeOfFrame) { $0.hostTime },
      Field(.lateFrames) { $0.late }, Field(.spread) { $0.spread },
    ]
  }

  package static let name: CommandName = "play-at"

  package static let definition = CommandDefinition<Self>(
    .playback, "Start players together, on the same sample.",
    details: """
      The players must be paused and have a current item. They prepare first, and then start at the same frame of \
      the output. Until then, `reasonForWaitingToPlay` is `startTimeNotReached`. If a player cannot prepare, none \
      starts.

      The reply comes when that frame has been given to the device, just before it is heard:

      - `frame`: the frame of the output, counted from its opening
      - `hostTime`: the time at which the frame is heard, in seconds of CLOCK_MONOTONIC; `none` if the device is \
      stopped
      - `late`: the number of frames after the requested start; 0 unless a player was not ready in time
      - `spread`: the number of frames between the first and the last player's start; 0 unless a player got another \
      command meanwhile

      A date such as `2026-12-24T18:00:00+01:00`, or a time of day such as `18:00`, is at most 366 days ahead. The \
      start follows the wall clock: when the clock is set, the start moves with it (*Dates*). Until 2 s before a date, \
      the players stay paused.

      A player that gets a `pause` or `play` before the start does not take part. A `seek` changes its start \
      position.
      """,
    errors: [
      .invalidTime, .invalidArgument, .invalidState, .noCurrentItem, .noSuchPlayer, .waitEnded, .outputLost,
      .outputUnavailable,
    ] + CommandTable.streamErrors + CommandTable.mediaErrors,
    example: ["> @8 play-at +0.5 drums bass keys", "< @8 ok frame=48000 hostTime=5012.25 late=0 spread=0"])
}

/// `rate-together`: changes the rate of players together.
package enum RateTogetherCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// Never 0.
    package let rate: Parameter<Double>
    /// At least one.
    package let players: Parameter<WireList<String>>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.required(.rate, .numberExceptZero(-32...32), "RATE", "the rate; 1 is as recorded")
      players = list.list(.players, .playerName, "NAME", "the players")
    }
  }

  package struct Reply: ReplyFields {
    /// Nil if no player plays.
    package var frame: Int64?
    /// Nil if no player plays, or the device is stopped.
    package var hostTime: HostTime?
    /// In output frames.
    package var spread: Int64

    package init(frame: Int64?, hostTime: HostTime?, spread: Int64) {
      (self.frame, self.hostTime, self.spread) = (frame, hostTime, spread)
    }

    package static let fields: [Field<Self>] = [
      Field(nullable: .frame) { $0.frame }, Field(nullable: .hostTimeOfFrame) { $0.hostTime },
      Field(.spread) { $0.spread },
    ]
  }

  package static let name: CommandName = "rate-together"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the rate of several players on the same sample.",
    details: """
      Corresponds to `rate` for several players during playback. No player stops, and players that started together \
      stay together.

      The reply comes when the frame of the change has been given to the device, just before it is heard:

      - `frame`, `hostTime`: as in the reply of `play-at`; `none` if no player plays
      - `spread`: the number of frames between the first and the last change; 0 unless the audio of a player was not \
      decoded in time

      A paused player uses the rate for its next `play` only. A player that gets another command before the change \
      does not take part.
      """,
    errors: [.unsupportedRate, .invalidArgument, .noSuchPlayer, .waitEnded, .outputLost] + CommandTable.streamErrors,
    example: ["> @8 rate-together 1.5 drums bass keys", "< @8 ok frame=98880 hostTime=5013.31 spread=0"])
}

/// The fields of these replies.
extension FieldKey<Int64> {
  static var frame: Self {
    Self(
      "frame",
      "the output frame of the start or change, counted from the opening of the output; `none` if no player played")
  }
  static var lateFrames: Self {
    Self("late", "the number of output frames after the requested start; 0 unless a player was not ready in time")
  }
  static var spread: Self { Self("spread", "the number of frames between the first and the last player") }
}

extension FieldKey<HostTime> {
  static var hostTimeOfFrame: Self {
    Self(
      "hostTime",
      "the instant at which `frame` is heard, in seconds of CLOCK_MONOTONIC; `none` if the device is stopped")
  }
}
