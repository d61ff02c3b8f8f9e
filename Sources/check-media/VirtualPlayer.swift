import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import Synchronization

/// A player on virtual time with one item. Stores the played samples.
///
/// Threading: any thread; functions are called one after another.
final class VirtualPlayer: Sendable {
  private let loop: VirtualControlLoop
  private let engine: PlaybackEngine
  let player: QueuePlayer
  let item: PlayerItem
  let heard: HeardAudio
  private let endRecord = EndRecord()

  /// The way in which an item ended.
  enum End: Sendable {
    case playedToEnd(MediaTime)
    case failedToPlayToEnd(MediaTime, MediaError)
    case itemFailed(MediaError)
  }

  /// The end of the item, once it was heard. The engine retains the observer, which must not retain the player.
  private final class EndRecord: Sendable {
    let end = Mutex<End?>(nil)
  }

  /// Creates a player whose output has the format of the audio, so no sample is converted.
  init(path: String, format: AudioFormat) async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "check-media"))
    let heard = HeardAudio(channelCount: format.channelCount)
    let sink = VirtualSink(format: format, writer: heard, now: { [unowned loop] in loop.now })
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    (self.loop, self.heard, self.engine) = (loop, heard, engine)
    await withCheckedContinuation { continuation in
      loop.execute {
        loop.attach(sink)
        engine.open()
        continuation.resume()
      }
    }
    player = QueuePlayer(engine: engine)
    item = PlayerItem(asset: Asset(path: path))
    try await observe()
    await advance(nanoseconds: 0)
  }

  private func observe() async throws {
    try await run { [endRecord, item] player in
      _ = player.addEventObserver { event in
        switch event {
        case .playedToEnd(_, let time): endRecord.end.withLock { $0 = .playedToEnd(time) }
        case .failedToPlayToEnd(_, let time, let error): endRecord.end.withLock { $0 = .failedToPlayToEnd(time, error) }
        case .itemFailed(_, let error): endRecord.end.withLock { $0 = .itemFailed(error) }
        default: break
        }
      }
      try player.setActionAtItemEnd(.pause)
      try player.append([item])
    }
  }

  /// The way in which the item ended; nil before its end.
  var itemEnd: End? { endRecord.end.withLock { $0 } }

  /// Runs `body` in the player's isolation.
  @discardableResult
  func run<Result: Sendable>(_ body: @Sendable (isolated QueuePlayer) throws -> Result) async rethrows -> Result {
    try await body(player)
  }

  /// Advances virtual time, after all running work.
  func advance(nanoseconds: Int64) async {
    await withCheckedContinuation { continuation in
      loop.execute { [loop] in loop.advance(byNanoseconds: nanoseconds) { continuation.resume() } }
    }
  }

  /// Ends the player.
  func close() async {
    await withCheckedContinuation { continuation in
      loop.execute { [engine] in engine.close { continuation.resume() } }
    }
  }
}

/// Stores all samples unchanged.
///
/// Threading: any thread.
final class HeardAudio: SampleWriter, Sendable {
  private struct State {
    var store: SampleStore?
    var error: MediaError?
  }

  private let channelCount: Int
  private let state = Mutex(State())

  init(channelCount: Int) { self.channelCount = channelCount }

  func begin(format: AudioFormat) throws(MediaError) {}

  func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    let result = state.withLock { state -> Result<Void, MediaError> in
      do throws(MediaError) {
        let store: SampleStore
        if let known = state.store { store = known } else { store = try SampleStore(channelCount: channelCount) }
        state.store = store
        try store.append(samples, frameCount: frameCount)
        return .success(())
      } catch {
        state.error = error
        return .failure(error)
      }
    }
    try result.get()
  }

  func finish() {}

  /// The samples since the last call; nil when there are none.
  func drain() throws(MediaError) -> SampleStore? {
    let (store, error) = state.withLock { state in
      defer { state = State() }
      return (state.store, state.error)
    }
    if let error { throw error }
    try store?.seal()
    return store
  }
}
