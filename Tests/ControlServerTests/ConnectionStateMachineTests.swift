import PlayheadPlayerModel
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

@Suite struct ConnectionStateMachineTests {
  private let requestWithID = ReplyAddress(form: .words, id: .words("a"))

  private func beginRequest(
    _ machine: inout ConnectionStateMachine, _ address: ReplyAddress, runsInSlices: Bool = false
  ) throws -> WaitToken {
    guard case .started(let token) = machine.start(address, runsInSlices: runsInSlices) else {
      Issue.record("the request did not begin")
      return 0
    }
    return token
  }

  @Test func waitingRequestWithoutAnIDBlocksTheNext() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, .words)
    #expect(!machine.mayProcessRequest)
    #expect(machine.finish(token) == .words)
    #expect(machine.mayProcessRequest)
  }

  @Test func waitingRequestWithAnIDBlocksNoOther() throws {
    var machine = ConnectionStateMachine()
    _ = try beginRequest(&machine, requestWithID)
    #expect(machine.mayProcessRequest)
  }

  @Test func requestInSlicesBlocksTheNextEvenWithAnID() throws {
    var machine = ConnectionStateMachine()
    guard case .started(let token) = machine.start(requestWithID, runsInSlices: true) else {
      Issue.record("the request did not begin")
      return
    }
    #expect(!machine.mayProcessRequest && !machine.accepts(requestWithID))
    #expect(machine.finish(token) == requestWithID)
    #expect(machine.mayProcessRequest && machine.accepts(requestWithID))
  }

  @Test func waitingJSONRequestWithoutAnIDBlocksTheNext() throws {
    for id in [RequestID.none, .jsonNull] {
      var machine = ConnectionStateMachine()
      _ = try beginRequest(&machine, ReplyAddress(form: .json, id: id))
      #expect(!machine.mayProcessRequest)
    }
  }

  @Test func idIsInUseUntilTheReply() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, requestWithID)
    #expect(!machine.accepts(requestWithID))
    #expect(machine.accepts(ReplyAddress(form: .json, id: .jsonString("a"))))
    #expect(machine.start(requestWithID) == .idInUse)
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
    #expect(!machine.mayProcessRequest)
    _ = machine.finish(first)
    #expect(machine.mayProcessRequest)
  }

  @Test func repliesAreStillDueAfterTheEndOfInput() throws {
    var machine = ConnectionStateMachine()
    #expect(!machine.isComplete)
    let token = try beginRequest(&machine, .words)
    machine.inputEnded()
    #expect(!machine.isComplete)
    _ = machine.finish(token)
    // A request that was sent before the end may still be accepted.
    #expect(machine.mayProcessRequest)
    #expect(machine.isComplete)
  }

  @Test func requestInSlicesBlocksOthersOnlyUntilItWaits() throws {
    var machine = ConnectionStateMachine()
    let token = try beginRequest(&machine, requestWithID, runsInSlices: true)
    #expect(!machine.mayProcessRequest && machine.isRunningInSlices)
    machine.allowLaterRequests(after: token)
    #expect(machine.mayProcessRequest && !machine.isRunningInSlices && !machine.accepts(requestWithID))
    #expect(machine.finish(token) == requestWithID)
    // A request without an id blocks later requests until its reply.
    let other = try beginRequest(&machine, .words, runsInSlices: true)
    machine.allowLaterRequests(after: other)
    #expect(!machine.mayProcessRequest && !machine.isRunningInSlices)
    _ = machine.finish(other)
    #expect(machine.mayProcessRequest)
  }

  @Test func noRequestIsAcceptedAfterClosing() {
    var machine = ConnectionStateMachine()
    machine.close()
    machine.inputEnded()
    #expect(!machine.mayProcessRequest)
    #expect(!machine.isComplete)
  }
}
