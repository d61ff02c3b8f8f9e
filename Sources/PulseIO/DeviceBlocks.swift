/// How much the device takes at once, learned from what the server asks for, and how much is written at once because of that.
///
/// A server hands its device pieces of what was written as they are, and what is taken next begins with the next piece. Where a
/// piece ends in the middle of a block, the rest of it and a block are taken together, and then nothing for so much longer: what a
/// command changes is heard that much later. So pieces are whole blocks.
struct DeviceBlocks {
  /// 0: it is not known, or the device takes now so much and now so much.
  private(set) var frameCount = 0
  /// Frames that the server wants and has not got; below 0: that it got and had no room for.
  private(set) var owedCount = 0
  private var lastTaken = 0
  /// Frames written in whole blocks, one behind the other, up to now.
  private var wholeCount = 0
  /// How often in a row it was no whole number of blocks.
  private var oddCount = 0

  /// The server has room for so many frames. How many the device has taken since the last time: twice the same in a row is a
  /// block, three times another number is none.
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

  /// It is another device.
  mutating func forget() { self = DeviceBlocks() }

  /// How many frames to write, where there is room for `room`: whole blocks, but `least` in any case, for which more may be
  /// written than there is room. A server that holds less than three blocks gets all that it has room for.
  mutating func write(room: Int, least: Int, bufferFrameCount: Int) -> Int {
    var count = max(room, least)
    if frameCount > 0, frameCount * 3 <= bufferFrameCount {
      count = max(room / frameCount, (least + frameCount - 1) / frameCount) * frameCount
    }
    owedCount = room - count
    // What is overwritten begins anywhere in a block.
    if frameCount == 0 || count % frameCount != 0 || least > 0 { wholeCount = 0 }
    wholeCount = min(wholeCount + max(0, count), 1 << 40)
    return count
  }

  /// How many frames the server may have taken besides those that the device has got: less than a block where pieces were no
  /// whole blocks. `heldCount`: what the server holds at most.
  func overtakenCount(heldCount: Int, whereUnknown: Int) -> Int {
    if frameCount > 0, oddCount == 0, wholeCount > 2 * heldCount { return 0 }
    return max(frameCount, lastTaken, whereUnknown)
  }

  /// Frames of a piece, where memory for `room` of the `remaining` ones is given: whole blocks, if it cannot be all of them.
  func piece(of remaining: Int, room: Int) -> Int {
    guard room < remaining, frameCount > 0, room > frameCount else { return min(remaining, room) }
    return room - room % frameCount
  }
}
