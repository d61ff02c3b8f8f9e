import PlayerModel
import Testing
import WireProtocol

@testable import ControlServer

@Suite struct ConnectionStateMachineTests {
  private let requestWithID = ReplyAddress(form: .words, id: .words("a"))

  private func beginRequest(
    _ machine: inout ConnectionStateMachine, _ address: ReplyAddress, isInOrder: Bool = false
  ) throws -> WaitToken {
    guard case .began(let token) = machine.begin(address, isInOrder: isInOrder) else {
      Issue.record("the request did not begin")
      return 0
    }
    return token
  }

  @Test func waitingRequestWithoutAnIDBlocksTheNext() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, .words)
    #expect(!machine.mayTakeRequest)
    #expect(machine.finish(token) == .words)
    #expect(machine.mayTakeRequest)
  }

  @Test func waitingRequestWithAnIDBlocksNoOther() throws {
    var machine = ConnectionStateMachine()
    _ = try beginRequest(&machine, requestWithID)
    #expect(machine.mayTakeRequest)
  }

  @Test func requestInOrderBlocksTheNextEvenWithAnID() throws {
    var machine = ConnectionStateMachine()
    guard case .began(let token) = machine.begin(requestWithID, isInOrder: true) else {
      Issue.record("the request did not begin")
      return
    }
    #expect(!machine.mayTakeRequest && !machine.accepts(requestWithID))
    #expect(machine.finish(token) == requestWithID)
    #expect(machine.mayTakeRequest && machine.accepts(requestWithID))
  }

  @Test func waitingJSONRequestWithoutAnIDBlocksTheNext() throws {
    for id in [RequestID.none, .jsonNull] {
      var machine = ConnectionStateMachine()
      _ = try beginRequest(&machine, ReplyAddress(form: .json, id: id))
      #expect(!machine.mayTakeRequest)
    }
  }

  @Test func idIsInUseUntilTheReply() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, requestWithID)
    #expect(!machine.accepts(requestWithID))
    #expect(machine.accepts(ReplyAddress(form: .json, id: .jsonString("a"))))
    #expect(machine.begin(requestWithID) == .idInUse)
    #expect(machine.waitingCount == 1)
    _ = machine.finish(token)
    #expect(machine.accepts(requestWithID))
  }

  @Test func requestFinishesOnlyOnce() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, requestWithID)
    #expect(machine.finish(token) == requestWithID)
    #expect(machine.finish(token) == nil)
    #expect(machine.finish(99) == nil)
  }

  @Test func noRequestIsAcceptedAtTheLimitOfWaitingRequests() throws {
    var machine = ConnectionStateMachine(waitingRequestLimit: 2)
    let first = try beginRequest(&machine, requestWithID)
    _ = try beginRequest(&machine, ReplyAddress(form: .words, id: .words("b")))
    #expect(!machine.mayTakeRequest)
    _ = machine.finish(first)
    #expect(machine.mayTakeRequest)
  }

  @Test func repliesAreStillDueAfterTheEndOfInput() throws {
    var machine = ConnectionStateMachine()
    #expect(!machine.isAnswered)
    let token = try beginRequest(&machine, .words)
    machine.inputEnded()
    #expect(!machine.isAnswered)
    _ = machine.finish(token)
    // A request that was sent before the end may still be accepted.
    #expect(machine.mayTakeRequest)
    #expect(machine.isAnswered)
  }

  @Test func requestInOrderBlocksOthersOnlyUntilItWaits() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, requestWithID, isInOrder: true)
    #expect(!machine.mayTakeRequest && machine.isTakingTurns)
    machine.letOthersPass(token)
    #expect(machine.mayTakeRequest && !machine.isTakingTurns && !machine.accepts(requestWithID))
    #expect(machine.finish(token) == requestWithID)
    // A request without an id blocks later requests until its reply.
    let other = try beginRequest(&machine, .words, isInOrder: true)
    machine.letOthersPass(other)
    #expect(!machine.mayTakeRequest && !machine.isTakingTurns)
    _ = machine.finish(other)
    #expect(machine.mayTakeRequest)
  }

  @Test func noRequestIsAcceptedAfterClosing() {
    var machine = ConnectionStateMachine()
    machine.close()
    machine.inputEnded()
    #expect(!machine.mayTakeRequest)
    #expect(!machine.isAnswered)
  }
}
