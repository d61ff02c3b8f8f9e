import LibAV
import MediaCore
import Synchronization

/// A media file: what it is, how long it is, what tracks it has. Made from a path without touching the file.
///
/// Loading is explicit and happens once; what it found, or why it failed, is kept. Threading: any.
public final class Asset: Sendable {
  /// The file's path, as bytes without a terminating zero; need not be UTF-8.
  public let path: [UInt8]

  private let interrupt = Interrupt()
  /// Held while the file is opened, so that it is opened once however many ask.
  private let loading = Mutex<Void>(())
  /// The outcome. Held for a copy only.
  private let outcome = Mutex<Result<AssetProperties, MediaError>?>(nil)

  /// An asset for a path, absolute or relative to the working directory of the time when it is loaded. No I/O.
  public init(path: [UInt8]) { self.path = path }

  /// An asset for a path. No I/O.
  public convenience init(path: String) { self.init(path: Array(path.utf8)) }

  /// An asset for a `file:` URL, such as `file:///music/a%20b.flac`. No I/O.
  ///
  /// Errors: `unsupportedPlace` for another scheme or host; `invalidArgument` for text that is no URL.
  public convenience init(url text: String) throws(MediaError) { try self.init(path: FileURL.path(from: text)) }

  /// The path as text for messages; what is not UTF-8 shows as U+FFFD.
  public var displayPath: String { String(decoding: path, as: UTF8.self) }

  /// What `load()` found, when it has run. Never blocks on the file.
  public var loaded: Result<AssetProperties, MediaError>? { outcome.withLock { $0 } }

  /// Opens the file, once, and says what it is. Blocks: call it on a worker thread.
  ///
  /// Errors, kept and thrown again next time: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`,
  /// `emptyFile`, `unknownFormat`, `damagedFile`, `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`,
  /// `mediaLimitExceeded`. Not kept: `cancelled`.
  public func load() throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    let result = loading.withLock { _ -> Result<AssetProperties, MediaError> in
      // Another thread may have loaded it while this one waited.
      if let loaded { return loaded }
      let result = Result { () throws(MediaError) in try read() }
      if case .failure(let error) = result, error.code == .cancelled { return result }
      outcome.withLock { $0 = result }
      return result
    }
    return try result.get()
  }

  /// Makes a `load()` that runs throw `cancelled`; a later one starts again. Any thread, does not block.
  public func cancelLoading() { interrupt.cancel() }

  private func read() throws(MediaError) -> AssetProperties {
    interrupt.reset()
    let (demuxer, byteCount) = try MediaFile.open(path: path, interrupt: interrupt)
    return try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: displayPath)
  }
}
