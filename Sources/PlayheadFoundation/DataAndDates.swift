import FoundationEssentials
import Playhead

extension Asset {
  /// Makes an asset of the bytes of a media file. No I/O; loading parses the bytes.
  public convenience init(data: Data, prefersPreciseDuration: Bool = false) {
    self.init(data: [UInt8](data), prefersPreciseDuration: prefersPreciseDuration)
  }
}

extension AudioPlayer {
  /// Makes a player of the bytes of a media file. Blocks until they have been inspected.
  ///
  /// - Throws: The errors of `AudioPlayer(data: [UInt8])`.
  public convenience init(data: Data, engine: PlaybackEngine = .shared) throws(MediaError) {
    try self.init(data: [UInt8](data), engine: engine)
  }
}

extension Artwork {
  /// Makes artwork of the bytes of an image file, whose media type is detected.
  public init(_ data: Data, type: ArtworkType = .frontCover, description: String = "") {
    self.init([UInt8](data), type: type, description: description)
  }
}

extension Data {
  /// Copies the bytes of a sample buffer.
  public init(_ buffer: SampleBuffer) { self.init(buffer.data) }

  /// Copies the pixels of a pixel buffer, plane by plane.
  public init(_ pixels: PixelBuffer) { self.init(pixels.data) }

  /// Copies the bytes of a metadata item; nil if its value is not data or was omitted.
  public init?(_ item: MetadataItem) {
    guard let bytes = item.dataValue else { return nil }
    self.init(bytes)
  }
}

extension Date {
  /// The instant of a date in a tag. Missing parts are the first month, day, hour, minute and second, and a missing
  /// offset is that of UTC. A leap second is the second after it. Nil for a day that the month does not have.
  public init?(_ date: MetadataDate) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let (month, day) = (date.month ?? 1, date.day ?? 1)
    guard let midnight = calendar.date(from: DateComponents(year: date.year, month: month, day: day)),
      calendar.component(.month, from: midnight) == month, calendar.component(.day, from: midnight) == day
    else { return nil }
    let seconds = (date.hour ?? 0) * 3_600 + ((date.minute ?? 0) - (date.offsetMinutes ?? 0)) * 60 + (date.second ?? 0)
    self = midnight.addingTimeInterval(TimeInterval(seconds))
  }
}

extension Date {
  /// The date of a number of nanoseconds since 1970, such as `Player.currentDate()`.
  public init(nanosecondsSince1970 nanoseconds: Int64) {
    self.init(timeIntervalSince1970: Double(nanoseconds) / 1_000_000_000)
  }

  /// The nanoseconds since 1970, rounded; nil for dates that are more than 292 years away.
  public var nanosecondsSince1970: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000_000_000).rounded()) }
}

extension WallTime {
  /// Makes the instant of a date, rounded to nanoseconds; nil for dates that are more than 292 years away.
  public init?(_ date: Date) {
    guard let nanoseconds = date.nanosecondsSince1970 else { return nil }
    self.init(nanosecondsSince1970: nanoseconds)
  }
}

extension PlayerControl {
  /// Returns the time of the current item at which audio recorded at a date is heard, for use with `seek(to:)`.
  ///
  /// - Throws: `noCurrentItem`; `noSuchDate` if the item has no dates, or no audio of that date.
  public func time(ofDate date: Date) throws(MediaError) -> MediaTime {
    guard let nanoseconds = date.nanosecondsSince1970 else {
      throw MediaError(.noSuchDate, "the item has no audio of \(date)", operation: "seek")
    }
    return try time(ofDate: nanoseconds)
  }
}
