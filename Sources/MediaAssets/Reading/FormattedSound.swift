import MediaCore

/// Reads a track's sound as float32 of one rate and with so many channels, from any frame on: as it is where nothing is to be
/// converted, bit for bit.
///
/// Threading: one thread at a time, which may block.
final class FormattedSound {
  /// Of float32.
  let reader: AudioTrackReader
  private let format: AudioFormat
  private let converted: ConvertedSound?
  /// The frame that the next read gives; nil where nobody knows.
  private var requested: Int64?
  /// The first frame from there on that there is: behind it where a live stream went on without waiting.
  private var present: Int64 = 0
  /// There is nothing from the next frame on.
  private(set) var isAtEnd = false

  /// - Parameter reader: of float32.
  /// Errors: `conversionFailed`.
  init(_ reader: AudioTrackReader, as format: AudioFormat) throws(MediaError) {
    self.reader = reader
    self.format = format
    converted = reader.format == format ? nil : try ConvertedSound(reader, to: format)
  }

  /// Goes to a frame; nothing where it is there. Errors: those of seeking; `cancelled`.
  func go(to frame: Int64) throws(MediaError) {
    if let requested, frame == requested || isAtEnd && frame > requested {
      self.requested = frame
      return
    }
    requested = nil
    let first = try converted?.begin(at: frame) ?? frame
    isAtEnd = try !reader.go(toFrame: first)
    present = frame
    if reader.position > first { present = try converted?.begin(atInput: reader.position) ?? reader.position }
    requested = frame
  }

  /// Reads up to so many frames, one at least; none at the end. Silence stands for what a live stream did not have in time.
  ///
  /// Errors: those of `AudioTrackReader.read`; `cancelled`. Then `go` before reading on.
  func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    guard let place = requested, !isAtEnd else { return 0 }
    requested = nil
    var count = Int(min(Int64(capacityFrames), max(0, present - place)))
    if count > 0 {
      output.update(repeating: 0, count: count * format.channelCount)
    } else {
      count = try next(into: output, capacityFrames)
      present = place + Int64(count)
    }
    isAtEnd = count == 0
    requested = place + Int64(count)
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
