/// Learns the device's block size from the server's requests, and decides how much to write at once.
///
/// A server passes the chunks of the stream to its device as they were written, and the next read begins with the next
/// chunk. If a chunk ends within a block, the device reads its rest and one more block together, and then nothing for
/// correspondingly longer. Commands are then heard later by that time. So chunks are whole blocks.
struct DeviceBlocks {
  /// The block size; 0 when it is unknown, or the device reads varying amounts.
  private(set) var frameCount = 0
  /// The number of frames that the server requests and has not received. Negative: it received more than it had room
  /// for.
  private(set) var owedCount = 0
  private var lastTaken = 0
  /// The number of frames written in consecutive whole blocks up to now.
  private var wholeCount = 0
  /// How many reads in a row were not a whole number of blocks.
  private var oddCount = 0

  /// Evaluates a request: the server has room for `room` frames. The same amount twice in a row is a block; three reads
  /// in a row that are no multiple of the block discard it.
  ///
  /// - Returns: The number of frames that the device has read since the last call.
  mutating func deviceTook(room: Int) -> Int {
    let taken = max(0, room - owedCount)
    owedCount = room
    guard taken > 0 else { return 0 }
    if taken == lastTaken { (frameCount, oddCount) = (taken, 0) }
    lastTaken = taken
    oddCount = frameCount > 0 && taken % frameCount != 0 ? oddCount + 1 : 0
    if oddCount == 3 { frameCount = 0 }
    return taken
  }

  /// Discards the block size, because the device changed.
  mutating func forget() { self = DeviceBlocks() }

  /// Returns the number of frames to write when the server has room for `room` frames: whole blocks, but at least
  /// `least` frames, even if that exceeds `room`. A server whose buffer is smaller than three blocks gets `room`
  /// frames.
  mutating func write(room: Int, least: Int, bufferFrameCount: Int) -> Int {
    var count = max(room, least)
    if frameCount > 0, frameCount * 3 <= bufferFrameCount {
      count = max(room / frameCount, (least + frameCount - 1) / frameCount) * frameCount
    }
    owedCount = room - count
    // An overwrite begins anywhere in a block.
    if frameCount == 0 || count % frameCount != 0 || least > 0 { wholeCount = 0 }
    wholeCount = min(wholeCount + max(0, count), 1 << 40)
    return count
  }

  /// Returns an upper bound on the frames that the server has read and the device has not received yet: 0 while all
  /// chunks were whole blocks, otherwise one block. `heldCount`: the capacity of the server's buffer. `whereUnknown`:
  /// the minimum of the bound in the latter case.
  func overtakenCount(heldCount: Int, whereUnknown: Int) -> Int {
    if frameCount > 0, oddCount == 0, wholeCount > 2 * heldCount { return 0 }
    return max(frameCount, lastTaken, whereUnknown)
  }

  /// Returns the frames of a chunk when memory for `room` of the `remaining` frames is available: whole blocks, unless
  /// all frames fit.
  func piece(of remaining: Int, room: Int) -> Int {
    guard room < remaining, frameCount > 0, room > frameCount else { return min(remaining, room) }
    return room - room % frameCount
  }
}
