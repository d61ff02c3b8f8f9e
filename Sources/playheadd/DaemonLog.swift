import Glibc
import Logging
import PlayheadDaemonConfiguration
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// The log on standard error. Its level can change at any time.
enum DaemonLog {
  private static let level = Mutex(Logger.Level.notice)
  private static let writer = Mutex<LogWriter?>(nil)
  /// The time limit for writing the last lines.
  private static let finishTimeoutNanoseconds: Int64 = 250_000_000

  /// Starts the log. Call it once, before anything is logged.
  static func start(_ level: DaemonOptions.LogLevel) {
    let writer = LogWriter(to: STDERR_FILENO)
    self.writer.withLock { $0 = writer }
    LoggingSystem.bootstrap { label in
      Handler(base: StreamLogHandler(label: label, stream: LogWriter.Stream(writer: writer)))
    }
    set(level)
  }

  /// Waits briefly until all lines are written, before the process ends.
  static func finish() {
    writer.withLock { $0 }?.finish(by: HostTime.now.advanced(byNanoseconds: finishTimeoutNanoseconds))
  }

  /// Changes the level, also for existing loggers. Threading: any.
  static func set(_ level: DaemonOptions.LogLevel) {
    self.level.withLock { $0 = Logger.Level(rawValue: level.rawValue) ?? .notice }
    LibAV.installLogBridge(logger: Logger(label: "playhead.ffmpeg"))
  }

  /// A log handler whose level is the common level of all loggers.
  private struct Handler: LogHandler {
    var base: StreamLogHandler

    var logLevel: Logger.Level {
      get { DaemonLog.level.withLock { $0 } }
      set {}
    }
    var metadata: Logger.Metadata {
      get { base.metadata }
      set { base.metadata = newValue }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { base[metadataKey: key] }
      set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { base.log(event: event) }
  }
}
