import PlayheadMediaCore

/// `preroll`: prepares audio, so that `play` starts without delay.
public enum PrerollCommand: WaitingCommand {
  public struct Parameters: ParameterList {
    /// Never 0. Nil: the rate that `play` would use.
    public let rate: Parameter<Double?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      rate = list.optional(.rate, .numberExceptZero(-32...32), "RATE", "the rate; default: that of `play`")
      player = list.player()
    }
  }

  public struct Reply: ReplyFields {
    public var isReady: Bool

    public init(isReady: Bool) { self.isReady = isReady }

    public static let fields: [Field<Self>] = [Field(.ready) { $0.isReady }]
  }

  public static let name: CommandName = "preroll"

  public static let definition = CommandDefinition<Self>(
    .playback, "Prepare to play without delay.",
    details: """
      The player must be paused. The request waits, and its reply has one of these values:

      - `ready=true`: the output has the first samples, so `play` is heard as soon as the device can play them.
      - `ready=false`: the position, the item or the rate changed before, another preroll started, or the item \
      failed.

      The audio is prepared for one rate. Playback at another rate decodes the audio again.
      """,
    errors: [.invalidState, .unsupportedRate, .noCurrentItem, .noSuchPlayer] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: ["> @8 preroll", "< @8 ok ready=true"])
}

/// `preroll.cancel`: ends the pending prerolls.
public enum PrerollCancelCommand: ImmediateCommand {
  public typealias Parameters = PlayerParameters

  public static let name: CommandName = "preroll.cancel"

  public static let definition = CommandDefinition<Self>(
    .playback, "End every pending `preroll` with `ready=false`.",
    details: "Audio that is already prepared stays prepared. Corresponds to AVPlayer's `cancelPendingPrerolls`.",
    errors: [.noSuchPlayer], example: ["> preroll.cancel", "< ok"])
}

/// `auto-wait`: sets or shows whether playback resumes by itself after an underrun.
public enum AutoWaitCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    /// Nil: no change.
    public let state: Parameter<SwitchSetting?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .toggle, "on|off|toggle", "the new state")
      player = list.player()
    }
  }

  public struct Reply: ReplyFields {
    public var automaticallyWaits: Bool

    public init(automaticallyWaits: Bool) { self.automaticallyWaits = automaticallyWaits }

    public static let fields: [Field<Self>] = [
      Field(.automaticallyWaitsToMinimizeStalling) { $0.automaticallyWaits }
    ]
  }

  public static let name: CommandName = "auto-wait"

  public static let definition = CommandDefinition<Self>(
    .playback, "Set whether playback resumes by itself after an underrun, or show it.",
    details: """
      - `on` (default): after an underrun the player waits (`toMinimizeStalls`) until half a second is decoded, and \
      then resumes.
      - `off`: after an underrun the player pauses.

      In both cases one `stalled` event is sent. If `off` is set while the player waits, it resumes at once with the \
      decoded audio.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> auto-wait off", "< ok automaticallyWaitsToMinimizeStalling=false"])
}
