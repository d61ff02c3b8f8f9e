import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel

/// Plays a file on virtual time, and compares the played audio with the whole decode.
struct PlayerCheck: Sendable {
  let options: CheckOptions
  let whole: DecodedAudio
  let report: CheckReport

  private static let second: Int64 = 1_000_000_000

  /// Plays the file from its start to its end.
  func play() async {
    report.countComparison()
    do {
      let player = try await VirtualPlayer(path: options.path, format: whole.format)
      await player.run { $0.play() }
      // The duration may be an estimate: two seconds more than the audio.
      let limit = Int64(whole.frameCount / whole.format.sampleRateHz + 2)
      var seconds: Int64 = 0
      while player.itemEnd == nil, seconds <= limit {
        await player.advance(nanoseconds: Self.second)
        seconds += 1
      }
      let heard = try player.heard.drain()
      let end = player.itemEnd
      await player.close()
      compareEnd(end)
      compare(heard)
    } catch {
      report.fail(.play, expected: "\(whole.frameCount) frames", found: "\(error)")
    }
  }

  private func compareEnd(_ end: VirtualPlayer.End?) {
    let expected = whole.time(ofFrame: whole.frameCount)
    switch (end, whole.error) {
    case (.playedToEnd(let time), nil) where time == expected: break
    case (.failedToPlayToEnd(let time, let error), let known?) where time == expected && error.code == known.code: break
    default:
      let found =
        switch end {
        case .playedToEnd(let time): "played to the end at \(time.decimalDescription) s"
        case .failedToPlayToEnd(let time, let error): "broke off at \(time.decimalDescription) s: \(error)"
        case .itemFailed(let error): "failed: \(error)"
        case nil: "no end"
        }
      report.fail(
        .play, expected: "an end at \(expected.decimalDescription) s" + (whole.error.map { " with \($0.code)" } ?? ""),
        found: found)
    }
  }

  private func compare(_ heard: SampleStore?) {
    guard let heard else {
      report.fail(.play, expected: "\(whole.frameCount) frames", found: "0")
      return
    }
    let channelCount = whole.format.channelCount
    let difference = whole.samples.withSamples { expected in
      heard.withSamples { found in
        SampleDifference(expected: expected, found: found, channelCount: channelCount, tolerance: 0).map {
          ($0.expectedText(from: 0), $0.foundText(found, in: whole.samples, from: 0))
        }
      }
    }
    if let difference {
      report.fail(.play, expected: difference.0, found: difference.1)
    } else if heard.frameCount < whole.frameCount {
      report.fail(.play, expected: "\(whole.frameCount) frames", found: "\(heard.frameCount)")
    } else {
      // Silence follows the end until virtual time stops.
      let rest = heard.withSamples { samples in
        samples[(whole.frameCount * channelCount)...].first { $0 != 0 }
      }
      if let rest { report.fail(.play, expected: "silence after frame \(whole.frameCount)", found: "sample \(rest)") }
    }
  }

  /// Seeks a paused player to random frames with a tolerance of zero, and plays a little after each.
  func seek() async {
    var random = options.random(for: .playerSeek)
    do {
      let player = try await VirtualPlayer(path: options.path, format: whole.format)
      let rate = whole.format.sampleRateHz
      let window = ReaderSeekCheck.windowFrameCount
      for _ in 0..<options.seekCount {
        let target = Int.random(in: 0..<whole.frameCount, using: &random)
        report.countComparison()
        let result = try await player.player.seek(
          to: whole.time(ofFrame: target), toleranceBefore: .zero, toleranceAfter: .zero)
        await player.advance(nanoseconds: 0)
        guard result.finished else {
          report.fail(
            .playerSeek, expected: "a seek to frame \(target)", found: result.unfinishedReason?.rawValue ?? "unfinished"
          )
          continue
        }
        _ = try player.heard.drain()
        await player.run { $0.play() }
        await player.advance(nanoseconds: Int64(window) * Self.second / Int64(rate) + 1)
        await player.run { $0.pause() }
        await player.advance(nanoseconds: 0)
        try compare(player.heard.drain(), after: result, target: target)
      }
      await player.close()
    } catch {
      report.fail(.playerSeek, expected: "a player", found: "\(error)")
    }
  }

  private func compare(_ heard: SampleStore?, after result: SeekResult, target: Int) throws(MediaError) {
    let rate = whole.format.sampleRateHz
    let reportedFrame = Int(result.time.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? -1)
    let available = min(ReaderSeekCheck.windowFrameCount, whole.frameCount - target)
    let samples = heard?.withSamples { Array($0.prefix(available * whole.format.channelCount)) } ?? []
    LandingCheck(whole: whole, report: report, check: .playerSeek)
      .compare(
        samples, target: target, reportedFrame: reportedFrame, isExact: result.isExact, expectedFrameCount: available)
  }
}
