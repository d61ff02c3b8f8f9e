import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The output of the decode thread in a stream, sample for sample.
@Suite struct StreamWriterTests {
  private static let output = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  @Test(arguments: [(44_100, 2), (44_100, 1), (22_050, 2), (96_000, 1), (8_000, 1), (48_000, 2), (48_000, 1)])
  func twoHalvesOfAFileDecodeLikeTheWhole(_ rate: Int, _ channels: Int) throws {
    let rig = try StreamRig()
    let (cut, end) = (rate / 3 + 17, rate)
    let first = try rig.noise("first.wav", rate: rate, channels: channels, frames: 0..<cut)
    let second = try rig.noise("second.wav", rate: rate, channels: channels, frames: cut..<end)
    let outcome = try rig.decode(first, then: [Pass(itemID: 2)], paths: [2: second], to: Self.output)
    let whole = try StreamRig.converted([0..<end], rate: rate, channels: channels, to: Self.output)
    #expect(outcome.samples.count == whole.count)
    #expect(outcome.samples == whole)
    #expect(outcome.ends == [Int64((cut * 48_000 + rate - 1) / rate), Int64((end * 48_000 + rate - 1) / rate)])
  }

  /// Two halves that are converted separately, to show why passes share a converter.
  @Test func separatelyConvertedHalvesDiffer() throws {
    let separate =
      try StreamRig.converted([0..<14_717], rate: 44_100, channels: 2, to: Self.output)
      + StreamRig.converted([14_717..<44_100], rate: 44_100, channels: 2, to: Self.output)
    let whole = try StreamRig.converted([0..<44_100], rate: 44_100, channels: 2, to: Self.output)
    #expect(separate.count > whole.count)
    #expect(!separate.starts(with: whole))
  }

  @Test func endsOfAThousandResampledItemsStayWithinAFrame() throws {
    let rig = try StreamRig()
    let one = try rig.noise("one.wav", rate: 44_100, channels: 2, frames: 0..<101)
    let other = try rig.noise("other.wav", rate: 48_000, channels: 2, frames: 0..<97)
    let passes = (2...1_000).map { Pass(itemID: PlayerItem.ID($0)) }
    let paths = Dictionary(
      uniqueKeysWithValues: (1...1_000).map { (PlayerItem.ID($0), $0 % 2 == 1 ? one : other) })
    let outcome = try rig.decode(one, then: passes, paths: paths, to: Self.output)
    #expect(outcome.ends.count == 1_000)
    // In units of 1/147 of an output frame: 44.1 kHz is 160/147 of 48 kHz.
    var exact: Int64 = 0
    for (index, end) in outcome.ends.enumerated() {
      exact += index % 2 == 0 ? 101 * 160 : 97 * 147
      #expect(end == (exact + 146) / 147, "item \(index + 1)")
    }
    #expect(outcome.samples.count / 2 == Int((exact + 146) / 147))
  }

