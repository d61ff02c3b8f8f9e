import PlayheadMediaCore
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

@Suite struct OutputQueueTests {
  private func queue(_ limit: Int) -> OutputQueue {
    var limits = WireLimits.standard
    limits.outputByteCount = limit
    return OutputQueue(limits: limits)
  }

  private func dequeuedLines(_ queue: inout OutputQueue) -> [String] {
    var lines: [String] = []
    queue.drain { lines = String(decoding: $0, as: UTF8.self).split(separator: "\n").map { String($0) } }
    return lines
  }

  private let tick = TickEvent(
    subscription: 1, position: .init(player: "main", item: 1, time: .zero), rate: 1, reason: .periodic,
    lateNanoseconds: 0)

  private func change(_ old: Int, _ new: Int, subscription: Int = 2) -> ChangedEvent {
    ChangedEvent(player: "main", key: .queueVersion, old: .int(old), new: .int(new), cause: "request")
      .addressed(to: subscription)
  }

  @Test func repliesAndEventsKeepTheirOrder() {
    var queue = queue(10_000)
    #expect(queue.isEmpty)
    queue.append { $0 += Array("ok\n".utf8) }
    #expect(queue.append(change(1, 2), form: .words) == 0)
    queue.append { $0 += Array("ok\n".utf8) }
    #expect(!queue.isEmpty)
    #expect(
      dequeuedLines(&queue) == ["ok", "* changed id=2 player=main key=queue.version old=1 new=2 cause=request", "ok"])
    #expect(queue.isEmpty)
    #expect(dequeuedLines(&queue) == [])
  }

  @Test func mergedChangesAreSentInTheOrderOfTheirNumbers() {
    var queue = queue(1_000)
    queue.append { $0 += [UInt8](repeating: UInt8(ascii: "x"), count: 501) + Array("\n".utf8) }
    #expect(queue.append(change(1, 2), form: .words, number: 10) == 0)
    #expect(queue.append(change(5, 6, subscription: 3), form: .words, number: 11) == 0)
    #expect(queue.append(change(2, 3), form: .words, number: 12) == 0)
    _ = dequeuedLines(&queue)
    #expect(
      dequeuedLines(&queue) == [
        "* overflow dropped=0 merged=1 since=9",
        "* changed id=3 player=main key=queue.version old=5 new=6 cause=request seq=11",
        "* changed id=2 player=main key=queue.version old=1 new=3 cause=request seq=12",
      ])
  }

  @Test func aboveHalfTheLimitEventsAreDroppedAndChangesMerged() {
    var queue = queue(1_000)
    queue.append { $0 += [UInt8](repeating: UInt8(ascii: "x"), count: 501) + Array("\n".utf8) }
    #expect(queue.isHalfFull)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(1, 2), form: .words) == 0)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(2, 3), form: .words) == 0)
    #expect(queue.append(change(3, 4), form: .words) == 0)
    #expect(queue.append(change(7, 8, subscription: 3), form: .json) == 0)
    queue.append { $0 += Array("ok\n".utf8) }
    // While the peer reads too slowly, only older output and the reply are sent.
    #expect(dequeuedLines(&queue).dropFirst() == ["ok"])
    #expect(!queue.isEmpty)
    let lines = dequeuedLines(&queue)
    #expect(
      lines.prefix(2) == [
        "* overflow dropped=2 merged=2", "* changed id=2 player=main key=queue.version old=1 new=4 cause=request",
      ])
    #expect(lines.last?.contains(#""old":7,"new":8"#) == true)
    #expect(queue.isEmpty)
    #expect(queue.append(tick, form: .words) == 0)
  }

  /// The end of a subscription is reported even to a client that reads too slowly. It is reported when the client
  /// reads again.
  @Test func endOfASubscriptionIsNeverDropped() {
    var queue = queue(1_000)
    queue.append { $0 += [UInt8](repeating: UInt8(ascii: "x"), count: 501) + Array("\n".utf8) }
    func removed(_ id: Int) -> RemovedEvent {
      RemovedEvent(subscription: id, player: "main", item: nil, cause: .playerClosed)
    }
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(1, 2), form: .words) == 0)
    #expect(queue.append(removed(1), form: .words) == 0)
    #expect(queue.append(removed(3), form: .json) == 0)
    _ = dequeuedLines(&queue)
    let lines = dequeuedLines(&queue)
    #expect(
      lines.prefix(3) == [
        "* overflow dropped=1 merged=0", "* changed id=2 player=main key=queue.version old=1 new=2 cause=request",
        "* removed id=1 player=main cause=playerClosed",
      ], "\(lines)")
    #expect(lines.count == 4 && lines.last?.contains(#""method":"removed","params":{"id":3,"#) == true, "\(lines)")
    // Reported once.
    #expect(queue.isEmpty && dequeuedLines(&queue) == [])
  }

  @Test func bytesOfTheTransportCountTowardsTheLimit() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    #expect(queue.isHalfFull)
    #expect(!queue.isOverLimit)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(dequeuedLines(&queue) == [])
    queue.transportByteCount = 0
    #expect(dequeuedLines(&queue) == ["* overflow dropped=1 merged=0"])
    queue.transportByteCount = 1_001
    #expect(queue.isOverLimit)
  }

  @Test func changesRetainedForAnEndedSubscriptionAreNotSent() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    #expect(queue.append(change(1, 2), form: .words) == 0)
    queue.dropChanges(ofSubscription: 2)
    queue.transportByteCount = 0
    #expect(dequeuedLines(&queue) == [])
    #expect(queue.isEmpty)
  }

  @Test func numberOfRetainedChangesIsLimited() {
    var queue = queue(1_000)
    queue.transportByteCount = 600
    var dropped = 0
    for id in 1...(WireLimits.standard.retainedValueCount + 10) {
      dropped += queue.append(change(1, 2, subscription: id), form: .words)
    }
    #expect(dropped == 10)
  }

  @Test func overflowReportsTheEventNumberToResumeFrom() {
    var queue = queue(1_000)
    #expect(queue.append(change(1, 2), form: .words, number: 7) == 0)
    queue.append { $0 += [UInt8](repeating: UInt8(ascii: "x"), count: 501) + Array("\n".utf8) }
    #expect(queue.append(change(2, 3), form: .words, number: 9) == 0)
    #expect(queue.append(tick, form: .words) == 1)
    #expect(queue.append(change(3, 4), form: .words, number: 11) == 0)
    #expect(
      dequeuedLines(&queue).first == "* changed id=2 player=main key=queue.version old=1 new=2 cause=request seq=7")
    // Event 8 did not concern this connection: the missing events begin after it.
    #expect(
      dequeuedLines(&queue) == [
        "* overflow dropped=1 merged=1 since=8",
        "* changed id=2 player=main key=queue.version old=2 new=4 cause=request seq=11",
      ])
    queue.transportByteCount = 600
    #expect(queue.append(change(4, 5), form: .words, number: 20) == 0)
    queue.transportByteCount = 0
    // Nothing was lost or merged, only delayed.
    #expect(dequeuedLines(&queue) == ["* changed id=2 player=main key=queue.version old=4 new=5 cause=request seq=20"])
  }
}
