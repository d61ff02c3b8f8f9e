import MediaCore
import Testing
import WireProtocol

@testable import ControlServer

@Suite struct OutputQueueTests {
  private func queue(_ limit: Int) -> OutputQueue {
    var limits = WireLimits.standard
    limits.outputByteCount = limit
    return OutputQueue(limits: limits)
  }

  private func taken(_ queue: inout OutputQueue) -> [String] {
    var lines: [String] = []
    queue.take { lines = String(decoding: $0, as: UTF8.self).split(separator: "\n").map { String($0) } }
    return lines
  }

  private let tick = Event.tick(
    .init(
      subscription: 1, position: .init(player: "main", item: 1, time: .zero), rate: 1, reason: .periodic,
      lateNanoseconds: 0))

  private func change(_ old: Int, _ new: Int, subscription: Int = 2) -> Event {
    .changed(
      .init(
        subscription: subscription, player: "main", key: .queueVersion, old: .int(old), new: .int(new),
        cause: "request"))
  }

  @Test func repliesAndEventsKeepTheirOrder() {
    var queue = queue(10_000)
    #expect(queue.isEmpty)
    queue.append { $0 += Array("ok\n".utf8) }
    #expect(queue.append(change(1, 2), form: .words) == 0)
    queue.append { $0 += Array("ok\n".utf8) }
    #expect(!queue.isEmpty)
    #expect(
      taken(&queue) == ["ok", "* changed id=2 player=main key=queue.version old=1 new=2 cause=request", "ok"])
    #expect(queue.isEmpty)
    #expect(taken(&queue) == [])
  }

  @Test func beyondHalfOfTheLimitEventsAreCountedAndOfAStateTheNewestIsKept() {
    var queue = queue(1_000)
    queue.append { $0 += [UInt8](repeating: UInt8(ascii: "x"), count: 501) + Array("\n".utf8) }
    #expect(queue.isFull)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(1, 2), form: .words) == 0)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(2, 3), form: .words) == 0)
    #expect(queue.append(change(3, 4), form: .words) == 0)
    #expect(queue.append(change(7, 8, subscription: 3), form: .json) == 0)
    queue.append { $0 += Array("ok\n".utf8) }
    // While the peer is behind, only what was there and the reply go out.
    #expect(taken(&queue).dropFirst() == ["ok"])
    #expect(!queue.isEmpty)
    let lines = taken(&queue)
    #expect(
      lines.prefix(2) == [
        "* overflow dropped=2", "* changed id=2 player=main key=queue.version old=1 new=4 cause=request",
      ])
    #expect(lines.last?.contains(#""old":7,"new":8"#) == true)
    #expect(queue.isEmpty)
    #expect(queue.append(tick, form: .words) == 0)
  }

  @Test func whatTheTransportHoldsCounts() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    #expect(queue.isFull)
    #expect(!queue.isOverLimit)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(taken(&queue) == [])
    queue.transportByteCount = 0
    #expect(taken(&queue) == ["* overflow dropped=1"])
    queue.transportByteCount = 1_001
    #expect(queue.isOverLimit)
  }

  @Test func whatWasKeptForAnEndedSubscriptionIsNotSent() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    #expect(queue.append(change(1, 2), form: .words) == 0)
    queue.forget(subscription: 2)
    queue.transportByteCount = 0
    #expect(taken(&queue) == [])
    #expect(queue.isEmpty)
  }

  @Test func keptValuesAreBounded() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    var dropped = 0
    for id in 1...(OutputQueue.keptChangeCount + 10) {
      dropped += queue.append(change(1, 2, subscription: id), form: .words)
    }
    #expect(dropped == 10)
  }
}
