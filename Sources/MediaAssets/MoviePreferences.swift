/// How an MP4 file's own header wants it to be played (ISO/IEC 14496-12, 8.2.2), and which of its tracks are encrypted (8.5.2,
/// 8.12), which FFmpeg does not tell.
struct MoviePreferences: Sendable, Hashable {
  /// 1: as recorded.
  let rate: Double
  /// 1: full.
  let volume: Float
  /// The container's numbers of tracks that are of no use without a key.
  private(set) var protectedTrackIDs: Set<Int64> = []

  /// - Parameter read: up to so many bytes of the file from an offset on, fewer at its end.
  init?(read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
    var boxes = MovieTrackTimes.Boxes(read: read)
    guard let movie = boxes.first("moov", in: 0..<(Int64.max / 2)), let header = boxes.first("mvhd", in: movie) else {
      return nil
    }
    var bytes = BigEndianBytes(read(header.lowerBound, 40))
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 31 : 19)
    guard let rate = bytes.number(4), let volume = bytes.number(2) else { return nil }
    // Fixed-point numbers with 16 and 8 bits behind the point.
    self.rate = Double(Int32(truncatingIfNeeded: rate)) / 65_536
    self.volume = Float(Int16(truncatingIfNeeded: volume)) / 256
    var rest = movie
    while let track = boxes.first("trak", in: rest) {
      rest = track.upperBound..<movie.upperBound
      guard let header = boxes.first("tkhd", in: track), let id = MovieTrackTimes.trackID(read(header.lowerBound, 24)),
        let media = boxes.first("mdia", in: track), let information = boxes.first("minf", in: media),
        let samples = boxes.first("stbl", in: information), let entries = boxes.first("stsd", in: samples)
      else { continue }
      var entry = BigEndianBytes(read(entries.lowerBound, 16))
      // Behind version, flags, the count and the first entry's size.
      entry.skip(12)
      if let name = entry.text(4), Self.encryptedNames.contains(name) { protectedTrackIDs.insert(id) }
    }
  }

  /// Common Encryption's, and Apple's.
  private static let encryptedNames: Set<String> = ["enca", "encv", "enct", "encs", "drms", "drmi"]
}
