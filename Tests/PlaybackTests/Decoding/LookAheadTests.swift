import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// The look-ahead of a queue's decoding.
@Suite struct LookAheadTests {
  /// The audio of all items that is decoded and has not been heard, in seconds.
  private func secondsAhead(_ rig: Rig, _ items: [PlayerItem]) async throws -> Double {
    try await rig.run { player in
      let queued = Set(player.items().map(\.id))
      return try items.filter { queued.contains($0.id) }.reduce(0) { sum, item in
        try sum + player.loadedTimeRanges(of: item.id).reduce(0) { $0 + $1.duration.seconds }
      }
    }
  }

  /// A hundred items are opened and decoded before the first one ends, and at every later time while there are enough.
  @Test func atLeastTwoSecondsAreDecodedAheadAcrossShortItems() async throws {
    let rig = try await Rig()
    let count = 300
    let items = try (0..<count).map { number in
      let path = rig.files.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 960, sampleRateHz: 48_000, firstIndex: number * 960)
      return rig.item(path)
    }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    var smallestLookAhead = Double.infinity
    // Until less than 2 s remain.
    for step in 0..<399 {
      let ahead = try await secondsAhead(rig, items)
      smallestLookAhead = min(smallestLookAhead, ahead)
      if step == 0 { print("300 items of 20 ms: \(ahead) s are decoded before the first is heard") }
      await rig.advance(milliseconds: 10)
    }
    print("300 items of 20 ms: at least \(smallestLookAhead) s are decoded ahead")
    #expect(smallestLookAhead >= 2)
    await rig.advance(milliseconds: 2_100)
    #expect(rig.heard.runs.map(\.count) == [count * 960], "\(rig.heard.runs)")
  }
}
