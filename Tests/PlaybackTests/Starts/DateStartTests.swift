import MediaTesting
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayerModel

/// Players that start at a date, and follow the wall clock when it is set.
@Suite struct DateStartTests {
  private typealias Group = StartTogetherTests.Group

  private static func wallTime(_ text: String) throws -> WallTime {
    WallTime(nanosecondsSince1970: try #require(ISODate.parse(text)))
  }

  /// Sets the wall clock.
  private func set(_ text: String, _ group: Group) async throws {
    let instant = try Self.wallTime(text)
    await group.rig.run { [loop = group.rig.loop] _ in loop.wallClock.set(to: instant) }
  }

  /// Requests a start of all players at a date.
  private func start(_ text: String, _ group: Group) async throws -> StartTogetherTests.StartResult {
    try await group.start(.date(DateExpression(parsing: text)))
  }

  /// The instant `seconds` after another one.
  private func later(_ seconds: Double, than instant: HostTime) -> HostTime {
    instant.advanced(byNanoseconds: Int64(seconds * 1e9))
  }

  private func expectStart(
    _ result: StartTogetherTests.StartResult, at instant: HostTime, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let start = try result.start()
    #expect(start.hostTime == instant, sourceLocation: sourceLocation)
    #expect(start.lateFrameCount == 0 && start.spreadFrameCount == 0, sourceLocation: sourceLocation)
  }

  @Test func playersStartExactlyAtADateAndStayPausedUntilItIsNear() async throws {
    let group = try await Group(2)
    try await set("2026-12-24T16:59:55Z", group)
    let called = await group.now()
    let result = try await start("2026-12-24T18:00:00+01:00", group)
    await group.rig.advance(milliseconds: 2_900)
    #expect(await group.players[1].state.timeControlStatus == .paused)
    #expect(group.rig.heard.all.isEmpty, "the device does not run")
    await group.rig.advance(milliseconds: 200)
    let state = await group.players[1].state
    #expect(state.rate == 1 && state.reasonForWaitingToPlay == .startTimeNotReached)
    await group.rig.advance(milliseconds: 2_000)
    try expectStart(result, at: later(5, than: called))
    let first = try #require(group.rig.heard.all.firstIndex { $0.left != 0 || $0.right != 0 })
    #expect(first == Int(try result.start().outputFrame))
    #expect(await group.players[0].currentTime() == MediaTime(value: 1, timescale: 10))
  }

  @Test func nearDateStartsAsAnInstantDoes() async throws {
    let group = try await Group(1)
    try await set("2026-12-24T17:59:59.750Z", group)
    let called = await group.now()
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.rig.advance(milliseconds: 100)
    #expect(await group.players[0].state.reasonForWaitingToPlay == .startTimeNotReached)
    await group.rig.advance(milliseconds: 400)
    try expectStart(result, at: later(0.25, than: called))
  }

  /// The clock is set 10 s after the request of a start in 60 s.
  @Test(arguments: [
    ("2026-12-24T17:59:40Z", 30.0), ("2026-12-24T17:58:40Z", 90.0), ("2026-12-24T17:59:10Z", 60.0),
    ("2026-12-24T17:59:58Z", 12.0),
  ])
  func startMovesWhenTheClockIsSet(time: String, expected: Double) async throws {
    let group = try await Group(1)
    try await set("2026-12-24T17:59:00Z", group)
    let called = await group.now()
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.rig.advance(milliseconds: 10_000)
    try await set(time, group)
    await group.rig.advance(milliseconds: Int64(expected * 1_000) - 10_000 - 100)
    #expect(group.rig.heard.all.allSatisfy { $0.left == 0 && $0.right == 0 })
    await group.rig.advance(milliseconds: 200)
    try expectStart(result, at: later(expected, than: called))
  }

  @Test func clockSetPastTheDateStartsAtOnce() async throws {
    let group = try await Group(1)
    try await set("2026-12-24T17:59:00Z", group)
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.rig.advance(milliseconds: 10_000)
    let changed = await group.now()
    try await set("2026-12-24T20:00:00Z", group)
    await group.rig.advance(milliseconds: 500)
    let instant = try #require(try result.start().hostTime)
    #expect((changed...later(0.3, than: changed)).contains(instant))
  }

  /// The device runs, and the mixer has the frame of the start.
  @Test func startMovesWhenTheClockIsSetShortlyBefore() async throws {
    let group = try await Group(2)
    try await set("2026-12-24T17:59:57Z", group)
    let called = await group.now()
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.rig.advance(milliseconds: 2_000)
    #expect(await group.players[0].state.reasonForWaitingToPlay == .startTimeNotReached)
    try await set("2026-12-24T17:59:49Z", group)
    await group.rig.advance(milliseconds: 10_500)
    #expect(await group.players[0].state.reasonForWaitingToPlay == .startTimeNotReached)
    await group.rig.advance(milliseconds: 1_000)
    try expectStart(result, at: later(13, than: called))
    #expect(await group.players[1].currentTime() == MediaTime(value: 1, timescale: 2))
  }

  @Test func clockSetPastTheDateShortlyBeforeStartsAtOnce() async throws {
    let group = try await Group(1)
    try await set("2026-12-24T17:59:57Z", group)
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.rig.advance(milliseconds: 2_000)
    let changed = await group.now()
    try await set("2026-12-24T18:00:30Z", group)
    await group.rig.advance(milliseconds: 500)
    let instant = try #require(try result.start().hostTime)
    #expect((changed...later(0.3, than: changed)).contains(instant))
  }

  // MARK: - Local time

  @Test func timeOfDayIsTheNextOneInLocalTime() async throws {
    let group = try await Group(1)
    await group.rig.run { [loop = group.rig.loop] _ in loop.wallClock.utcOffsetSeconds = { _ in 3_600 } }
    try await set("2026-11-30T16:59:50Z", group)
    let called = await group.now()
    let result = try await start("18:00", group)
    await group.rig.advance(milliseconds: 10_500)
    try expectStart(result, at: later(10, than: called))
    await group.rig.run { $0.pause() }
    // The time has passed, so the next one is tomorrow.
    let again = try await start("18:00", group)
    await group.rig.advance(milliseconds: 86_400_000)
    try expectStart(again, at: later(86_410, than: called))
  }

  /// The clock was an hour slow at the request: 17:00 was 18:00.
  @Test func timeOfDayFollowsTheCorrectedTimeOfTheRequest() async throws {
    let group = try await Group(1)
    try await set("2026-11-30T17:00:00Z", group)
    let called = await group.now()
    let result = try await start("18:00", group)
    await group.rig.advance(milliseconds: 5_000)
    try await set("2026-11-30T18:00:05.5Z", group)
    await group.rig.advance(milliseconds: 60_000)
    #expect(await group.players[0].state.rate == 0)
    #expect(result.value.withLock { $0 == nil })
    // The clock was 0.5 s slow at the request.
    try await set("2026-11-30T17:01:05.5Z", group)
    await group.rig.advance(milliseconds: 3_535_000)
    try expectStart(result, at: later(3_599.5, than: called))
  }

  @Test func offsetFromUTCMayChangeBeforeTheDate() async throws {
    let group = try await Group(1)
    let change = try Self.wallTime("2026-03-29T01:00:00Z")
    await group.rig.run { [loop = group.rig.loop] _ in
      loop.wallClock.utcOffsetSeconds = { $0 < change ? 3_600 : 7_200 }
    }
    try await set("2026-03-29T00:59:50Z", group)
    let called = await group.now()
    // 01:59:50 in local time. The local time after 01:59:59 is 03:00.
    let result = try await start("03:00:05", group)
    await group.rig.advance(milliseconds: 15_500)
    try expectStart(result, at: later(15, than: called))
  }

  // MARK: - Requests

  @Test func impossibleDatesAreErrorsAndChangeNothing() async throws {
    let group = try await Group(1)
    try await set("2026-11-30T20:00:00Z", group)
    for (text, message) in [
      (
        "2026-11-30T20:00:00Z",
        "start date must be after 2026-11-30T20:00:00.000Z, the current date (got 2026-11-30T20:00:00.000Z)"
      ),
      ("1999-12-31T00:00Z", "start date must be after 2026-11-30T20:00:00.000Z"),
      ("2027-12-01T20:00:01Z", "start date must be within 366 days from 2026-11-30T20:00:00.000Z"),
    ] {
      do {
        _ = try await start(text, group)
        Issue.record("no error for \(text)")
      } catch {
        #expect((error as? MediaError)?.code == .invalidTime)
        #expect((error as? MediaError)?.message.contains(message) == true, "\(error)")
      }
    }
    #expect(await group.players[0].state.rate == 0)
  }

  @Test func playerThatGetsAnotherCommandDoesNotStart() async throws {
    let group = try await Group(2)
    try await set("2026-12-24T17:59:00Z", group)
    let called = await group.now()
    let result = try await start("2026-12-24T18:00:00Z", group)
    await group.players[0].pause()
    await group.rig.advance(milliseconds: 60_500)
    try expectStart(result, at: later(60, than: called))
    #expect(await group.players[0].state.rate == 0)
    #expect(await group.players[1].state.rate == 1)
    await group.players[1].pause()
    let cancelled = try await start("18:05", group)
    for player in group.players { await player.pause() }
    await group.rig.settle()
    #expect(cancelled.error?.code == .waitEnded)
    // The end of a request ends its observation of the clock.
    try await set("2026-12-24T18:06:00Z", group)
    await group.rig.advance(milliseconds: 500)
    #expect(await group.players[0].state.rate == 0)
  }

  @Test func rateAtADistantDatePausesUntilTheDateIsNear() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    await player.play()
    await group.rig.advance(milliseconds: 500)
    try await set("2026-12-24T17:59:50Z", group)
    let date = try DateExpression(parsing: "2026-12-24T18:00:00Z")
    try await group.rig.run { try $0.setRate(2, time: MediaTime(value: 2, timescale: 1), atDate: date) }
    await group.rig.advance(milliseconds: 7_900)
    #expect(await player.state.timeControlStatus == .paused)
    #expect(await player.currentTime() == MediaTime(value: 2, timescale: 1))
    await group.rig.advance(milliseconds: 2_000)
    let state = await player.state
    #expect(state.rate == 2 && state.reasonForWaitingToPlay == .startTimeNotReached)
    await group.rig.advance(milliseconds: 200)
    let time = await player.currentTime().seconds
    #expect(abs(time - 2.2) < 0.001, "\(time)")
  }

