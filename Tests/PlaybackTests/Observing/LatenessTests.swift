import PlayheadMediaCore
import PlayheadPlayback
import Synchronization
import Testing

@testable import PlayheadPlayerModel

/// The lateness that observers get, on a clock that advances while a handler is busy.
@Suite struct LatenessTests {
  private final class ObserverCalls: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    func add(_ name: String, _ observation: TimeObservation) {
      add("\(name) \(observation.time.decimalDescription) late \(observation.lateNanoseconds / 1_000_000) ms")
    }
  }

  private static let twentieth = MediaTime(value: 1, timescale: 20)
  private static func boundary(_ hundredths: Int64) -> MediaTime { MediaTime(value: hundredths, timescale: 100) }

  /// A handler takes 100 ms. The calls after it, for the same sample and for those heard meanwhile, report how late
  /// they are. Later calls are on time again.
  @Test func callsAfterASlowHandlerReportTheirLateness() async throws {
    let rig = try await BusyRig()
    try await rig.load()
    let (loop, calls) = (rig.loop, ObserverCalls())
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: Self.twentieth) { observation in
        if observation.time == Self.boundary(20) { loop.beBusy(milliseconds: 100) }
      }
      _ = try player.addPeriodicTimeObserver(forInterval: Self.twentieth) { calls.add("tick", $0) }
      _ = try player.addBoundaryTimeObserver(forTimes: [Self.boundary(20), Self.boundary(22), Self.boundary(38)]) {
        calls.add("at", $0)
      }
      player.play()
    }
    await rig.wait { $0.timeControlStatus == .playing }
    await loop.advance(milliseconds: 420)
    #expect(
      calls.all == [
        "tick 0 late 0 ms", "tick 0.05 late 0 ms", "tick 0.1 late 0 ms", "tick 0.15 late 0 ms",
        "tick 0.2 late 100 ms", "at 0.2 late 100 ms", "at 0.22 late 80 ms", "tick 0.25 late 50 ms",
        "tick 0.3 late 0 ms", "tick 0.35 late 0 ms", "at 0.38 late 0 ms", "tick 0.4 late 0 ms",
      ])
  }

  /// The loop itself is blocked by another job.
  @Test func callsOfABlockedLoopReportTheirLateness() async throws {
    let rig = try await BusyRig()
    try await rig.load()
    let (loop, calls) = (rig.loop, ObserverCalls())
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: Self.twentieth) { calls.add("tick", $0) }
      _ = try player.addMeterObserver(rate: 20) { observation in
        calls.add("meter late \(observation.lateNanoseconds / 1_000_000) ms")
      }
      player.play()
    }
    await rig.wait { $0.timeControlStatus == .playing }
    await loop.advance(milliseconds: 120)
    await loop.inJob { loop.beBusy(milliseconds: 100) }
    await loop.advance(milliseconds: 100)
    #expect(
      calls.all.filter { $0.hasPrefix("tick") } == [
        "tick 0 late 0 ms", "tick 0.05 late 0 ms", "tick 0.1 late 0 ms", "tick 0.15 late 70 ms",
        "tick 0.2 late 20 ms", "tick 0.25 late 0 ms", "tick 0.3 late 0 ms",
      ])
    #expect(calls.all.filter { $0.hasPrefix("meter") }.contains("meter late 70 ms"))
  }
}
