import PlayheadMediaCore
import PlayheadTimeStretch
import Synchronization

/// The algorithm that determines the pitch at a rate other than 1, like AVAudioTimePitchAlgorithm.
///
/// <!-- listing: set-rates -->
/// ```swift
/// try await player.setDefaultRate(1.25)
/// try await player.setAudioTimePitchAlgorithm(.varispeed)
/// await player.play()
/// try await player.setRate(0.5)
/// try await player.setRate(-1)
/// ```
///
/// All algorithms support rate magnitudes from 1/32 to 32. At rate 1 the audio is not processed.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// Keeps the pitch by removing or repeating pitch periods (Sonic). Uses little processor time, and suits speech best.
  /// The audio is within 20 ms of its exact position. Samples are converted to 16 bits and back.
  case timeDomain
  /// Keeps the pitch by adjusting the phases of partials (Rubber Band). Suits music best. A player uses about seven
  /// times as much processor time as with `timeDomain`. The audio is within 50 ms of its exact position. Not available
  /// in every build: see ``isAvailable``.
  case spectral
  /// The pitch follows the rate, as with a tape. Exact to the sample.
  case varispeed

  /// The algorithm that keeps the pitch; nil for `varispeed`.
  var stretchAlgorithm: TimeStretchAlgorithm? {
    switch self {
    case .timeDomain: .timeDomain
    case .spectral: .spectral
    case .varispeed: nil
    }
  }

  /// Whether this build has the algorithm. `spectral` requires the package trait `RubberBand`.
  public var isAvailable: Bool { stretchAlgorithm?.isAvailable ?? true }

  /// Checks `isAvailable`.
  ///
  /// - Throws: `unsupportedRate` if the algorithm is not available.
  func requireAvailable(operation: String) throws(MediaError) {
    guard !isAvailable else { return }
    throw MediaError(
      .unsupportedRate,
      "the pitch algorithm \(rawValue) is unavailable: this build lacks the package trait RubberBand",
      operation: operation)
  }
}

/// The pitch algorithm of an item, or the default of a player for items without one. The decode thread reads it.
final class TimePitchSlot: Sendable {
  private struct State {
    var customValue: AudioTimePitchAlgorithm?
    var playerSlot: TimePitchSlot?
  }

  private let state: Mutex<State>

  init(_ customValue: AudioTimePitchAlgorithm? = nil) { state = Mutex(State(customValue: customValue)) }

  /// The algorithm that was set here; nil: none.
  var customValue: AudioTimePitchAlgorithm? {
    get { state.withLock { $0.customValue } }
    set { state.withLock { $0.customValue = newValue } }
  }

  /// The slot that applies if nothing was set here.
  var playerSlot: TimePitchSlot? {
    get { state.withLock { $0.playerSlot } }
    set { state.withLock { $0.playerSlot = newValue } }
  }

  /// The algorithm that applies. Default: `timeDomain`.
  var value: AudioTimePitchAlgorithm {
    let (customValue, playerSlot) = state.withLock { ($0.customValue, $0.playerSlot) }
    return customValue ?? playerSlot?.value ?? .timeDomain
  }
}
