/// Where the bytes of a media file come from, when it is neither a file nor in memory: the resource loader's role
/// (AVAssetResourceLoaderDelegate). Playhead's own reads HTTP; a library's user may bring another.
///
/// A source serves one reader. Threading: everything but `cancel` and `resume` is called by one thread at a time, which may
/// block; those two come from any thread and do not.
public protocol ByteSource: Cancellable {
  /// Finds out what the two properties below say. Called once, before anything else; blocks.
  ///
  /// Errors: the source's own, with a public number (2xxx); `cancelled`.
  func open() throws(MediaError)

  /// Bytes that there are; nil when that is not known, as of a live stream.
  var byteCount: Int64? { get }

  /// Whether bytes at any place can be read. A source that cannot gives them in order, and keeps some of those that it gave.
  var isSeekable: Bool { get }

  /// Gives bytes from `offset` on: at least one, at most as many as fit; 0 at the end. Blocks until there are some.
  ///
  /// Errors: the source's own; `cancelled` between `cancel` and `resume`.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int

  /// The media type that whoever has the bytes says they are of, such as `audio/mpeg`; nil when nobody does. A hint.
  var mediaType: String? { get }

  /// What was said about the bytes in front of `offset`, and has not been taken yet; in order.
  func takeTitles(before offset: Int64) -> [StreamTitle]

  /// The place up to which bytes can be read without waiting, and the place from which; nil when nobody knows.
  var presentBytes: Range<Int64>? { get }
}

extension ByteSource {
  public func open() throws(MediaError) {}
  public var mediaType: String? { nil }
  public func takeTitles(before offset: Int64) -> [StreamTitle] { [] }
  public var presentBytes: Range<Int64>? { nil }
}

/// What a stream says it plays from one of its bytes on.
public struct StreamTitle: Sendable, Hashable, Codable {
  /// The byte from which on it holds.
  public var offset: Int64
  /// Often `artist - title`; empty when the stream says that it has none.
  public var title: String
  /// A page about it.
  public var url: String?

  public init(offset: Int64, title: String, url: String? = nil) {
    self.offset = offset
    self.title = title
    self.url = url
  }
}
