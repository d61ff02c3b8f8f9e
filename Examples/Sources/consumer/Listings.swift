import Playhead

// The listing of README.md and docs/guide/swift-library.md, which is compiled here. A test compares the region with the
// documents. The function is not called. The listings of Playhead.docc are in the target Articles.

func firstListing() async throws {
  // listing: first-player
  let player = try await QueuePlayer(items: [PlayerItem(path: "/music/one.flac"), PlayerItem(path: "/music/two.flac")])
  _ = try await player.addPeriodicTimeObserver(forInterval: .seconds(0.5)) { print($0.time, $0.reason) }
  await player.play()
  let result = try await player.seek(
    to: MediaTime(value: 3_682_350, timescale: 44_100), toleranceBefore: .zero, toleranceAfter: .zero)
  print(result.finished, result.time)
  for await state in await player.states() where state.currentItemID == nil { break }
  // end of listing
}
