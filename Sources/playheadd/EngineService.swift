import Playback
import ServiceLifecycle

/// Opens the engine's output at the start and closes it, players and all, at the end.
struct EngineService: Service {
  let engine: PlaybackEngine

  func run() async throws {
    engine.loop.execute { [engine] in engine.open() }
    try? await gracefulShutdown()
    await withCheckedContinuation { continuation in
      engine.loop.execute { [engine] in engine.close { continuation.resume() } }
    }
  }
}
