import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Statements about time observers; see `SeekStatementTests`.
@Suite struct ObserverStatementTests {
  private func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1_000) }

  @Test("statement 22: a periodic observer fires on pause, resume and a seek while paused, too; not with no item")
  func periodicObserverFiresOnPauseResumeAndPausedSeek() async throws {
    let rig = try await Rig()
    let reports = Mutex<[String]>([])
    func takeReports() -> [String] {
      reports.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: seconds(0.1)) { tick in
        reports.withLock { $0.append("\(tick.reason) \(tick.time.decimalDescription)") }
      }
      player.play()
    }
    await rig.advance(milliseconds: 500)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 500)
    #expect(takeReports() == [], "without an item")
    let item = try rig.wav(file: 1, frames: 48_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 150)
    #expect(takeReports() == ["start 0", "periodic 0.1"])
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 150)
    #expect(takeReports() == ["stop 0.15"])
    try await rig.run { try $0.seek(to: seconds(0.35), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(takeReports() == ["jump 0.35"])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    #expect(takeReports() == ["start 0.35", "periodic 0.4"])
    await rig.run { $0.removeAllItems() }
    await rig.settle()
    #expect(takeReports() == ["stop 0.45"])
    await rig.advance(milliseconds: 500)
    #expect(takeReports() == [], "without an item again")
  }

  @Test("statement 24: an observer that was removed is not called afterwards; an unknown or foreign token is an error")
  func removedObserverIsNotCalledAndUnknownTokensAreErrors() async throws {
    let rig = try await Rig()
    let other = QueuePlayer(engine: rig.engine, name: "other")
    let items = [try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 48_000)]
    let ownToken = Mutex<ObserverToken?>(nil)
    let count = Mutex(0)
    let foreignCount = Mutex(0)
    try await rig.run { player in
      try player.append([items[0]])
      // The observer removes itself at its second call.
      let token = try player.addPeriodicTimeObserver(forInterval: seconds(0.05)) { _ in
        let calls = count.withLock { count in
          count += 1
          return count
        }
        guard calls == 2, let token = ownToken.withLock({ $0 }) else { return }
        rig.player.assumeIsolated { player in
          #expect(throws: Never.self) { try player.removeTimeObserver(token) }
        }
      }
      ownToken.withLock { $0 = token }
    }
    try await other.append([items[1]])
    let foreign = try await other.addPeriodicTimeObserver(forInterval: seconds(0.1)) { _ in
      foreignCount.withLock { $0 += 1 }
    }
    await rig.settle()
    await rig.run { $0.play() }
    await other.play()
    await rig.advance(milliseconds: 250)
    #expect(count.withLock { $0 } == 2)
    let used = try #require(ownToken.withLock { $0 })
    for token in [used, foreign, ObserverToken.max] {
      #expect(await rig.error { try $0.removeTimeObserver(token) } == .noSuchObserver)
    }
    let before = foreignCount.withLock { $0 }
    await rig.advance(milliseconds: 200)
    #expect(foreignCount.withLock { $0 } == before + 2, "the other observer continues")
    try await other.removeTimeObserver(foreign)
    await rig.advance(milliseconds: 200)
    #expect(foreignCount.withLock { $0 } == before + 2)
  }

  @Test("statement 25: a boundary observer without times is an error")
  func boundaryObserverWithoutTimesIsAnError() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 4_800)
    try await rig.run { try $0.append([item]) }
    let called = Mutex(0)
    for id in [nil, item.id] {
      let code = await rig.error { player in
        _ = try player.addBoundaryTimeObserver(forTimes: [], itemID: id) { _ in called.withLock { $0 += 1 } }
      }
      #expect(code == .invalidArgument)
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.close() }
    #expect(called.withLock { $0 } == 0, "the removal is not reported")
  }
}
