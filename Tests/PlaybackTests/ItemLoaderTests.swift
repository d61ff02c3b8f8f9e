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
}
