/// The times of a track, read directly from the boxes of an MP4 file (ISO/IEC 14496-12).
///
/// FFmpeg retains only the result of an edit list in ticks of the movie, which are usually longer than frames.
///
/// A pure value. The initializer returns nil if data is missing, out of range or exceeds a limit. It reads at most
/// `maximumBoxCount` boxes and `maximumEditCount` edits.
struct MovieTrackTimes: Sendable, Hashable {
  /// One entry of the edit list (8.6.6).
  struct Edit: Sendable, Hashable {
    /// The duration in ticks of the movie; 0: to the end of the media.
    var duration: Int64
    /// The start in the media, in ticks of the track; -1: an empty edit.
    var mediaStart: Int64
    /// The rate of the media in units of 1/65,536; 0: a dwell.
    var rate = normalRate

    static let normalRate: Int64 = 0x1_0000

    var isEmpty: Bool { mediaStart < 0 }
    /// Whether media plays. Every rate other than 0 is played as 1.
    var playsMedia: Bool { mediaStart >= 0 && rate != 0 }
  }

  static let maximumBoxCount = 4_096
  static let maximumEditCount = 256
  static let maximumDurationCount = 65_536

  /// The ticks per second of the movie and of the track; 1 or more.
  private(set) var movieTimescale: Int64 = 0
  private(set) var mediaTimescale: Int64 = 0
  /// The duration in ticks of the track; 0 if the header does not state it, as in fragmented files.
  private(set) var mediaDuration: Int64 = 0
  private(set) var edits: [Edit] = []
  /// The time of the track's last sample in its ticks: the sum of the durations before it.
  ///
  /// Read only on request, and only if the single audible edit ends with the media. Nil in fragmented files, and if the
  /// table of durations has more than `maximumDurationCount` entries.
  private(set) var lastSampleStart: Int64?

