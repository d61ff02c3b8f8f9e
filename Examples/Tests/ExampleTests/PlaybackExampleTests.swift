import Foundation
import PlayheadTesting
import Testing

/// Examples that play, without a sound server: the automatic output is silent, in real time.
@Suite struct PlaybackExampleTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func looperPlaysThreeFilesInStep() async throws {
    let files = try (1...3).map { try folder.timeCodes("\($0).wav", file: $0, seconds: 0.4) }
    let lines = try await succeed("looper", files[0], files[1], files[2]).lines
    #expect(lines.prefix(3) == ["starts: true", "starts: true", "starts: true"])
    let positions = lines.filter { $0.hasPrefix("position: ") }.compactMap { Double($0.split { " ,".contains($0) }[1]) }
    // On a busy machine, the calls of `pause` may be too late for a common frame.
    #expect(positions.count == 3 && (positions.max() ?? 1) - (positions.min() ?? 0) < 0.2, "\(lines)")
    #expect(lines.last?.hasSuffix("volume: 1.0, pan: 0.8") == true)
  }

  @Test func sessionIsSetUpAndPlaysToTheEnd() async throws {
    let lines = try await succeed("session", try folder.timeCodes("a.wav", seconds: 0.3)).lines
    #expect(lines.contains("category: playback, mode: spokenAudio, other audio: interrupted"))
    #expect(lines.suffix(2) == ["ended at 0.3 s", "active: false"])
  }

  @Test func playerReportsStatusTimesBoundariesSeekAndEnd() async throws {
    let lines = try await succeed("player", try folder.timeCodes("a.wav", seconds: 1.6)).lines
    #expect(lines.prefix(3) == ["status: none to unknown", "status: unknown to readyToPlay", "duration: 1.6"])
    #expect(lines.filter { $0.hasPrefix("time: ") && $0.hasSuffix("reason: periodic") }.count >= 3, "\(lines)")
    let milestones = lines.filter { !$0.hasPrefix("time: ") }.dropFirst(3)
    #expect(
      Array(milestones) == [
        "boundary: 0.4", "boundary: 0.8", "seek: finished true, exact true, time 1.44", "end: 1.6",
      ])
  }

  @Test func queueLoopsAdvancesAndSkips() async throws {
    let files = [
      try folder.timeCodes("a.wav", file: 1, seconds: 0.2), try folder.timeCodes("b.wav", file: 2, seconds: 3),
      try folder.timeCodes("c.wav", file: 3, seconds: 0.2),
    ]
    let (a, b, c) = (files[0], files[1], files[2])
    // On a busy machine, a file may be decoded late, which makes a gap.
    let lines = try await succeed("queue", a, b, c).lines.map { String($0.prefix { $0 != "," }) }
    #expect(
      lines == [
        "end: \(a) at 0.2 s", "transition: \(a) to \(a)", "end: \(a) at 0.2 s", "transition: \(a) to \(b)",
        "end: \(c) at 0.2 s", "the queue is empty",
      ])
  }

  @Test func equalizerAmplifiesItsBand() async throws {
    let tone = try folder.tone("tone.wav", seconds: 0.4)
    for (gain, factor) in [("6.0206", Float(2)), ("-6.0206", 0.5)] {
      let output = folder.path("\(gain).wav")
      #expect(try await succeed("equalizer", tone, output, "1000", gain).lines == ["played 0.4 s"])
      let heard = try samples(of: output)
      let peak = heard.map(abs).max() ?? 0
      // The filter needs about 10 ms to settle, so attenuated audio begins at full amplitude.
      let settled = heard[(heard.count / 3)...].map(abs).max() ?? 0
      #expect(
        abs((gain.hasPrefix("-") ? settled : peak) - 0.25 * factor) < 0.25 * factor * 0.02,
        "\(gain): \(peak) \(settled)")
    }
  }

  @Test func customSinkReceivesEveryFrame() async throws {
    let output = try await succeed("custom-sink", try folder.timeCodes("a.wav", seconds: 0.5))
    let runs = timeCodeRuns(floats(output.data))
    #expect(TimeCode.coverage(of: runs) == (0, 0))
    #expect(runs.first?.firstIndex == 0 && runs.last?.endIndex == 24_000, "\(runs)")
  }

  @Test func voiceMemosAreRecordedAndListed() async throws {
    let lines = try await succeed("voice-memo", "record", folder.url.path, "Idea", "0.6").lines
    #expect(lines.first == "records tone" && lines.last == "recorded 0.6 s", "\(lines)")
    #expect(lines.contains { $0.hasPrefix("paused at 0.") })
    // The amplitude of the tone is 1/4.
    #expect(lines.contains { $0.hasSuffix(" -12.0 dB") }, "\(lines)")
    #expect(try await succeed("voice-memo", "list", folder.url.path).lines == ["Idea  0.600 s"])
  }

  @Test func captureWritesWhatTheSourceDelivers() async throws {
    let output = folder.path("captured.wav")
    let lines = try await succeed("capture", output, "0.3").lines
    #expect(lines.first?.hasPrefix("captured ") == true && !lines.contains { $0.hasPrefix("lost") })
    let captured = try samples(of: output)
    #expect(captured.count == 14_400)
    #expect(abs((captured.max() ?? 0) - 0.25) < 0.001)
  }
}
