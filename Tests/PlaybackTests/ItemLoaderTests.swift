import MediaAssets
import MediaCore
import RealtimeAudio
import RigSupport
import Testing

@testable import Playback

/// Opening items to find out their state.
@Suite struct ItemLoaderTests {
  @Test func everybodyWhoAsksForAnItemIsAnswered() throws {
    let files = try TemporaryDirectory("loader")
    let path = files.file("1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 480)
    let item = PlayerItem(asset: Asset(path: path))
    let missing = PlayerItem(asset: Asset(path: files.file("none.wav")))
    let answers = WakeSignal<[String]>([])
    let loop = ThreadControlLoop(name: "loader")
    loop.execute {
      let loader = ItemLoader(loop: loop)
      for (name, item) in [("a", item), ("b", item), ("c", missing), ("d", item)] {
        loader.load(item) { result in
          // Keeps the loader until all are answered.
          _ = loader
          let text = (try? result.get())?.duration.decimalDescription ?? "failed"
          answers.update { $0.append("\(name) \(text)") }
        }
      }
    }
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let all = answers.wait(until: deadline) { $0.count == 4 ? $0.sorted() : nil }
    #expect(all == ["a 0.01", "b 0.01", "c failed", "d 0.01"])
  }

  @Test func whatIsAskedForTwiceWaitsOnceAndInItsFirstPlace() {
    var waiting = WaitingList<String, Int>()
    #expect(waiting.first == nil)
    #expect(waiting.removeFirst() == [])
    for (number, key) in ["a", "b", "a", "c", "b", "a"].enumerated() { waiting.append(number, for: key) }
    #expect(waiting.first == "a")
    #expect(waiting.removeFirst() == [0, 2, 5])
    // It is asked for anew.
    waiting.append(6, for: "a")
    #expect(waiting.removeFirst() == [1, 4])
    #expect(waiting.removeFirst() == [3])
    #expect(waiting.first == "a")
    waiting.removeAll()
    #expect(waiting.first == nil)
    #expect(waiting.removeFirst() == [])
  }

  /// A key that counts how often it is compared.
  private struct CountedKey: Hashable {
    final class Count { var value = 0 }

    let number: Int
    let count: Count

    static func == (one: Self, other: Self) -> Bool {
      one.count.value += 1
      return one.number == other.number
    }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  /// Were the list searched, each of 10,000 would be compared with 5,000 others.
  @Test func whatWaitsIsNotSearched() {
    let count = CountedKey.Count()
    var waiting = WaitingList<CountedKey, Int>()
    for round in 0..<2 {
      for number in 0..<10_000 { waiting.append(round, for: CountedKey(number: number, count: count)) }
    }
    for number in 0..<10_000 {
      #expect(waiting.first?.number == number)
      #expect(waiting.removeFirst() == [0, 1])
    }
    #expect(count.value < 30_000 * 10)
  }
}
