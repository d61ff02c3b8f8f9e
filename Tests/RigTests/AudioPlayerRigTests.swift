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
  private func players() throws -> [AudioPlayer] {
    var random = SystemRandomNumberGenerator()
    let noise = (0..<96_000).map { _ in Int16.random(in: -8_000...8_000, using: &random) }
    return try [(1, 0), (-1, -1), (-1, 1)].enumerated().map { number, role in
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

  private func start(_ players: [AudioPlayer]) {
    let time = players[0].deviceCurrentTime + MediaTime(value: 1, timescale: 100)
    for player in players { #expect(player.play(atTime: time)) }
  }

  /// Checks that all captured audio from `start` on is silent: the players were at the same sample throughout.
  private func expectSilence(from start: Int = 0) {
    let frames = server.capture.frames(from: start)
    let loudest = frames.map { max(abs(Int($0.left)), abs(Int($0.right))) }.max() ?? 0
    #expect(loudest < Self.rounding)
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
}
