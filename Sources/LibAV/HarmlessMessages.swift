import Logging

/// What FFmpeg calls a warning or an error, though nothing is wrong with the file and nobody has anything to do.
enum HarmlessMessages {
  /// Beginnings of such messages. Only what has been looked at is here, with the reason; all the rest stays a warning.
  static let prefixes = [
    // From `avformat_find_stream_info`, at each opening of a file whose header has no duration: ADTS, AC-3, MP3 without an
    // information frame. We say that a duration is an estimate (`providesPreciseDuration`), or count it.
    "Estimating duration from bitrate, this may be inaccurate",
    // From `av_seek_frame`'s search by timestamps, when the last packet before the end, or a piece of a small file, has none.
    // The seek then answers with an error, and we read from an earlier place.
    "read_timestamp() failed in the middle",
    // From `avformat_find_stream_info`, when a jump to another item interrupts it, or of a stream that nobody plays. Sound that
    // cannot be played is an error of ours, with a number.
    "Could not find codec parameters for stream",
    "Consider increasing the value for the 'analyzeduration'",
  ]

  /// The level at which to log a message that would be logged at `level`.
  static func level(_ level: Logger.Level, of message: String) -> Logger.Level {
    level == .warning && prefixes.contains(where: message.hasPrefix) ? .debug : level
  }
}
