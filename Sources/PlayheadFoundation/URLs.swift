import FoundationEssentials
import Playhead

/// Resources at URLs, which may be `file:`, `http:` or `https:`.
extension Asset {
  /// Makes an asset of the resource at a URL. No I/O.
  ///
  /// - Throws: The errors of `Asset(url: String)`: `unsupportedLocation` for another scheme or host; `invalidArgument`
  ///   for a URL that is neither a file nor an address.
  public convenience init(url: URL, prefersPreciseDuration: Bool = false) throws(MediaError) {
    try self.init(url: url.absoluteString, prefersPreciseDuration: prefersPreciseDuration)
  }
}

extension PlayerItem {
  /// Makes an item of the resource at a URL. No I/O.
  ///
  /// - Throws: The errors of `Asset(url: URL)`.
  public convenience init(url: URL) throws(MediaError) { try self.init(url: url.absoluteString) }
}

extension Player {
  /// Makes a player of the resource at a URL, on the output of the shared engine.
  ///
  /// - Throws: The errors of `Asset(url: URL)`.
  public init(url: URL) async throws(MediaError) { try await self.init(url: url.absoluteString) }

  /// Makes a player of the resource at a URL.
  ///
  /// - Throws: The errors of `Asset(url: URL)`.
  public init(engine: PlaybackEngine, name: String = "main", url: URL) async throws(MediaError) {
    try await self.init(engine: engine, name: name, url: url.absoluteString)
  }
}

extension AudioPlayer {
  /// Makes a player of the resource at a URL. Blocks until it is open: do not call it on the control loop.
  ///
  /// - Throws: The errors of `AudioPlayer(url: String)`.
  public convenience init(contentsOf url: URL, engine: PlaybackEngine = .shared) throws(MediaError) {
    try self.init(url: url.absoluteString, engine: engine)
  }
}

extension AssetWriter {
  /// Makes a writer of the file at a URL. Performs no I/O.
  ///
  /// - Throws: `unsupportedLocation` for a URL of another kind; `invalidArgument` for an invalid one.
  public convenience init(url: URL, container: WritableContainer, options: Options = Options()) throws(MediaError) {
    self.init(path: try url.filePath(), container: container, options: options)
  }
}

extension AssetExportSession {
  /// Makes an export of an asset to the file at a URL. Performs no I/O.
  ///
  /// - Throws: The errors of `AssetWriter(url:container:)`.
  public convenience init(
    _ asset: Asset, to url: URL, _ settings: ExportSettings, replacesFile: Bool = false
  ) throws(MediaError) {
    self.init(joining: [asset], to: try url.filePath(), settings, replacesFile: replacesFile)
  }
}

extension RecordingLocation {
  /// Makes the location of a recording from the URL of a file. No I/O.
  ///
  /// - Throws: The errors of `AssetWriter(url:container:)`.
  public init(url: URL, replaces: Bool = false) throws(MediaError) {
    self.init(path: try url.filePath(), replaces: replaces, roots: nil)
  }

  /// The URL of the finished file.
  public var url: URL { URL(filePath: pathBytes) }
}

extension AudioRecorder {
  /// Makes a recorder that writes to the file at a URL. No I/O.
  ///
  /// - Parameters:
  ///   - url: The URL of the file, whose scheme is `file`.
  ///   - settings: The format. Default: that of the extension of the file name.
  ///   - options: Other options.
  ///   - makeSource: Makes the source. Called once for each recording, on the thread of the recorder.
  /// - Throws: The errors of `AssetWriter(url:container:)`.
  public convenience init(
    url: URL, settings: RecordingSettings = RecordingSettings(), options: Options = Options(),
    source makeSource: @escaping @Sendable () -> any AudioSource = { PulseSource() }
  ) throws(MediaError) {
    self.init(location: try RecordingLocation(url: url), settings: settings, options: options, source: makeSource)
  }
}

extension URL {
  /// Makes the URL of the file at an absolute path, whose bytes need not be UTF-8.
  package init(filePath path: [UInt8]) {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    var text = "file://"
    for byte in path {
      if unreserved.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    // Contains only characters that are valid in a URL.
    self = URL(string: text) ?? URL(filePath: String(decoding: path, as: UTF8.self))
  }

  /// The bytes of the path of a `file:` URL.
  fileprivate func filePath() throws(MediaError) -> [UInt8] { try FileURL.path(from: absoluteString) }
}
