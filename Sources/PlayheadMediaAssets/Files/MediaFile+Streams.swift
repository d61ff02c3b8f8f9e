import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

/// The detection of HLS playlists by their first bytes.
enum HLSSignature {
  /// The number of bytes needed for detection.
  static let byteCount = 10

  /// Whether the first bytes can be those of a playlist: `#EXTM3U`, optionally after a byte order mark.
  static func matches(_ bytes: [UInt8]) -> Bool {
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    return text.starts(with: "#EXTM3U".utf8)
  }
}

extension FileSource {
  /// The first bytes of the source, at most `HLSSignature.byteCount`. Blocks.
  var leadingBytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: HLSSignature.byteCount)
    let count = try? bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) }
    return Array(bytes.prefix(count ?? 0))
  }
}

extension MediaFile {
  /// Returns the stream whose playlist a source contains; nil if the source contains no playlist. Blocks.
  ///
  /// - Parameter log: the log of network activity, in the entry of the playlist.
  static func stream(
    of asset: Asset, in source: any ByteSource, log: NetworkLog, interrupt: Interrupt
  ) throws(MediaError) -> OpenedLocation? {
    guard case .url(let url, let options) = asset.location else { return nil }
    interrupt.attach(source)
    defer { interrupt.detach(source) }
    let fetcher = StreamFetcher(
      options: options, origin: url.origin, log: log, session: (source as? HTTPResource)?.session,
      clock: SystemNetworkClock(), isolation: asset.isolation)
    let location = PlaylistLocation.url((source as? HTTPResource)?.effectiveURL ?? url.text)
    var leadingBytes = [UInt8](repeating: 0, count: HLSSignature.byteCount)
    var filled = 0
    while filled < leadingBytes.count {
      let result = leadingBytes.withUnsafeMutableBytes { buffer in
        Result { () throws(MediaError) in
          try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), at: Int64(filled))
        }
      }
      let count = try result.get()
      if count == 0 { break }
      filled += count
    }
    guard HLSSignature.matches(Array(leadingBytes[..<filled])) else { return nil }
    let bytes = try fetcher.readAll(source, limit: HLSLimits.playlistByteCount, location: location)
    guard HLSPlaylist.recognizes(bytes) else { return nil }
    let playlist = try HLSPlaylist(parsing: bytes, at: location)
    let session = try StreamSession(playlist: playlist, at: location, fetcher: fetcher, interrupt: interrupt)
    return .stream(asset.storeSession(session), fetcher)
  }

  /// Opens the stream of a file that is a playlist; returns the bytes of any other file. Blocks.
  ///
  /// - Parameter log: the log of requests to servers that the playlist names.
  static func openPlaylist(
    _ source: FileSource, of asset: Asset, log: NetworkLog, interrupt: Interrupt
  ) throws(MediaError) -> OpenedLocation {
    let byteCount = source.byteCount ?? 0
    let bytes = byteCount <= HLSLimits.playlistByteCount ? source.all(byteCount) : []
    guard HLSPlaylist.recognizes(bytes) else { return .bytes(source) }
    let location = PlaylistLocation.file(asset.pathBytes)
    let log = log === NetworkLog.empty ? NetworkLog() : log
    let playlist = try HLSPlaylist(parsing: bytes, at: location)
    let session = playlist.referencesServers ? log.startSession(uri: asset.displayPath) : nil
    let fetcher = StreamFetcher(
      options: asset.httpOptions, log: log, session: session, clock: SystemNetworkClock(),
      isolation: asset.isolation)
    return .stream(
      asset.storeSession(
        try StreamSession(playlist: playlist, at: location, fetcher: fetcher, interrupt: interrupt)), fetcher)
  }
}

extension FileSource {
  /// Returns all bytes that can be read. Blocks.
  fileprivate func all(_ byteCount: Int64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(byteCount))
    let count = try? bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) }
    return Array(bytes.prefix(count ?? 0))
  }
}
