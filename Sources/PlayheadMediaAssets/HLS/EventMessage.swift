import PlayheadMediaCore

/// An `emsg` box that contains an ID3 tag (ISO/IEC 23009-1, 5.10.3.3; "Carriage of ID3 Timed Metadata in CMAF").
enum EventMessage {
  private static let schemes: Set = ["https://aomedia.org/emsg/ID3", "https://developer.apple.com/streaming/emsg-id3"]

  /// Returns the tag and its time; nil for other events and invalid boxes.
  ///
  /// - Parameters:
  ///   - content: The contents of the box, after its name.
  ///   - startNanoseconds: The start of the segment.
  static func tag(in content: ArraySlice<UInt8>, startNanoseconds: Int64) -> SegmentTag? {
    var rest = content
    func number(_ count: Int) -> UInt64? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
    func text() -> String? {
      guard let end = rest.firstIndex(of: 0) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return String(decoding: rest[..<end], as: UTF8.self)
    }
    guard let version = number(4).map({ $0 >> 24 }) else { return nil }
    let time: SegmentTag.Time
    switch version {
    case 0:
      guard let scheme = text(), schemes.contains(scheme), text() != nil, let scale = number(4), scale > 0,
        let delta = number(4), number(8) != nil
      else { return nil }
      time = .position(startNanoseconds + Int64(delta * 1_000_000_000 / scale))
    case 1:
      guard let scale = number(4).flatMap({ Int32(exactly: $0) }), scale > 0,
        let presentationTime = number(8).flatMap({ Int64(exactly: $0) }), number(8) != nil, let scheme = text(),
        schemes.contains(scheme), text() != nil
      else { return nil }
      time = .timestamp(MediaTime(value: presentationTime, timescale: scale))
    default: return nil
    }
    guard rest.starts(with: "ID3".utf8) else { return nil }
    return SegmentTag(time: time, bytes: Array(rest))
  }
}
