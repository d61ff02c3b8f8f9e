import MediaCore
import Synchronization
import TimeStretch

/// What becomes of the pitch of an item that is played at another rate than 1. As AVAudioTimePitchAlgorithm.
///
/// All of them play from 1/32 to 32 times as fast. At the rate 1 none is at work.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// The pitch is kept by leaving out or repeating its periods (Sonic); cheap, best for speech. What is heard lies within
  /// 20 ms of where it should; samples pass through 16 bits.
  case timeDomain
  /// The pitch is kept by moving partials in their phases (Rubber Band); best for music. A player takes about
  /// seven times as much processor time with it as with `timeDomain`. What is heard lies within 50 ms of where it should.
  /// Not in every build: see `isAvailable`.
  case spectral
  /// The pitch follows the rate, as with a tape; exact to the sample.
  case varispeed

  /// What keeps the pitch; nil: nothing does.
  var stretch: TimeStretchAlgorithm? {
    switch self {
    case .timeDomain: .timeDomain
    case .spectral: .spectral
    case .varispeed: nil
    }
  }

  /// Whether this build has it: `spectral` is missing without the package trait `RubberBand`.
  public var isAvailable: Bool { stretch?.isAvailable ?? true }

  /// Errors: `unsupportedRate` unless `isAvailable`.
  func requireAvailable(operation: String) throws(MediaError) {
    guard !isAvailable else { return }
    throw MediaError(
      .unsupportedRate,
      "this build cannot play with the pitch algorithm \(rawValue): it was built without the package trait RubberBand",
      operation: operation)
  }
}

/// Which algorithm an item, or a player for those of its items that have none of their own, is played with. Read by the
/// decode thread.
final class TimePitchSlot: Sendable {
  private struct State {
    var own: AudioTimePitchAlgorithm?
    var player: TimePitchSlot?
  }

  private let state: Mutex<State>

  init(_ own: AudioTimePitchAlgorithm? = nil) { state = Mutex(State(own: own)) }

  /// What was set here; nil: nothing.
  var own: AudioTimePitchAlgorithm? {
    get { state.withLock { $0.own } }
    set { state.withLock { $0.own = newValue } }
  }

  /// What holds where nothing was set here.
  var player: TimePitchSlot? {
    get { state.withLock { $0.player } }
    set { state.withLock { $0.player = newValue } }
  }

  /// What holds: `timeDomain` where nothing was ever set.
  var value: AudioTimePitchAlgorithm {
    let (own, player) = state.withLock { ($0.own, $0.player) }
    return own ?? player?.value ?? .timeDomain
  }
}
