/// The preferred rate and volume in the header of an MP4 file (ISO/IEC 14496-12, 8.2.2), and its encrypted tracks
/// (8.5.2, 8.12). FFmpeg does not report these.
struct MoviePreferences: Sendable, Hashable {
  /// The preferred rate; 1: as recorded.
  let rate: Double
  /// The preferred volume; 1: full.
  let volume: Float
  /// The container's IDs of tracks that require a decryption key.
  private(set) var protectedTrackIDs: Set<Int64> = []

  /// - Parameter read: reads up to `count` bytes of the file from an offset; fewer at its end.
  init?(read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
    var boxes = MovieTrackTimes.Boxes(read: read)
    guard let movie = boxes.first("moov", in: 0..<(Int64.max / 2)), let header = boxes.first("mvhd", in: movie) else {
      return nil
    }
    var bytes = BigEndianBytes(read(header.lowerBound, 40))
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 31 : 19)
    guard let rate = bytes.number(4), let volume = bytes.number(2) else { return nil }
    // Fixed-point numbers with 16 and 8 fractional bits.
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
      // The version, the flags, the count, and the size of the first entry.
      entry.skip(12)
      if let name = entry.text(4), Self.encryptedNames.contains(name) { protectedTrackIDs.insert(id) }
    }
  }

  /// The sample entry types of Common Encryption and of Apple's encryption.
  private static let encryptedNames: Set<String> = ["enca", "encv", "enct", "encs", "drms", "drmi"]
}
