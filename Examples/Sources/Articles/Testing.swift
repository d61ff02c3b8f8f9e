import Foundation
import PlayheadFoundation
import PlayheadTesting

// The listings of Playhead.docc about tests, isolation and Foundation.

/// The program calls this function: the listing does not only compile, but its test succeeds.
public func testQueue(folder: String) async throws {
  // listing: virtual-engine
  try TimeCode.writeWAV(path: folder + "/one.wav", file: 1, frameCount: 48_000)
  try TimeCode.writeWAV(path: folder + "/two.wav", file: 2, frameCount: 24_000)

  let test = try await PlaybackEngine.virtual()
  let player = try await QueuePlayer(
    engine: test.engine, items: [PlayerItem(path: folder + "/one.wav"), PlayerItem(path: folder + "/two.wav")])
  await player.play()
  try await test.clock.advance(by: .seconds(1.5))

  precondition(
    test.output.timeCodeRuns == [
      TimeCode.Run(file: 1, firstIndex: 0, count: 48_000, position: 0),
      TimeCode.Run(file: 2, firstIndex: 0, count: 24_000, position: 48_000),
    ])
  // end of listing
}

/// The program calls this function, too, with an item of at least 250 ms.
public func settle(test: VirtualEngine, item: PlayerItem) async throws {
  // listing: settle
  let player = try await Player(engine: test.engine, playerItem: item)
  await test.clock.settle()
  precondition(item.status == .readyToPlay)
  await player.play()
  try await test.clock.advance(by: .milliseconds(250))
  let time = await player.currentTime()
  precondition(time == .milliseconds(250))
  // end of listing
}

func lookAhead() async throws {
  // listing: look-ahead
  let format = AudioFormat(sampleRateHz: 44_100, channelCount: 1)
  let test = try await PlaybackEngine.virtual(format: format, lookAhead: .milliseconds(100))
  // end of listing
  _ = test
}

// listing: isolated-calls
/// Pauses, and returns the state before and after the pause.
func pauseForAnnouncement(_ player: isolated QueuePlayer) -> (before: PlayerState, after: PlayerState) {
  let before = player.state
  player.pause()
  return (before, player.state)
}
// end of listing

func useIsolated(player: QueuePlayer) async {
  // listing: use-isolated-calls
  let states = await pauseForAnnouncement(player)
  print(states.before.rate, states.after.rate)
  // end of listing
}

func assumeIsolation(player: QueuePlayer) async throws {
  // listing: assume-isolated
  _ = try await player.addBoundaryTimeObserver(forTimes: [.seconds(10)]) { [weak player] _ in
    player?.assumeIsolated { $0.pause() }
  }
  // end of listing
}

func useFoundation() throws {
  // listing: foundation
  let url = URL(filePath: "/music/one.flac")
  let item = try PlayerItem(url: url)
  let asset = Asset(data: try Data(contentsOf: url))
  // end of listing
  _ = (item, asset)
}
