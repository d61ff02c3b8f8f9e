import PlayerModel
import Testing
import WireProtocol

@testable import ControlServer

@Suite struct ConnectionStateMachineTests {
  private let named = ReplyAddress(form: .words, id: .words("a"))

  private func begun(
    _ machine: inout ConnectionStateMachine, _ address: ReplyAddress, isInOrder: Bool = false
  ) throws -> WaitToken {
    guard case .began(let token) = machine.begin(address, isInOrder: isInOrder) else {
      Issue.record("the request did not begin")
      return 0
    }
    return token
  }

  @Test func aWaitingRequestWithoutAnIDHoldsUpTheNext() throws {
    var machine = ConnectionStateMachine()
    let token = try begun(&machine, .words)
    #expect(!machine.mayTakeRequest)
    #expect(machine.finish(token) == .words)
    #expect(machine.mayTakeRequest)
  }

  @Test func aWaitingRequestWithAnIDHoldsUpNothing() throws {
    var machine = ConnectionStateMachine()
    _ = try begun(&machine, named)
    #expect(machine.mayTakeRequest)
  }

  @Test func whatIsAnsweredInOrderHoldsUpTheNextWithAnIDToo() throws {
    var machine = ConnectionStateMachine()
    guard case .began(let token) = machine.begin(named, isInOrder: true) else {
      Issue.record("the request did not begin")
      return
    }
    #expect(!machine.mayTakeRequest && !machine.accepts(named))
    #expect(machine.finish(token) == named)
    #expect(machine.mayTakeRequest && machine.accepts(named))
  }

  @Test func jsonNullAndNotificationsHoldUp() throws {
    for id in [RequestID.none, .jsonNull] {
      var machine = ConnectionStateMachine()
      _ = try begun(&machine, ReplyAddress(form: .json, id: id))
      #expect(!machine.mayTakeRequest)
    }
  }

  @Test func anIDIsTakenUntilTheReply() throws {
    var machine = ConnectionStateMachine()
    let token = try begun(&machine, named)
    #expect(!machine.accepts(named))
    #expect(machine.accepts(ReplyAddress(form: .json, id: .jsonString("a"))))
    #expect(machine.begin(named) == .idInUse)
    #expect(machine.waitingCount == 1)
    _ = machine.finish(token)
    #expect(machine.accepts(named))
  }

  @Test func aRequestIsFinishedOnce() throws {
    var machine = ConnectionStateMachine()
    let token = try begun(&machine, named)
    #expect(machine.finish(token) == named)
    #expect(machine.finish(token) == nil)
    #expect(machine.finish(99) == nil)
  }

  @Test func atTheLimitNothingIsTaken() throws {
    var machine = ConnectionStateMachine(waitingRequestLimit: 2)
    let first = try begun(&machine, named)
    _ = try begun(&machine, ReplyAddress(form: .words, id: .words("b")))
    #expect(!machine.mayTakeRequest)
    _ = machine.finish(first)
    #expect(machine.mayTakeRequest)
  }

  @Test func afterTheInputEndedTheAnswersAreStillOwed() throws {
    var machine = ConnectionStateMachine()
    #expect(!machine.isAnswered)
    let token = try begun(&machine, .words)
    machine.inputEnded()
    #expect(!machine.isAnswered)
    _ = machine.finish(token)
    // A request that was sent before the end may still be accepted.
    #expect(machine.mayTakeRequest)
    #expect(machine.isAnswered)
  }

  @Test func whatIsDoneInOrderHoldsUpOthersOnlyUntilItWaits() throws {
    var machine = ConnectionStateMachine()
    let token = try begun(&machine, named, isInOrder: true)
    #expect(!machine.mayTakeRequest && machine.isTakingTurns)
    machine.letOthersPass(token)
    #expect(machine.mayTakeRequest && !machine.isTakingTurns && !machine.accepts(named))
    #expect(machine.finish(token) == named)
    // A request without an id blocks later requests until its reply.
    let other = try begun(&machine, .words, isInOrder: true)
    machine.letOthersPass(other)
    #expect(!machine.mayTakeRequest && !machine.isTakingTurns)
    _ = machine.finish(other)
    #expect(machine.mayTakeRequest)
  }

  @Test func onceClosedNothingIsTaken() {
    var machine = ConnectionStateMachine()
    machine.close()
    machine.inputEnded()
    #expect(!machine.mayTakeRequest)
    #expect(!machine.isAnswered)
  }
}
