import MediaTesting
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

/// `AudioPlayer`s that start and change their rate in sync on a real PulseAudio.
///
/// In real time, because the calls are made at different real times while the device runs.
@Suite struct AudioPlayerRigTests {
  private let files: TemporaryDirectory
  private let server: PulseServer
  private let engine: PlaybackEngine

  init() throws {
    files = try TemporaryDirectory("audio-player")
    let server = try PulseServer()
    self.server = server
    let loop = ThreadControlLoop(name: "audio-player")
    let engine = PlaybackEngine(
      loop: loop,
      output: OutputConfiguration { PulseSink(PulseSink.Configuration(server: server.address)) })
    self.engine = engine
    loop.execute { engine.open() }
  }

  /// Tolerance for the rounding of the time stretcher and of 16-bit samples, far below the noise.
  private static let rounding = 200

  /// Three looping players of noise: the second cancels the first on the left, and the third cancels it on the right.
  private func players() throws -> [AudioPlayer] { try players(ofFactorsAndPans: [(2, 0), (-2, -1), (-2, 1)]) }

  /// Looping players of the same noise, with factors and pans.
  private func players(ofFactorsAndPans roles: [(Int, Double)]) throws -> [AudioPlayer] {
    var random = SystemRandomNumberGenerator()
    let noise = (0..<96_000).map { _ in Int16.random(in: -4_000...4_000, using: &random) }
    return try roles.enumerated().map { number, role in
      let path = files.file("\(number).wav")
      try TimeCode.writeWAV(path: path, frameCount: noise.count) { index in
        let sample = noise[index] * Int16(role.0)
        return StereoFrame(left: sample, right: sample)
      }
      let player = try AudioPlayer(path: path, engine: engine)
      player.enableRate = true
      player.numberOfLoops = -1
      try player.setPan(Float(role.1))
      player.prepareToPlay()
      return player
    }
  }

  private func play(milliseconds: Int) throws {
    try server.capture.waitForMoreFrames(milliseconds * 48)
  }

  private func start(_ players: [AudioPlayer], in delay: MediaTime = .milliseconds(10)) {
    let time = players[0].deviceCurrentTime + delay
    for player in players { #expect(player.play(atTime: time)) }
  }

  /// Checks that all captured audio from `start` on is silent: the players were at the same sample throughout.
  private func expectSilence(from start: Int = 0, _ comment: Comment? = nil) {
    let frames = server.capture.frames(from: start)
    let loudest = frames.map { max(abs(Int($0.left)), abs(Int($0.right))) }.max() ?? 0
    #expect(loudest < Self.rounding, comment)
  }

  private func close() async {
    await withCheckedContinuation { continuation in
      engine.loop.execute { [engine] in engine.close { continuation.resume() } }
    }
  }

  @Test(arguments: 1...5) func playersScheduledTenMillisecondsAheadStartOnOneSample(_ round: Int) async throws {
    let players = try players()
    start(players)
    try play(milliseconds: 1_000)
    #expect(players.allSatisfy { $0.currentTime > MediaTime(value: 1, timescale: 2) })
    expectSilence()
    // A running device cannot meet this start time.
    let late = try AudioPlayer(path: files.file("0.wav"), engine: engine)
    #expect(!late.play(atTime: late.deviceCurrentTime + MediaTime(value: 1, timescale: 100)) && !late.isPlaying)
    await close()
  }

  @Test func playersStaySampleAlignedAcrossRateChangesAndPauses() async throws {
    let players = try players()
    start(players)
    for round in 1...2 {
      for rate in [1.5, 0.8, 1.2] {
        try play(milliseconds: 400)
        for player in players { try player.setRate(rate) }
        // On a busy machine, a player whose audio is decoded late changes later, and is in sync afterwards.
        try play(milliseconds: 400)
        let start = server.capture.frameCount
        try play(milliseconds: 200)
        expectSilence(from: start)
      }
      for player in players { player.pause() }
      try play(milliseconds: 400)
      #expect(Set(players.map(\.currentTime)).count == 1)
      if round == 1 { start(players) }
    }
    await close()
  }

  /// Random starts, rates, pans, pauses and stops of the whole group. The second and third players cancel the first, at
  /// any common pan, if all three are at the same sample.
  ///
  /// `PLAYHEAD_TEST_EFFORT=50` makes 1,000 steps.
  @Test(arguments: 1...UInt64(Effort.rounds(1)))
  func randomGroupActionsLeaveNoSampleBetweenPlayers(seed: UInt64) async throws {
    // The files have the same amplitude, so that the time stretcher treats them alike.
    let players = try players(ofFactorsAndPans: [(2, 0), (-2, 0), (-2, 0)])
    for player in players.dropFirst() { try player.setVolume(0.5) }
    var random = SeededGenerator(seed: seed)
    var (isPlaying, checkedCount) = (false, 0)
    var actions: [String] = []
    for step in 1...20 {
      if !isPlaying {
        let delay = MediaTime.milliseconds(Int.random(in: 300...500, using: &random))
        actions.append("start in \(delay.seconds)")
        start(players, in: delay)
        isPlaying = true
      } else {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
          let rate = Double(Int.random(in: 50...200, using: &random)) / 100
          actions.append("rate \(rate)")
          for player in players { try player.setRate(rate) }
        case 4...6:
          let pan = Float(Int.random(in: -100...100, using: &random)) / 100
          actions.append("pan \(pan)")
          for player in players { try player.setPan(pan) }
        case 7:
          actions.append("pause")
          for player in players { player.pause() }
          isPlaying = false
        default:
          for player in players { player.stop() }
          actions.append("stop")
          let time = MediaTime(value: Int64.random(in: 0..<96_000, using: &random), timescale: 48_000)
          for player in players { try player.setCurrentTime(time) }
          isPlaying = false
        }
      }
      // The pans of three calls differ for some blocks. A rate is heard after 140 ms, a start after its delay.
      try play(milliseconds: isPlaying ? 900 : 200)
      #expect(Set(players.map(\.isPlaying)) == [isPlaying], "step \(step)")
      guard isPlaying else { continue }
      let from = server.capture.frameCount
      let before = players[0].currentTime
      try play(milliseconds: 100)
      expectSilence(from: from, "step \(step): \(actions.suffix(4)) at \(players.map { $0.currentTime.seconds })")
      #expect(players[0].currentTime != before, "step \(step)")
      checkedCount += 1
    }
    #expect(checkedCount > 6)
    await close()
  }
}
