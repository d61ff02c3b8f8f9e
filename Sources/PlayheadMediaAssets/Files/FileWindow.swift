import PlayheadLibAV

/// A window of a file in memory, which moves to the accessed bytes.
///
/// A jump reads 16 KiB, or the requested bytes if these are more. Sequential access doubles the read size, up to 1 MiB
/// at a time.
///
/// Threading: one thread at a time; blocks.
struct FileWindow: ~Copyable {
  static let minimumReadByteCount = 16_384
  static let maximumReadByteCount = 1 << 20

  private let source: FileSource
  private let memory: UnsafeMutableRawBufferPointer
  private var start: Int64 = 0
  private var count = 0
  private var readByteCount = Self.minimumReadByteCount

  init(source: FileSource) {
    self.source = source
    memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.maximumReadByteCount + 65_536, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Returns `byteCount` bytes (at most 65,536) from `offset` on, valid until the next call; nil if
  /// the file ends before them.
  ///
  /// - Throws: the errors of `FileSource.read`.
  @inline(__always)
  mutating func bytes(at offset: Int64, count byteCount: Int) throws(AVFailure) -> UnsafeRawPointer? {
    if offset < start || offset &- start &+ Int64(byteCount) > Int64(count) {
      guard try fill(from: offset, byteCount: byteCount) else { return nil }
    }
    return UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped + Int(offset &- start))
  }

  /// Returns the number of bytes available from `offset` on, up to `maximum`.
  mutating func available(at offset: Int64, maximum: Int) throws(AVFailure) -> Int {
    if try bytes(at: offset, count: maximum) != nil { return maximum }
    return Int(max(0, min(Int64(maximum), start + Int64(count) - offset)))
  }

  @inline(never)
  private mutating func fill(from offset: Int64, byteCount: Int) throws(AVFailure) -> Bool {
    precondition(byteCount <= 65_536, "the window must have at most 64 KiB")
    guard offset >= 0, offset <= Int64.max / 2 else { return false }
    let end = start + Int64(count)
    let isSequential = count > 0 && offset >= start && offset - end < Int64(Self.minimumReadByteCount)
    readByteCount = isSequential ? min(readByteCount * 2, Self.maximumReadByteCount) : Self.minimumReadByteCount
    count = 0
    start = offset
    count = try source.read(
      into: UnsafeMutableRawBufferPointer(rebasing: memory[..<max(byteCount, readByteCount)]), at: offset)
    return count >= byteCount
  }
}
