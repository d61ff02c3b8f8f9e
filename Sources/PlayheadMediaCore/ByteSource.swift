/// Supplies the bytes of media that are neither in a file nor in memory, as AVAssetResourceLoaderDelegate does.
/// Playhead includes a source for HTTP; library users can implement others.
///
/// <!-- listing: use-byte-source -->
/// ```swift
/// let asset = Asset(name: "episode.mp3") { StoredDownload(bytes) }
/// ```
///
/// A source serves one reader. Threading: any thread may call `cancel` and `resume`, which do not block. One thread at
/// a time calls all other members, which may block.
public protocol ByteSource: Cancellable {
  /// Determines `byteCount` and `isSeekable`. Called once, before any other member. Blocks.
  ///
  /// - Throws: an error of the source with a public number (2xxx); `cancelled`.
  func open() throws(MediaError)

  /// The number of bytes; nil when not known, as for a live stream.
  var byteCount: Int64? { get }

  /// Whether the source can read at any offset. Otherwise the source delivers bytes in order and retains some of them.
  var isSeekable: Bool { get }

  /// Reads bytes from `offset` on: at least one, at most as many as fit. Blocks until bytes are available.
  ///
  /// - Returns: the number of bytes; 0 at the end.
  /// - Throws: an error of the source; `cancelled` between `cancel` and `resume`.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int

  /// The media type that the server or owner of the bytes declares, such as `audio/mpeg`; nil when it declares none.
  /// Only a hint.
  var mediaType: String? { get }

  /// Removes and returns the pending titles that apply to bytes before `offset`, in order.
  func popTitles(before offset: Int64) -> [StreamTitle]

  /// The range of bytes that can be read without waiting; nil when not known.
  var availableByteRange: Range<Int64>? { get }
}

extension ByteSource {
  public func open() throws(MediaError) {}
  public var mediaType: String? { nil }
  public func popTitles(before offset: Int64) -> [StreamTitle] { [] }
  public var availableByteRange: Range<Int64>? { nil }
}

/// The title that a stream announces, starting at one of its bytes.
public struct StreamTitle: Sendable, Hashable, Codable {
  /// The offset of the first byte that the title applies to.
  public var offset: Int64
  /// The title, often `artist - title`; empty when the stream announces that there is no title.
  public var title: String
  /// The address of a page about the title.
  public var url: String?

  /// Creates a title.
  public init(offset: Int64, title: String, url: String? = nil) {
    self.offset = offset
    self.title = title
    self.url = url
  }
}
