import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Cuts of a stream whose last frames are still in the converter.
@Suite struct LateCutTests {
  private func frames(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 48_000) }

  /// Plays an item of a circle at 1.5, decoded as far as the stream has space.
  private func rig(frames count: Int) async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.circle(frames: count)
    try await rig.run { player in
      try player.append([item])
      try player.setRate(1.5)
    }
    await rig.settle()
    return rig
  }

  /// Loops up to `end`, plays, and checks that the circle continues at all loop points.
  private func expectLoop(to end: Int64, _ rig: Rig) async throws {
    // Whole rounds of the circle, so that it continues at the loop point.
    let range = TimeRange(start: frames(end % 1_000), end: frames(end))
    try await rig.run { try $0.setLoop(range) }
    let seconds = 2 * end / 48_000
    await rig.advance(milliseconds: seconds * 1_000)
    #expect(await rig.run { $0.state.timebaseRate } == 1.5)
    let positions = rig.heard.positions
    let steps = zip(positions.dropFirst(), positions).map { Circle.difference($0, $1) }
    #expect(steps.count == seconds * 48_000 - 1)
    // At the loop point the filter is reset, and the end of the pass is rounded to a frame.
    // A lost frame would be a step of 3.
    #expect(steps.allSatisfy { abs($0 - 1.5) < 1.1 }, "\(steps.filter { abs($0 - 1.5) >= 1.1 }.prefix(5))")
  }

  /// The item is decoded completely, so that its last frames wait in the converter for the next pass.
  @Test(arguments: [1, 2, 4, 8, 16, 40] as [Int64])
  func loopPointAmongTheLastFramesInTheConverterIsHeard(_ distance: Int64) async throws {
    try await expectLoop(to: 96_000 - distance, rig(frames: 96_000))
  }

  /// The stream is full before the item ends. The frames after the last written one are in the converter.
  @Test(arguments: [1, 2, 4, 8, 16, 40] as [Int64])
  func loopPointAmongTheFramesInTheConverterIsHeard(_ distance: Int64) async throws {
    let rig = try await rig(frames: 960_000)
    let writtenFrame = await rig.run { $0.control.core.chain.sounding?.stream.writtenFrame } ?? 0
    #expect(writtenFrame > 4 * 48_000)
    try await expectLoop(to: writtenFrame * 3 / 2 + distance, rig)
  }
}
