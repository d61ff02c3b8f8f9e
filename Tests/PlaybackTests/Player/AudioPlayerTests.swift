import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// A player of one audio file whose calls return immediately, like AVAudioPlayer.
@Suite struct AudioPlayerTests {
  private func makePlayer(_ rig: Rig, file: Int = 1, frames: Int) throws -> AudioPlayer {
    let path = rig.files.file("audio-\(file)-\(frames).wav")
    try TimeCode.writeWAV(path: path, file: file, frameCount: frames, sampleRateHz: 48_000)
    return try AudioPlayer(path: path, engine: rig.engine)
  }

  private func seconds(_ value: Int64, _ scale: Int32 = 1) -> MediaTime { MediaTime(value: value, timescale: scale) }

  private func ranges(_ rig: Rig) -> [Range<Int>] { rig.heard.runs.map { $0.firstIndex..<$0.endIndex } }

  /// Records the calls of a player's handlers.
  private final class HandlerCalls: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var handlers: AudioPlayer.Handlers {
      AudioPlayer.Handlers(
        didFinishPlaying: { [self] flag in lines.withLock { $0.append("finished \(flag)") } },
        decodeErrorDidOccur: { [self] error in lines.withLock { $0.append("error \(error.code)") } })
    }
  }

  @Test func statement36_numberOfLoops1PlaysTwice() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 9_600)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.numberOfLoops = 1
    #expect(player.play() && player.isPlaying)
    await rig.advance(milliseconds: 350)
    #expect(calls.all == [])
    await rig.advance(milliseconds: 250)
    #expect(ranges(rig) == [0..<9_600, 0..<9_600])
    #expect(calls.all == ["finished true"])
    #expect(!player.isPlaying && player.currentTime == .zero)
    // After its end it plays twice again.
    #expect(player.play())
    await rig.advance(milliseconds: 600)
    #expect(ranges(rig).count == 4 && calls.all.count == 2)
  }

  @Test func statement36_negativeNumberOfLoopsRepeatsUntilItIsChanged() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 4_800)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.numberOfLoops = -1
    player.play()
    await rig.advance(milliseconds: 2_050)
    #expect(ranges(rig).count == 21 && calls.all == [])
    player.numberOfLoops = 0
    await rig.advance(milliseconds: 500)
    #expect(ranges(rig).count == 21 && calls.all == ["finished true"])
  }

  /// The device buffers more than the whole audio, so that all decoded audio is heard.
  @Test func statement36_noPassAfterTheLastIsDecoded() async throws {
    let rig = try await Rig(lookAheadFrames: 96_000)
    let player = try makePlayer(rig, frames: 960)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.numberOfLoops = 3
    player.prepareToPlay()
    await rig.settle()
    let written = await rig.run { _ in
      var written: [Int64] = []
      _ = rig.engine.core.anyPlayer { player in
        if let stream = player.chain.sounding?.stream { written.append(stream.writtenFrame) }
        return false
      }
      return written
    }
    #expect(written == [4 * 960])
    player.play()
    await rig.advance(milliseconds: 50)
    // Two repeats have begun; one more is the last.
    #expect(calls.all == [])
    player.numberOfLoops = 2
    await rig.advance(milliseconds: 100)
    #expect(ranges(rig) == Array(repeating: 0..<960, count: 3) && calls.all == ["finished true"])
    // After the end the count starts again.
    player.numberOfLoops = 3
    player.play()
    await rig.advance(milliseconds: 100)
    #expect(ranges(rig).count == 7 && calls.all.count == 2)
    print("frames decoded ahead of 4 passes of 960: \(written)")
  }

  @Test(.timeLimit(.minutes(2))) func playerPlaysAudioFromFileAndHTTPURLs() async throws {
    let rig = try await Rig()
    let server = try HTTPServer()
    for (file, path) in [(1, rig.files.file("my audio.wav")), (2, server.files.file("audio.wav"))] {
      try TimeCode.writeWAV(path: path, file: file, frameCount: 9_600, sampleRateHz: 48_000)
    }
    let path = rig.files.file("my audio.wav").replacingOccurrences(of: " ", with: "%20")
    let calls = HandlerCalls()
    for url in ["file://\(path)", "\(server.address)/audio.wav"] {
      let player = try AudioPlayer(url: url, engine: rig.engine)
      player.handlers = calls.handlers
      #expect(player.duration == seconds(1, 5) && player.numberOfChannels == 2)
      #expect(player.play())
      await rig.advance(milliseconds: 400)
      #expect(!player.isPlaying)
    }
    #expect(rig.heard.runs.map { [$0.file, $0.firstIndex, $0.count] } == [[1, 0, 9_600], [2, 0, 9_600]])
    #expect(calls.all == ["finished true", "finished true"])
    // A URL that cannot be played is rejected at once.
    for (url, code) in [
      ("\(server.address)/none.wav", MediaError.Code.httpNotFound), ("gopher://nowhere/", .unsupportedLocation),
    ] {
      expectError(code) { try AudioPlayer(url: url, engine: rig.engine) }
    }
  }

  @Test func playAtATimeIsPlayingAtOnceAndHeardFromThen() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 4_800)
    #expect(player.play(atTime: seconds(1)) && player.isPlaying)
    await rig.advance(milliseconds: 500)
    #expect(player.isPlaying && player.currentTime == .zero)
    player.pause()
    #expect(!player.isPlaying)
    await rig.advance(milliseconds: 1_000)
    #expect(ranges(rig) == [])
    #expect(player.play(atTime: player.deviceCurrentTime + seconds(1)) && player.isPlaying)
    await rig.advance(milliseconds: 1_050)
    #expect(player.isPlaying && player.currentTime == seconds(1, 20))
    await rig.advance(milliseconds: 100)
    #expect(!player.isPlaying && ranges(rig) == [0..<4_800])
  }

  @Test func statement36_stopAndPauseKeepCurrentTimeAndCallNoHandler() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 48_000)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.play()
    await rig.advance(milliseconds: 250)
    player.pause()
    await rig.advance(milliseconds: 250)
    #expect(player.currentTime == seconds(1, 4))
    player.play()
    await rig.advance(milliseconds: 250)
    player.stop()
    await rig.advance(milliseconds: 250)
    #expect(player.currentTime == seconds(1, 2) && !player.isPlaying)
    player.play()
    await rig.advance(milliseconds: 250)
    #expect(player.currentTime == seconds(3, 4))
    #expect(calls.all == [])
    // No frame is lost or repeated.
    #expect(ranges(rig).map(\.lowerBound) == [0, 12_000, 24_000])
  }

  @Test func currentTimeCanBeSetWhileStoppedPreparedAndPlaying() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 96_000)
    try player.setCurrentTime(seconds(1))
    #expect(player.currentTime == seconds(1))
    player.prepareToPlay()
    await rig.settle()
    #expect(player.currentTime == seconds(1))
    try player.setCurrentTime(seconds(1, 2))
    await rig.settle()
    player.play()
    await rig.advance(milliseconds: 100)
    try player.setCurrentTime(seconds(3, 2))
    await rig.advance(milliseconds: 100)
    #expect(player.currentTime == seconds(16, 10))
    try player.setCurrentTime(seconds(-5))
    await rig.settle()
    #expect(player.currentTime == .zero)
    expectError(.invalidTime) { try player.setCurrentTime(.indefinite) }
    #expect(ranges(rig).prefix(2).map(\.lowerBound) == [24_000, 72_000])
    #expect(player.duration == seconds(2) && player.numberOfChannels == 2)
  }

  @Test func statement37_metersChangeOnlyOnUpdateMetersAndReadMinus160WithoutSignal() async throws {
    let rig = try await Rig()
    let path = rig.files.file("square.wav")
    try TimeCode.writeWAV(path: path, frameCount: 48_000) { index in
      let sample: Int16 = index / 50 % 2 == 0 ? .max : -.max
      return StereoFrame(left: sample, right: 0)
    }
    let player = try AudioPlayer(path: path, engine: rig.engine)
    player.play()
    await rig.advance(milliseconds: 200)
    player.updateMeters()
    #expect(try player.averagePower(forChannel: 0) == -160)
    player.isMeteringEnabled = true
    await rig.advance(milliseconds: 200)
    #expect(try player.averagePower(forChannel: 0) == -160)
    player.updateMeters()
    #expect(abs(try player.averagePower(forChannel: 0)) < 0.01)
    #expect(abs(try player.peakPower(forChannel: 0)) < 0.01)
    #expect(try player.peakPower(forChannel: 1) == -160)
    player.pause()
    await rig.advance(milliseconds: 200)
    #expect(abs(try player.peakPower(forChannel: 0)) < 0.01)
    player.updateMeters()
    #expect(try player.peakPower(forChannel: 0) == -160)
    expectError(.invalidArgument) { try player.averagePower(forChannel: 2) }
  }

  @Test func statement38_playAtATimeNotAfterDeviceCurrentTimeReturnsFalse() async throws {
    let rig = try await Rig()
    let players = try (1...3).map { try makePlayer(rig, file: $0, frames: 96_000) }
    #expect(players[0].deviceCurrentTime == .zero)
    players[0].play()
    await rig.advance(milliseconds: 500)
    let now = players[0].deviceCurrentTime
    #expect(now == seconds(1, 2))
    #expect(!players[1].play(atTime: now))
    #expect(!players[1].play(atTime: .zero))
    #expect(!players[1].play(atTime: .indefinite))
    #expect(!players[1].play(atTime: .positiveInfinity))
    #expect(!players[0].play(atTime: now + seconds(1)), "it plays already")
    #expect(!players[1].isPlaying && players[1].currentTime == .zero)
    // Two players with the same time begin on the same sample.
    let later = now + seconds(1, 4)
    #expect(players[1].play(atTime: later) && players[2].play(atTime: later))
    await rig.advance(milliseconds: 500)
    let heard = rig.heard.all
    #expect(heard[35_999] == TimeCode.frame(file: 1, index: 35_999))
    let parts = [(1, 36_000), (2, 0), (3, 0)].map { TimeCode.frame(file: $0.0, index: $0.1) }
    #expect(Int(heard[36_000].left) == parts.reduce(0) { $0 + Int($1.left) })
    #expect(players[1].currentTime == seconds(1, 4) && players[2].currentTime == seconds(1, 4))
    for player in players { player.stop() }
    await rig.settle()
    #expect(players[0].deviceCurrentTime == .zero)
  }

  @Test func statement38_playAtATimeCountsFromZeroWhileNoPlayerIsActive() async throws {
    let rig = try await Rig()
    let players = try (1...2).map { try makePlayer(rig, file: $0, frames: 12_000) }
    players[0].play()
    await rig.advance(milliseconds: 500)
    players[0].stop()
    await rig.advance(milliseconds: 500)
    let earlierFrameCount = rig.heard.all.count
    #expect(players[1].deviceCurrentTime == .zero)
    // A rejected call prepares nothing.
    #expect(!players[1].play(atTime: seconds(86_401)) && !players[1].play(atTime: .zero))
    #expect(await rig.run { _ in rig.engine.core.anyPlayer { !$0.machine.entries.isEmpty } } == false)
    #expect(players[1].play(atTime: seconds(1, 4)))
    await rig.advance(milliseconds: 350)
    #expect(players[1].currentTime == seconds(1, 10))
    #expect(players[1].deviceCurrentTime == seconds(7, 20))
    let heard = rig.heard.all
    #expect(heard[earlierFrameCount + 11_999] == StereoFrame(left: 0, right: 0))
    #expect(heard[earlierFrameCount + 12_000] == TimeCode.frame(file: 2, index: 0))
  }

  @Test func statement38_deviceCurrentTimeRestartsAtZeroWhenTheOnlyPlayerIsPrepared() async throws {
    let rig = try await Rig()
    let players = try (1...2).map { try makePlayer(rig, file: $0, frames: 48_000) }
    players[0].play()
    await rig.advance(milliseconds: 500)
    players[0].stop()
    await rig.advance(milliseconds: 500)
    players[1].prepareToPlay()
    #expect(players[1].deviceCurrentTime == .zero)
    players[1].play()
    await rig.advance(milliseconds: 250)
    #expect(players[1].deviceCurrentTime == seconds(1, 4))
    // While another player has an item, the device's time advances.
    players[0].play()
    await rig.advance(milliseconds: 250)
    players[1].stop()
    players[1].prepareToPlay()
    #expect(players[1].deviceCurrentTime == seconds(1, 2))
  }

  /// Reported behaviour of AVAudioPlayer: after a pause near its end, it continues silently and never finishes.
  @Test(arguments: [0, 1], [190, 195, 199, 200] as [Int64])
  func playerPausedNearItsEndResumesAndFinishes(_ loops: Int, _ milliseconds: Int64) async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 9_600)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.numberOfLoops = loops
    player.play()
    await rig.advance(milliseconds: milliseconds + Int64(loops) * 200)
    player.pause()
    await rig.advance(milliseconds: 1_000)
    let isOver = milliseconds == 200
    #expect(calls.all == (isOver ? ["finished true"] : []) && !player.isPlaying)
    if !isOver {
      #expect(player.currentTime == seconds(milliseconds, 1_000))
      player.play()
      await rig.advance(milliseconds: 1_000)
    }
    #expect(calls.all == ["finished true"])
    #expect(!player.isPlaying && player.currentTime == .zero)
    // Every sample was heard exactly once.
    let heard = rig.heard.all.filter { $0.left != 0 || $0.right != 0 }
    let pass = (0..<9_600).map { TimeCode.frame(file: 1, index: $0) }.filter { $0.left != 0 || $0.right != 0 }
    #expect(heard == (loops == 0 ? pass : pass + pass))
  }

  @Test(arguments: [0.5, 0.8, 1.25, 2])
  func pitchIsUnchangedAtOtherRates(_ rate: Double) async throws {
    let rig = try await Rig()
    let path = rig.files.file("tone.wav")
    try TimeCode.writeWAV(path: path, frameCount: 144_000) { index in
      let sample = Int16(16_000 * sin(2 * Double.pi * 500 * Double(index) / 48_000))
      return StereoFrame(left: sample, right: sample)
    }
    let player = try AudioPlayer(path: path, engine: rig.engine)
    player.enableRate = true
    try player.setRate(rate)
    player.play()
    await rig.advance(milliseconds: 1_250)
    #expect(abs(player.currentTime.seconds - 1.25 * rate) < 0.001)
    let heard = rig.heard.left[12_000..<60_000]
    let crossings = zip(heard, heard.dropFirst()).count { $0 < 0 && $1 >= 0 }
    print("a tone of 500 Hz by AudioPlayer at rate \(rate): \(crossings) Hz")
    #expect(abs(crossings - 500) <= 5)
  }

  @Test func stopInTheFinishHandlerLeavesThePlayerAtItsStart() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 4_800)
    player.handlers = AudioPlayer.Handlers(didFinishPlaying: { [weak player] _ in player?.stop() })
    for pass in 1...2 {
      #expect(player.play())
      await rig.advance(milliseconds: 300)
      #expect(player.currentTime == .zero && !player.isPlaying)
      #expect(ranges(rig) == Array(repeating: 0..<4_800, count: pass))
    }
  }

  @Test func statement39_enableRateTakesEffectAtTheNextPreparation() async throws {
    let rig = try await Rig()
    let player = try makePlayer(rig, frames: 96_000)
    #expect(!player.enableRate && player.rate == 1)
    for rate in [0.49, 2.01, 0, -1, .nan, .infinity] as [Double] {
      expectError(.unsupportedRate) { try player.setRate(rate) }
    }
    #expect(player.rate == 1)
    // Set after the preparation, it has no effect.
    player.prepareToPlay()
    player.enableRate = true
    try player.setRate(2)
    player.play()
    await rig.advance(milliseconds: 500)
    #expect(player.currentTime == seconds(1, 2))
    // It takes effect at the next preparation.
    player.stop()
    player.play()
    await rig.advance(milliseconds: 500)
    #expect(abs((player.currentTime - seconds(3, 2)).seconds) < 0.001)
    try player.setRate(0.5)
    await rig.advance(milliseconds: 500)
    let time = player.currentTime.seconds
    #expect(time > 1.75 && time < 1.9, "\(time)")
  }

  @Test func dataInMemoryPlaysLikeAFile() async throws {
    let rig = try await Rig()
    for kind in ["wav", "flac"] {
      rig.heard.removeAll()
      let path = rig.files.file("memory.\(kind)")
      if kind == "wav" {
        try TimeCode.writeWAV(path: path, file: 5, frameCount: 24_000, sampleRateHz: 48_000)
      } else {
        try TimeCode.writeFLAC(path: path, file: 5, frameCount: 24_000, sampleRateHz: 48_000)
      }
      let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      try FileManager.default.removeItem(atPath: path)
      let player = try AudioPlayer(data: data, engine: rig.engine)
      player.numberOfLoops = 1
      try player.setCurrentTime(seconds(1, 10))
      player.play()
      await rig.advance(milliseconds: 1_200)
      #expect(ranges(rig) == [4_800..<24_000, 0..<24_000], "\(kind)")
    }
  }

  @Test func invalidDataLocationsAndSettingsAreRejected() async throws {
    let rig = try await Rig()
    func code(_ data: [UInt8]) -> MediaError.Code? {
      do throws(MediaError) {
        _ = try AudioPlayer(data: data, engine: rig.engine)
        return nil
      } catch { return error.code }
    }
    #expect(code([]) == .emptyFile)
    #expect(code(Array(repeating: 7, count: 5_000)) == .unknownFormat)
    let path = rig.files.file("cut.flac")
    try TimeCode.writeFLAC(path: path, file: 5, frameCount: 24_000, sampleRateHz: 48_000)
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // Truncated data is rejected or opens, and never traps.
    for count in stride(from: 0, through: 200, by: 7) { _ = code(Array(whole.prefix(count))) }
    expectError(.fileNotFound) { try AudioPlayer(path: "/nowhere.wav", engine: rig.engine) }
    expectError(.unsupportedLocation) { try AudioPlayer(url: "gopher://example.org/a.wav", engine: rig.engine) }
    let player = try makePlayer(rig, frames: 4_800)
    expectError(.invalidArgument) { try player.setVolume(1.5) }
    expectError(.invalidArgument) { try player.setVolume(.nan) }
    expectError(.invalidTime) { try player.setVolume(0.5, fadeDuration: seconds(-1)) }
    expectError(.invalidArgument) { try player.setPan(-1.01) }
    #expect(player.volume == 1 && player.pan == 0)
  }

  @Test func volumeFadeAndPanAreApplied() async throws {
    let rig = try await Rig()
    let path = rig.files.file("level.wav")
    try TimeCode.writeWAV(path: path, frameCount: 96_000) { _ in StereoFrame(left: 16_384, right: 16_384) }
    let player = try AudioPlayer(path: path, engine: rig.engine)
    try player.setPan(1)
    player.play()
    await rig.advance(milliseconds: 500)
    try player.setVolume(0, fadeDuration: seconds(1, 2))
    #expect(player.volume == 0)
    await rig.advance(milliseconds: 1_000)
    let heard = rig.heard.all
    #expect(heard[10_000] == StereoFrame(left: 0, right: 16_384))
    for offset in stride(from: 0, to: 24_000, by: 240) {
      let line = 16_384 * (1 - Double(offset) / 24_000)
      #expect(abs(Double(heard[24_000 + offset].right) - line) <= 1)
    }
    #expect(heard[50_000] == StereoFrame(left: 0, right: 0))
  }

  @Test func fileRemovedBeforeDecodingReportsADecodeErrorAndNoSuccess() async throws {
    let rig = try await Rig()
    let path = rig.files.file("gone.flac")
    try TimeCode.writeFLAC(path: path, file: 5, frameCount: 24_000, sampleRateHz: 48_000)
    let asset = Asset(path: path)
    let player = try AudioPlayer(asset: asset, engine: rig.engine)
    // The file exists when it is opened, but not when it is decoded.
    try FileManager.default.removeItem(atPath: path)
    let calls = HandlerCalls()
    player.handlers = calls.handlers
    player.play()
    await rig.advance(milliseconds: 300)
    #expect(calls.all == ["error \(MediaError.Code.fileNotFound)", "finished false"])
    #expect(!player.isPlaying)
  }
}
