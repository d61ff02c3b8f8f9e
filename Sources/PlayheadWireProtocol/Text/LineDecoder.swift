/// Splits a stream of bytes into lines at LF only, in linear time and bounded memory.
///
/// The caller passes a chunk and reads the parts in it one at a time. It can stop in the middle of a chunk (too many
/// waiting requests) and continue later. A line that is completely in the chunk is returned as a range of the chunk.
/// Only a line that crosses chunks is copied, once. No byte is examined twice.
///
/// An incomplete line at the end of the stream is dropped, because the caller stops calling `next`. An incomplete
/// command never runs.
package struct LineDecoder: Sendable {
  /// One part of the stream.
  package enum Part: Sendable, Hashable {
    /// A complete line as a half-open range of the chunk, without its LF and without a CR before the LF.
    case line(Range<Int>)
    /// A complete line that began in an earlier chunk. ``assembled`` contains it until the next call.
    case assembledLine
    /// A line exceeded the limit and is discarded up to its LF. Returned once for each such line, as soon as the limit
    /// is exceeded. ``assembled`` contains the beginning of the line, up to ``beginningByteCount`` bytes, until the
    /// next call.
    case tooLong
    /// The line exceeds the limit for bytes without an LF. The connection must be closed. The decoder ignores all
    /// further input.
    case closeConnection
  }

  /// The number of bytes kept of an over-long line, which suffice to detect its form and id.
  package static let beginningByteCount = 128

  /// The line of the last `.assembledLine`, or the beginning of the last `.tooLong`.
  package private(set) var assembled: [UInt8] = []

  private enum State: Sendable {
    /// The beginning of the current line is stored in `pending`.
    case collecting
    /// The current line was reported as `tooLong`. `byteCount` of its bytes have been discarded.
    case discarding(byteCount: Int)
    case closed
  }

  private var state = State.collecting
  private var pending: [UInt8] = []
  private let lineByteCount: Int
  private let unterminatedByteCount: Int

  /// Creates a decoder for the start of a stream. Uses the two line limits of `limits`.
  package init(limits: WireLimits = .standard) {
    lineByteCount = limits.lineByteCount
    unterminatedByteCount = max(limits.unterminatedByteCount, limits.lineByteCount)
  }

  /// The number of bytes stored for an incomplete line. Never more than the line limit.
  package var pendingByteCount: Int { pending.count }

  /// The next part of `chunk` from `offset` on. Nil when the chunk is consumed. Advances `offset` past the part.
  package mutating func next(in chunk: Span<UInt8>, at offset: inout Int) -> Part? {
    while offset < chunk.count {
      switch state {
      case .closed:
        offset = chunk.count
      case .collecting:
        if let part = collect(chunk, &offset) { return part }
      case .discarding(let byteCount):
        if let part = discard(chunk, &offset, alreadyDiscarded: byteCount) { return part }
      }
    }
    return nil
  }

  /// Releases the memory of a long assembled line. Call this after reading the line.
  mutating func releaseMemory() { if assembled.capacity > 4_096 { assembled = [] } }

  private mutating func collect(_ chunk: Span<UInt8>, _ offset: inout Int) -> Part? {
    // The first byte beyond the limit decides whether the line is too long. Later bytes are not examined here.
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
    // Releases the memory of a long line. Keeps a small buffer for short lines.
    if pending.capacity > 4_096 { pending = [] } else { pending.removeAll(keepingCapacity: true) }
    return .assembledLine
  }

  private mutating func discard(_ chunk: Span<UInt8>, _ offset: inout Int, alreadyDiscarded: Int) -> Part? {
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

  /// The index of the first LF in `start..<end`. Examines eight bytes at a time.
  private static func indexOfLineFeed(in chunk: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    let bytes = chunk.bytes
    var index = start
    while index + 8 <= end {
      // Subtracting 1 from a zero byte borrows into its top bit. The lowest such bit is never a false positive.
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
