import LibAV
import MediaCore

/// One track of a file that is written, with what encodes it. Used by the writer's thread alone.
protocol WriterTrack: AnyObject {
  /// Where what has been written ends, from the session's start.
  var endTime: MediaTime { get }

  /// Writes what of a buffer lies within the session, or keeps it until it is known how long it lasts.
  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError)

  /// Goes on to a time, from the session's start, at which the session ends.
  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError)

  /// Writes what is left. Once.
  func finish(_ output: WriterOutput) throws(MediaError)
}

/// The container that tracks are written to.
struct WriterOutput {
  let muxer: Muxer
  let container: WritableContainer
  /// Whether what takes long is to be left.
  let isCancelled: () -> Bool

  /// Runs what calls FFmpeg; its failures become errors with public numbers.
  func run<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw container.error(error) }
  }
}

extension WritableContainer {
  /// The one place where a failure of FFmpeg's in writing becomes an error with a public number.
  func error(_ failure: AVFailure) -> MediaError {
    let (code, message): (MediaError.Code, String) =
      switch failure.call {
      case "write" where failure.isQuota:
        (.writeFailed, "the file cannot be written: less space than is reserved would stay free")
      case "write": (.writeFailed, "the file cannot be written")
      case "avformat_write_header", "avcodec_open2", "Encoder.init", "avcodec_descriptor_get_by_name",
        "avcodec_find_encoder_by_name":
        (.invalidArgument, "the settings are refused by \(rawValue) or its encoder")
      case "swr_init", "swr_convert", "swr_alloc_set_opts2", "av_channel_layout_from_mask":
        (.conversionFailed, "the sound cannot be converted")
      case "sws_init_context", "sws_scale": (.conversionFailed, "the pictures cannot be converted")
      default: (.writeFailed, "the media cannot be encoded or written")
      }
    return MediaError(code, message, operation: failure.call, underlying: failure.reason)
  }
}

extension AssetWriterInput {
  /// What the container is told of the track.
  func streamOptions(isEnabled: Bool, _ muxer: Muxer) -> Muxer.StreamOptions {
    var options = Muxer.StreamOptions()
    // MOV has a list of its own, which FFmpeg knows by these names.
    let macintoshNames = [
      "deu": "ger", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi", "sqi": "alb", "mkd": "mac", "swe": "sve",
      "hrv": "hr ", "srp": "sr ", "fao": "fo ",
    ]
    options.languageCode = languageCode.map { muxer.formatName == "mov" ? macintoshNames[$0] ?? $0 : $0 }
    options.isDefault = isEnabled
    options.tags = metadata
    options.rotationDegrees = sourceFormat.video?.rotationDegrees ?? 0
    options.frameDuration = sourceFormat.video?.frameTimeBase
    return options
  }
}

extension FormatDescription.Video {
  /// What a picture lasts on average, as FFmpeg has it; nil when not known.
  var frameTimeBase: TimeBase? {
    guard frameDuration.isNumeric, let numerator = Int32(exactly: frameDuration.value) else { return nil }
    return TimeBase(numerator: numerator, denominator: frameDuration.timescale)
  }
}
