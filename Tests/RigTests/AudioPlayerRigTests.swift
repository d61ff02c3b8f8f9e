import MediaCore
import Playback
import PulseIO
import RealtimeAudio
import RigSupport
import Testing

/// `AudioPlayer`s that start and change their rate in step on a real PulseAudio.
///
/// In real time: the calls are apart by real time, and the device runs meanwhile.
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

  /// The rounding of the stretcher and of 16-bit samples, far below the noise.
  private static let rounding = 200

  /// Three looping players of noise: the first is canceled on the left by the second, and on the right by the third.
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

  /// Whether all that was captured from `start` on is silence: the players were on the same sample throughout.
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

  @Test(arguments: 1...5) func playersStartOnOneSampleTenMillisecondsAhead(_ round: Int) async throws {
    let players = try players()
    start(players)
    try play(milliseconds: 1_000)
    #expect(players.allSatisfy { $0.currentTime > MediaTime(value: 1, timescale: 2) })
    expectSilence()
    // A running device cannot keep this time.
    let late = try AudioPlayer(path: files.file("0.wav"), engine: engine)
    #expect(!late.play(atTime: late.deviceCurrentTime + MediaTime(value: 1, timescale: 100)) && !late.isPlaying)
    await close()
  }

  @Test func playersWhoseRatesAreSetAndThatArePausedInARowStayInStep() async throws {
    let players = try players()
    start(players)
    for round in 1...2 {
      for rate in [1.5, 0.8, 1.2] {
        try play(milliseconds: 400)
        for player in players { try player.setRate(rate) }
        // A player whose audio is decoded late on a busy machine changes later, and then is in step again.
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
