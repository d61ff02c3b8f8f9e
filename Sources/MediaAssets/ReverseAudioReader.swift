import MediaCore

/// Reads the sound of an asset backwards: every frame once, from a place down, each as a read forwards gives it.
///
/// No codec decodes backwards. A block in front of the place is decoded forwards, after an exact seek to its beginning, and
/// handed out from its end. The first block after a seek is short, so that the first sound is soon there; each one after
/// it is twice as long, up to `longestBlockSeconds`: what a seek costs, be it a look into an index or frames that are
/// decoded only for the decoder to come into its own, is spread over that much sound. No more than one block is held.
///
/// Threading: as `AudioTrackReader`, on one thread with the reader that it is made of, which is elsewhere afterwards.
public final class ReverseAudioReader {
  /// What a block lasts at most, in seconds.
  public static let longestBlockSeconds = 1
  /// What the first block after a seek lasts: so many of them are a second.
  private static let firstBlocksPerSecond: Int64 = 8

  private let reader: AudioTrackReader
  /// The frame behind the one that the next read gives; 0 at the end of the way back.
  public private(set) var position: Int64 = 0
  /// Where reading ends, and so far down at most blocks are decoded: the last frame that is given.
  public var lowestFrame: Int64 = 0
  /// Frames before `position` that are decoded: the last `heldCount` in front of it lie at the beginning of `block`.
  private var block: [Float] = []
  private var heldCount: Int64 = 0
  private var nextBlockFrames: Int64
  /// What broke a block off, and where, until it is told.
  private var fault: (time: MediaTime, error: MediaError)?

  /// Where the sound is said to end, and where it was found to.
  private let duration: MediaTime
  private var knownEnd: Int64?

  /// Reads backwards what `reader` reads forwards, from frame 0 on: seek first. `duration`: what the sound is said to
  /// last, perhaps by estimate; anything but a number when that is not known.
  public init(_ reader: AudioTrackReader, duration: MediaTime) {
    precondition(reader.encoding == .float32, "what is read backwards is read as float32")
    self.reader = reader
    self.duration = duration
    nextBlockFrames = Int64(reader.format.sampleRateHz) / Self.firstBlocksPerSecond
  }

  private var sampleRateHz: Int { reader.format.sampleRateHz }

  /// Goes to a time: the first frame that is read ends at it, or contains it. Behind the asset's end it is its last one,
  /// for which the end is found out if need be. Decodes the first block. Blocks.
  ///
  /// With tolerances it goes to where the first block begins at a place that is cheap to go to; the first frame that is
  /// read ends within them then.
  ///
  /// Answers the time at which the first frame that is read ends. Errors: `invalidTime`; `cancelled`; `readFailed`,
  /// `damagedFile`.
  public func seek(
    to time: MediaTime, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero
  ) throws(MediaError) -> MediaTime {
    heldCount = 0
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
      start = try cheapStart(of: time, toleranceBefore, toleranceAfter)
    }
    // What lies behind the end is found out by reading up to it.
    guard try fill(from: start) else { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    return MediaTime(frame: position, rate: sampleRateHz)
  }

  /// Goes to a place that is cheap to go to, from where on the block in front of `position` can be decoded; `position`
  /// becomes where a block from there ends. Answers the place; nil where none is cheaper than another.
  private func cheapStart(
    of time: MediaTime, _ toleranceBefore: MediaTime, _ toleranceAfter: MediaTime
  ) throws(MediaError) -> Int64? {
    func excess() -> MediaTime { MediaTime(frame: position, rate: sampleRateHz) - time }
    // A frame that contains the time ends behind it.
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

  /// Where the sound ends: found by reading over it, from 2 s in front of where it should be; counted when it is not there.
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
    let pieceFrames = 4_096
    let count = pieceFrames * reader.format.channelCount
    if block.count < count { block = [Float](repeating: 0, count: count) }
    var end: Int64?
    while true {
      let result = block.withUnsafeMutableBufferPointer { block -> Result<AudioTrackReader.ReadResult, MediaError> in
        guard let base = block.baseAddress else { return .success(.endOfTrack) }
        do throws(MediaError) { return .success(try reader.read(into: base, capacityFrames: pieceFrames)) } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(.frames(let count, let position)): end = position + Int64(count)
      case .success(.cancelled): throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
      case .success(.endOfTrack): return end
      case .failure(let error):
        // A file that breaks off ends there, or before: then it is counted.
        guard error.code == .damagedFile else { throw error }
        return end
      }
    }
  }

  /// Reads up to `capacityFrames` frames, the last one first; fewer where a block is used up. Blocks.
  ///
  /// - Parameter output: room for `capacityFrames` interleaved frames.
  /// The result's position is the frame behind the first one that is given: where frames cannot be read, it is lower than
  /// the one that the read before came to. Errors: `readFailed`.
  public func read(
    into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "a read needs room for a frame")
    guard try fill() else { return .cancelled }
    let count = min(Int64(capacityFrames), heldCount, position - lowestFrame)
    guard count > 0 else { return .endOfTrack }
    let channelCount = reader.format.channelCount
    block.withUnsafeBufferPointer { block in
      guard let base = block.baseAddress else { return }
      for frame in 0..<Int(count) {
        let source = base + (Int(heldCount) - 1 - frame) * channelCount
        (output + frame * channelCount).update(from: source, count: channelCount)
      }
    }
    let first = position
    position -= count
    heldCount -= count
    return .frames(Int(count), position: first)
  }

  /// What is wrong with the file, though the rest of it plays, found since the last call.
  public func takeWarning() -> (time: MediaTime, error: MediaError)? {
    if let fault {
      self.fault = nil
      return fault
    }
    return reader.takeWarning()
  }

  // MARK: - Blocks

  /// Has frames in front of `position` decoded, unless it is at the end; false when that was cancelled. `first`: where the
  /// reader is, if the first block is to be decoded from there.
  private func fill(from first: Int64? = nil) throws(MediaError) -> Bool {
    var first = first
    while heldCount == 0, position > lowestFrame {
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
        heldCount = Int64(count)
        // What is missing behind them was not to be had.
        position = start + heldCount
      // Also where the file breaks off.
      case .endOfTrack?: position = min(start, try endFrame())
      case nil: position = start
      }
      nextBlockFrames = min(nextBlockFrames * 2, Int64(sampleRateHz * Self.longestBlockSeconds))
    }
    return true
  }

  /// Decodes from frame `start`, where the reader is, to `position`. Nothing, and no end, when the reader is elsewhere:
  /// nothing can be read there.
  private func decode(from start: Int64) throws(MediaError) -> AudioTrackReader.ReadResult? {
    let channelCount = reader.format.channelCount
    let wanted = Int(position - start)
    if block.count < wanted * channelCount { block = [Float](repeating: 0, count: wanted * channelCount) }
    var count = 0
    let result = block.withUnsafeMutableBufferPointer { block -> Result<AudioTrackReader.ReadResult?, MediaError> in
      guard let base = block.baseAddress else { return .success(nil) }
      do throws(MediaError) {
        while count < wanted {
          let result = try reader.read(into: base + count * channelCount, capacityFrames: wanted - count)
          guard case .frames(let more, let place) = result else {
            return .success(result == .cancelled || count == 0 ? result : .frames(count, position: start))
          }
          guard place == start + Int64(count) else {
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
