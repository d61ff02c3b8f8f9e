import PlayheadMediaCore

/// Reads the audio of an asset backwards: every frame once, from a position downwards, each identical to that of a
/// forward read.
///
/// Codecs cannot decode backwards. A block before the position is decoded forwards, after an exact seek to its start,
/// and delivered from its end. At most one block is in memory.
///
/// The first block after a seek is short, so that playback begins soon. Each later block is twice as long, up to
/// ``longestBlockSeconds``. So the cost of a seek (an index look-up, and decoding the preroll) is spread over more
/// audio.
///
/// Threading: like ``AudioTrackReader``, on the thread of the wrapped reader, whose position it moves.
package final class ReverseAudioReader {
  /// The maximum length of a block in seconds.
  package static let longestBlockSeconds = 1
  /// The length of the first block after a seek: one second divided by this number.
  private static let firstBlocksPerSecond: Int64 = 8

  private let reader: AudioTrackReader
  /// The position after the next frame to read; equal to ``lowestFrame`` after the last one.
  package private(set) var position: Int64 = 0
  /// The last frame to read, and the lower limit of decoded blocks.
  package var lowestFrame: Int64 = 0
  /// The decoded frames before `position`: the first `bufferedCount` frames of `block`.
  private var block: [Float] = []
  private var bufferedCount: Int64 = 0
  private var nextBlockFrames: Int64
  /// The error that cut a block short, with its position, until it is reported.
  private var fault: (time: MediaTime, error: MediaError)?

  /// The stated end of the audio, and the end that was found.
  private let duration: MediaTime
  private var knownEnd: Int64?

  /// Creates a reader that reverses `reader`. Its position is 0, so a seek must come first.
  ///
  /// - Parameters:
  ///   - reader: The reader, which only this reader uses from then on.
  ///   - duration: the stated duration of the audio, which may be an estimate; not numeric if unknown.
  package init(_ reader: AudioTrackReader, duration: MediaTime) {
    precondition(reader.encoding == .float32, "the encoding of reverse reading must be float32")
    self.reader = reader
    self.duration = duration
    nextBlockFrames = Int64(reader.format.sampleRateHz) / Self.firstBlocksPerSecond
  }

  private var sampleRateHz: Int { reader.format.sampleRateHz }

  /// Seeks to a time: the first frame to read ends at it or contains it. Decodes the first block. Blocks.
  ///
  /// A time after the asset's end selects the last frame, and the end is determined if necessary.
  ///
  /// Tolerances allow a first block that begins at a cheaper position. The first frame to read then
  /// ends within the tolerances.
  ///
  /// - Returns: the end time of the first frame to read.
  /// - Throws: `invalidTime`; `cancelled`; `readFailed`, `damagedFile`.
  package func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero
  ) throws(MediaError) -> MediaTime {
    bufferedCount = 0
    lowestFrame = 0
    nextBlockFrames = max(1, Int64(sampleRateHz) / Self.firstBlocksPerSecond)
    if time.isPositiveInfinity {
      position = try endFrame()
    } else {
      guard time.isNumeric || time.isNegativeInfinity else {
        throw MediaError(.invalidTime, "cannot seek to \(time)", operation: "seek")
      }
      position = max(0, time.frameIndex(rate: sampleRateHz, rounding: .towardPositiveInfinity) ?? 0)
      if let knownEnd { position = min(position, knownEnd) }
    }
    var start: Int64?
    if time.isNumeric, toleranceBefore > .zero || toleranceAfter > .zero {
      start = try startWithinTolerances(of: time, toleranceBefore, toleranceAfter)
    }
    // If the position is after the end, reading up to it finds the end.
    guard try fill(from: start) else { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    return MediaTime(frame: position, rate: sampleRateHz)
  }

  /// Seeks the reader to a cheap position before `position`, and sets `position` to the end of a block from there.
  /// Returns the start of the block; nil if no position is cheaper.
  private func startWithinTolerances(
    of time: MediaTime, _ toleranceBefore: MediaTime, _ toleranceAfter: MediaTime
  ) throws(MediaError) -> Int64? {
    func excess() -> MediaTime { MediaTime(frame: position, rate: sampleRateHz) - time }
    // A frame that contains the time ends after it.
    if excess() > toleranceAfter, position > 0 { position -= 1 }
    guard position > nextBlockFrames, excess() >= -toleranceBefore else { return nil }
    _ = try reader.seek(
      to: MediaTime(frame: position - nextBlockFrames, rate: sampleRateHz),
      toleranceBefore: toleranceBefore + excess(), toleranceAfter: toleranceAfter - excess())
    let start = reader.position
    let end = min(start + nextBlockFrames, knownEnd ?? .max)
    guard end > start else { return nil }
    position = end
    return start
  }

  /// Returns the end of the audio. Reads from 2 s before the expected end; counts all frames if that fails.
  private func endFrame() throws(MediaError) -> Int64 {
    if let knownEnd { return knownEnd }
    if let found = try readToEnd() {
      knownEnd = found
      return found
    }
    let counted = try reader.exactFrameCount()
    knownEnd = counted
    return counted
  }

  private func readToEnd() throws(MediaError) -> Int64? {
    guard duration.isNumeric else { return nil }
    let start = max(.zero, duration - MediaTime(value: 2, timescale: 1))
    _ = try reader.seek(to: start, toleranceBefore: .zero, toleranceAfter: .zero)
    let chunkFrames = 4_096
    let count = chunkFrames * reader.format.channelCount
    if block.count < count { block = [Float](repeating: 0, count: count) }
    var end: Int64?
    while true {
      let result = block.withUnsafeMutableBufferPointer { block -> Result<AudioTrackReader.ReadResult, MediaError> in
        guard let base = block.baseAddress else { return .success(.endOfTrack) }
        do throws(MediaError) { return .success(try reader.read(into: base, capacityFrames: chunkFrames)) } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(.frames(let count, let position)): end = position + Int64(count)
      case .success(.cancelled): throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
      case .success(.endOfTrack): return end
      case .failure(let error):
        // A truncated file ends here. If nothing was read, `endFrame` counts the frames.
        guard error.code == .damagedFile else { throw error }
        return end
      }
    }
  }

  /// Reads up to `capacityFrames` frames, the last one first; fewer at the end of a block. Blocks.
  ///
  /// The result's position is the position after the first delivered frame. If frames cannot be read, it is lower than
  /// the position that the previous read reached.
  ///
  /// - Parameters:
  ///   - output: a buffer for `capacityFrames` interleaved frames.
  ///   - capacityFrames: The maximum number of frames.
  /// - Throws: `readFailed`.
  package func read(
    into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "the capacity must be at least one frame")
    guard try fill() else { return .cancelled }
    let count = min(Int64(capacityFrames), bufferedCount, position - lowestFrame)
    guard count > 0 else { return .endOfTrack }
    let channelCount = reader.format.channelCount
    block.withUnsafeBufferPointer { block in
      guard let base = block.baseAddress else { return }
      for frame in 0..<Int(count) {
        let source = base + (Int(bufferedCount) - 1 - frame) * channelCount
        (output + frame * channelCount).update(from: source, count: channelCount)
      }
    }
    let first = position
    position -= count
    bufferedCount -= count
    return .frames(Int(count), position: first)
  }

  /// Returns a fault of the file that does not prevent playback, found since the last call.
  package func popWarning() -> (time: MediaTime, error: MediaError)? {
    if let fault {
      self.fault = nil
      return fault
    }
    return reader.popWarning()
  }

  // MARK: - Blocks

  /// Decodes frames before `position`, unless it is at the end. Returns false if cancelled.
  ///
  /// - Parameter first: the position of the reader, if the first block is to be decoded from there.
  private func fill(from first: Int64? = nil) throws(MediaError) -> Bool {
    var first = first
    while bufferedCount == 0, position > lowestFrame {
      let start = first ?? max(lowestFrame, position - nextBlockFrames)
      if first == nil {
        do throws(MediaError) {
          _ = try reader.seek(
            to: MediaTime(frame: start, rate: sampleRateHz), toleranceBefore: .zero, toleranceAfter: .zero)
        } catch {
          if error.code == .cancelled { return false }
          throw error
        }
      }
      first = nil
      switch try decode(from: start) {
      case .cancelled?: return false
      case .frames(let count, _)?:
        bufferedCount = Int64(count)
        // Frames between the decoded ones and the old position could not be read.
        position = start + bufferedCount
      // This is also the result for a truncated file.
      case .endOfTrack?: position = min(start, try endFrame())
      case nil: position = start
      }
      nextBlockFrames = min(nextBlockFrames * 2, Int64(sampleRateHz * Self.longestBlockSeconds))
    }
    return true
  }

  /// Decodes from frame `start`, the position of the reader, to `position`. Returns nil if the reader is elsewhere,
  /// because frames at `start` cannot be read.
  private func decode(from start: Int64) throws(MediaError) -> AudioTrackReader.ReadResult? {
    let channelCount = reader.format.channelCount
    let blockFrameCount = Int(position - start)
    let sampleCount = blockFrameCount * channelCount
    if block.count < sampleCount { block = [Float](repeating: 0, count: sampleCount) }
    var count = 0
    let result = block.withUnsafeMutableBufferPointer { block -> Result<AudioTrackReader.ReadResult?, MediaError> in
      guard let base = block.baseAddress else { return .success(nil) }
      do throws(MediaError) {
        while count < blockFrameCount {
          let result = try reader.read(into: base + count * channelCount, capacityFrames: blockFrameCount - count)
          guard case .frames(let more, let readPosition) = result else {
            return .success(result == .cancelled || count == 0 ? result : .frames(count, position: start))
          }
          guard readPosition == start + Int64(count) else {
            return .success(count > 0 ? .frames(count, position: start) : nil)
          }
          count += more
        }
        return .success(.frames(count, position: start))
      } catch { return .failure(error) }
    }
    switch result {
    case .success(let result): return result
    case .failure(let error):
      if error.code == .cancelled { return .cancelled }
      guard error.code == .damagedFile || count > 0 else { throw error }
      fault = (MediaTime(frame: start + Int64(count), rate: sampleRateHz), error)
      return count > 0 ? .frames(count, position: start) : .endOfTrack
    }
  }
}
