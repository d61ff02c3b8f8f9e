import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Properties of a player that are a part of its state, and initializers of items.
@Suite struct PlayerPropertyTests {
  @Test func propertiesOfThePlayerAreThoseOfItsState() async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 48_000)
    try await rig.run { player in
      try player.append([item])
      try player.setVolume(0.25)
      player.setMuted(true)
      #expect(player.rate == 0 && player.timeControlStatus == .paused && player.reasonForWaitingToPlay == nil)
      #expect(player.volume == 0.25 && player.isMuted)
      player.play()
      #expect(player.rate == 1 && player.timeControlStatus == .waiting && player.reasonForWaitingToPlay != nil)
    }
    await rig.settle()
    await rig.advance(milliseconds: 100)
    await rig.run { player in
      #expect(player.timeControlStatus == .playing && player.reasonForWaitingToPlay == nil)
    }
  }

  private func path(of item: PlayerItem) -> String? {
    guard case .path(let bytes) = item.asset.location else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func itemsAreMadeOfPathsAndURLs() throws {
    #expect(path(of: PlayerItem(path: "/music/a b.flac")) == "/music/a b.flac")
    #expect(path(of: try PlayerItem(url: "file:///music/a%20b.flac")) == "/music/a b.flac")
    #expect(try PlayerItem(url: "https://radio.example/live").asset.isRemote)
    expectError(.unsupportedLocation) { _ = try PlayerItem(url: "ftp://radio.example/live") }
    expectError(.invalidArgument) { _ = try PlayerItem(url: "not a url") }
  }
}
