import PlayheadLibAV
import PlayheadMediaCore

/// The parts of a file other than its tracks: artwork and chapters. They are checked before the file is written.
struct WriterExtras: Sendable {
  /// The chapters in FFmpeg's form.
  let chapters: [Muxer.Chapter]
  private let images: [Artwork]
  private let container: WritableContainer
  /// The start of the last chapter, relative to the session's start.
  private let lastChapterStart: MediaTime?

  /// - Throws: `invalidArgument` for artwork that is neither PNG nor JPEG or has no data, and for parts that the
  ///   container does not support; `imageTooLarge`; `invalidTime` for chapters that overlap or are out of order.
  init(_ options: AssetWriter.Options, _ container: WritableContainer) throws(MediaError) {
    self.container = container
    images = options.artwork
    try Self.check(images, container)
    chapters = try Self.checked(options.chapters, container, isFragmented: options.movieFragmentInterval.isNumeric)
    lastChapterStart = options.toleratesLateChapters ? nil : options.chapters.last?.timeRange.start
  }

  /// - Throws: `invalidTime` if the last chapter begins at or after the end.
  func check(end: MediaTime) throws(MediaError) {
    guard let lastChapterStart, lastChapterStart >= end, lastChapterStart > .zero else { return }
    throw MediaError(.invalidTime, "a chapter begins at or after the end", operation: "finishWriting")
  }

  // MARK: - Artwork

  private static let maximumImageCount = 64

  private static func check(_ images: [Artwork], _ container: WritableContainer) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "startWriting") }
    guard !images.isEmpty else { return }
    guard container.artworkStorage != .none else { throw refuse("\(container.rawValue) does not support artwork") }
    guard images.count <= maximumImageCount else {
      throw refuse("a file must have at most \(maximumImageCount) artwork images (got \(images.count))")
    }
    for image in images {
      guard codecName(of: image) != nil else { throw refuse("artwork must be PNG or JPEG") }
      guard image.data.count <= Artwork.maximumByteCount else {
        throw MediaError(.imageTooLarge, "artwork must have at most 16 MiB", operation: "startWriting")
      }
    }
  }

  private static func codecName(of image: Artwork) -> String? {
    switch Artwork.mediaType(of: image.data) {
    case "image/jpeg": "mjpeg"
    case "image/png": "png"
    default: nil
    }
  }

  /// The artwork stored as a tag: Ogg's `METADATA_BLOCK_PICTURE`. FFmpeg's tag names permit one image.
  var artworkTags: [String: String] {
    guard container.artworkStorage == .tag, let image = images.first else { return [:] }
    return ["METADATA_BLOCK_PICTURE": LibAV.base64(Self.flacPictureBlock(image))]
  }

  /// Adds the artwork to the container.
  func addArtwork(to muxer: Muxer) throws(AVFailure) {
    guard container.artworkStorage == .stream || container.artworkStorage == .attachment else { return }
    for (index, image) in images.enumerated() {
      guard let codecName = Self.codecName(of: image) else { continue }
      let name = image.type == .frontCover || index == 0 ? "cover" : "artwork\(index)"
      try muxer.addArtwork(
        image.data, codecName: codecName, mediaType: codecName == "png" ? "image/png" : "image/jpeg",
        fileName: name + (codecName == "png" ? ".png" : ".jpg"), isAttachment: container.artworkStorage == .attachment,
        role: image.type.ffmpegName ?? "", title: image.description)
    }
  }

  /// Returns a FLAC picture block (RFC 9639, section 8.8). prose: picture (the term of the RFC)
  private static func flacPictureBlock(_ image: Artwork) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let (media, text) = (Array((Artwork.mediaType(of: image.data) ?? "").utf8), Array(image.description.utf8))
    let size = LibAV.imageSize(image.data)
    return number(image.type.rawValue) + number(media.count) + media + number(text.count) + text
      + number(size?.width ?? 0) + number(size?.height ?? 0) + number(size == nil ? 0 : 24) + number(0)
      + number(image.data.count) + image.data
  }

  // MARK: - Chapters

  private static func checked(
    _ chapters: [AssetChapter], _ container: WritableContainer, isFragmented: Bool
  ) throws(MediaError) -> [Muxer.Chapter] {
    guard !chapters.isEmpty else { return [] }
    guard container.hasChapters else {
      throw MediaError(.invalidArgument, "\(container.rawValue) does not support chapters", operation: "startWriting")
    }
    guard !(container.isMovie && isFragmented) else {
      throw MediaError(.invalidArgument, "fragmented files do not support chapters", operation: "startWriting")
    }
    guard chapters.count <= ChapterInfo.maximumCount else {
      throw MediaError(
        .invalidArgument, "a file must have at most \(ChapterInfo.maximumCount) chapters (got \(chapters.count))",
        operation: "startWriting")
    }
    var end = MediaTime.zero
    var result: [Muxer.Chapter] = []
    for chapter in chapters {
      let range = chapter.timeRange
      guard range.start.isNumeric, range.end.isNumeric, range.start >= end, range.end >= range.start,
        let first = WriterTimeline.ticks(range.start, 1_000_000), let last = WriterTimeline.ticks(range.end, 1_000_000)
      else {
        throw MediaError(
          .invalidTime, "chapters must be in order, start at 0 or later, and must not overlap",
          operation: "startWriting")
      }
      end = range.end
      result.append(Muxer.Chapter(start: first, end: last, title: chapter.title ?? ""))
    }
    return result
  }
}

extension WritableContainer {
  /// How a container stores artwork.
  enum ArtworkStorage {
    case none
    /// As streams of one packet.
    case stream
    /// As attached files.
    case attachment
    /// As a tag, with one image.
    case tag
  }

  /// How the container stores artwork. MOV stores it in a form that FFmpeg 5.1 does not write.
  var artworkStorage: ArtworkStorage {
    switch self {
    case .m4a, .mp4, .flac, .mp3: .stream
    case .matroska: .attachment
    case .ogg: .tag
    case .wav, .caf, .mov, .webm: .none
    }
  }

  /// Whether the container supports chapters.
  var hasChapters: Bool {
    switch self {
    case .m4a, .mp4, .mov, .matroska, .webm, .ogg, .mp3: true
    case .wav, .caf, .flac: false
    }
  }
}
