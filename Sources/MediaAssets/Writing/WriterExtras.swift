import LibAV
import MediaCore

/// What a file has besides its tracks: pictures and chapters. Checked before anything is written.
struct WriterExtras: Sendable {
  /// As FFmpeg's containers take them.
  let chapters: [Muxer.Chapter]
  private let pictures: [Artwork]
  private let container: WritableContainer
  /// Where the last chapter begins, from the session's start.
  private let lastChapterStart: MediaTime?

  /// Errors: `invalidArgument` for pictures that are neither PNG nor JPEG, or have no data, and for what the container does not have;
  /// `invalidTime` for chapters that overlap, or are out of their order.
  init(_ options: AssetWriter.Options, _ container: WritableContainer) throws(MediaError) {
    self.container = container
    pictures = options.artwork
    try Self.check(pictures, container)
    chapters = try Self.checked(options.chapters, container, isFragmented: options.movieFragmentInterval.isNumeric)
    lastChapterStart = options.toleratesLateChapters ? nil : options.chapters.last?.timeRange.start
  }

  /// Errors: `invalidTime` for chapters that begin behind the end.
  func check(end: MediaTime) throws(MediaError) {
    guard let lastChapterStart, lastChapterStart >= end, lastChapterStart > .zero else { return }
    throw MediaError(.invalidTime, "a chapter begins behind the end", operation: "finishWriting")
  }

  // MARK: - Pictures

  private static let largestPictureCount = 64

  private static func check(_ pictures: [Artwork], _ container: WritableContainer) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "startWriting") }
    guard !pictures.isEmpty else { return }
    guard container.pictureKind != .none else { throw refuse("\(container.rawValue) has no pictures") }
    guard pictures.count <= largestPictureCount else {
      throw refuse("a file has \(largestPictureCount) pictures at most")
    }
    for picture in pictures {
      guard codecName(of: picture) != nil else { throw refuse("a picture is PNG or JPEG") }
      guard picture.data.count <= Artwork.maximumByteCount else {
        throw MediaError(.pictureTooLarge, "a picture has more than 16 MiB", operation: "startWriting")
      }
    }
  }

  private static func codecName(of picture: Artwork) -> String? {
    switch Artwork.mediaType(of: picture.data) {
    case "image/jpeg": "mjpeg"
    case "image/png": "png"
    default: nil
    }
  }

  /// Pictures that are tags: Ogg's `METADATA_BLOCK_PICTURE`, of which FFmpeg's names have one.
  var pictureTags: [String: String] {
    guard container.pictureKind == .tag, let picture = pictures.first else { return [:] }
    return ["METADATA_BLOCK_PICTURE": LibAV.base64(Self.block(picture))]
  }

  /// Gives the container its pictures.
  func addPictures(to muxer: Muxer) throws(AVFailure) {
    guard container.pictureKind == .stream || container.pictureKind == .attachment else { return }
    for (index, picture) in pictures.enumerated() {
      guard let codecName = Self.codecName(of: picture) else { continue }
      let name = picture.type == .frontCover || index == 0 ? "cover" : "picture\(index)"
      try muxer.addPicture(
        picture.data, codecName: codecName, mediaType: codecName == "png" ? "image/png" : "image/jpeg",
        fileName: name + (codecName == "png" ? ".png" : ".jpg"), isAttachment: container.pictureKind == .attachment,
        role: picture.type.ffmpegName ?? "", title: picture.description)
    }
  }

  /// FLAC's picture block (RFC 9639, 8.8).
  private static func block(_ picture: Artwork) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let (media, text) = (Array((Artwork.mediaType(of: picture.data) ?? "").utf8), Array(picture.description.utf8))
    let size = LibAV.pictureSize(picture.data)
    return number(picture.type.rawValue) + number(media.count) + media + number(text.count) + text
      + number(size?.width ?? 0) + number(size?.height ?? 0) + number(size == nil ? 0 : 24) + number(0)
      + number(picture.data.count) + picture.data
  }

  // MARK: - Chapters

  private static func checked(
    _ chapters: [AssetChapter], _ container: WritableContainer, isFragmented: Bool
  ) throws(MediaError) -> [Muxer.Chapter] {
    guard !chapters.isEmpty else { return [] }
    guard container.hasChapters else {
      throw MediaError(.invalidArgument, "\(container.rawValue) has no chapters", operation: "startWriting")
    }
    guard !(container.isMovie && isFragmented) else {
      throw MediaError(.invalidArgument, "files of fragments have no chapters", operation: "startWriting")
    }
    guard chapters.count <= ChapterInfo.maximumCount else {
      throw MediaError(
        .invalidArgument, "a file has \(ChapterInfo.maximumCount) chapters at most", operation: "startWriting")
    }
    var end = MediaTime.zero
    var result: [Muxer.Chapter] = []
    for chapter in chapters {
      let range = chapter.timeRange
      guard range.start.isNumeric, range.end.isNumeric, range.start >= end, range.end >= range.start,
        let first = WriterTimeline.ticks(range.start, 1_000_000), let last = WriterTimeline.ticks(range.end, 1_000_000)
      else {
        throw MediaError(
          .invalidTime, "chapters come one after another, from the beginning on, and do not overlap",
          operation: "startWriting")
      }
      end = range.end
      result.append(Muxer.Chapter(start: first, end: last, title: chapter.title ?? ""))
    }
    return result
  }
}

extension WritableContainer {
  /// How a container has pictures that belong to it.
  enum PictureKind {
    case none
    /// As streams of one packet.
    case stream
    /// As files.
    case attachment
    /// As a tag: one.
    case tag
  }

  /// How it has pictures that belong to it. MOV has them in a form that FFmpeg 5.1 does not write.
  var pictureKind: PictureKind {
    switch self {
    case .m4a, .mp4, .flac, .mp3: .stream
    case .matroska: .attachment
    case .ogg: .tag
    case .wav, .caf, .mov, .webm: .none
    }
  }

  /// Whether it has chapters.
  var hasChapters: Bool {
    switch self {
    case .m4a, .mp4, .mov, .matroska, .webm, .ogg, .mp3: true
    case .wav, .caf, .flac: false
    }
  }
}
