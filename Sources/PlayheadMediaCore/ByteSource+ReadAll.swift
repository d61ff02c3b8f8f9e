extension ByteSource {
  /// Reads all available bytes of `range`, in chunks. The range may extend past the end of the source. Blocks.
  ///
  /// - Parameter check: called with the number of bytes read so far, before the first chunk and after each chunk. If it
  ///   throws, the reading ends.
  /// - Throws: the errors of the source and of `check`.
  package func readAll(
    in range: Range<Int64>, check: (_ byteCount: Int) throws(MediaError) -> Void
  ) throws(MediaError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    try check(0)
    while Int64(bytes.count) < Int64(range.count) {
      let requestedCount = Int(min(Int64(chunk.count), Int64(range.count) - Int64(bytes.count)))
      let offset = range.lowerBound + Int64(bytes.count)
      let result = chunk.withUnsafeMutableBytes { buffer in
        Result { () throws(MediaError) in
          try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<requestedCount]), at: offset)
        }
      }
      let count = min(try result.get(), requestedCount)
      if count == 0 { break }
      bytes += chunk[..<count]
      try check(bytes.count)
    }
    return bytes
  }
}
