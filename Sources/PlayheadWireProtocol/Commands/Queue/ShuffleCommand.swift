import PlayheadMediaCore

/// `shuffle`: shuffles the queue, or restores its order.
package enum ShuffleCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let state: Parameter<SwitchSetting?>
    /// The seed of the order. Nil: a random one.
    package let seed: Parameter<Int?>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional(.state, .toggle, "on|off|toggle", "the new state")
      seed = list.option(
        "seed", .integer(0...9_007_199_254_740_991), "SEED",
        "the seed of the order, for `on`; default: a random number")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// Nil if the queue is not shuffled.
    package var seed: UInt64?
    package var version: UInt64

    package init(seed: UInt64?, version: UInt64) { (self.seed, self.version) = (seed, version) }

    package static let fields: [Field<Self>] = [
      Field(.shuffleState) { $0.seed == nil ? "off" : "on" }, Field(optional: .seed) { $0.seed },
      Field(.version) { $0.version },
    ]
  }

  package static let name: CommandName = "shuffle"

  package static let definition = CommandDefinition<Self>(
    .queue, "Shuffle the entries after the current one, or restore their order.",
    details: """
      - `on` shuffles the entries after the current one, also if they are shuffled already. The same seed gives the \
      same queue the same order.
      - `off` restores the unshuffled order: the entries after the current one, then the entries before it that have \
      not played.
      - Without a value, the reply states whether the queue is shuffled.

      In a shuffled queue, appended entries get random positions after the current one. Inserted entries get the \
      given position. A queue that repeats gets a new order for each round, which does not start with the entry that \
      played last.

      The order of round r (`shuffle on` makes round 0) can be computed elsewhere:

      - The random numbers are those of SplitMix64. Its state is seed XOR (r * 0xD1342543DE82EF95 mod 2^64), and \
      grows by 0x9E3779B97F4A7C15 before each number.
      - A draw below n is the next number modulo n. Numbers from the largest multiple of n up to 2^64 are skipped.
      - The input is the unshuffled order. In round 0, the current entry stays first and is not part of the input.
      - For i from the last position down to 1, the entry at i and the entry at a draw below i + 1 are swapped.
      - If a later round would start with the entry that played last, its first two playable entries are swapped.

      Seed 42 turns 1 to 10 into 1 9 6 10 4 7 8 2 5 3.
      """,
    readsWithoutValue: true, errors: [.versionMismatch, .noSuchPlayer],
    example: ["> shuffle on seed=42", "< ok shuffle=on seed=42 version=9"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    if arguments.seed != nil, arguments.state == .off { throw arguments.failure("seed excludes off") }
  }
}

extension Arguments<ShuffleCommand> {
  /// The requested change. A seed alone means `on`. Nil: the request only reads.
  package var change: SwitchSetting? { self.state ?? (self.seed == nil ? nil : .on) }
}
