import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

/// The gains of items in a stream.
@Suite struct RenderLevelTests {
  /// `counts[n]` frames of 1 for item `n + 1`, whose gain is `gains[n]`.
  private func stream(_ counts: [Int], _ gains: [Float], channelCount: Int = 1) -> RenderStream {
    let stream = RenderStream(capacityFrames: counts.reduce(0, +), channelCount: channelCount)
    var frame = 0
    for (index, count) in counts.enumerated() {
      #expect(stream.setItemGain(gains[index], itemID: UInt64(index + 1), fromFrame: Int64(frame)))
      #expect(stream.append([Float](repeating: 1, count: count * channelCount)) == count)
      frame += count
    }
    return stream
  }

  private func samples(_ counts: [Int], _ gains: [Float]) -> [Float] {
    zip(counts, gains).flatMap { [Float](repeating: $1, count: $0) }
  }

  @Test func itemGainAppliesFromItsFirstSampleToItsLast() throws {
    let rig = RenderRig()
    let (counts, gains): ([Int], [Float]) = ([5, 1, 9, 17], [0.5, 2, 1, 0.25])
    _ = try rig.play(stream(counts, gains))
    // In blocks that begin and end anywhere.
    #expect((rig.render(3) + rig.render(1) + rig.render(7) + rig.render(21)) == samples(counts, gains))
  }

  @Test func streamWithoutItemGainsIsUnchanged() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream(ramp(20)))
    #expect(rig.render(20) == ramp(20))
  }

  @Test func gainsOfItemsWithoutFramesAreSkipped() throws {
    let rig = RenderRig()
    _ = try rig.play(stream([4, 0, 0, 4], [1, 8, 16, 0.5]))
    #expect(rig.render(8) == samples([4, 4], [1, 0.5]))
  }

  @Test func repeatedRenderingOfItemGainsIsIdentical() throws {
    let rig = RenderRig()
    let (counts, gains): ([Int], [Float]) = ([100, 100, 100], [0.5, 2, 0.25])
    let input = try rig.play(stream(counts, gains))
    _ = rig.render(50)
    rig.post { $0.setItemGain(1, itemID: 2, of: rig.stream(0), rampFrameCount: 90, input: input) }
    let first = rig.render(250)
    #expect(rig.core.rewind(toFrame: 60) == 60)
    #expect(rig.render(240) == Array(first[10...]))
    // Heard up to the second item: the first item's gain is dropped, the others' are not.
    rig.core.release(heardFrame: 120)
    #expect(rig.core.rewind(toFrame: 120) == 120)
    #expect(rig.render(180) == Array(first[70...]))
  }

  @Test func gainRampAppliesToTheWholeItem() throws {
    let rig = RenderRig()
    let stream = stream([8, 4, 8], [0.5, 1, 0.25])
    let input = try rig.play(stream)
    #expect(rig.render(2) == [0.5, 0.5])
    rig.post {
      $0.setItemGain(1, itemID: 1, of: stream, rampFrameCount: 4, input: input)
      $0.setItemGain(0.75, itemID: 3, of: stream, rampFrameCount: 4, input: input)
    }
    #expect(
      rig.render(18) == [0.5, 0.625, 0.75, 0.875, 1, 1] + [1, 1, 1, 1] + [Float](repeating: 0.75, count: 8))
  }

  @Test func itemGainsAreMultipliedByVolumeAndPan() throws {
    let rig = RenderRig(channelCount: 2)
    let input = try rig.play(stream([2, 2], [0.5, 2], channelCount: 2))
    rig.post {
      $0.setGain(0.5, rampFrameCount: 0, input: input)
      $0.setPan(1, rampFrameCount: 0, input: input)
    }
    #expect(rig.render(4) == [0, 0.25, 0, 0.25, 0, 1, 0, 1])
  }

  @Test func incomingAndOutgoingStreamsKeepTheirItemGains() throws {
    let rig = RenderRig()
    let first = stream([100], [0.5])
    let input = try rig.play(first)
    let second = rig.keep(stream([100], [2]))
    rig.post { $0.scheduleStream(second, fromFrame: 0, atFrame: 10, switchFade: .none, input: input) }
    #expect(rig.render(20) == samples([10, 10], [0.5, 2]))
    // The gain of a scheduled or outgoing stream can change, too.
    let third = rig.keep(stream([100], [1]))
    rig.post {
      $0.setStream(third, fromFrame: 0, switchFade: SwitchFade(frameCount: 4), input: input)
      $0.setItemGain(4, itemID: 1, of: second, rampFrameCount: 0, input: input)
    }
    #expect(rig.render(6) == [4, 3.25, 2.5, 1.75, 1, 1])
  }

  @Test func gainForAnUnknownStreamIsIgnored() throws {
    let rig = RenderRig()
    let unusedStream = RenderStream(ramp(4))
    let input = try rig.play(stream([8], [0.5]))
    rig.post { $0.setItemGain(4, itemID: 1, of: unusedStream, rampFrameCount: 0, input: input) }
    #expect(rig.render(8) == samples([8], [0.5]))
  }

  @Test func previousGainAppliesWhileTheGainTableIsFull() throws {
    let rig = RenderRig()
    let capacity = StreamGains.capacity
    let stream = RenderStream(capacityFrames: 4 * capacity, channelCount: 1)
    for index in 0..<capacity {
      #expect(stream.setItemGain(Float(index), itemID: UInt64(index), fromFrame: Int64(index)))
      _ = stream.append([1])
    }
    #expect(!stream.setItemGain(-1, itemID: 9_999, fromFrame: Int64(capacity)))
    _ = stream.append([Float](repeating: 1, count: 10))
    _ = try rig.play(stream)
    let last = Float(capacity - 1)
    #expect(rig.render(capacity + 10) == (0..<capacity).map { Float($0) } + [Float](repeating: last, count: 10))
    rig.core.release(heardFrame: Int64(capacity + 10))
    #expect(stream.setItemGain(-1, itemID: 9_999, fromFrame: Int64(capacity + 10)))
    _ = stream.append([1, 1])
    #expect(rig.render(2) == [-1, -1])
  }
}
