extension ByteSource {
  /// Every byte of some places that there are, read one piece after another. Blocks.
  ///
  /// - Parameters:
  ///   - places: from the first on, up to the end or what there is.
  ///   - check: called with how many bytes there are so far, before the first piece and behind each; what it throws ends the reading.
  ///
  /// Errors: the source's own, and those of `check`.
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
