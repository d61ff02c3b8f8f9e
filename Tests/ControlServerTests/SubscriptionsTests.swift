import MediaCore
import Testing
import WireProtocol

@testable import ControlServer

@Suite struct SubscriptionsTests {
  typealias Cost = Subscriptions.Cost

  private static let limits = WireLimits.standard

  /// Returns the error of a subscription that costs `cost` while other connections have the given costs.
  private func refusal(
    _ cost: Cost, mayControl: Bool, controlling: Cost = Cost(), watching: Cost = Cost()
  ) -> MediaError? {
    do throws(MediaError) {
      _ = try Subscriptions().newID(cost, limits: Self.limits, mayControl: mayControl) {
        (all: controlling + watching, watching: watching)
      }
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    (Cost(eventsPerSecond: 10_000), Cost(eventsPerSecond: 30_000)), (Cost(timeCount: 20_000), Cost(timeCount: 75_000)),
  ])
  func connectionsThatMayNotControlLeaveAQuarterOfEachTotal(_ own: Cost, _ watchers: Cost) {
    // The read-only connections have reached their joint limit.
    #expect(refusal(own, mayControl: false, watching: watchers)?.code == .tooManySubscriptions)
    #expect(refusal(own, mayControl: true, watching: watchers) == nil)
    // Connections with the right may use everything, and the totals apply to all.
    #expect(refusal(own, mayControl: true, controlling: watchers) == nil)
    #expect(refusal(own, mayControl: true, controlling: own, watching: watchers)?.code == .tooManySubscriptions)
    #expect(refusal(own, mayControl: false, controlling: watchers) == nil)
  }

  @Test func aSubscriptionWithoutACostCountsTowardsNoTotal() {
    let watchers = Cost(eventsPerSecond: 40_000, timeCount: 100_000)
    #expect(refusal(Cost(), mayControl: false, watching: watchers) == nil)
  }
}
