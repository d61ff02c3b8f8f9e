import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Opens assets from every kind of location, and maps LibAV's failures to public errors.
enum MediaFile {
  /// An opened asset.
  enum Opened {
    case file(Demuxer, byteCount: Int64)
    /// An HLS stream, and the fetcher of its segments.
    case stream(StreamSession, StreamFetcher)
    /// A composition, which has no bytes.
    case composition(Composition)
  }

  /// An asset whose bytes are open, but not its container.
  enum OpenedLocation {
    case bytes(FileSource)
    /// An HLS stream, and the fetcher of its segments.
    case stream(StreamSession, StreamFetcher)
    /// A composition, which has no bytes.
    case composition(Composition)
  }

  /// Opens an asset's bytes and its container in this process. Blocks.
  ///
  /// - Parameter log: the log of network activity; nil: the asset's log.
  /// - Throws: the errors of `Asset.load` that concern the file and its container.
  static func open(
    _ asset: Asset, interrupt: Interrupt, kinds: FileSource.Kinds = .regularFiles, log: NetworkLog? = nil
  ) throws(MediaError) -> Opened {
    switch try openLocation(of: asset, interrupt: interrupt, kinds: kinds, log: log) {
    case .bytes(let source): return .file(try demuxer(source, of: asset), byteCount: source.byteCount ?? 0)
    case .stream(let session, let fetcher): return .stream(session, fetcher)
    case .composition(let composition): return .composition(composition)
    }
  }

  /// Opens the container of a source in this process.
  ///
  /// - Parameter isForTags: whether only the tags are read.
  static func demuxer(_ source: FileSource, of asset: Asset, isForTags: Bool = false) throws(MediaError) -> Demuxer {
    do throws(AVFailure) {
      var options = options(for: source)
      options.isForTags = isForTags
      return try asset.isolation.demuxer(source, options: options, trials: asset.state.trials)
    } catch {
      throw MediaError(error, path: asset.displayPath)
    }
  }

  /// Opens an asset's bytes, and reads them if they are an HLS playlist. Blocks. Parameters and
  /// errors are those of `open`.
  static func openLocation(
    of asset: Asset, interrupt: Interrupt, kinds: FileSource.Kinds = .regularFiles, log: NetworkLog? = nil
  ) throws(MediaError) -> OpenedLocation {
    if let composition = asset.composition { return .composition(composition) }
    if let session = asset.streamSession {
      let fetcher = session.fetcher.logging(to: log ?? asset.networkLog, name: session.name)
      session.logProperties(to: fetcher)
      return .stream(session, fetcher)
    }
    let name = asset.displayPath
    if case .data(let data) = asset.location, data.count > Asset.maximumDataByteCount {
      throw MediaError(
        .mediaLimitExceeded, "data in memory must have at most \(Asset.maximumDataByteCount) bytes (got \(data.count))")
    }
    let (bytes, hint) = try byteSource(of: asset, interrupt: interrupt, log: log ?? asset.networkLog)
    if let bytes, let stream = try stream(of: asset, in: bytes, log: log ?? asset.networkLog, interrupt: interrupt) {
      return stream
    }
    let playlistSource: FileSource?
    do throws(AVFailure) {
      let source: FileSource
      if let localSource = try localSource(of: asset, kinds: kinds, interrupt: interrupt) {
        source = localSource
      } else if let bytes {
        source = try FileSource(opened: bytes, hint: hint, interrupt: interrupt)
      } else {
        preconditionFailure("a custom location has a byte source")
      }
      let leadingBytes = asset.pathBytes.isEmpty ? [] : source.leadingBytes
      if source.byteCount != 0, !HLSSignature.matches(leadingBytes) {
        return .bytes(source)
      }
      playlistSource = source.byteCount == 0 ? nil : source
    } catch {
      throw MediaError(error, path: name)
    }
    guard let playlistSource else { throw MediaError(.emptyFile, "the file is empty: \(name)") }
    return try openPlaylist(playlistSource, of: asset, log: log ?? asset.networkLog, interrupt: interrupt)
  }

