import PlayheadMediaCore
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

@Suite struct SubscriptionsTests {
  typealias Cost = Subscriptions.Cost

  private static let limits = WireLimits.standard

  /// Returns the error of a subscription that costs `cost` while other connections have the given costs.
  private func rejection(
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
  func readOnlyConnectionsLeaveAQuarterOfEachTotalUnused(_ ownCost: Cost, _ readOnlyCost: Cost) {
    // The read-only connections have reached their joint limit.
    #expect(rejection(ownCost, mayControl: false, watching: readOnlyCost)?.code == .tooManySubscriptions)
    #expect(rejection(ownCost, mayControl: true, watching: readOnlyCost) == nil)
    // Connections with the right may use everything, and the totals apply to all.
    #expect(rejection(ownCost, mayControl: true, controlling: readOnlyCost) == nil)
    #expect(
      rejection(ownCost, mayControl: true, controlling: ownCost, watching: readOnlyCost)?.code == .tooManySubscriptions)
    #expect(rejection(ownCost, mayControl: false, controlling: readOnlyCost) == nil)
  }

  @Test func subscriptionWithoutACostCountsTowardsNoTotal() {
    let readOnlyCost = Cost(eventsPerSecond: 40_000, timeCount: 100_000)
    #expect(rejection(Cost(), mayControl: false, watching: readOnlyCost) == nil)
  }
}
