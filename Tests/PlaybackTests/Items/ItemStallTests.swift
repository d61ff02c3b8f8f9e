import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The time for which an item from a network may stall.
@Suite(.timeLimit(.minutes(2))) struct ItemStallTests {
  @Test func itemThatStallsTooLongFailsAndTheNextPlays() async throws {
    let rig = try await SlowRig()
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("a.wav"), file: 1, frameCount: 2_400_000, sampleRateHz: 48_000)
    let url = try HTTPURL("\(server.address)/a.wav?gate=never&at=400000")
    // The time limit of a transfer counts real time, on which this test must not depend.
    var options = HTTPOptions()
    options.stallTimeout = .seconds(3_600)
    let item = PlayerItem(asset: Asset(url: url, options: options), id: 1)
    let after = try rig.wav(file: 2, frames: 96_000)
    try await rig.run { try $0.append([item, PlayerItem(asset: after.asset, id: 2)]) }
    try server.wait("gate never")
    await rig.run { $0.play() }
    await rig.wait { $0.timeControlStatus == .playing }
    // Two seconds are available. A decoder that is slower than virtual time stalls the item earlier, for a while.
    repeat { await rig.advance(milliseconds: 3_000) } while await rig.state.reasonForWaitingToPlay != .toMinimizeStalls
    await rig.advance(milliseconds: 590_000)
    #expect(await rig.state.currentItemID == 1)
    // In steps that are shorter than the next item, which could otherwise end before the test sees it play.
    var stepCount = 0
    while await rig.state.currentItemID == 1, stepCount < 40 {
      await rig.advance(milliseconds: 500)
      stepCount += 1
    }
    #expect(item.error?.code == .networkTimedOut)
    await rig.wait { $0.currentItemID == 2 && $0.timeControlStatus == .playing }
  }
}
