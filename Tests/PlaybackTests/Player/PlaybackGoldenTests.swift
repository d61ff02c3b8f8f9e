import Foundation
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Synchronization
import Testing

/// Whole scenarios as text: the calls of observers in order, and the audio, sample for sample.
@Suite struct PlaybackGoldenTests {
  private func golden(_ name: String, _ scenario: (Rig) async throws -> Void) async throws {
    let rig = try await Rig()
    try await scenario(rig)
    try expectGolden(rig.dump, name)
  }

  @Test("statement 28: the next item is decoded before the end, so that no sample is missing and none is extra")
  func twoFilesPlayWithoutAGap() async throws {
    try await golden("two-files") { rig in
      let items = [try rig.wav(file: 1, frames: 48_001), try rig.flac(file: 2, frames: 24_007)]
      try await rig.run { try $0.append(items) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_000)
      await rig.advance(milliseconds: 1_000)
    }
  }

  @Test func pauseAndResumeNeitherLoseNorRepeatSamples() async throws {
    try await golden("pause-resume") { rig in
      let item = try rig.wav(file: 1, frames: 96_000)
      try await rig.run { try $0.append([item]) }
      await rig.settle()
      await rig.run { $0.play() }
      for _ in 0..<5 {
        await rig.advance(milliseconds: 137)
        await rig.run { $0.pause() }
        await rig.advance(milliseconds: 50)
        let time = await rig.run { $0.currentTime() }
        rig.log("time \(time.decimalDescription)")
        await rig.run { $0.play() }
      }
      await rig.advance(milliseconds: 2_000)
    }
  }

  @Test func exactSeekWhilePlayingLandsOnTheSample() async throws {
    try await golden("seek-playing") { rig in
      let item = try rig.flac(file: 1, frames: 480_000)
      try await rig.run { try $0.append([item]) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 300)
      for frame in [Int64(400_001), 7, 123_457, 0] {
        try await rig.run { player in
          try player.seek(
            to: MediaTime(value: frame, timescale: 48_000), toleranceBefore: .zero, toleranceAfter: .zero
          ) { result in rig.log("seek finished \(result.finished) time \(result.time.fractionDescription)") }
        }
        await rig.advance(milliseconds: 100)
      }
    }
  }

