import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback

/// Opening of items to determine their state, in virtual time.
@Suite(.timeLimit(.minutes(2))) struct ItemLoaderTests {
  /// A loader on a separate loop, and its results.
  private final class LoaderRig: Sendable {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "loader"))
    let results = ConditionMutex<[String]>([])
    let loader: ItemLoader
    private let files: TemporaryDirectory
    let bytes: [UInt8]

    init(limits: ItemLoader.Limits = ItemLoader.Limits()) throws {
      loader = ItemLoader(loop: loop, limits: limits)
      files = try TemporaryDirectory("loader")
      try TimeCode.writeWAV(path: files.file("1.wav"), file: 1, frameCount: 480)
      bytes = Array(try Data(contentsOf: URL(fileURLWithPath: files.file("1.wav"))))
    }

    func file(_ name: String) -> PlayerItem { PlayerItem(asset: Asset(path: files.file(name))) }

    /// Loads items in this order.
    func load(_ items: [(name: String, item: PlayerItem)], for owner: AnyObject & Sendable) {
      loop.execute { [self] in
        for (name, item) in items {
          loader.load(item, for: owner) { result in
            let text =
              switch result {
              case .success(let properties): properties.duration.decimalDescription
              case .failure(let error): error.code.name
              }
            self.results.update { $0.append("\(name) \(text)") }
          }
        }
      }
    }

    func load(_ names: [String], of locations: HangingLocations, for owner: AnyObject & Sendable) -> [PlayerItem] {
      let items = names.map { locations.item($0) }
      load(Array(zip(names, items)), for: owner)
      return items
    }

    func run(_ body: @escaping @Sendable (ItemLoader) -> Void) { loop.execute { [loader] in body(loader) } }

    /// Waits until the loop has run all jobs.
    func settle() async { await withCheckedContinuation { done in loop.execute { done.resume() } } }

    func advance(seconds: Int64) async { await loop.advance(byNanoseconds: seconds * 1_000_000_000) }

    /// Waits for this number of results and returns them in their order.
    func wait(_ count: Int) throws -> [String] {
      let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
      return try #require(results.wait(until: deadline) { $0.count >= count ? $0 : nil }, "too few results")
    }
  }

  private final class Owner: Sendable {}
  private let owner = Owner()

  @Test func everyRequestForAnItemGetsAResult() throws {
    let rig = try LoaderRig()
    let item = rig.file("1.wav")
    rig.load([("a", item), ("b", item), ("c", rig.file("none.wav")), ("d", item)], for: owner)
    #expect(try rig.wait(4).sorted() == ["a 0.01", "b 0.01", "c file-not-found", "d 0.01"])
  }

  @Test func hangingItemsDoNotBlockOtherItemsOnceTheyAreSlow() async throws {
    let rig = try LoaderRig()
    let locations = HangingLocations(bytes: rig.bytes)
    _ = rig.load((0..<9).map { "hanging \($0)" }, of: locations, for: owner)
    rig.load([("file", rig.file("1.wav"))], for: owner)
    #expect(try Set(locations.waitUntilRequested(4)) == Set((0..<4).map { "hanging \($0)" }))
    await rig.advance(seconds: 1)
    #expect(locations.requested.count == 4)
    await rig.advance(seconds: 1)
    #expect(try Set(locations.waitUntilRequested(8)) == Set((0..<8).map { "hanging \($0)" }))
    await rig.advance(seconds: 2)
    #expect(try rig.wait(1) == ["file 0.01"])
    locations.open("hanging 5")
    #expect(try rig.wait(2) == ["file 0.01", "hanging 5 0.01"])
    locations.openAll()
    #expect(try rig.wait(10).count == 10)
    rig.run { #expect(!$0.isBusy) }
    await rig.settle()
  }

  @Test func hangingItemTimesOutAndIsCancelled() async throws {
    let rig = try LoaderRig()
    let locations = HangingLocations(bytes: rig.bytes)
    _ = rig.load(["a", "b"], of: locations, for: owner)
    _ = try locations.waitUntilRequested(2)
    await rig.advance(seconds: 29)
    #expect(rig.results.withState { $0 } == [])
    await rig.advance(seconds: 1)
    #expect(try rig.wait(2) == ["a opening-timed-out", "b opening-timed-out"])
    #expect(try locations.waitUntilCancelled(2).sorted() == ["a", "b"])
  }

  /// Reading the whole file takes longer.
  @Test func itemWithPreciseDurationTimesOutLater() async throws {
    let rig = try LoaderRig()
    let locations = HangingLocations(bytes: rig.bytes)
    rig.load([("precise", locations.item("precise", prefersPreciseDuration: true))], for: owner)
    _ = try locations.waitUntilRequested(1)
    await rig.advance(seconds: 599)
    #expect(rig.results.withState { $0 } == [])
    await rig.advance(seconds: 1)
    #expect(try rig.wait(1) == ["precise opening-timed-out"])
  }

  @Test func preferredItemsAreOpenedFirst() throws {
    let rig = try LoaderRig(limits: ItemLoader.Limits(slotCount: 1))
    let locations = HangingLocations(bytes: rig.bytes)
    let items = rig.load(["0", "a", "b", "c", "d"], of: locations, for: owner)
    _ = try locations.waitUntilRequested(1)
    rig.run { [owner] in $0.prioritize([items[3], items[2]], of: owner) }
    rig.run { [owner] in $0.prioritize([items[4], items[0], items[2]], of: owner) }
    rig.run { _ in locations.openAll() }
    #expect(try locations.waitUntilRequested(5) == ["0", "d", "b", "a", "c"])
    #expect(try rig.wait(5).map { String($0.prefix(1)) } == ["0", "d", "b", "a", "c"])
  }

  /// A request for a thousand entries does not delay a request for one.
  @Test func ownersOfRequestsTakeTurns() throws {
    let rig = try LoaderRig(limits: ItemLoader.Limits(slotCount: 1))
    let locations = HangingLocations(bytes: rig.bytes)
    let other = Owner()
    _ = rig.load((0..<50).map { "a\($0)" }, of: locations, for: owner)
    let items = rig.load(["b0", "b1", "b2"], of: locations, for: other)
    rig.run { $0.prioritize([items[2]], of: other) }
    rig.run { _ in locations.openAll() }
    #expect(try locations.waitUntilRequested(53).prefix(6) == ["a0", "b2", "a1", "b0", "a2", "b1"])
    #expect(try rig.wait(53).count == 53)
  }

  @Test func cancelledItemIsAbandonedWithoutAResult() async throws {
    let rig = try LoaderRig(limits: ItemLoader.Limits(slotCount: 2))
    let locations = HangingLocations(bytes: rig.bytes)
    let items = rig.load(["a", "b", "c", "d"], of: locations, for: owner)
    _ = try locations.waitUntilRequested(2)
    rig.run { loader in
      loader.cancel(items[2])
      loader.cancel(items[0])
      loader.cancel(items[0])
    }
    #expect(try locations.waitUntilRequested(3).last == "d")
    #expect(try locations.waitUntilCancelled(1) == ["a"])
    locations.openAll()
    #expect(try rig.wait(2).sorted() == ["b 0.01", "d 0.01"])
    // It can be requested again.
    rig.load([("a again", items[0])], for: owner)
    #expect(try rig.wait(3).last == "a again 0.01")
  }

  /// Like files of an unreachable server: their threads can only be abandoned, and their number must be limited.
  @Test func uninterruptibleThreadsAreLimited() async throws {
    let rig = try LoaderRig(limits: ItemLoader.Limits(slotCount: 2, threadCount: 3))
    let locations = HangingLocations(bytes: rig.bytes, ignoresCancellation: true)
    _ = rig.load(["a", "b", "c", "d"], of: locations, for: owner)
    rig.load([("file", rig.file("1.wav"))], for: owner)
    _ = try locations.waitUntilRequested(2)
    await rig.advance(seconds: 2)
    #expect(try locations.waitUntilRequested(3).last == "c")
    await rig.advance(seconds: 28)
    #expect(try rig.wait(2) == ["a opening-timed-out", "b opening-timed-out"])
    await rig.advance(seconds: 4)
    #expect(
      try rig.wait(5).dropFirst(2).sorted() == ["c opening-timed-out", "d opening-timed-out", "file opening-timed-out"])
    #expect(locations.requested.count == 3)
    // The server returns: the late results are not reported.
    locations.openAll()
    rig.load([("file again", rig.file("1.wav"))], for: owner)
    #expect(try rig.wait(6).last == "file again 0.01")
  }

  @Test func closedLoaderReportsNoResult() async throws {
    let rig = try LoaderRig(limits: ItemLoader.Limits(slotCount: 1))
    let locations = HangingLocations(bytes: rig.bytes)
    let items = rig.load(["a", "b"], of: locations, for: owner)
    _ = try locations.waitUntilRequested(1)
    rig.run { [owner] loader in
      loader.close()
      loader.load(items[1], for: owner) { _ in Issue.record("a closed loader reported a result") }
      #expect(!loader.isBusy)
    }
    #expect(try locations.waitUntilCancelled(1) == ["a"])
    await rig.settle()
    #expect(rig.results.withState { $0 } == [])
    #expect(locations.requested == ["a"])
  }

  // MARK: - In a player

  @Test func hangingEntryDoesNotDelayTheEntriesAfterIt() async throws {
    let rig = try await SlowRig()
    let first = try rig.wav(file: 1, frames: 480)
    let locations = HangingLocations(bytes: [])
    let hanging = locations.item("hanging")
    let following = PlayerItem(asset: try rig.wav(file: 2, frames: 960).asset)
    let ready = ConditionMutex<Set<PlayerItem.ID>>([])
    try await rig.run { player in
      _ = player.addEventObserver { event in
        if case .itemChanged(let id, .readyToPlay, _, _) = event { ready.update { _ = $0.insert(id) } }
      }
      try player.append([first, hanging, following])
    }
    // By the loader, and by the decode thread.
    _ = try locations.waitUntilRequested(2)
    await rig.advance(milliseconds: 2_000)
    let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
    let isReady: Bool? = ready.wait(until: deadline) { ids in ids.contains(following.id) ? true : nil }
    try #require(isReady == true)
    #expect(following.duration == MediaTime(value: 960, timescale: 48_000))
    // Opening is cancelled when the item is removed from the queue.
    try await rig.run { try $0.edit([.remove([hanging.id])]) }
    #expect(try Set(locations.waitUntilCancelled(1)) == ["hanging"])
    #expect(hanging.status == .unknown)
  }

  @Test func hangingEntryFailsWithOpeningTimedOut() async throws {
    let rig = try await SlowRig()
    let first = try rig.wav(file: 1, frames: 480)
    let locations = HangingLocations(bytes: [])
    let hanging = locations.item("hanging")
    try await rig.run { try $0.append([first, hanging]) }
    _ = try locations.waitUntilRequested(2)
    await rig.advance(milliseconds: 30_000)
    #expect(hanging.error?.code == .openingTimedOut)
    #expect(hanging.error?.message == "hanging could not be opened within 30 s")
  }
}
