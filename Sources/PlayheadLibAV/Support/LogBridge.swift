// Forwards FFmpeg's log to swift-log. The callback runs on the threads that call FFmpeg. A mutex protects the Logger
// value, and is locked only to copy it.
import CPlayheadFFmpeg
import CPlayheadMediaShims
import Logging
import Synchronization

/// Process-wide functions of FFmpeg.
package enum LibAV {
  /// Forwards FFmpeg's messages to `logger` from now on. The logger's current level decides which messages FFmpeg
  /// formats.
  ///
  /// Process-wide; call it once at start, from any thread. The logger should be labelled `playhead.ffmpeg`. Metadata:
  /// the `class` and `name` of the FFmpeg object that logs.
  package static func installLogBridge(logger: Logger) {
    currentLogger.withLock { $0 = logger }
    let highestLevel = avLevel(for: logger.logLevel)
    av_log_set_level(highestLevel)
    media_shims_set_log_sink(receive, highestLevel)
    shim_av_log_set_callback(media_shims_log_callback())
  }

  /// Discards FFmpeg's messages, unless `installLogBridge` was called: FFmpeg's default writes them to standard error.
  /// Evaluated once for the process, before the first call that may log.
  static let discardLogByDefault: Void = { if currentLogger.withLock({ $0 == nil }) { discardLog() } }()

  /// Discards FFmpeg's messages from now on, until a bridge is installed. Process-wide.
  package static func discardLog() {
    av_log_set_level(AV_LOG_QUIET)
    media_shims_set_log_sink(nil, AV_LOG_QUIET)
    shim_av_log_set_callback(media_shims_log_callback())
  }

  /// Sets FFmpeg's limits, and builds the tables that are otherwise built on first use. Process-wide.
  package static func prepare() {
    FFmpegMemory.limit()
    _ = FormatAllowList.decoderList
    _ = av_find_input_format("flac")
  }

  private static let currentLogger = Mutex<Logger?>(nil)

  private static let receive: media_shims_log_sink = { level, className, itemName, message in
    guard let message, let logger = currentLogger.withLock({ $0 }) else { return }
    var metadata: Logger.Metadata = [:]
    if let className { metadata["class"] = .string(String(cString: className)) }
    if let itemName { metadata["name"] = .string(String(cString: itemName)) }
    let text = String(cString: message)
    let loggerLevel = HarmlessMessages.level(loggerLevel(for: level), of: text)
    guard loggerLevel >= logger.logLevel else { return }
    logger.log(level: loggerLevel, "\(text)", metadata: metadata.filter { $0.value != .string("") })
  }

  /// Maps FFmpeg's level. FFmpeg's errors become warnings, because FFmpeg continues after them: a bad packet, a missing
  /// header. Fatal messages become errors. `HarmlessMessages` lists the exceptions.
  static func loggerLevel(for avLevel: Int32) -> Logger.Level {
    switch avLevel {
    case ...AV_LOG_FATAL: .error
    case ...AV_LOG_WARNING: .warning
    case ...AV_LOG_INFO: .info
    case ...AV_LOG_DEBUG: .debug
    default: .trace
    }
  }

  /// Returns the most verbose FFmpeg level that is still logged.
  static func avLevel(for level: Logger.Level) -> Int32 {
    switch level {
    case .trace: AV_LOG_TRACE
    case .debug: AV_LOG_DEBUG
    case .info, .notice: AV_LOG_INFO
    case .warning: AV_LOG_WARNING
    case .error: AV_LOG_FATAL
    case .critical: AV_LOG_PANIC
    }
  }
}
