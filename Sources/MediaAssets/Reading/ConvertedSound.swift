import MediaCore

/// Reads a track's sound as float32 at another rate, or with other channels. What it gives from a place on is what a pass over the whole
/// track would give there: the conversion begins where its phase is that of one from frame 0 on.
///
/// Threading: one thread at a time, which may block.
final class ConvertedSound {
  /// Frames that are read together at most.
  static let pieceFrames = 8_192

  private let reader: AudioTrackReader
  private let output: AudioFormat
  private var converter: AudioConverter
  private var isDrained = false
  private let incoming: UnsafeMutableBufferPointer<Float>
  /// Why the sound broke off, to be said behind what is still inside.
  private var failure: MediaError?

  /// - Parameter reader: of float32.
  /// Errors: `conversionFailed`.
  init(_ reader: AudioTrackReader, to output: AudioFormat) throws(MediaError) {
    self.reader = reader
    self.output = output
    converter = try AudioConverter(from: reader.format, to: output)
    incoming = .allocate(capacity: Self.pieceFrames * reader.format.channelCount)
  }

  deinit { incoming.deallocate() }

  /// What goes in begins at a frame, whatever lies before. Answers the first frame that comes out.
  func begin(atInput frame: Int64) throws(MediaError) -> Int64 {
    (isDrained, failure) = (false, nil)
    converter = try AudioConverter(from: reader.format, to: output, historyStart: frame, firstInputFrame: frame)
    return converter.firstOutputFrame
  }

  /// The first frame to come out. Answers which the reader is to go to.
  func begin(at first: Int64) throws(MediaError) -> Int64 {
    (isDrained, failure) = (false, nil)
    let source =
      MediaTime(frame: first, rate: output.sampleRateHz).frameIndex(
        rate: reader.format.sampleRateHz, rounding: .towardNegativeInfinity) ?? 0
    let historyStart = AudioConverter.historyStart(before: source, from: reader.format, to: output)
    converter = try AudioConverter(
      from: reader.format, to: output, historyStart: historyStart, firstInputFrame: source, firstOutputFrame: first)
    return historyStart
  }

  /// Up to so many frames; none at the end.
  ///
  /// Errors: those of `AudioTrackReader.read`, behind the last frame; `cancelled`: then `begin` before reading on.
  func read(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    guard let room = incoming.baseAddress else { return 0 }
    var count =
      isDrained ? 0 : try converter.convert(room, frameCount: 0, into: samples, capacityFrames: capacityFrames)
    while count == 0, !isDrained {
      do throws(MediaError) {
        switch try reader.read(into: room, capacityFrames: Self.pieceFrames) {
        case .frames(let read, _):
          count = try converter.convert(room, frameCount: read, into: samples, capacityFrames: capacityFrames)
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
  /// Goes to a frame, and nowhere else: a stream may begin before it, and is read up to it. False where the sound ends before.
  ///
  /// A live stream begins where it can, which may be behind it: `position` tells. Errors: those of `seek` and `read`; `cancelled`.
  func go(toFrame frame: Int64) throws(MediaError) -> Bool {
    guard position != frame else { return true }
    _ = try seek(
      to: MediaTime(frame: frame, rate: format.sampleRateHz), toleranceBefore: .zero, toleranceAfter: .zero)
    guard position < frame else { return true }
    let capacity = ConvertedSound.pieceFrames
    let room = UnsafeMutableRawPointer.allocate(byteCount: capacity * frameByteCount, alignment: 16)
    defer { room.deallocate() }
    while position < frame {
      switch try read(into: room, capacityFrames: Int(min(frame - position, Int64(capacity)))) {
      case .frames: continue
      case .endOfTrack: return false
      case .cancelled: throw AssetReader.cancelled
      }
    }
    return true
  }
}
