import PlayheadMediaCore

/// Reads a track's audio as float32 with another sample rate or channel count.
///
/// From any position, the samples equal those of a read of the entire track, because the conversion begins with the
/// same phase as a conversion from frame 0.
///
/// Threading: one thread at a time, which may block.
final class ConvertedAudio {
  /// The maximum number of frames read together.
  static let chunkFrames = 8_192

  private let reader: AudioTrackReader
  private let output: AudioFormat
  private var converter: AudioConverter
  private var isDrained = false
  private let inputBuffer: UnsafeMutableBufferPointer<Float>
  /// The error that ended the audio. It is thrown after the remaining converted frames.
  private var failure: MediaError?

  /// - Parameter reader: a reader of float32 samples.
  /// - Throws: `conversionFailed`.
  init(_ reader: AudioTrackReader, to output: AudioFormat) throws(MediaError) {
    self.reader = reader
    self.output = output
    converter = try AudioConverter(from: reader.format, to: output)
    inputBuffer = .allocate(capacity: Self.chunkFrames * reader.format.channelCount)
  }

  deinit { inputBuffer.deallocate() }

  /// Begins a conversion at an input frame, without earlier input. Returns the first output frame.
  func restart(atInputFrame frame: Int64) throws(MediaError) -> Int64 {
    (isDrained, failure) = (false, nil)
    converter = try AudioConverter(from: reader.format, to: output, historyStart: frame, firstInputFrame: frame)
    return converter.firstOutputFrame
  }

  /// Begins a conversion whose first output frame is `first`. Returns the input frame to which the reader must seek.
  func restart(atOutputFrame first: Int64) throws(MediaError) -> Int64 {
    (isDrained, failure) = (false, nil)
    let source =
      MediaTime(frame: first, rate: output.sampleRateHz).frameIndex(
        rate: reader.format.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    let historyStart = AudioConverter.historyStart(before: source, from: reader.format, to: output)
    converter = try AudioConverter(
      from: reader.format, to: output, historyStart: historyStart, firstInputFrame: source, firstOutputFrame: first)
    return historyStart
  }

  /// Reads at most `capacityFrames` frames. Returns 0 at the end.
  ///
  /// - Throws: the errors of `AudioTrackReader.read`, after the last frame; `cancelled`, after which `restart` must be
  ///   called before the next read.
  func read(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    guard let input = inputBuffer.baseAddress else { return 0 }
    var count =
      isDrained ? 0 : try converter.convert(input, frameCount: 0, into: samples, capacityFrames: capacityFrames)
    while count == 0, !isDrained {
      do throws(MediaError) {
        switch try reader.read(into: input, capacityFrames: Self.chunkFrames) {
        case .frames(let inputCount, _):
          count = try converter.convert(input, frameCount: inputCount, into: samples, capacityFrames: capacityFrames)
        case .cancelled: throw AssetReader.cancelled
        case .endOfTrack: isDrained = true
        }
      } catch {
        if error.code == .cancelled { throw error }
        (failure, isDrained) = (error, true)
      }
    }
    if count == 0, isDrained { count = try converter.drain(into: samples, capacityFrames: capacityFrames) }
    if count == 0, let failure { throw failure }
    return count
  }
}

extension AudioTrackReader {
  /// Moves to exactly `frame`. A stream that begins earlier is read up to there. Returns false if the audio ends before
  /// the frame.
  ///
  /// A live stream begins at the first available frame, which may be later; see `position`.
  ///
  /// - Parameter needsProof: whether everything is read from the start if a seek does not prove the position.
  /// - Throws: the errors of `seek` and `read`; `cancelled`.
  func move(toFrame frame: Int64, needsProof: Bool = false) throws(MediaError) -> Bool {
    guard position != frame else { return true }
    _ = try seek(
      to: MediaTime(frame: frame, rate: format.sampleRateHz), toleranceBefore: .zero, toleranceAfter: .zero)
    // Only remote sources have estimated positions. A read from the start would load the whole source.
    if needsProof, positionDoubt.map({ $0 != .estimated }) ?? dependsOnDamage {
      try restart()
    }
    guard position < frame else { return true }
    let capacity = ConvertedAudio.chunkFrames
    let discarded = UnsafeMutableRawPointer.allocate(byteCount: capacity * frameByteCount, alignment: 16)
    defer { discarded.deallocate() }
    while position < frame {
      switch try read(into: discarded, capacityFrames: Int(min(frame - position, Int64(capacity)))) {
      case .frames: continue
      case .endOfTrack: return false
      case .cancelled: throw AssetReader.cancelled
      }
    }
    return true
  }
}
