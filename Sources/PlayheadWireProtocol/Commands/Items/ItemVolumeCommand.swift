import PlayheadMediaCore

/// `item.volume`: sets the volume of an entry over its time.
package enum ItemVolumeCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// 0 to 1. Nil: no new point or ramp.
    package let volume: Parameter<Double?>
    /// Default: the start of the entry.
    package let at: Parameter<MediaTime?>
    /// The volume at the end of a ramp, 0 to 1. Nil: a point.
    package let to: Parameter<Double?>
    /// The duration of a ramp, greater than 0. Nil: a point.
    package let over: Parameter<MediaTime?>
    /// Whether the existing points and ramps are removed first.
    package let clear: Parameter<Bool>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      volume = list.optional(.volume, .number(0...1), "VOLUME", "the volume at that time")
      at = list.option(
        .at, .time, "TIME", "the time of the point, or the start of the ramp; default: the start of the entry")
      to = list.option(.to, .number(0...1), "VOLUME", "the final volume of a ramp")
      over = list.option("over", .positiveDuration, "TIME", "the duration of a ramp")
      clear = list.flag(.clear, "first remove all existing points and ramps")
      player = list.player()
    }
  }

  /// A point or a ramp of an entry's volume.
  package struct Row: ReplyFields {
    /// In item time.
    package var at: MediaTime
    /// 0 to 1.
    package var volume: Float
    /// Nil: a point.
    package var ramp: Ramp?

    /// The end of a ramp.
    package struct Ramp: Sendable {
      /// 0 to 1.
      package var volume: Float
      package var duration: MediaTime

      package init(volume: Float, duration: MediaTime) { (self.volume, self.duration) = (volume, duration) }
    }

    package init(at: MediaTime, volume: Float, ramp: Ramp?) { (self.at, self.volume, self.ramp) = (at, volume, ramp) }

    package static let fields: [Field<Self>] = [
      Field(.at) { $0.at }, Field(.volume) { $0.volume }, Field(optional: .to) { $0.ramp?.volume },
      Field(optional: .over) { $0.ramp?.duration },
    ]
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var rows: [Row]

    package init(item: UInt64, rows: [Row]) { (self.item, self.rows) = (item, rows) }

    package static let fields: [Field<Self>] = [Field(.item) { $0.item }, Field(.count) { $0.rows.count }]
  }

  package static let name: CommandName = "item.volume"

  package static let definition = CommandDefinition<Self>(
    .items, "Set the volume of an entry over its time, or list it.",
    details: """
      The volume of an entry consists of points and ramps. It is multiplied by the volume of the player, and is 1 \
      before the first point or ramp.

      - VOLUME adds a point: the volume applies from `at`.
      - VOLUME with `to` and `over` adds a ramp from VOLUME to `to`. After the ramp, the volume stays at `to`.
      - A new point or ramp replaces an existing one with the same start. Ramps must not overlap.
      - `clear` first removes all existing points and ramps.

      The reply has a row for each point and ramp.
      """,
    readsWithoutValue: true, errors: [.invalidTime, .invalidArgument, .noSuchItem, .noSuchPlayer],
    example: [
      "> item.volume 2 0.5 at=4 to=0.2 over=5", "< | at=4 volume=0.5 to=0.2 over=5", "< ok item=2 count=1",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.step() }
}

/// A point or a ramp of an item's volume.
package struct VolumeStep: Sendable, Hashable {
  /// 0 to 1.
  package var volume: Double
  /// In the item's timeline.
  package var time: MediaTime
  /// The end volume of the ramp, and its duration, which is greater than 0. Nil: a point.
  package var ramp: Ramp?

  /// A linear change of the volume.
  package struct Ramp: Sendable, Hashable {
    package var volume: Double
    package var duration: MediaTime

    package init(volume: Double, duration: MediaTime) { (self.volume, self.duration) = (volume, duration) }
  }

  package init(volume: Double, time: MediaTime, ramp: Ramp?) {
    (self.volume, self.time, self.ramp) = (volume, time, ramp)
  }
}

extension Arguments<ItemVolumeCommand> {
  /// The new point or ramp. Nil: none.
  ///
  /// - Throws: `bad-arguments` for an incomplete point or ramp.
  package func step() throws(MediaError) -> VolumeStep? {
    let (target, duration) = (self.to, self.over)
    guard let volume = self.volume else {
      guard target == nil, duration == nil, self.at == nil else { throw failure("at, to and over need a volume") }
      return nil
    }
    guard (target == nil) == (duration == nil) else { throw failure("a ramp needs both to and over") }
    return VolumeStep(
      volume: volume, time: self.at ?? .zero,
      ramp: target.flatMap { target in duration.map { .init(volume: target, duration: $0) } })
  }
}
