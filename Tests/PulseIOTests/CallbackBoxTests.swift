import Testing

@testable import PlayheadPulseIO

@Suite struct CallbackBoxTests {
  private final class Target {}

  @Test func boxFindsItsObjectUntilTheObjectEnds() throws {
    let mainloop = try PulseMainloop()
    var target: Target? = Target()
    let userdata = mainloop.withLock { target.map { mainloop.userdata(for: $0) } }
    #expect(target != nil && CallbackBox<Target>.target(userdata) === target)
    #expect(CallbackBox<Target>.target(nil) == nil)
    target = nil
    // The loop keeps the box, but the box does not keep the object.
    #expect(CallbackBox<Target>.target(userdata) == nil)
    mainloop.stop()
  }

  @Test func deferredEventEndsWithItsValue() throws {
    let mainloop = try PulseMainloop()
    mainloop.withLock {
      var event = LoopEvent(deferredOn: mainloop, mainloop.userdata) { _, _, _ in
        Issue.record("the event was removed before the loop ran")
      }
      let isAdded = event != nil
      #expect(isAdded)
      event = nil
    }
    mainloop.stop()
  }
}
