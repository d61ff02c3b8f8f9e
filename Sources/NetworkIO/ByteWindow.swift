/// A stretch of a resource in memory that moves forward: a ring of bytes, and the place of its first one.
///
/// Memory is taken once; pages that nothing was written to cost nothing. Threading: one at a time.
final class ByteWindow {
  private let memory: UnsafeMutableRawBufferPointer
  /// How many bytes behind the reader are kept.
  private let behindByteCount: Int64
  /// The place of the first byte, and the one behind the last.
  private(set) var start: Int64 = 0
  private(set) var end: Int64 = 0
  /// Where the window began last: bytes read on from there show that more is wanted.
  private var firstOffset: Int64 = 0
  /// Where bytes are read next; those that lie further behind than are kept make room.
  private(set) var readOffset: Int64 = 0

  init(behindByteCount: Int, aheadByteCount: Int) {
    precondition(behindByteCount >= 0 && aheadByteCount > 0, "a window has room")
    self.behindByteCount = Int64(behindByteCount)
    memory = .allocate(byteCount: behindByteCount + aheadByteCount, alignment: 4_096)
  }

  deinit { memory.deallocate() }

  /// Bytes that are held ahead of the reader at once, however little it has read since a jump.
  private static let firstAheadByteCount: Int64 = 256 << 10

  /// How many bytes are held ahead of the reader. Little behind a jump, for who looks for a place jumps again; then twice what
  /// was read, up to the room that there is.
  var aheadLimit: Int64 {
    min(Int64(memory.count) - behindByteCount, Self.firstAheadByteCount + 2 * max(0, readOffset - firstOffset))
  }

  /// How many bytes can be appended.
  var room: Int { Int(max(0, aheadLimit - max(0, end - readOffset))) }

  /// Bytes in front of the reader.
  var aheadByteCount: Int64 { max(0, end - max(readOffset, start)) }

  /// Bytes that are held.
  var byteCount: Int { Int(end - start) }

  /// Forgets everything, and goes on at a place.
  func restart(at offset: Int64) {
    (start, end, readOffset, firstOffset) = (offset, offset, offset, offset)
  }

  /// Bytes are wanted at a place at or behind the end: those before it need not be kept.
  func expect(_ offset: Int64) { readOffset = max(offset, start) }

  /// Appends as many bytes as there is room for, and answers how many.
  func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = min(bytes.count, room)
    guard count > 0 else { return 0 }
    var place = index(of: end)
    let first = min(count, memory.count - place)
    copy(bytes, 0, to: place, first)
    place = 0
    if count > first { copy(bytes, first, to: place, count - first) }
    end += Int64(count)
    start = max(start, end - Int64(memory.count), min(end, readOffset) - behindByteCount)
    return count
  }

  /// Copies bytes from a place on, as many as are there and fit; 0 when there are none at that place.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard offset >= start, offset < end else { return 0 }
    let count = Int(min(Int64(buffer.count), end - offset))
    let place = index(of: offset)
    let first = min(count, memory.count - place)
    if let target = buffer.baseAddress, let base = memory.baseAddress {
      target.copyMemory(from: base + place, byteCount: first)
      if count > first { (target + first).copyMemory(from: base, byteCount: count - first) }
    }
    readOffset = offset + Int64(count)
    return count
  }

  private func index(of offset: Int64) -> Int { Int(offset % Int64(memory.count)) }

  private func copy(_ bytes: UnsafeRawBufferPointer, _ from: Int, to place: Int, _ count: Int) {
    guard count > 0, let source = bytes.baseAddress, let base = memory.baseAddress else { return }
    (base + place).copyMemory(from: source + from, byteCount: count)
  }
}
