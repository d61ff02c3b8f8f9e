import LibAV
import MediaCore

/// Opening a local media file, and what LibAV's failures mean to a user.
enum MediaFile {
  /// Opens an asset's file, or its bytes in memory, and the container. Blocks.
  ///
  /// Errors: those of `Asset.load` that concern the file and its container.
  static func open(
    _ asset: Asset, interrupt: Interrupt, kinds: FileSource.Kinds = .regularFiles
  ) throws(MediaError) -> (Demuxer, byteCount: Int64) {
    let name = asset.displayPath
    if let data = asset.data, data.count > Asset.maximumDataByteCount {
      throw MediaError(.mediaLimitExceeded, "data in memory has at most \(Asset.maximumDataByteCount) bytes")
    }
    do throws(AVFailure) {
      let source =
        if let data = asset.data { try FileSource(bytes: data, interrupt: interrupt) } else {
          try FileSource(path: asset.path, kinds: kinds, interrupt: interrupt)
        }
      if source.byteCount != 0 { return (try Demuxer(source: source), source.byteCount ?? 0) }
    } catch {
      throw MediaError(error, path: name)
    }
    throw MediaError(.emptyFile, "the file is empty: \(name)")
  }
}

extension MediaError {
  /// The one place where a failure of FFmpeg's or of the file becomes an error with a public number.
  init(_ failure: AVFailure, path: String) {
    let (code, message) = Self.meaning(of: failure, path: path)
    self.init(code, message, operation: failure.call, underlying: failure.reason)
  }

  private static func meaning(of failure: AVFailure, path: String) -> (Code, String) {
    switch (failure.call, failure.kind) {
    case (_, .cancelled): return (.cancelled, "the operation was cancelled")
    case (_, .noDecoder): return (.unknownCodec, "no decoder for the sound of \(path)")
    case (_, .limit): return (.mediaLimitExceeded, "the file asks for more than is allowed: \(path)")
    case ("open", .noSuchFile): return (.fileNotFound, "there is no file \(path)")
    case ("open", .notAFile): return (.notAFile, "not a file: \(path)")
    case ("open", .permissionDenied): return (.permissionDenied, "the file may not be read: \(path)")
    case ("open", _), ("fstat", _), ("read", _), ("poll", _), ("lseek", _), ("dup", _):
      return (.readFailed, "the file cannot be read: \(path)")
    case ("av_probe_input_buffer2", _): return (.unknownFormat, "not a media file, or of an unknown format: \(path)")
    case ("avcodec_open2", _): return (.decodeFailed, "the decoder cannot be set up for \(path)")
    case ("swr_init", _), ("swr_convert", _), ("swr_alloc_set_opts2", _):
      return (.conversionFailed, "the sound cannot be converted: \(path)")
    default: return (.damagedFile, "the file is damaged: \(path)")
    }
  }
}