  /// - Parameters:
  ///   - readsLastSample: Whether to read `lastSampleStart`.
  ///   - read: Reads up to `count` bytes of the file from an offset; fewer at its end.
  init?(trackID: Int, readsLastSample: Bool, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
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
      if readsLastSample, mediaEnd != nil { lastSampleStart = Self.lastSampleStart(in: media, of: &boxes) }
      return
    }
    return nil
  }

  /// The time of media position 0 on the movie's timeline, in ticks of the track. Nil unless exactly one edit plays
  /// media, at normal rate and at the end of the list.
  ///
  /// Empty edits before that edit delay the media. Media before the edit's start is before time 0.
  var mediaOrigin: Int64? {
    guard let last = edits.last, !last.isEmpty, last.rate == Edit.normalRate, edits.dropLast().allSatisfy(\.isEmpty)
    else { return nil }
    var empty: Int64 = 0
    for edit in edits.dropLast() {
      let (sum, overflow) = empty.addingReportingOverflow(edit.duration)
      guard !overflow else { return nil }
      empty = sum
    }
    // Rounded to the nearest tick, like FFmpeg.
    let (scaled, overflow) = empty.multipliedReportingOverflow(by: mediaTimescale)
    let (rounded, sumOverflow) = scaled.addingReportingOverflow(movieTimescale / 2)
    return overflow || sumOverflow ? nil : rounded / movieTimescale - last.mediaStart
  }

  /// The end of the media on the movie's timeline, in ticks of the track; nil if the last edit ends elsewhere.
  ///
  /// An edit cannot be more precise than a tick of the movie. So an end less than a tick from the media's end counts as
  /// the media's end.
  var mediaEnd: Int64? {
    guard let origin = mediaOrigin, let last = edits.last, endsWithMedia(last) else { return nil }
    let (end, sumOverflow) = origin.addingReportingOverflow(mediaDuration)
    return sumOverflow ? nil : end
  }

  /// The stated end of the single audible edit, in ticks of the track, rounded to the nearest tick like FFmpeg.
  private var editEnd: Int64? {
    guard let origin = mediaOrigin, let last = edits.last, last.duration > 0 else { return nil }
    let (scaled, overflow) = last.duration.multipliedReportingOverflow(by: mediaTimescale)
    let (rounded, sumOverflow) = scaled.addingReportingOverflow(movieTimescale / 2)
    let (end, endOverflow) = (rounded / movieTimescale).addingReportingOverflow(origin + last.mediaStart)
    return overflow || sumOverflow || endOverflow ? nil : end
  }

  /// Whether FFmpeg leaves out the last sample: the single audible edit ends with the media, but at or before the start
  /// of that sample. The end may be in coarse ticks, or the sample durations may exceed the duration in the header.
  /// False if `lastSampleStart` was not read.
  var losesLastSample: Bool {
    guard mediaEnd != nil, let origin = mediaOrigin, let edited = editEnd, let lastSampleStart else { return false }
    let (start, overflow) = origin.addingReportingOverflow(lastSampleStart)
    return !overflow && edited <= start
  }

  /// Whether an edit ends with the media: its end is less than one tick of the movie from the media's end.
  func endsWithMedia(_ edit: Edit) -> Bool {
    guard edit.playsMedia, edit.duration > 0, mediaDuration > edit.mediaStart else { return false }
    let (edited, editedOverflow) = edit.duration.multipliedReportingOverflow(by: mediaTimescale)
    let (available, availableOverflow) = (mediaDuration - edit.mediaStart)
      .multipliedReportingOverflow(by: movieTimescale)
    let (difference, overflow) = edited.subtractingReportingOverflow(available)
    return !editedOverflow && !availableOverflow && !overflow && difference.magnitude < mediaTimescale.magnitude
  }

  // MARK: - Boxes

  /// Returns the sum of all sample durations except the last (8.6.1.2); nil if there is none, as in fragmented files.
  private static func lastSampleStart(in media: Range<Int64>, of boxes: inout Boxes) -> Int64? {
    guard let information = boxes.first("minf", in: media), let table = boxes.first("stbl", in: information),
      let list = boxes.first("stts", in: table)
    else { return nil }
    var header = BigEndianBytes(boxes.read(list.lowerBound, 8))
    header.skip(4)
    guard let count = header.number(4), count > 0, count <= Int64(maximumDurationCount),
      count <= (list.upperBound - list.lowerBound - 8) / 8
    else { return nil }
    var entries = BigEndianBytes(boxes.read(list.lowerBound + 8, Int(8 * count)))
    var end: Int64 = 0
    var last: Int64?
    for _ in 0..<count {
      guard let sampleCount = entries.number(4), let duration = entries.number(4) else { return nil }
      let (ticks, overflow) = sampleCount.multipliedReportingOverflow(by: duration)
      let (sum, sumOverflow) = end.addingReportingOverflow(ticks)
      if overflow || sumOverflow { return nil }
      end = sum
      last = sampleCount > 0 ? duration : last
    }
    return last.map { end - $0 }
  }

  /// Finds boxes in a sequence, and counts all boxes that it visits.
  struct Boxes {
    let read: (_ offset: Int64, _ count: Int) -> [UInt8]
    private var count = 0

    init(read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) { self.read = read }

    /// Returns the contents of the first box with a name; nil if there is none, or after an invalid size.
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

  /// Reads the timescale and duration of a movie's or a track's header (8.2.2, 8.4.2).
  private static func times(_ contents: [UInt8]) -> (timescale: Int64, duration: Int64)? {
    var bytes = BigEndianBytes(contents)
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 19 : 11)
    guard let timescale = bytes.number(4), timescale > 0 else { return nil }
    // All ones: unknown.
    if version == 1 {
      guard let high = bytes.number(4), let low = bytes.number(4) else { return nil }
      return (timescale, high < 1 << 30 ? high << 32 | low : 0)
    }
    return bytes.number(4).map { (timescale, $0 == 0xffff_ffff ? 0 : $0) }
  }

  /// Reads the ID of a track's header (8.3.2).
  static func trackID(_ contents: [UInt8]) -> Int64? {
    var bytes = BigEndianBytes(contents)
    guard let version = bytes.number(1), version <= 1 else { return nil }
    bytes.skip(version == 1 ? 19 : 11)
    return bytes.number(4)
  }

  /// Reads an edit list; nil if it is invalid or too long.
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
  /// Reads 8 bytes as a number; nil if there are fewer, or the number is out of range.
  fileprivate mutating func long() -> Int64? { signedLong().flatMap { $0 >= 0 ? $0 : nil } }

  fileprivate mutating func signedLong() -> Int64? {
    guard let high = number(4), let low = number(4) else { return nil }
    return high << 32 | low
  }
}