  @Test func rateAtANearDateKeepsTheItemTimeUntilThen() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    try await set("2026-12-24T17:59:59.700Z", group)
    let date = try DateExpression(parsing: "2026-12-24T18:00:00Z")
    try await group.rig.run { try $0.setRate(1, time: MediaTime(value: 2, timescale: 1), atDate: date) }
    await group.rig.advance(milliseconds: 200)
    #expect(await player.state.reasonForWaitingToPlay == .startTimeNotReached)
    #expect(await player.currentTime() == MediaTime(value: 2, timescale: 1))
    await group.rig.advance(milliseconds: 200)
    #expect(await player.currentTime() == MediaTime(value: 21, timescale: 10))
  }

  @Test func rateAtADateRejectsWhatRateAtAnInstantRejects() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    try await set("2026-12-24T18:00:00Z", group)
    let (past, future) = (try DateExpression(parsing: "2026-12-24T17:00Z"), try DateExpression(parsing: "19:00"))
    func code(_ rate: Double, _ date: DateExpression) async -> MediaError.Code? {
      do {
        try await group.rig.run { try $0.setRate(rate, time: nil, atDate: date) }
        return nil
      } catch { return (error as? MediaError)?.code }
    }
    #expect(await code(1, future) == .invalidState)
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    #expect(await code(1, past) == .invalidTime)
    #expect(await code(40, future) == .unsupportedRate)
    await player.play()
    await group.rig.advance(milliseconds: 100)
    #expect(await code(1, past) == .invalidTime)
    #expect(await player.state.timeControlStatus == .playing)
  }
}
