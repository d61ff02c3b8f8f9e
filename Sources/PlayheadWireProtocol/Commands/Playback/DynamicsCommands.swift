import PlayheadMediaCore

/// `compressor`: sets or shows the compressor of a player.
package enum CompressorCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: on if there is an option.
    package let state: Parameter<Bool?>
    /// In dBFS, -100 to 0.
    package let threshold: Parameter<Double?>
    /// 1 to 100.
    package let ratio: Parameter<Double?>
    /// In dB, 0 to 40.
    package let knee: Parameter<Double?>
    /// 0 to 1 s.
    package let attack: Parameter<MediaTime?>
    /// 0.001 to 5 s.
    package let release: Parameter<MediaTime?>
    /// In dB, -40 to 40.
    package let makeUp: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .onOff, "on|off", "`on` sets all values, `off` switches the compressor off")
      threshold = list.option(
        "threshold", .number(-100...0), "DB", "the level from which audio is attenuated, in dBFS; default: -20")
      ratio = list.option(
        "ratio", .number(1...100), "N", "the change of the input level for each dB of the output; default: 4")
      knee = list.option(
        "knee", .number(0...40), "DB", "the range around the threshold with a gradual ratio; default: 6")
      attack = list.option(
        "attack", .duration, "TIME", "the time constant of more attenuation, up to 1 s; default: 0.01")
      release = list.option(
        "release", .duration, "TIME", "the time constant of less attenuation, 1 ms to 5 s; default: 0.1")
      makeUp = list.option("make-up", .number(-40...40), "DB", "the gain of all audio; default: 0")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// The values of a compressor.
    package struct Values: Sendable, Hashable {
      /// In dBFS.
      package var threshold: Double
      package var ratio: Double
      /// In dB.
      package var knee: Double
      package var attack: MediaTime
      package var release: MediaTime
      /// In dB.
      package var makeUp: Double

      package init(
        threshold: Double, ratio: Double, knee: Double, attack: MediaTime, release: MediaTime, makeUp: Double
      ) {
        (self.threshold, self.ratio, self.knee) = (threshold, ratio, knee)
        (self.attack, self.release, self.makeUp) = (attack, release, makeUp)
      }
    }

    /// Nil: off.
    package var values: Values?

    package init(values: Values?) { self.values = values }

    package static let fields: [Field<Self>] = [
      Field(.isEnabled) { $0.values != nil }, Field(nullable: .threshold) { $0.values?.threshold },
      Field(nullable: .ratio) { $0.values?.ratio }, Field(nullable: .knee) { $0.values?.knee },
      Field(nullable: .attack) { $0.values?.attack }, Field(nullable: .release) { $0.values?.release },
      Field(nullable: .makeUp) { $0.values?.makeUp },
    ]
  }

  package static let name: CommandName = "compressor"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the compressor, or show it.",
    details: """
      A compressor attenuates loud audio, so that `make-up` can amplify all audio. All channels get the same gain.

      `on` sets all values, to the given ones or to their defaults. Without `on`, the options change the present \
      values. \(EffectCommands.order)
      """,
    readsWithoutValue: true, errors: [.invalidTime, .noSuchPlayer],
    example: [
      "> compressor threshold=-20 ratio=4 knee=6 attack=0.01 release=0.2 make-up=3",
      "< ok isEnabled=true threshold=-20 ratio=4 knee=6 attack=0.01 release=0.2 makeUp=3",
      "> compressor off",
      "< ok isEnabled=false threshold=none ratio=none knee=none attack=none release=none makeUp=none",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    let options: [ParameterName] = ["threshold", "ratio", "knee", "attack", "release", "make-up"]
    if arguments.state == false, let option = arguments.firstGiven(options) {
      throw arguments.failure("off cannot be combined with \(option.rawValue)")
    }
    try arguments.check(arguments.attack, "attack", from: .zero, to: .seconds(1))
    try arguments.check(arguments.release, "release", from: .milliseconds(1), to: .seconds(5))
  }
}

/// `limiter`: sets or shows the peak limiter of a player.
package enum LimiterCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: on if there is an option.
    package let state: Parameter<Bool?>
    /// In dBFS, -60 to 0.
    package let ceiling: Parameter<Double?>
    /// 0.001 to 5 s.
    package let release: Parameter<MediaTime?>
    /// 0.0001 to 0.1 s.
    package let lookAhead: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .onOff, "on|off", "`on` sets all values, `off` switches the limiter off")
      ceiling = list.option(
        "ceiling", .number(-60...0), "DB", "the greatest magnitude of the samples, in dBFS; default: -1")
      release = list.option(
        "release", .duration, "TIME", "the time constant of the gain after a peak, 1 ms to 5 s; default: 0.1")
      lookAhead = list.option(
        "look-ahead", .duration, "TIME", "the time in which the gain falls before a peak, 0.1 to 100 ms; default: 0.005"
      )
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// The values of a limiter.
    package struct Values: Sendable, Hashable {
      /// In dBFS.
      package var ceiling: Double
      package var release: MediaTime
      package var lookAhead: MediaTime

      package init(ceiling: Double, release: MediaTime, lookAhead: MediaTime) {
        (self.ceiling, self.release, self.lookAhead) = (ceiling, release, lookAhead)
      }
    }

    /// Nil: off.
    package var values: Values?

    package init(values: Values?) { self.values = values }

    package static let fields: [Field<Self>] = [
      Field(.isEnabled) { $0.values != nil }, Field(nullable: .ceiling) { $0.values?.ceiling },
      Field(nullable: .release) { $0.values?.release }, Field(nullable: .lookAhead) { $0.values?.lookAhead },
    ]
  }

  package static let name: CommandName = "limiter"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the peak limiter, or show it.",
    details: """
      A limiter lowers the gain of all channels before each peak, so that no sample exceeds `ceiling`. Every sample is \
      heard at its time.

      `on` sets all values, to the given ones or to their defaults. Without `on`, the options change the present \
      values. \(EffectCommands.order)
      """,
    readsWithoutValue: true, errors: [.invalidTime, .noSuchPlayer],
    example: [
      "> limiter ceiling=-1 release=0.1 look-ahead=0.005", "< ok isEnabled=true ceiling=-1 release=0.1 lookAhead=0.005",
      "> limiter off", "< ok isEnabled=false ceiling=none release=none lookAhead=none",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    if arguments.state == false, let option = arguments.firstGiven(["ceiling", "release", "look-ahead"]) {
      throw arguments.failure("off cannot be combined with \(option.rawValue)")
    }
    try arguments.check(arguments.release, "release", from: .milliseconds(1), to: .seconds(5))
    try arguments.check(
      arguments.lookAhead, "look-ahead", from: MediaTime(value: 1, timescale: 10_000), to: .milliseconds(100))
  }
}

extension Arguments {
  /// Checks the range of a time.
  ///
  /// - Throws: `bad-arguments` with the name, the value and the range.
  fileprivate func check(
    _ time: MediaTime?, _ name: String, from minimum: MediaTime, to maximum: MediaTime
  ) throws(MediaError) {
    guard let time, time < minimum || time > maximum else { return }
    throw failure(
      "\(name) must be a time from \(NumberText.seconds(minimum)) to \(NumberText.seconds(maximum)) s"
        + " (got \(NumberText.seconds(time)))")
  }
}
