import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Items that fail while they play, and continue when they can be opened again (`ItemFailurePolicy.retry`).
@Suite(.timeLimit(.minutes(2))) struct RetriedItemTests {
  private static let frameCount = 48_000 * 6

  /// An item whose server breaks off its first two responses after 400,000 bytes (2.1 s). The item is opened for its
  /// status and for decoding at once.
  private func item(_ rig: Rig, _ server: HTTPServer) throws -> PlayerItem {
    try TimeCode.writeWAV(
      path: server.files.file("a.wav"), file: 1, frameCount: Self.frameCount, sampleRateHz: 48_000)
    var options = HTTPOptions()
    options.reconnectDelays = []
    let url = try HTTPURL("\(server.address)/a.wav?cut=400000&times=2")
    return PlayerItem(asset: Asset(url: url, options: options), id: 1)
  }

  /// The heard ranges of a file.
  private func ranges(_ rig: Rig, file: Int) -> [Range<Int>] {
    rig.heard.runs.filter { $0.file == file }.map { $0.firstIndex..<$0.endIndex }
  }

  @Test func singleItemContinuesWhereItsServerFailed() async throws {
    let (rig, server) = (try await Rig(), try HTTPServer())
    let item = try item(rig, server)
    try await rig.run { player in
      player.setItemFailurePolicy(.retry)
      try player.append([item])
      player.play()
    }
    await rig.advance(milliseconds: 20_000)
    // The audio continues with the next sample.
    #expect(ranges(rig, file: 1) == [0..<Self.frameCount])
    #expect(rig.dump.contains("event failedToPlayToEnd item 1"), "\(rig.dump)")
    #expect(rig.dump.contains("reasonForWaitingToPlay currentItemFailed"), "\(rig.dump)")
    #expect(await rig.run { $0.state.itemCount } == 0)
    withExtendedLifetime(server) {}
  }

  /// The next item plays meanwhile.
  @Test func failedItemContinuesAfterTheNextOne() async throws {
    let (rig, server) = (try await Rig(), try HTTPServer())
    let items = [
      try item(rig, server), PlayerItem(asset: try rig.wav(file: 2, frames: 48_000 * 3).asset, id: 2),
    ]
    try await rig.run { player in
      player.setItemFailurePolicy(.retry)
      try player.append(items)
      player.play()
    }
    await rig.advance(milliseconds: 30_000)
    let ranges = ranges(rig, file: 1)
    let failed = try #require(ranges.first?.upperBound)
    #expect(failed > 90_000 && ranges == [0..<failed, failed..<Self.frameCount], "\(ranges)")
    #expect(self.ranges(rig, file: 2) == [0..<48_000 * 3])
    #expect(rig.heard.runs.prefix(2).map(\.file) == [1, 2])
    #expect(await rig.run { $0.state.itemCount } == 0)
    withExtendedLifetime(server) {}
  }

  /// A failure at another position than the last one, earlier or later, has the first delay.
  @Test(arguments: [(5.0, 5.0, 4), (5, 5.9, 4), (5, 4.1, 4), (5, 6, 1), (5, 4, 1), (5, 0, 1), (nil, 5, 1)])
  func delayDependsOnTheDistanceFromTheLastFailure(_ last: Double?, _ position: Double, _ seconds: Int64) {
    var schedule = ItemRetries.Schedule()
    schedule.delayNanoseconds = 4_000_000_000
    schedule.nextTime = .now
    schedule.failurePosition = last.map { MediaTime(seconds: $0, preferredTimescale: 1_000) }
    let time = MediaTime(seconds: position, preferredTimescale: 1_000)
    schedule.fail(at: time)
    #expect(schedule.delayNanoseconds == seconds * 1_000_000_000)
    #expect(schedule.nextTime == nil && schedule.failurePosition == time)
  }

  @Test func otherPoliciesEndTheItem() async throws {
    let (rig, server) = (try await Rig(), try HTTPServer())
    let item = try item(rig, server)
    try await rig.run { player in
      try player.append([item])
      player.play()
    }
    await rig.advance(milliseconds: 20_000)
    #expect(ranges(rig, file: 1).count == 1)
    #expect(await rig.run { $0.state.itemCount } == 0)
    withExtendedLifetime(server) {}
  }
}