  @Test("statement 1: three rapid seeks complete false, false, true, in call order, each exactly once")
  func threeRapidSeeksCompleteFalseFalseTrueInOrder() async throws {
    try await golden("rapid-seeks") { rig in
      let item = try rig.wav(file: 1, frames: 480_000)
      try await rig.run { try $0.append([item]) }
      await rig.settle()
      try await rig.run { player in
        for (number, frame) in [Int64(48_000), 96_000, 144_000].enumerated() {
          try player.seek(
            to: MediaTime(value: frame, timescale: 48_000), toleranceBefore: .zero, toleranceAfter: .zero
          ) { rig.log("seek \(number + 1) finished \($0.finished) time \($0.time.decimalDescription)") }
        }
        rig.log("all asked")
      }
      await rig.settle()
      let time = await rig.run { $0.currentTime() }
      rig.log("time \(time.decimalDescription)")
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 100)
    }
  }

  @Test func ticksAndBoundariesFireAtTheirTimes() async throws {
    try await golden("ticks") { rig in
      let items = [try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 48_000)]
      try await rig.run { player in
        try player.append(items)
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 4)) { [log = rig.log] in
          log("tick \(Rig.text($0))")
        }
        _ = try player.addBoundaryTimeObserver(
          forTimes: [.zero, MediaTime(value: 333, timescale: 1_000), MediaTime(value: 1, timescale: 1)]
        ) { [log = rig.log] in log("cue \(Rig.text($0))") }
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 600)
      await rig.run { $0.pause() }
      await rig.advance(milliseconds: 100)
      try await rig.run { player in
        try player.seek(
          to: MediaTime(value: 9, timescale: 10), toleranceBefore: .zero, toleranceAfter: .zero
        ) { _ in rig.log("sought") }
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_500)
    }
  }

  @Test func queueEditsPlayWithoutAGap() async throws {
    try await golden("queue-edits") { rig in
      let items = [
        try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 48_000),
        try rig.wav(file: 3, frames: 48_000), try rig.wav(file: 4, frames: 48_000),
      ]
      try await rig.run { try $0.append(Array(items.prefix(3))) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 500)
      // The second file is already decoded.
      try await rig.run { try $0.remove([items[1].id]) }
      await rig.advance(milliseconds: 1_000)
      try await rig.run { try $0.append([items[3]]) }
      await rig.advance(milliseconds: 1_000)
      await rig.run { $0.advanceToNextItem() }
      await rig.advance(milliseconds: 200)
    }
  }

  @Test func actionAtItemEndPausesAdvancesOrLetsTimeContinue() async throws {
    try await golden("end-actions") { rig in
      let items = [try rig.wav(file: 1, frames: 24_000), try rig.wav(file: 2, frames: 24_000)]
      try await rig.run { player in
        try player.append(items)
        try player.setActionAtItemEnd(.pause)
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_000)
      var time = await rig.run { $0.currentTime() }
      rig.log("time \(time.decimalDescription)")
      try await rig.run { player in
        try player.setActionAtItemEnd(.advance)
        player.play()
      }
      await rig.advance(milliseconds: 200)
      try await rig.run { try $0.setActionAtItemEnd(.none) }
      await rig.advance(milliseconds: 1_000)
      time = await rig.run { $0.currentTime() }
      rig.log("time \(time.decimalDescription)")
      try await rig.run { try $0.setActionAtItemEnd(.pause) }
      await rig.advance(milliseconds: 100)
    }
  }

  @Test func itemThatFailsToOpenIsSkipped() async throws {
    try await golden("broken-item") { rig in
      let items = [
        rig.item("/nonexistent/one.flac"), try rig.wav(file: 1, frames: 24_000), rig.item("/nonexistent/two.flac"),
        try rig.wav(file: 2, frames: 24_000),
      ]
      try await rig.run { try $0.append(items) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_200)
    }
  }

  @Test func emptyPlayerWaitsForAnItem() async throws {
    try await golden("empty-player") { rig in
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 100)
      let item = try rig.wav(file: 1, frames: 4_800)
      try await rig.run { try $0.append([item]) }
      await rig.advance(milliseconds: 200)
    }
  }

  @Test func itemsOfAnotherSampleRateStartOnTime() async throws {
    try await golden("other-rate") { rig in
      let path = rig.files.file("other.wav")
      try TimeCode.writeWAV(path: path, file: 3, frameCount: 44_100, sampleRateHz: 44_100)
      let items = [try rig.wav(file: 1, frames: 4_800), rig.item(path), try rig.wav(file: 2, frames: 4_800)]
      try await rig.run { try $0.append(items) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_300)
      // The audio in between is resampled: only its position and length are known.
      let runs = rig.heard.runs.filter { $0.file == 1 || $0.file == 2 }
      for run in runs { rig.log("code file \(run.file) from \(run.firstIndex) count \(run.count) at \(run.position)") }
      rig.heard.removeAll()
    }
  }

  @Test func fileWithOnlyVideoPlaysAsSilence() async throws {
    try await golden("only-video") { rig in
      let path = rig.files.file("video.mp4")
      try Fixtures.ffmpeg([
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-c:v",
        "mpeg4", path,
      ])
      let items = [try rig.wav(file: 1, frames: 4_800), rig.item(path), try rig.wav(file: 2, frames: 4_800)]
      try await rig.run { player in
        try player.append(items)
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { [log = rig.log] in
          log("tick \(Rig.text($0))")
        }
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_500)
    }
  }

  @Test func truncatedFilePlaysToItsLastFrameAndTheNextFollows() async throws {
    try await golden("broken-off") { rig in
      // Half of the file is longer than the audio decoded before playback.
      let whole = try rig.flac(file: 1, frames: 480_000)
      let path = rig.files.file("cut.flac")
      let bytes = try Data(contentsOf: URL(fileURLWithPath: whole.asset.path ?? ""))
      try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
      // One after the other, because opening and decoding use different threads.
      for item in [rig.item(path), try rig.wav(file: 2, frames: 4_800)] {
        try await rig.run { try $0.append([item]) }
        await rig.settle()
      }
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 6_000)
    }
  }
}
