import PlayheadMediaCore

/// `item.volume`: sets the volume of an entry over its time.
public enum ItemVolumeCommand: ImmediateCommand {
  public struct Parameters: EntryParameters {
    public let id: Parameter<EntryReference>
    /// 0 to 1. Nil: no new point or ramp.
    public let volume: Parameter<Double?>
    /// Default: the start of the entry.
    public let at: Parameter<MediaTime?>
    /// The volume at the end of a ramp, 0 to 1. Nil: a point.
    public let to: Parameter<Double?>
    /// The duration of a ramp, greater than 0. Nil: a point.
    public let over: Parameter<MediaTime?>
    /// Whether the existing points and ramps are removed first.
    public let clear: Parameter<Bool>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
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
  public struct Row: ReplyFields {
    /// In item time.
    public var at: MediaTime
    /// 0 to 1.
    public var volume: Float
    /// Nil: a point.
    public var ramp: Ramp?

    /// The end of a ramp.
    public struct Ramp: Sendable {
      /// 0 to 1.
      public var volume: Float
      public var duration: MediaTime

      public init(volume: Float, duration: MediaTime) { (self.volume, self.duration) = (volume, duration) }
    }

    public init(at: MediaTime, volume: Float, ramp: Ramp?) { (self.at, self.volume, self.ramp) = (at, volume, ramp) }

    public static let fields: [Field<Self>] = [
      Field(.at) { $0.at }, Field(.volume) { $0.volume }, Field(optional: .to) { $0.ramp?.volume },
      Field(optional: .over) { $0.ramp?.duration },
    ]
  }

  public struct Reply: ReplyRows {
    public var item: UInt64
    public var rows: [Row]

    public init(item: UInt64, rows: [Row]) { (self.item, self.rows) = (item, rows) }

    public static let fields: [Field<Self>] = [Field(.item) { $0.item }, Field(.count) { $0.rows.count }]
  }

  public static let name: CommandName = "item.volume"

  public static let definition = CommandDefinition<Self>(
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

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.step() }
}

/// A point or a ramp of an item's volume.
public struct VolumeStep: Sendable, Hashable {
  /// 0 to 1.
  public var volume: Double
  /// In the item's timeline.
  public var time: MediaTime
  /// The end volume of the ramp, and its duration, which is greater than 0. Nil: a point.
  public var ramp: Ramp?

  /// A linear change of the volume.
  public struct Ramp: Sendable, Hashable {
    public var volume: Double
    public var duration: MediaTime

    public init(volume: Double, duration: MediaTime) { (self.volume, self.duration) = (volume, duration) }
  }

  public init(volume: Double, time: MediaTime, ramp: Ramp?) {
    (self.volume, self.time, self.ramp) = (volume, time, ramp)
  }
}

extension Arguments<ItemVolumeCommand> {
  /// The new point or ramp. Nil: none.
  ///
  /// - Throws: `bad-arguments` for an incomplete point or ramp.
  public func step() throws(MediaError) -> VolumeStep? {
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