  /// Opens the bytes of a file or of memory; nil for custom byte sources, streams and servers.
  static func localSource(
    of asset: Asset, kinds: FileSource.Kinds = .regularFiles, interrupt: Interrupt
  ) throws(AVFailure) -> FileSource? {
    switch asset.location {
    case .path(let path):
      do throws(AVFailure) { return try FileSource(path: path, kinds: kinds, interrupt: interrupt) } catch {
        // A file that is playing stays open after its removal.
        guard error.kind == .noSuchFile, let file = asset.state.openSources.withLock({ $0.playingFile }) else {
          throw error
        }
        return try FileSource(duplicating: file.descriptor, hint: asset.displayPath, interrupt: interrupt)
      }
    case .data(let data): return try FileSource(bytes: data, interrupt: interrupt)
    case .descriptor(let descriptor) where descriptor.kind == .file:
      return try FileSource(duplicating: descriptor.descriptor, hint: asset.displayPath, interrupt: interrupt)
    case .url, .descriptor, .source, .composition: return nil
    }
  }

  /// Opens the byte source of a location that is neither a file nor memory. Returns it with a name whose suffix hints
  /// at the format.
  private static func byteSource(
    of asset: Asset, interrupt: Interrupt, log: NetworkLog
  ) throws(MediaError) -> ((any ByteSource)?, hint: String) {
    switch asset.location {
    case .path, .data, .composition: return (nil, "")
    case .url(let url, let options):
      let source = try asset.openSource(
        { () throws(MediaError) in HTTPResource(url: url, options: options, log: log) }, interrupt: interrupt)
      return (source, MediaTypeHint.name(url.lastPathComponent, mediaType: source.mediaType))
    case .descriptor(let descriptor):
      guard let stream = descriptor.stream else { return (nil, "") }
      let source = try asset.openSource(
        { () throws(MediaError) in DescriptorReader(stream) }, interrupt: interrupt)
      return (source, descriptor.name)
    case .source(let name, let make):
      let source = try asset.openSource(make, interrupt: interrupt)
      return (source, MediaTypeHint.name(name, mediaType: source.mediaType))
    }
  }

  /// Returns the options of the demuxer. A source that cannot seek is probed less, so that playback starts soon.
  private static func options(for source: FileSource) -> Demuxer.Options {
    var options = Demuxer.Options()
    if !source.isSeekable, source.byteSource != nil {
      options.probeByteCount = 262_144
      options.analyzeMicroseconds = 1_000_000
    }
    options.seeksByEstimate = source.byteSource != nil
    return options
  }
}

extension MediaError {
  /// Creates the error for skipped packets that did not decode.
  init(skippedPackets count: Int, _ failure: AVFailure, in name: String) {
    self.init(
      .decodeFailed, "\(count) damaged packet\(count == 1 ? "" : "s") skipped in \(name)",
      operation: failure.call, underlying: failure.reason)
  }

  /// Maps a failure of FFmpeg or of the file to a public error code. All such failures are mapped here.
  init(_ failure: AVFailure, path: String) {
    if let error = failure.sourceError {
      self = error
      return
    }
    let (code, message) = Self.meaning(of: failure, path: path)
    self.init(code, message, operation: failure.call, underlying: failure.reason)
  }

  private static func meaning(of failure: AVFailure, path: String) -> (Code, String) {
    switch (failure.call, failure.kind) {
    case (_, .cancelled): return (.cancelled, "the operation was cancelled")
    case (_, .noDecoder): return (.unknownCodec, "no decoder for the audio of \(path)")
    case (_, .limit): return (.mediaLimitExceeded, "the file exceeds a resource limit: \(path)")
    case ("open", .noSuchFile): return (.fileNotFound, "there is no file \(path)")
    case ("open", .notAFile): return (.notAFile, "not a file: \(path)")
    case ("open", .permissionDenied): return (.permissionDenied, "no permission to read the file: \(path)")
    case ("open", .outsideRoots):
      return (.outsideRoots, "the file is outside the folders that may be read: \(path)")
    case ("open", _), ("fstat", _), ("read", _), ("poll", _), ("lseek", _), ("dup", _):
      return (.readFailed, "the file cannot be read: \(path)")
    case ("av_probe_input_buffer2", _): return (.unknownFormat, "not a media file, or an unknown format: \(path)")
    case ("avcodec_open2", _): return (.decodeFailed, "the decoder cannot be set up for \(path)")
    case ("swr_init", _), ("swr_convert", _), ("swr_alloc_set_opts2", _):
      return (.conversionFailed, "the audio cannot be converted: \(path)")
    case ("sws_init_context", _), ("sws_isSupportedInput", _), ("sws_scale", _):
      return (.conversionFailed, "the video frames cannot be converted: \(path)")
    default: return (.damagedFile, "the file is damaged: \(path)")
    }
  }
}
