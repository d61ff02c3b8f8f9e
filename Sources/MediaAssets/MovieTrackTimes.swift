/// A track's times as an MP4 file's own boxes give them (ISO/IEC 14496-12): FFmpeg keeps of them only what an edit list
/// comes to in ticks of the movie, which are mostly longer than frames.
///
/// A pure value. Whatever is missing, out of range or too much makes it nil; no more than `maximumBoxCount` boxes and
/// `maximumEditCount` edits are looked at.
struct MovieTrackTimes: Sendable, Hashable {
  /// One entry of the edit list (8.6.6).
  struct Edit: Sendable, Hashable {
    /// In the movie's ticks; 0: as long as there is media.
    var duration: Int64
    /// Where it begins in the media, in the track's ticks; -1: nowhere, an empty edit.
    var mediaStart: Int64
    /// How fast the media goes by, in parts of 65,536; 0: it stands still.
    var rate = normalRate

    static let normalRate: Int64 = 0x1_0000

    var isEmpty: Bool { mediaStart < 0 }
    /// Media goes by. At which speed does not matter: what is not played at its own is played at 1.
    var isHeard: Bool { mediaStart >= 0 && rate != 0 }
  }

  static let maximumBoxCount = 4_096
  static let maximumEditCount = 256

  /// Ticks a second of the movie and of the track; 1 or more.
  private(set) var movieTimescale: Int64 = 0
  private(set) var mediaTimescale: Int64 = 0
  /// In the track's ticks; 0 when the header does not say, as in fragmented files.
  private(set) var mediaDuration: Int64 = 0
  private(set) var edits: [Edit] = []
  /// How long the track's last sample is, in its ticks; looked up only where the one edit that plays ends before the media, by
  /// less than it could say.
  private(set) var lastSampleDuration: Int64?

  /// - Parameter read: up to so many bytes of the file from an offset on, fewer at its end.
  init?(trackID: Int, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
    var boxes = Boxes(read: read)
    guard let movie = boxes.first("moov", in: 0..<(Int64.max / 2)), let header = boxes.first("mvhd", in: movie),
      let times = Self.times(read(header.lowerBound, 36))
    else { return nil }
    movieTimescale = times.timescale
    var rest = movie
    while let track = boxes.first("trak", in: rest) {
      rest = track.upperBound..<movie.upperBound
      guard let header = boxes.first("tkhd", in: track), Self.trackID(read(header.lowerBound, 24)) == Int64(trackID)
      else {
        continue
      }
      guard let media = boxes.first("mdia", in: track), let header = boxes.first("mdhd", in: media),
        let times = Self.times(read(header.lowerBound, 36))
      else { return nil }
      (mediaTimescale, mediaDuration) = times
      guard let box = boxes.first("edts", in: track), let list = boxes.first("elst", in: box) else { return }
      let count = Int(clamping: min(list.upperBound - list.lowerBound, Int64(8 + 20 * Self.maximumEditCount)))
      guard let edits = Self.edits(read(list.lowerBound, count)) else { return nil }
      self.edits = edits
      if let end = mediaEnd, let edited = editEnd, edited < end {
        lastSampleDuration = Self.lastSampleDuration(in: media, of: &boxes)
      }
      return
    }
    return nil
  }

  /// Where time 0 of the one stretch of media that plays lies, in the track's ticks: empty edits before it push it ahead, and
  /// what is in front of its start lies before time 0. Nil when there is not exactly one, and it last.
  var mediaOrigin: Int64? {
    guard let last = edits.last, !last.isEmpty, last.rate == Edit.normalRate, edits.dropLast().allSatisfy(\.isEmpty)
    else { return nil }
    var empty: Int64 = 0
    for edit in edits.dropLast() {
      let (sum, overflow) = empty.addingReportingOverflow(edit.duration)
      guard !overflow else { return nil }
      empty = sum
    }
    // To the nearest tick, as FFmpeg does.
    let (scaled, overflow) = empty.multipliedReportingOverflow(by: mediaTimescale)
    let (rounded, isTooMuch) = scaled.addingReportingOverflow(movieTimescale / 2)
    return overflow || isTooMuch ? nil : rounded / movieTimescale - last.mediaStart
  }

  /// Where the media ends on the movie's timeline, in the track's ticks, when the last edit means that: it ends within one of
  /// the movie's ticks of it, and could say no better. Nil when it means another place.
  var mediaEnd: Int64? {
    guard let origin = mediaOrigin, let last = edits.last, endsWithMedia(last) else { return nil }
    let (end, isTooMuch) = origin.addingReportingOverflow(mediaDuration)
    return isTooMuch ? nil : end
  }

  /// Where the one edit that plays ends, in the track's ticks, by its own word: to the nearest tick, as FFmpeg has it.
  private var editEnd: Int64? {
    guard let origin = mediaOrigin, let last = edits.last, last.duration > 0 else { return nil }
    let (scaled, overflow) = last.duration.multipliedReportingOverflow(by: mediaTimescale)
    let (rounded, isTooMuch) = scaled.addingReportingOverflow(movieTimescale / 2)
    let (end, isBeyond) = (rounded / movieTimescale).addingReportingOverflow(origin + last.mediaStart)
    return overflow || isTooMuch || isBeyond ? nil : end
  }

