import PlayheadLibAV
import PlayheadMediaCore

/// A track of a file that is written, with its encoder. Used only by the writer thread.
protocol WriterTrack: AnyObject {
  /// The end of the written samples, relative to the session's start.
  var endTime: MediaTime { get }

  /// Writes the part of a buffer that is within the session, or retains it until its duration is known.
  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError)

  /// Extends the track to the session's end, given relative to its start.
  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError)

  /// Writes the remaining samples. Call once.
  func finish(_ output: WriterOutput) throws(MediaError)
}

/// The container to which tracks are written, and its muxer.
struct WriterOutput {
  let muxer: Muxer
  let container: WritableContainer
  /// Returns whether long operations must stop.
  let isCancelled: () -> Bool

  /// Runs a closure that calls FFmpeg, and maps its failures to errors with public codes.
  func run<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw container.error(error) }
  }
}

extension WritableContainer {
  /// Maps a failure of FFmpeg during writing to an error with a public code. All such failures are mapped here.
  func error(_ failure: AVFailure) -> MediaError {
    let (code, message): (MediaError.Code, String) =
      switch failure.call {
      case "write" where failure.exceedsQuota:
        (.writeFailed, "the file cannot be written: less free disk space than reserved would remain")
      case "write": (.writeFailed, "the file cannot be written: \(failure.text)")
      case "avformat_write_header", "avcodec_open2", "Encoder.init", "avcodec_descriptor_get_by_name",
        "avcodec_find_encoder_by_name":
        (.invalidArgument, "\(rawValue) or its encoder rejected the settings")
      case Muxer.unrepresentedEndCall:
        (
          .unsupportedEdit,
          "\(rawValue) cannot represent the end of True Audio unless the audio is as long as the file, without gaps"
        )
      case "swr_init", "swr_convert", "swr_alloc_set_opts2", "av_channel_layout_from_mask":
        (.conversionFailed, "the audio cannot be converted")
      case "sws_init_context", "sws_scale": (.conversionFailed, "the video frames cannot be converted")
      default: (.writeFailed, "the media cannot be encoded or written")
      }
    return MediaError(code, message, operation: failure.call, underlying: failure.reason)
  }
}

extension AssetWriterInput {
  /// Returns the stream options of the container for the track.
  func streamOptions(isEnabled: Bool, _ muxer: Muxer) -> Muxer.StreamOptions {
    var options = Muxer.StreamOptions()
    // MOV stores the languages of a fixed list, for which FFmpeg expects these names.
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
  /// The average duration of a frame in FFmpeg's form; nil if unknown.
  var frameTimeBase: TimeBase? {
    guard frameDuration.isNumeric, let numerator = Int32(exactly: frameDuration.value) else { return nil }
    return TimeBase(numerator: numerator, denominator: frameDuration.timescale)
  }
}
