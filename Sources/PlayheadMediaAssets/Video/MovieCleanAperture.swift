import PlayheadMediaCore

/// Reads the clean aperture of a track from the boxes of an MP4 file (ISO/IEC 14496-12, 12.1.4), because FFmpeg does
/// not read it.
enum MovieCleanAperture {
  /// Returns the clean aperture in whole pixels; nil if the file has none, or an invalid one.
  ///
  /// - Parameter read: Reads at most `count` bytes of the file at `offset`, fewer at its end.
  static func find(
    trackID: Int, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]
  ) -> FormatDescription.Video.CleanAperture? {
    var boxes = MovieTrackTimes.Boxes(read: read)
    guard var rest = boxes.first("moov", in: 0..<(Int64.max / 2)) else { return nil }
    while let track = boxes.first("trak", in: rest) {
      rest = track.upperBound..<rest.upperBound
      guard let header = boxes.first("tkhd", in: track),
        MovieTrackTimes.trackID(read(header.lowerBound, 24)) == Int64(trackID)
      else { continue }
      var range = track
      for name in ["mdia", "minf", "stbl", "stsd"] {
        guard let inner = boxes.first(name, in: range) else { return nil }
        range = inner
      }
      guard let entry = firstEntry(in: range, read), let box = boxes.first("clap", in: entry) else { return nil }
      return aperture(read(box.lowerBound, 32))
    }
    return nil
  }

  /// Returns the range of the boxes in the first visual sample entry (8.5.2 and 12.1.3).
  private static func firstEntry(in list: Range<Int64>, _ read: (Int64, Int) -> [UInt8]) -> Range<Int64>? {
    let start = list.lowerBound + 8
    var header = BigEndianBytes(read(start, 4))
    guard let size = header.number(4), size >= 86, size <= list.upperBound - start else { return nil }
    return start + 86..<start + size
  }

  private static func aperture(_ contents: [UInt8]) -> FormatDescription.Video.CleanAperture? {
    var bytes = BigEndianBytes(contents)
    func ratio() -> Int? {
      guard let numerator = bytes.number(4), let denominator = bytes.number(4), denominator > 0 else { return nil }
      return Int((Double(Int32(truncatingIfNeeded: numerator)) / Double(denominator)).rounded())
    }
    guard let width = ratio(), let height = ratio(), let x = ratio(), let y = ratio(), width > 0, height > 0 else {
      return nil
    }
    return .init(width: width, height: height, horizontalOffset: x, verticalOffset: y)
  }
}
