import Synchronization

/// The audio processors of an item, followed by those of its player. The decode thread reads them when a pass begins.
final class AudioProcessorSlot: Sendable {
  private struct State {
    var own: [AudioProcessorFactory] = []
    var playerSlot: AudioProcessorSlot?
  }

  private let state = Mutex(State())

  /// The processors set here.
  var own: [AudioProcessorFactory] {
    get { state.withLock { $0.own } }
    set { state.withLock { $0.own = newValue } }
  }

  /// The slot of the player.
  var playerSlot: AudioProcessorSlot? {
    get { state.withLock { $0.playerSlot } }
    set { state.withLock { $0.playerSlot = newValue } }
  }

  /// The processors set here, followed by those of the player.
  var value: [AudioProcessorFactory] {
    let (own, playerSlot) = state.withLock { ($0.own, $0.playerSlot) }
    return own + (playerSlot?.value ?? [])
  }
}
