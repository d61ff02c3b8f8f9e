import PlayheadMediaCore
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

@Suite struct EventLogTests {
  private func log(
    events: Int = 4_096, bytes: Int = 2_097_152, later: @escaping (@escaping @Sendable () -> Void) -> Void = { $0() }
  ) -> EventLog {
    var limits = WireLimits.standard
    limits.loggedEventCount = events
    limits.loggedEventByteCount = bytes
    return EventLog(limits: limits, schedule: later)
  }

  private func change(_ key: ObservableKey = .playerVolume, _ value: FieldValue, player: String = "main")
    -> ChangedEvent
  {
    ChangedEvent(player: player, key: key, old: .none, new: value, cause: "request")
  }

  private func query(_ request: String) throws -> EventQuery {
    guard case .request(let parsed) = RequestParserProbe.parse(request) else {
      throw MediaError(.badArguments, request)
    }
    return Arguments<EventsCommand>(parsed: parsed.arguments).query
  }

  @Test func instanceIDsAreUniqueAndHave16HexDigits() {
    let (one, two) = (log(), log())
    #expect(one.instance != two.instance)
    #expect(one.instance.utf8.count == 16 && one.instance.allSatisfy(\.isHexDigit))
  }

  @Test func oldestEventsAreDroppedAndCountedAtTheCountAndByteLimits() throws {
    let few = log(events: 10)
    for number in 1...25 {
      #expect(few.append(change(.playerVolume, .int(number)), key: .playerVolume, player: "main") == UInt64(number))
    }
    let part = few.part(try query("events since=3"), since: 3, byteLimit: .max)
    #expect(part.entries.map(\.number) == Array(16...25))
    #expect(part.missedCount == 12 && part.lastNumber == 25 && !part.hasMore)
    let small = log(bytes: 65_536)
    let text = FieldValue.string(String(repeating: "x", count: 10_000))
    for _ in 1...25 { _ = small.append(change(.playerError, text), key: .playerError, player: "main") }
    #expect(small.byteCount <= 65_536)
    let retained = small.part(try query("events since=0"), since: 0, byteLimit: .max)
    #expect(retained.entries.map(\.number) == Array(20...25))
    #expect(retained.missedCount == 19)
    // An event that exceeds the limit is not retained, but has a number.
    let huge = FieldValue.string(String(repeating: "x", count: 70_000))
    #expect(small.append(change(.playerError, huge), key: .playerError, player: "main") == 26)
    #expect(small.part(try query("events since=0"), since: 0, byteLimit: .max).missedCount == 26)
    #expect(small.byteCount == 0)
  }

  @Test func partContainsOnlyMatchingEventsAndReportsItsEnd() throws {
    let log = log()
    for number in 1...12 {
      let key = number % 2 == 0 ? ObservableKey.playerRate : .playerVolume
      let player = number % 3 == 0 ? "b" : "main"
      _ = log.append(change(key, .int(number), player: player), key: key, player: player)
    }
    _ = log.append(change(.outputState, "ready"), key: .outputState, player: nil)
    func numbers(_ request: String, since: UInt64 = 0, byteLimit: Int = .max) throws -> [UInt64] {
      log.part(try query(request), since: since, byteLimit: byteLimit).entries.map(\.number)
    }
    #expect(try numbers("events player.rate since=0") == [2, 4, 6, 8, 10, 12])
    #expect(try numbers("events *.rate since=0 player=b") == [6, 12])
    #expect(try numbers("events player=b since=0") == [3, 6, 9, 12, 13])
    #expect(try numbers("events since=13", since: 13) == [])
    let part = log.part(try query("events player.rate since=3 limit=2"), since: 3, byteLimit: .max)
    #expect(part.entries.map(\.number) == [4, 6] && part.hasMore && part.lastNumber == 6)
    let whole = log.part(try query("events player.rate since=6 limit=3"), since: 6, byteLimit: .max)
    #expect(whole.entries.map(\.number) == [8, 10, 12] && !whole.hasMore && whole.lastNumber == 13)
    // Each part makes progress, even with the smallest byte limit.
    #expect(try numbers("events since=0", byteLimit: 1) == [1])
  }

  @Test func waiterIsCalledOnceAfterAllEventsOfATurn() {
    var waiting: [@Sendable () -> Void] = []
    let log = log(later: { waiting.append($0) })
    var calls = 0
    _ = log.addWaiter { calls += 1 }
    let other = log.addWaiter { calls += 100 }
    log.removeWaiter(other)
    for _ in 1...3 { _ = log.append(change(.playerVolume, 1), key: .playerVolume, player: "main") }
    #expect(calls == 0 && waiting.count == 1)
    waiting.removeFirst()()
    #expect(calls == 1)
    _ = log.append(change(.playerVolume, 1), key: .playerVolume, player: "main")
    #expect(waiting.isEmpty && calls == 1)
  }
}

/// Parses one request.
private enum RequestParserProbe {
  static func parse(_ line: String) -> ParsedLine {
    var parser = RequestParser()
    return parser.parse(Array(line.utf8).span)
  }
}
