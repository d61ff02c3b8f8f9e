/// Cuts a stream of bytes into lines at LF, and at nothing else, in linear time and bounded memory.
///
/// Pull-based: the caller offers a chunk and takes one piece after the other, so that it can stop in the middle of a chunk
/// (too many waiting requests) and go on later. A line that lies whole in the chunk is handed out as a range of it; only a line
/// that spans chunks is copied, once. No byte is looked at twice. What stands after the last LF when the stream ends is
/// dropped by simply not asking again: half a command never runs.
public struct LineDecoder: Sendable {
  /// One piece of the stream.
  public enum Piece: Sendable, Hashable {
    /// A whole line, as a half-open range of the chunk: without its LF, and without one CR before it.
    case line(Range<Int>)
    /// A whole line that began in an earlier chunk: `assembled` holds it until the next call.
    case assembledLine
    /// A line exceeded the limit; it is being discarded up to its LF. Said once a line, as soon as it is known.
    /// `assembled` holds the line's beginning (up to `beginningByteCount` bytes) until the next call.
    case tooLong
    /// So much came without an LF that the connection is to be closed. The decoder takes nothing more.
    case closeConnection
  }

  /// How much of an over-long line is kept, so that its form and id can still be told.
  public static let beginningByteCount = 128

  /// The line of the last `.assembledLine`, or the beginning of the last `.tooLong`.
  public private(set) var assembled: [UInt8] = []

  private enum State: Sendable {
    /// `pending` bytes of the present line are stored.
    case collecting
    /// The present line was answered with `tooLong`; this many of its bytes went by.
    case discarding(byteCount: Int)
    case closed
  }

  private var state = State.collecting
  private var pending: [UInt8] = []
  private let lineByteCount: Int
  private let unterminatedByteCount: Int

  /// A decoder at the start of a stream; of `limits`, the two about lines count.
  public init(limits: WireLimits = .standard) {
    lineByteCount = limits.lineByteCount
    unterminatedByteCount = max(limits.unterminatedByteCount, limits.lineByteCount)
  }

  /// Bytes held for a line whose end has not come: never more than the line limit.
  public var pendingByteCount: Int { pending.count }

  /// The next piece of `chunk` from `offset` on, or nil when all of it has been taken; moves `offset` behind what was taken.
  public mutating func next(in chunk: Span<UInt8>, at offset: inout Int) -> Piece? {
    while offset < chunk.count {
      switch state {
      case .closed:
        offset = chunk.count
      case .collecting:
        if let piece = collect(chunk, &offset) { return piece }
      case .discarding(let byteCount):
        if let piece = discard(chunk, &offset, alreadyDiscarded: byteCount) { return piece }
      }
    }
    return nil
  }

  /// The assembled line has been read: a long one's memory is given back.
  mutating func letGo() { if assembled.capacity > 4_096 { assembled = [] } }

  private mutating func collect(_ chunk: Span<UInt8>, _ offset: inout Int) -> Piece? {
    // One byte beyond what still fits decides whether the line is too long; nothing after it is looked at here.
    let room = lineByteCount - pending.count
    let searchEnd = chunk.count - offset > room ? offset + room + 1 : chunk.count
    let start = offset
    guard let end = Self.indexOfLineFeed(in: chunk, from: start, to: searchEnd) else {
      if searchEnd - start > room {
        assembled.removeAll(keepingCapacity: true)
        assembled.append(contentsOf: pending.prefix(Self.beginningByteCount))
        for index in start..<min(searchEnd, start + Self.beginningByteCount - assembled.count) {
          assembled.append(chunk[index])
        }
        state = .discarding(byteCount: pending.count + searchEnd - start)
        pending = []
        offset = searchEnd
        return .tooLong
      }
      for index in start..<searchEnd { pending.append(chunk[index]) }
      offset = searchEnd
      return nil
    }
    offset = end + 1
    if pending.isEmpty {
      return .line(start..<(end > start && chunk[end - 1] == UInt8(ascii: "\r") ? end - 1 : end))
    }
    for index in start..<end { pending.append(chunk[index]) }
    if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
    swap(&assembled, &pending)
    // A long line's memory is given back; what a chatty peer needs for its short ones stays.
    if pending.capacity > 4_096 { pending = [] } else { pending.removeAll(keepingCapacity: true) }
    return .assembledLine
  }

  private mutating func discard(_ chunk: Span<UInt8>, _ offset: inout Int, alreadyDiscarded: Int) -> Piece? {
    let room = unterminatedByteCount - alreadyDiscarded
    let searchEnd = chunk.count - offset > room ? offset + room + 1 : chunk.count
    if let end = Self.indexOfLineFeed(in: chunk, from: offset, to: searchEnd) {
      offset = end + 1
      state = .collecting
      return nil
    }
    if searchEnd - offset > room {
      offset = chunk.count
      state = .closed
      return .closeConnection
    }
    state = .discarding(byteCount: alreadyDiscarded + searchEnd - offset)
    offset = searchEnd
    return nil
  }

  /// The first LF in `start..<end`, eight bytes at a time.
  private static func indexOfLineFeed(in chunk: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    let bytes = chunk.bytes
    var index = start
    while index + 8 <= end {
      // Subtracting 1 from a zero byte borrows into its top bit; the lowest such bit is never a false one.
      let word =
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ 0x0A0A_0A0A_0A0A_0A0A
      let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      if zeros != 0 { return index + zeros.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < end {
      if chunk[index] == UInt8(ascii: "\n") { return index }
      index += 1
    }
    return nil
  }
}
