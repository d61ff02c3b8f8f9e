import Logging

/// Messages that FFmpeg logs as warnings or errors, although the file is correct and no action is required.
enum HarmlessMessages {
  /// The beginnings of such messages, each with the reason. Messages that are not listed keep their level.
  static let prefixes = [
    // From `avformat_find_stream_info`, whenever a file without a duration in its header is opened: ADTS, AC-3, MP3
    // without an information frame. Playhead reports that the duration is an estimate (`providesPreciseDuration`), or
    // counts the frames.
    "Estimating duration from bitrate, this may be inaccurate",
    // From `av_seek_frame`'s search by timestamps, when the last packet before the end, or a part of a small file, has
    // none. The seek then returns an error, and Playhead reads from an earlier position.
    "read_timestamp() failed in the middle",
    // From `avformat_find_stream_info`, when a switch to another item interrupts it, or for a stream that is not
    // played. Playhead reports unplayable audio as an error with a separate code.
    "Could not find codec parameters for stream",
    "Consider increasing the value for the 'analyzeduration'",
  ]

  /// Returns the level for a message that FFmpeg logs at `level`.
  static func level(_ level: Logger.Level, of message: String) -> Logger.Level {
    level == .warning && prefixes.contains(where: message.hasPrefix) ? .debug : level
  }
}
