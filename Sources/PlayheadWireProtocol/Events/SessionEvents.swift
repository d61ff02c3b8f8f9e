/// `interruption`: another program interrupts playback, or the interruption ended. All players share the session.
package struct InterruptionEvent: NumberedEvent {
  /// The cause of the end of an interruption, and whether playback resumes.
  package struct Ending: Sendable, Hashable {
    package let by: String
    package let shouldResume: Bool

    package init(by: String, shouldResume: Bool) { (self.by, self.shouldResume) = (by, shouldResume) }
  }

  package var subscription = 0
  package let player: String
  /// Nil at the beginning of the interruption.
  package let ending: Ending?

  package init(player: String, ending: Ending?) { (self.player, self.ending) = (player, ending) }

  package static let definition = EventDefinition(
    .interruption, key: .sessionEvents,
    """
    another program interrupts playback, or the interruption has ended. Some interruptions have no end. `phase` is one \
    of these:

    - `began`: the sound server has muted the players, and they are paused
    - `ended`: the interruption ended. With `shouldResume=true`, playback resumes.

    An interruption ends by one of these:

    - `server`: the sound server ended it
    - `request`: a command ended it, such as `play`
    - `timeOut`: the `timeout` of `session.policy` has passed
    - `outputLost`: the output disappeared
    """)

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player },
    Field(.phase) { $0.ending == nil ? "began" : "ended" }, Field(optional: .by) { $0.ending?.by },
    Field(optional: .shouldResume) { $0.ending?.shouldResume },
  ]
}

/// `secondary-audio-hint`: the sound server lowers the volume because another program plays, or no longer does.
package struct SecondaryAudioHintEvent: NumberedEvent {
  package var subscription = 0
  package let player: String
  package let isBeginning: Bool

  package init(player: String, isBeginning: Bool) { (self.player, self.isBeginning) = (player, isBeginning) }

  package static let definition = EventDefinition(
    .secondaryAudioHint, key: .sessionEvents,
    "the sound server lowers the volume of playback because another program plays (`phase=began`), or no longer does"
      + " (`phase=ended`).")

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player },
    Field(.phase) { $0.isBeginning ? "began" : "ended" },
  ]
}

/// `route-changed`: the output route or the default input changed.
package struct RouteChangedEvent: NumberedEvent {
  package var subscription = 0
  package let player: String
  /// The reason, with the name that AVFoundation uses.
  package let reason: String
  /// The device and port. Nil: there was or is none.
  package let previous: String?
  package let current: String?
  /// The name of the current device for users.
  package let description: String?
  /// The default input of the sound server.
  package let input: String?

  package init(
    player: String, reason: String, previous: String?, current: String?, description: String?, input: String?
  ) {
    (self.player, self.reason) = (player, reason)
    (self.previous, self.current) = (previous, current)
    (self.description, self.input) = (description, input)
  }

  package static let definition = EventDefinition(
    .routeChanged, key: .outputEvents,
    """
    the output route or the default input changed. `previous` and `current` have the form of `output.route`. \
    `description` is the name of the current device for users. `reason` is one of these:

    - `newDeviceAvailable`: a device appeared or was plugged in, or the sound server is back
    - `oldDeviceUnavailable`: the device disappeared or was unplugged
    - `override`: a user or client selected the device
    - `categoryChange`: the category of the session changed
    - `noSuitableRoute`: no sound server replies, or it has no device
    - `routeConfigurationChange`: the properties of the device or its port changed
    - `unknown`: the reason is unknown
    """)

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.routeReason) { $0.reason },
    Field(nullable: .previousDevice) { $0.previous }, Field(nullable: .currentDevice) { $0.current },
    Field(nullable: .description) { $0.description }, Field(nullable: .input) { $0.input },
  ]
}
