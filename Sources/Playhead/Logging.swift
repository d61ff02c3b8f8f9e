import Logging
import PlayheadLibAV

/// The messages of the media libraries, such as FFmpeg and x264. By default, Playhead discards them.
public enum MediaLibraryLog {
  /// Sends the messages of FFmpeg, and of libraries that log through it, to `logger` from now on, for the whole
  /// process. The level of `logger` at this call selects the messages.
  public static func send(to logger: Logger) { LibAV.installLogBridge(logger: logger) }
}