  /// The one edit that plays means to end where the media does, and says so in ticks so long that the last sample begins at
  /// that place or behind it: FFmpeg leaves that sample out.
  var losesLastSample: Bool {
    guard let end = mediaEnd, let edited = editEnd, let lastSampleDuration else { return false }
    return edited < end && end - edited >= lastSampleDuration
  }

  /// Whether an edit means to end where the media does: it ends within one of the movie's ticks of it.
  func endsWithMedia(_ edit: Edit) -> Bool {
    guard edit.isHeard, edit.duration > 0, mediaDuration > edit.mediaStart else { return false }
    let (edited, editedOverflow) = edit.duration.multipliedReportingOverflow(by: mediaTimescale)
    let (present, presentOverflow) = (mediaDuration - edit.mediaStart)
      .multipliedReportingOverflow(by: movieTimescale)
    let (difference, overflow) = edited.subtractingReportingOverflow(present)
    return !editedOverflow && !presentOverflow && !overflow && difference.magnitude < mediaTimescale.magnitude
  }

  // MARK: - Boxes

  /// The last of the durations of samples (8.6.1.2); nil when there is none, as in fragmented files.
  private static func lastSampleDuration(in media: Range<Int64>, of boxes: inout Boxes) -> Int64? {
    guard let information = boxes.first("minf", in: media), let table = boxes.first("stbl", in: information),
      let list = boxes.first("stts", in: table)
    else { return nil }
    var header = BigEndianBytes(boxes.read(list.lowerBound, 8))
    header.skip(4)
    guard let count = header.number(4), count > 0, count <= (list.upperBound - list.lowerBound - 8) / 8 else {
      return nil
    }
    var entry = BigEndianBytes(boxes.read(list.lowerBound + 8 * count, 8))
    guard let sampleCount = entry.number(4), sampleCount > 0 else { return nil }
    return entry.number(4)
  }

  /// Finds boxes among their siblings, counting every one.
  struct Boxes {
    let read: (_ offset: Int64, _ count: Int) -> [UInt8]
    private var count = 0

    init(read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) { self.read = read }

    /// The contents of the first box of a name; nil when there is none, or a size makes no sense before it.
    mutating func first(_ name: String, in range: Range<Int64>) -> Range<Int64>? {
      var offset = range.lowerBound
      while range.upperBound - offset >= 8, count < MovieTrackTimes.maximumBoxCount {
        count += 1
        var header = BigEndianBytes(read(offset, 16))
        guard var size = header.number(4), let found = header.text(4) else { return nil }
        var headerCount: Int64 = 8
        if size == 1 {
          guard let long = header.long() else { return nil }
          (size, headerCount) = (long, 16)
        } else if size == 0 {
          size = range.upperBound - offset
        }
        guard size >= headerCount, size <= range.upperBound - offset else { return nil }
        if found == name { return (offset + headerCount)..<(offset + size) }
        offset += size
      }
      return nil
    }
  }

  /// Of a movie's or a track's header (8.2.2, 8.4.2).
  private static func times(_ contents: [UInt8]) -> (timescale: Int64, duration: Int64)? {
    var bytes = BigEndianBytes(contents)
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 19 : 11)
    guard let timescale = bytes.number(4), timescale > 0 else { return nil }
    // All ones: not known.
    if version == 1 {
      guard let high = bytes.number(4), let low = bytes.number(4) else { return nil }
      return (timescale, high < 1 << 30 ? high << 32 | low : 0)
    }
    return bytes.number(4).map { (timescale, $0 == 0xffff_ffff ? 0 : $0) }
  }

  /// Of a track's header (8.3.2).
  static func trackID(_ contents: [UInt8]) -> Int64? {
    var bytes = BigEndianBytes(contents)
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 19 : 11)
    return bytes.number(4)
  }

  /// Nil for lists that make no sense, and those that are longer than anybody's.
  private static func edits(_ contents: [UInt8]) -> [Edit]? {
    var bytes = BigEndianBytes(contents)
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(3)
    guard let count = bytes.number(4), count <= Int64(maximumEditCount) else { return nil }
    var edits: [Edit] = []
    for _ in 0..<count {
      let duration = version == 1 ? bytes.long() : bytes.number(4)
      let start =
        version == 1 ? bytes.signedLong() : bytes.number(4).map { Int64(Int32(truncatingIfNeeded: $0)) }
      guard let duration, let start, start >= -1, let rate = bytes.number(4) else { return nil }
      edits.append(Edit(duration: duration, mediaStart: start, rate: rate))
    }
    return edits
  }
}

extension BigEndianBytes {
  /// 8 bytes as a number; nil when there are fewer, or it is out of range.
  fileprivate mutating func long() -> Int64? { signedLong().flatMap { $0 >= 0 ? $0 : nil } }

  fileprivate mutating func signedLong() -> Int64? {
    guard let high = number(4), let low = number(4) else { return nil }
    return high << 32 | low
  }
}
