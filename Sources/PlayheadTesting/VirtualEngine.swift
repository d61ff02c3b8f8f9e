import Playhead

/// An engine on virtual time: no device, no waiting, and the same result in each run.
///
/// <!-- listing: virtual-test -->
/// ```swift
/// let test = try await PlaybackEngine.virtual()
/// let player = try await Player(engine: test.engine, playerItem: PlayerItem(path: path))
/// await player.play()
/// try await test.clock.advance(by: .seconds(1))
/// precondition(test.output.frameCount == 48_000)
/// ```
///
/// Decoders and files are real. Network resources work, too, but how much they deliver depends on the server. The
/// engine ends when it and its players are released, or with `PlaybackEngine.close`.
public struct VirtualEngine: Sendable {
  /// The engine, with an open output.
  public let engine: PlaybackEngine
  /// The time of the engine, which passes only on request.
  public let clock: VirtualClock
  /// The audio that was heard.
  public let output: CapturedAudio
}

extension PlaybackEngine {
  /// Makes an engine on virtual time and opens its output.
  ///
  /// - Parameters:
  ///   - format: The format of the output. Default: 48,000 Hz, two channels.
  ///   - lookAhead: How far audio is rendered before it is heard, from 0 to 10 s. A device renders about 100 ms ahead.
  ///     Default: 0.
  /// - Throws: `invalidTime` for another look-ahead.
  public static func virtual(
    format: AudioFormat = AudioFormat(sampleRateHz: 48_000, channelCount: 2), lookAhead: MediaTime = .zero
  ) async throws(MediaError) -> VirtualEngine {
    guard lookAhead.isNumeric, (MediaTime.zero...MediaTime.seconds(10)).contains(lookAhead),
      let lookAheadFrames = lookAhead.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero)
    else {
      throw MediaError(.invalidTime, "look-ahead must be 0 to 10 s (got \(lookAhead))", operation: "virtual")
    }
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "virtual"))
    let output = CapturedAudio()
    let sink = VirtualSink(
      format: format, lookAheadFrames: Int(lookAheadFrames), writer: output, now: { [unowned loop] in loop.now })
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    await withCheckedContinuation { continuation in
      loop.execute { loop.attach(sink) }
      engine.open { _ in continuation.resume() }
    }
    return VirtualEngine(engine: engine, clock: VirtualClock(loop), output: output)
  }
}