  @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (8_000, 48_000), (22_050, 48_000)])
  func audioAfterASeekEqualsAnUninterruptedPass(_ from: Int, _ to: Int) throws {
    let rig = try StreamRig()
    let format = AudioFormat(sampleRateHz: to, channelCount: 2)
    let path = try rig.noise("noise.wav", rate: from, channels: 2, frames: 0..<from * 2)
    let whole = try rig.decode(path, to: format).samples
    var random = SeededGenerator(seed: UInt64(from + to))
    let targets = (0..<10).map { _ in Int64.random(in: 0..<Int64(from * 2), using: &random) } + [0, 1, 40, 500]
    for target in targets {
      let start = PlayerStateMachine.DecodeRequest(
        itemID: 1, time: MediaTime(value: target, timescale: Int32(from)), seek: 1)
      let outcome = try rig.decode(path, at: start, to: format)
      let first = Int((target * Int64(to) + Int64(from) - 1) / Int64(from))
      #expect(outcome.samples.elementsEqual(whole[(first * 2)...]), "from frame \(target)")
      guard
        case .prepared(_, let preparation, _, _) = outcome.reports.first(where: {
          if case .prepared = $0 { true } else { false }
        }
        )
      else {
        Issue.record("nothing was prepared")
        continue
      }
      #expect(preparation.time == MediaTime(value: Int64(first), timescale: Int32(to)))
    }
  }

  @Test(arguments: [44_100, 48_000]) func loopPassesEqualTheirConcatenation(_ rate: Int) throws {
    let rig = try StreamRig()
    let path = try rig.noise("noise.wav", rate: rate, channels: 2, frames: 0..<rate)
    let (start, end) = (
      MediaTime(value: 10_007, timescale: Int32(rate)), MediaTime(value: 22_222, timescale: Int32(rate))
    )
    let outcome = try rig.decode(
      path, at: .init(itemID: 1, end: end),
      then: [
        Pass(itemID: 1, start: start, end: end), Pass(itemID: 1, start: start, end: end), Pass(itemID: 1, start: start),
      ],
      to: Self.output)
    let parts = [0..<22_222, 10_007..<22_222, 10_007..<22_222, 10_007..<rate]
    #expect(outcome.samples == (try StreamRig.converted(parts, rate: rate, channels: 2, to: Self.output)))
    let opened = outcome.reports.count { if case .loaded = $0 { true } else { false } }
    #expect(opened == 1, "a loop is a seek in an open file")
  }

  @Test func endOfAnItemIsReportedBeforeTheNextIsOpened() throws {
    let rig = try StreamRig()
    let path = try rig.noise("noise.wav", rate: 48_000, channels: 2, frames: 0..<1_000)
    let order = ConditionMutex<[String]>([])
    let stream = RenderStream(capacityFrames: 1 << 16, channelCount: 2)
    let open: @Sendable (DecodePipeline.Source) throws(MediaError) -> sending ItemDecoder = {
      source throws(MediaError) in
      if source.itemID == 2 {
        // A file that opens slowly: it waits for the end of the first one.
        let deadline = HostTime.now.advanced(byNanoseconds: 10_000_000_000)
        _ = order.wait(until: deadline) { $0.contains("ended") ? true : nil }
        order.update { $0.append("opened") }
      }
      return try ItemDecoder(source)
    }
    let recordReport: @Sendable (DecodePipeline.Report) -> Void = { report in
      if case .ended = report { order.update { $0.append("ended") } }
    }
    let pipeline = DecodePipeline(
      name: "test", reportsIdling: true, now: { HostTime.now }, open: open, report: recordReport)
    defer { pipeline.close() }
    func source(_ id: PlayerItem.ID) -> DecodePipeline.Source {
      .init(itemID: id, asset: Asset(path: path), audioMix: AudioMixSlot(), timePitch: TimePitchSlot())
    }
    pipeline.prepare(
      .init(
        generation: 1,
        source: source(1),
        request: .init(itemID: 1), stream: stream,
        format: Self.output))
    pipeline.setPlan(
      .init(
        begunCount: 1,
        passes: [.init(pass: Pass(itemID: 2), source: source(2))]),
      generation: 1)
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let all = order.wait(until: deadline) { $0.count == 3 ? $0 : nil }
    #expect(all == ["ended", "opened", "ended"])
  }

  @Test func failedItemsInBetweenLeaveNoGap() throws {
    let rig = try StreamRig()
    let path = try rig.noise("noise.wav", rate: 48_000, channels: 2, frames: 0..<5_000)
    let single = try rig.noise("single.wav", rate: 48_000, channels: 2, frames: 5_000..<5_001)
    let rest = try rig.noise("rest.wav", rate: 48_000, channels: 2, frames: 5_001..<9_000)
    let outcome = try rig.decode(
      path, then: [2, 3, 4, 5].map { Pass(itemID: $0) },
      paths: [2: "/nonexistent/a.wav", 3: single, 4: "/nonexistent/b.wav", 5: rest], to: Self.output)
    #expect(outcome.samples == (try StreamRig.converted([0..<9_000], rate: 48_000, channels: 2, to: Self.output)))
    #expect(outcome.ends == [5_000, 5_001, 9_000])
  }

  @Test func passesThatBeganOrFailedSinceThePlanAreSkipped() throws {
    let rig = try StreamRig()
    let parts = try [0..<1_000, 1_000..<1_700, 1_700..<3_000].map {
      try rig.noise("\($0.lowerBound).wav", rate: 48_000, channels: 2, frames: $0)
    }
    let outcome = try rig.decode(
      parts[0], then: [Pass(itemID: 2), Pass(itemID: 3), Pass(itemID: 4)], later: [Pass(itemID: 5)],
      paths: [2: "/nonexistent/a.wav", 3: parts[1], 4: "/nonexistent/b.wav", 5: parts[2]], to: Self.output)
    #expect(outcome.ends == [1_000, 1_700, 3_000])
    #expect(outcome.samples == (try StreamRig.converted([0..<3_000], rate: 48_000, channels: 2, to: Self.output)))
  }
}
