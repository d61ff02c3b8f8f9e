/// Learns the device's block size from the server's requests, and decides how much to write at once.
///
/// A server passes the chunks of the stream to its device as they were written, and each read begins with the next
/// chunk. If a chunk ends within a block, the device reads the rest of the chunk and one more block together. Its next
/// read is later by that rest, and so commands are heard later. Therefore chunks are whole blocks.
struct DeviceBlocks {
  /// The block size; 0 when it is unknown, or the device reads varying amounts.
  private(set) var frameCount = 0
  /// The number of frames that the server has requested and not received. Negative if it received more frames than it
  /// had room for.
  private(set) var outstandingCount = 0
  private var lastReadCount = 0
  /// The number of frames written in consecutive whole blocks up to now.
  private var wholeBlockFrameCount = 0
  /// The number of consecutive reads that were not a whole number of blocks.
  private var unevenReadCount = 0

  /// Evaluates a request: the server has room for `room` frames. The same amount twice in a row is a block; three reads
  /// in a row that are no multiple of the block discard it.
  ///
  /// - Returns: The number of frames that the device has read since the last call.
  mutating func recordRead(room: Int) -> Int {
    let readCount = max(0, room - outstandingCount)
    outstandingCount = room
    guard readCount > 0 else { return 0 }
    if readCount == lastReadCount { (frameCount, unevenReadCount) = (readCount, 0) }
    lastReadCount = readCount
    unevenReadCount = frameCount > 0 && readCount % frameCount != 0 ? unevenReadCount + 1 : 0
    if unevenReadCount == 3 { frameCount = 0 }
    return readCount
  }

  /// Discards the block size, because the device changed.
  mutating func reset() { self = DeviceBlocks() }

  /// Returns the number of frames to write when the server has room for `room` frames: whole blocks, but at least
  /// `minimum` frames, even if that exceeds `room`. A server whose buffer is smaller than three blocks gets `room`
  /// frames.
  mutating func frameCountToWrite(room: Int, minimum: Int, bufferFrameCount: Int) -> Int {
    var count = max(room, minimum)
    if frameCount > 0, frameCount * 3 <= bufferFrameCount {
      count = max(room / frameCount, (minimum + frameCount - 1) / frameCount) * frameCount
    }
    outstandingCount = room - count
    // An overwrite may begin in the middle of a block.
    if frameCount == 0 || count % frameCount != 0 || minimum > 0 { wholeBlockFrameCount = 0 }
    wholeBlockFrameCount = min(wholeBlockFrameCount + max(0, count), 1 << 40)
    return count
  }

  /// Returns an upper bound on the frames that the server has read and the device has not received yet: 0 while all
  /// chunks were whole blocks, otherwise one block.
  ///
  /// - Parameters:
  ///   - bufferFrameCount: the capacity of the server's buffer.
  ///   - fallback: the minimum of the bound in the second case.
  func inTransitCount(bufferFrameCount: Int, fallback: Int) -> Int {
    if frameCount > 0, unevenReadCount == 0, wholeBlockFrameCount > 2 * bufferFrameCount { return 0 }
    return max(frameCount, lastReadCount, fallback)
  }

  /// Returns the frames of a chunk when memory for `room` of the `remaining` frames is available: whole blocks, unless
  /// all frames fit.
  func chunkFrameCount(of remaining: Int, room: Int) -> Int {
    guard room < remaining, frameCount > 0, room > frameCount else { return min(remaining, room) }
    return room - room % frameCount
  }
}
