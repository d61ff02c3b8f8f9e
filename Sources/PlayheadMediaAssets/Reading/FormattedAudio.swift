import PlayheadMediaCore

/// Reads a track's audio as float32 with one sample rate and channel count, from any frame. Without conversion the
/// samples are bit-exact.
///
/// Threading: one thread at a time, which may block.
final class FormattedAudio {
  /// A reader of float32 samples.
  let reader: AudioTrackReader
  private let format: AudioFormat
  private let converted: ConvertedAudio?
  /// The frame of the next read; nil if unknown.
  private var nextFrame: Int64?
  /// The first frame from `nextFrame` on that is available. It is later than `nextFrame` after a live stream advanced.
  private var firstAvailableFrame: Int64 = 0
  /// Whether no audio follows from the next frame on.
  private(set) var isAtEnd = false

  /// - Parameter reader: a reader of float32 samples.
  /// - Throws: `conversionFailed`.
  init(_ reader: AudioTrackReader, as format: AudioFormat) throws(MediaError) {
    self.reader = reader
    self.format = format
    converted = reader.format == format ? nil : try ConvertedAudio(reader, to: format)
  }

  /// Moves to a frame. Has no effect if it is the current one.
  ///
  /// - Throws: the errors of seeking; `cancelled`.
  func move(to frame: Int64) throws(MediaError) {
    if let nextFrame, frame == nextFrame || isAtEnd && frame > nextFrame {
      self.nextFrame = frame
      return
    }
    nextFrame = nil
    let first = try converted?.restart(atOutputFrame: frame) ?? frame
    isAtEnd = try !reader.move(toFrame: first)
    firstAvailableFrame = frame
    if reader.position > first {
      firstAvailableFrame = try converted?.restart(atInputFrame: reader.position) ?? reader.position
    }
    nextFrame = frame
  }

  /// Reads from 1 to `capacityFrames` frames; 0 at the end. Audio that a live stream no longer has is replaced with
  /// silence.
  ///
  /// - Throws: the errors of `AudioTrackReader.read`; `cancelled`. After an error, call `move(to:)` before the next
  ///   read.
  func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    guard let frame = nextFrame, !isAtEnd else { return 0 }
    nextFrame = nil
    var count = Int(min(Int64(capacityFrames), max(0, firstAvailableFrame - frame)))
    if count > 0 {
      output.update(repeating: 0, count: count * format.channelCount)
    } else {
      count = try next(into: output, capacityFrames)
      firstAvailableFrame = frame + Int64(count)
    }
    isAtEnd = count == 0
    nextFrame = frame + Int64(count)
    return count
  }

  private func next(into output: UnsafeMutablePointer<Float>, _ capacityFrames: Int) throws(MediaError) -> Int {
    if let converted { return try converted.read(into: output, capacityFrames: capacityFrames) }
    switch try reader.read(into: output, capacityFrames: capacityFrames) {
    case .frames(let count, _): return count
    case .endOfTrack: return 0
    case .cancelled: throw AssetReader.cancelled
    }
  }
}
