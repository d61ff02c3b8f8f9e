import Synchronization
import TimeStretch

/// What becomes of the pitch of an item that is played at another rate than 1. As AVAudioTimePitchAlgorithm.
///
/// All of them play from 1/32 to 32 times as fast. At the rate 1 none is at work.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// The pitch is kept by leaving out or repeating its periods (Sonic); cheap, best for speech. What is heard lies within
  /// 20 ms of where it should; samples pass through 16 bits.
  case timeDomain
  /// The pitch is kept by moving partials in their phases (Rubber Band); best for music, and ten to thirty times as
  /// costly. What is heard lies within 50 ms of where it should. Not in every build: see `isAvailable`.
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
}

/// Where an item keeps its algorithm, for the decode thread to read.
final class TimePitchSlot: Sendable {
  private let algorithm = Mutex(AudioTimePitchAlgorithm.timeDomain)

  var value: AudioTimePitchAlgorithm {
    get { algorithm.withLock { $0 } }
    set { algorithm.withLock { $0 = newValue } }
  }
}
