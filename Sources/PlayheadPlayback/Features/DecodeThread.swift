import PlayheadControlLoop
import PlayheadMediaCore

/// The decode thread of a player, which starts on first use.
final class DecodeThread: PlayerFeature {
  private unowned let player: PlayerCore
  private var storage: DecodePipeline?
  /// The number of requests that the thread has completed, as last reported. Only with virtual time.
  private var idleRequestCount: UInt64 = 0

  init(_ player: PlayerCore) { self.player = player }

  /// Whether the thread has completed all requests. Only with virtual time.
  var isIdle: Bool { storage.map { $0.requestCount == idleRequestCount } ?? true }

  /// Handles the report that the thread is idle.
  func becameIdle(requestCount: UInt64) { idleRequestCount = requestCount }

  var pipeline: DecodePipeline {
    if let storage { return storage }
    let loop = player.engine.loop
    let now: @Sendable () -> HostTime = { loop.now }
    let pipeline = DecodePipeline(
      name: player.name, reportsIdling: player.engine.isVirtual, now: now, open: player.engine.openDecoder
    ) { [weak player] report in
      guard let player else { return }
      loop.execute { player.handle(report) }
    }
    storage = pipeline
    return pipeline
  }

  func playerDidClose() { storage?.close() }
}
