import MediaCore

/// Plays sound faster or slower and keeps its pitch.
///
/// What every stretcher keeps: output frame `n` stands for the input position `n * speed`. What is really heard there
/// lies beside it by the stretcher's *displacement*, whose bounds each of them says; it never accumulates. The number of
/// frames that come out of `n` frames is exactly `ceil(n / speed)`, in whatever pieces they were put.
///
/// Order of calls: `putHistory` at most once, `put` and `take` in any order, `finish` once, `take` until it answers 0.
///
/// Threading: one thread at a time; nothing blocks.
public protocol TimeStretcher: AnyObject {
  /// Sets up a stretcher. Errors: `unsupportedRate`, `conversionFailed`.
  init(format: AudioFormat, speed: StretchSpeed) throws(MediaError)

  /// Of what goes in and comes out: interleaved float32.
  var format: AudioFormat { get }

  /// How much faster than recorded.
  var speed: StretchSpeed { get }

  /// How many frames in front of the first one it likes to know, so that a beginning in the middle of a sound is heard as
  /// if it had played on; 0 for none. Without them it takes silence.
  var historyFrameCount: Int { get }

  /// Takes what lies in front of the first frame, none of which is heard: the last `historyFrameCount` frames of it count.
  func putHistory(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError)

  /// Takes the next `frameCount` frames, all of them. Errors: `conversionFailed`.
  func put(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError)

  /// Ends the sound: what has not come out yet can be taken. Errors: `conversionFailed`.
  func finish() throws(MediaError)

  /// Writes up to `capacityFrames` frames of what is ready and answers how many; 0: more has to be put, or, after
  /// `finish`, that was all.
  func take(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int
}

/// A way to keep the pitch.
public enum TimeStretchAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// Sonic: periods of the pitch are left out or repeated. Cheap; best for speech.
  case timeDomain
  /// Rubber Band: partials are moved in their phases. Best for music; a player that uses it takes about seven times the
  /// processor time.
  case spectral

  /// Whether this build has it: `spectral` is missing where the package was built without its trait `RubberBand`.
  public var isAvailable: Bool {
    switch self {
    case .timeDomain: true
    case .spectral: SpectralStretcher.isAvailable
    }
  }

  /// A stretcher of this kind. Errors: `unsupportedRate` where this build, or the library at this rate, has no such thing;
  /// `conversionFailed`.
  public func makeStretcher(format: AudioFormat, speed: StretchSpeed) throws(MediaError) -> any TimeStretcher {
    switch self {
    case .timeDomain: try TimeDomainStretcher(format: format, speed: speed)
    case .spectral: try SpectralStretcher(format: format, speed: speed)
    }
  }
}
