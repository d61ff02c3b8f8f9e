extension ByteSource {
  /// Reads all available bytes of the range `places`, in chunks. The range may extend past the end of the source.
  /// Blocks.
  ///
  /// - Parameter check: called with the number of bytes read so far, before the first chunk and after each chunk. An
  ///   error that it throws ends the reading.
  /// - Throws: the errors of the source and of `check`.
  package func readAll(
    in places: Range<Int64>, check: (_ byteCount: Int) throws(MediaError) -> Void
  ) throws(MediaError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    try check(0)
    while Int64(bytes.count) < Int64(places.count) {
      let wanted = Int(min(Int64(piece.count), Int64(places.count) - Int64(bytes.count)))
      let place = places.lowerBound + Int64(bytes.count)
      let result = piece.withUnsafeMutableBytes { buffer in
        Result { () throws(MediaError) in
          try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: place)
        }
      }
      let count = min(try result.get(), wanted)
      if count == 0 { break }
      bytes += piece[..<count]
      try check(bytes.count)
    }
    return bytes
  }
}
