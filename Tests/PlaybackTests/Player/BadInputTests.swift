import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Invalid requests: each fails with a numbered error and changes nothing. Each case prints its row.
/// `DaemonTests.BadInputTests` tests the same over the socket.
@Suite struct BadInputTests {
  /// The scene of each case: a playing queue, another player, and objects that were removed from both.
  struct Scene: Sendable {
    /// Current and playing; `queued` is the next item.
    var current: PlayerItem
    var queued: PlayerItem
    /// An item of another player.
    var foreign: PlayerItem
    /// An item that was removed from the queue.
    var removed: PlayerItem
    /// Observers that were removed, by their kind.
    var removedTimes: ObserverToken = 0
    var removedMeter: ObserverToken = 0
    var removedState: ObserverToken = 0
    var removedEvents: ObserverToken = 0
    /// An observer of the other player.
    var foreignTimes: ObserverToken = 0
    /// An observer of the engine.
    var removedOutput: ObserverToken = 0
    /// The looper of the other player, and its removed observer.
    var looper: PlayerLooper?
    var removedLooper: ObserverToken = 0
  }

  /// Items that are invalid in a request.
  enum InvalidItem: String, CaseIterable {
    case queued, foreign, removed
    /// An id that no item ever had.
    case unknown

    func id(_ scene: Scene) -> PlayerItem.ID { item(scene)?.id ?? 4_711 }

