import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// `AudioPlayer.play(atTime:)` on outputs that are still being opened, and for calls at different times.
@Suite struct AudioPlayerStartTests {
  /// A virtual device whose `open` returns when the test allows it.
  private final class DelayedSink: AudioSink {
    let inner: VirtualSink
    private let gate = ConditionMutex(false)

    init(_ inner: VirtualSink) { self.inner = inner }

    var label: String { inner.label }
    func open() throws(MediaError) -> AudioFormat {
      _ = gate.wait { $0 ? true : nil }
      return try inner.open()
    }
    func start(
      core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
    ) { inner.start(core: core, wakeControl: wakeControl, onFailure: onFailure) }
    func commandsPosted() { inner.commandsPosted() }
    func close() { inner.close() }
    func allowOpening() { gate.update { $0 = true } }
  }

  private func player(_ rig: Rig, file: Int) throws -> AudioPlayer {
    try AudioPlayer(path: timeCodedFile(rig.files, file), engine: rig.engine)
  }

  private func timeCodedFile(_ files: TemporaryDirectory, _ file: Int) throws -> String {
    let path = files.file("\(file).wav")
    try TimeCode.writeWAV(path: path, file: file, frameCount: 48_000, sampleRateHz: 48_000)
    return path
  }

  private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }

  private func advance(_ loop: VirtualControlLoop, milliseconds: Int64) async {
    await loop.advance(byNanoseconds: milliseconds * 1_000_000)
  }

  @Test func startScheduledBeforeTheOutputIsOpenTakesPlaceOnTime() async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "delayed"))
    let heard = HeardSamples()
    let sink = DelayedSink(VirtualSink(format: Rig.format, writer: heard, now: { [unowned loop] in loop.now }))
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    let files = try TemporaryDirectory()
    loop.execute {
      loop.attach(sink.inner)
      engine.open()
    }
    let players = try (1...2).map { try AudioPlayer(path: timeCodedFile(files, $0), engine: engine) }
    #expect(players[0].deviceCurrentTime == .zero)
    #expect(!players[0].play(atTime: .zero) && !players[0].play(atTime: .indefinite))
    for player in players { #expect(player.play(atTime: milliseconds(250)) && player.isPlaying) }
    sink.allowOpening()
    await advance(loop, milliseconds: 350)
    #expect(players.map(\.currentTime) == [milliseconds(100), milliseconds(100)])
    #expect(heard.all[11_999] == .silence)
    let sum = (1...2).reduce(0) { $0 + Int(TimeCode.frame(file: $1, index: 0).left) }
    #expect(Int(heard.all[12_000].left) == sum)
    await withCheckedContinuation { continuation in loop.execute { engine.close { continuation.resume() } } }
    #expect(!players[0].play(atTime: milliseconds(250)), "the output is closed")
  }

  /// Without gathering, the device would already have played for 15 ms when the last call arrives.
  @Test func spacedCallsStartPlayersOnOneSampleWhileTheDeviceIsIdle() async throws {
    let rig = try await Rig()
    rig.engine.core.coalescingNanoseconds = 20_000_000
    let players = try (1...3).map { try player(rig, file: $0) }
    let time = players[0].deviceCurrentTime + milliseconds(10)
    for player in players {
      #expect(player.play(atTime: time))
      await rig.advance(milliseconds: 7)
    }
    await rig.advance(milliseconds: 200)
    #expect(Set(players.map(\.currentTime)).count == 1)
    let sum = (1...3).reduce(0) { $0 + Int(TimeCode.frame(file: $1, index: 0).left) }
    #expect(Int(rig.heard.all[480].left) == sum && rig.heard.all[479] == .silence)
    // The device runs now, so it can no longer keep this time.
    let late = try player(rig, file: 4)
    #expect(!late.play(atTime: late.deviceCurrentTime) && !late.isPlaying)
  }

  @Test func pausingAPlayerBeforeItsStartDoesNotDelayOthers() async throws {
    let rig = try await Rig()
    rig.engine.core.coalescingNanoseconds = 20_000_000
    let players = try (1...2).map { try player(rig, file: $0) }
    for player in players { #expect(player.play(atTime: milliseconds(10))) }
    players[1].pause()
    await rig.advance(milliseconds: 130)
    #expect(players.map(\.currentTime) == [milliseconds(100), .zero])
  }
}
