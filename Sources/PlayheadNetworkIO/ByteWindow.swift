/// A window of a resource in memory that moves forward: a ring of bytes and the offset of its first byte.
///
/// The memory is allocated once; the kernel commits its pages at the first write. Threading: one thread at a time.
final class ByteWindow {
  private let memory: UnsafeMutableRawBufferPointer
  /// The number of retained bytes before the read offset.
  private let retainedByteCount: Int64
  /// The offset of the first byte, and the offset after the last byte.
  private(set) var start: Int64 = 0
  private(set) var end: Int64 = 0
  /// The offset of the last restart. The number of bytes read since then indicates how many more are needed.
  private var restartOffset: Int64 = 0
  /// The offset of the next read. Bytes more than `retainedByteCount` before it can be overwritten.
  private(set) var readOffset: Int64 = 0

  init(retainedByteCount: Int, aheadByteCount: Int) {
    precondition(
      retainedByteCount >= 0 && aheadByteCount > 0,
      "the sizes of a window must not be negative, and the read-ahead must be positive")
    self.retainedByteCount = Int64(retainedByteCount)
    memory = .allocate(byteCount: retainedByteCount + aheadByteCount, alignment: 4_096)
  }

  deinit { memory.deallocate() }

  /// The initial number of bytes buffered ahead of the read offset, even directly after a jump.
  private static let initialAheadByteCount: Int64 = 256 << 10

  /// The maximum number of bytes buffered ahead of the read offset. It is small after a jump, because another jump
  /// often follows. It then grows to twice the number of bytes read, limited by the memory.
  var aheadLimit: Int64 {
    min(Int64(memory.count) - retainedByteCount, Self.initialAheadByteCount + 2 * max(0, readOffset - restartOffset))
  }

  /// The number of bytes that can be appended.
  var appendableByteCount: Int { Int(max(0, aheadLimit - max(0, end - readOffset))) }

  /// The number of buffered bytes ahead of the read offset.
  var aheadByteCount: Int64 { max(0, end - max(readOffset, start)) }

  /// The number of buffered bytes.
  var byteCount: Int { Int(end - start) }

  /// Discards all bytes and restarts at an offset.
  func restart(at offset: Int64) {
    (start, end, readOffset, restartOffset) = (offset, offset, offset, offset)
  }

  /// Sets the offset of the next read, which may be at or after `end`. Only `retainedByteCount` bytes before it are
  /// retained.
  func prepareToRead(at offset: Int64) { readOffset = max(offset, start) }

  /// Appends as many bytes as fit, and returns their number.
  func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = min(bytes.count, appendableByteCount)
    guard count > 0 else { return 0 }
    let memoryIndex = index(of: end)
    let countBeforeWrap = min(count, memory.count - memoryIndex)
    copy(bytes, 0, to: memoryIndex, countBeforeWrap)
    if count > countBeforeWrap { copy(bytes, countBeforeWrap, to: 0, count - countBeforeWrap) }
    end += Int64(count)
    start = max(start, end - Int64(memory.count), min(end, readOffset) - retainedByteCount)
    return count
  }

  /// Copies the available bytes from `offset` on, as many as fit. Returns 0 when the byte at `offset` is not
  /// available.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard offset >= start, offset < end else { return 0 }
    let count = Int(min(Int64(buffer.count), end - offset))
    let memoryIndex = index(of: offset)
    let countBeforeWrap = min(count, memory.count - memoryIndex)
    if let target = buffer.baseAddress, let base = memory.baseAddress {
      target.copyMemory(from: base + memoryIndex, byteCount: countBeforeWrap)
      if count > countBeforeWrap {
        (target + countBeforeWrap).copyMemory(from: base, byteCount: count - countBeforeWrap)
      }
    }
    readOffset = offset + Int64(count)
    return count
  }

  /// The index in the memory of the byte at an offset.
  private func index(of offset: Int64) -> Int { Int(offset % Int64(memory.count)) }

  private func copy(_ bytes: UnsafeRawBufferPointer, _ from: Int, to memoryIndex: Int, _ count: Int) {
    guard count > 0, let source = bytes.baseAddress, let base = memory.baseAddress else { return }
    (base + memoryIndex).copyMemory(from: source + from, byteCount: count)
  }
}