    func item(_ scene: Scene) -> PlayerItem? {
      switch self {
      case .queued: scene.queued
      case .foreign: scene.foreign
      case .removed: scene.removed
      case .unknown: nil
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var code: MediaError.Code
    var call: @Sendable (isolated QueuePlayer, Scene) throws -> Void

    var testDescription: String { name }

    init(
      _ name: String, _ code: MediaError.Code, _ call: @escaping @Sendable (isolated QueuePlayer, Scene) throws -> Void
    ) {
      (self.name, self.code, self.call) = (name, code, call)
    }
  }

  private static func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  static let rates = [Double.nan, .infinity, -.infinity, 33, -33, 1e300].map { rate in
    Case("setRate(\(rate))", .unsupportedRate) { player, _ in try player.setRate(rate) }
  }

  /// The same rates, and 0, for calls in which 0 does not mean a pause.
  static let ratesOrZero = [Double.nan, .infinity, -.infinity, 0, 33, -33, 1e300].flatMap { rate in
    [
      Case("setDefaultRate(\(rate))", .unsupportedRate) { player, _ in try player.setDefaultRate(rate) },
      Case("playImmediately(atRate: \(rate))", .unsupportedRate) { player, _ in
        try player.playImmediately(atRate: rate)
      },
      Case("preroll(atRate: \(rate))", .unsupportedRate) { player, _ in
        try player.preroll(atRate: rate) { _ in Issue.record("it completed") }
      },
      Case("setRate(\(rate), time:atHostTime:)", rate == 0 ? .invalidState : .unsupportedRate) { player, _ in
        try player.setRate(rate, time: .zero, atHostTime: nil)
      },
    ]
  }

  static let states = [
    Case("preroll while playing", .invalidState) { player, _ in
      try player.preroll { _ in Issue.record("it completed") }
    },
    Case("setRate at an instant while the player waits automatically", .invalidState) { player, _ in
      try player.setRate(1, time: .zero, atHostTime: player.control.core.engine.loop.now)
    },
    Case("setRate at an indefinite time", .invalidTime) { player, _ in
      try withoutWaiting(player) { player throws(MediaError) in
        try player.setRate(1, time: .indefinite, atHostTime: nil)
      }
    },
    Case("setRate at an instant more than a day ahead", .invalidTime) { player, _ in
      let instant = player.control.core.engine.loop.now.advanced(byNanoseconds: 86_401_000_000_000)
      try withoutWaiting(player) { player throws(MediaError) in
        try player.setRate(1, time: nil, atHostTime: instant)
      }
    },
  ]

  /// Runs `body` on a player that meanwhile does not wait to minimize stalls.
  private static func withoutWaiting(
    _ player: isolated QueuePlayer, _ body: (isolated QueuePlayer) throws(MediaError) -> Void
  ) throws(MediaError) {
    player.setAutomaticallyWaitsToMinimizeStalling(false)
    defer { player.setAutomaticallyWaitsToMinimizeStalling(true) }
    try body(player)
  }

  static let fades =
    [Float.nan, .infinity, 1.001, -0.001].map { volume in
      Case("fade(to: \(volume))", .invalidArgument) { player, _ in
        try player.fade(to: volume, duration: Self.seconds(1))
      }
    }
    + [MediaTime.invalid, .indefinite, .positiveInfinity, Self.seconds(-1), Self.seconds(86_401)].map { duration in
      Case("fade over \(duration)", .invalidTime) { player, _ in try player.fade(to: 0.5, duration: duration) }
    }

  static let levels =
    [Float.nan, .infinity, 1.001, -1.001].map { pan in
      Case("setPan(\(pan))", .invalidArgument) { player, _ in try player.setPan(pan) }
    }
    + [Float.nan, .infinity, 1.001, -0.001].map { volume in
      Case("setVolume(\(volume))", .invalidArgument) { player, _ in try player.setVolume(volume) }
    }

  static let times =
    [MediaTime.invalid, .indefinite].map { time in
      Case("seek to \(time)", .invalidTime) { player, _ in try player.seek(to: time) { _ in } }
    }
    + InvalidItem.allCases.flatMap { invalid in
      [
        Case("seek in an item that is not current: \(invalid)", .noSuchItem) { player, scene in
          try player.seek(to: Self.seconds(1), itemID: invalid.id(scene)) { _ in Issue.record("it completed") }
        },
        Case("loop in an item that is not current: \(invalid)", .noSuchItem) { player, scene in
          try player.setLoop(TimeRange(start: .zero, end: Self.seconds(1)), itemID: invalid.id(scene))
        },
      ]
    }

  static let items =
    [InvalidItem.foreign, .removed, .unknown].flatMap { invalid in
      [
        Case("boundaries in an item: \(invalid)", .noSuchItem) { player, scene in
          _ = try player.addBoundaryTimeObserver(forTimes: [.zero], itemID: invalid.id(scene)) { _ in }
        },
        Case("remove the current item and one: \(invalid)", .noSuchItem) { player, scene in
          try player.remove([scene.current.id, invalid.id(scene)])
        },
        Case("insert after an item: \(invalid)", .noSuchItem) { player, scene in
          try player.insert([PlayerItem(asset: scene.removed.asset, id: 900)], after: invalid.id(scene))
        },
        Case("insert before an item: \(invalid)", .noSuchItem) { player, scene in
          try player.insert([PlayerItem(asset: scene.removed.asset, id: 901)], before: invalid.id(scene))
        },
      ]
    }
    + [InvalidItem.queued, .foreign].map { invalid in
      Case("append an item that is already \(invalid)", .itemInUse) { player, scene in
        let new = PlayerItem(asset: scene.removed.asset, id: 902)
        try player.append([new, invalid.item(scene) ?? new])
      }
    }
    + [
      Case("append one item twice", .itemInUse) { player, scene in
        let item = PlayerItem(asset: scene.removed.asset, id: 903)
        try player.append([item, item])
      },
      Case("replace the queue by an item of another player", .itemInUse) { player, scene in
        try player.replaceAll(with: [scene.foreign])
      },
    ]

  /// Edits for an outdated version of the queue.
  static let edits: [Case] = {
    let edits: [(String, @Sendable (Scene) -> [QueueEdit])] = [
      ("append", { [.append([PlayerItem(asset: $0.removed.asset, id: 904)])] }),
      ("remove", { [.remove([$0.queued.id])] }),
      ("move", { [.move($0.queued.id, to: .index(0))] }),
      ("replace", { [.replace($0.current.id, with: PlayerItem(asset: $0.removed.asset, id: 905))] }),
      ("remove all", { _ in [.removeAll] }), ("two at once", { [.remove([$0.queued.id]), .removeAll] }),
      ("nothing", { _ in [] }),
    ]
    return edits.flatMap { name, edits in
      [
        Case("edit on an old version: \(name)", .versionMismatch) { player, scene in
          try player.edit(edits(scene), ifVersion: player.state.queueVersion - 1)
        },
        Case("edit on a future version: \(name)", .versionMismatch) { player, scene in
          try player.edit(edits(scene), ifVersion: player.state.queueVersion + 1)
        },
      ]
    }
  }()

  static let observers = [
    Case("remove a time observer twice", .noSuchObserver) { try $0.removeTimeObserver($1.removedTimes) },
    Case("remove an unknown time observer", .noSuchObserver) { player, _ in
      try player.removeTimeObserver(.max)
    },
    Case("remove a time observer of another player", .noSuchObserver) { try $0.removeTimeObserver($1.foreignTimes) },
    Case("remove a meter observer twice", .noSuchObserver) { try $0.removeMeterObserver($1.removedMeter) },
    Case("remove a state observer twice", .noSuchObserver) { try $0.removeObserver($1.removedState) },
    Case("remove an event observer twice", .noSuchObserver) { try $0.removeObserver($1.removedEvents) },
    Case("remove a time observer as a state observer", .noSuchObserver) { try $0.removeObserver($1.foreignTimes) },
    Case("remove an output observer twice", .noSuchObserver) { player, scene in
      try player.control.core.engine.removeOutputObserver(scene.removedOutput)
    },
    Case("remove an unknown output observer", .noSuchObserver) { player, _ in
      try player.control.core.engine.removeOutputObserver(.max)
    },
    Case("remove a looper's observer twice", .noSuchObserver) { try $1.looper?.removeObserver($1.removedLooper) },
    Case("remove an unknown observer of a looper", .noSuchObserver) { try $1.looper?.removeObserver(.max) },
  ]

  /// All state that a case could change, as text.
  private func observableState(_ rig: Rig, _ other: QueuePlayer) async -> [String] {
    let mine = await rig.run { player in
      [
        "\(player.state)", "\(player.items().map(\.id))", player.currentTime().fractionDescription,
        "\(player.isMeteringEnabled)",
      ]
    }
    let others = await ["\(other.state)", "\(other.items().map(\.id))"]
    return mine + others
  }

  @Test(arguments: [
    ("rates", rates), ("other rates", ratesOrZero), ("states", states), ("levels", levels), ("fades", fades),
    ("times", times), ("items", items), ("edits", edits), ("observers", observers),
  ])
  func invalidRequestThrowsItsErrorCodeAndChangesNothing(_ kind: String, _ cases: [Case]) async throws {
    let rig = try await Rig()
    let other = QueuePlayer(engine: rig.engine, name: "other")
    let scene = try await scene(rig, other)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    for invalid in cases {
      let (before, dump) = (await observableState(rig, other), rig.dump)
      let code = await rig.error { try invalid.call($0, scene) }
      await rig.settle()
      let (after, unchanged) = (await observableState(rig, other), rig.dump == dump)
      print(
        "bad input, library | \(invalid.name) | on 10 s of time code, WAV by TimeCode.writeWAV | \(code.map { "\($0)" } ?? "NO ERROR")"
          + " | \(before == after && unchanged ? "nothing changed" : "CHANGED: \(before) to \(after)")")
      #expect(code == invalid.code, "\(invalid.name)")
      #expect(before == after && unchanged, "\(invalid.name)")
      await rig.advance(milliseconds: 20)
    }
    // Playback was not affected by the requests, and continues.
    let count = 4_800 + cases.count * 960
    #expect(rig.heard.runs.map { "\($0.file) \($0.firstIndex) \($0.count)" } == ["1 0 \(count)"])
  }

  private func scene(_ rig: Rig, _ other: QueuePlayer) async throws -> Scene {
    let items = try [480_000, 48_000, 48_000, 48_000].enumerated().map { try rig.wav(file: $0 + 1, frames: $1) }
    try await other.append([items[2]])
    let looper = try PlayerLooper(player: other, item: items[2])
    let foreignTimes = try await other.addPeriodicTimeObserver(forInterval: Self.seconds(1)) { _ in }
    let scene = try await rig.run { player in
      try player.append([items[0], items[1], items[3]])
      try player.remove([items[3].id])
      var scene = Scene(current: items[0], queued: items[1], foreign: items[2], removed: items[3])
      scene.foreignTimes = foreignTimes
      scene.looper = looper
      scene.removedLooper = looper.addStateObserver { _ in }
      try looper.removeObserver(scene.removedLooper)
      let engine = player.control.core.engine
      scene.removedOutput = engine.addOutputObserver { _ in }
      try engine.removeOutputObserver(scene.removedOutput)
      scene.removedTimes = try player.addPeriodicTimeObserver(forInterval: Self.seconds(1)) { _ in }
      scene.removedMeter = try player.addMeterObserver { _ in }
      scene.removedState = player.addStateObserver { _ in }
      scene.removedEvents = player.addEventObserver { _ in }
      try player.removeTimeObserver(scene.removedTimes)
      try player.removeMeterObserver(scene.removedMeter)
      try player.removeObserver(scene.removedState)
      try player.removeObserver(scene.removedEvents)
      return scene
    }
    await rig.settle()
    return scene
  }
}
