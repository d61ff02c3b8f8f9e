import PlayheadMediaCore

/// Changes the rate of audio without changing its pitch.
///
/// Guarantees of every stretcher:
/// - Output frame `n` represents the input position `n * rate`. The audio at that frame deviates by the stretcher's
///   *displacement*, which never accumulates. Each type documents its bounds.
/// - For `n` input frames, the number of output frames is exactly `ceil(n / rate)`, regardless of the chunk sizes.
///
/// Order of calls: `writeHistory` at most once, `write` and `read` in any order, `finish` once, `read` until it returns
/// 0.
///
/// Threading: one thread at a time; nothing blocks.
package protocol TimeStretcher: AnyObject {
  /// Creates a stretcher.
  ///
  /// - Throws: `unsupportedRate`, `conversionFailed`.
  init(format: AudioFormat, rate: StretchRate) throws(MediaError)

  /// The format of input and output: interleaved float32.
  var format: AudioFormat { get }

  /// The playback rate relative to the original audio.
  var rate: StretchRate { get }

  /// The number of frames before the first one that the stretcher can use; 0 if it uses none. With these frames, a
  /// start in the middle of audio is heard like continued playback. Without them, the stretcher uses silence.
  var historyFrameCount: Int { get }

  /// Sets the frames before the first one, which are not heard. Only the last `historyFrameCount` frames are used.
  func writeHistory(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError)

  /// Writes the next `frameCount` frames. All of them are accepted.
  ///
  /// - Throws: `conversionFailed`.
  func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError)

  /// Ends the audio: the remaining frames can then be read.
  ///
  /// - Throws: `conversionFailed`.
  func finish() throws(MediaError)

  /// Writes up to `capacityFrames` available frames to `output` and returns their number. 0 means that more input is
  /// required or, after `finish`, that all frames have been read.
  func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int
}

/// A time-stretching method.
package enum TimeStretchAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// Sonic: omits or repeats periods of the pitch. Fast; best for speech.
  case timeDomain
  /// Rubber Band: adjusts the phases of partials. Best for music; a player that uses it needs about seven times the
  /// processor time.
  case spectral

  /// Whether this build contains the method: `spectral` is missing if the package was built without its trait
  /// `RubberBand`.
  package var isAvailable: Bool {
    switch self {
    case .timeDomain: true
    case .spectral: SpectralStretcher.isAvailable
    }
  }

  /// Creates a stretcher with this method.
  ///
  /// - Throws: `unsupportedRate` if this build does not contain the method, or the library does not support the rate;
  ///   `conversionFailed`.
  package func makeStretcher(format: AudioFormat, rate: StretchRate) throws(MediaError) -> any TimeStretcher {
    switch self {
    case .timeDomain: try TimeDomainStretcher(format: format, rate: rate)
    case .spectral: try SpectralStretcher(format: format, rate: rate)
    }
  }
}
