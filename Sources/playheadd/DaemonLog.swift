import DaemonConfiguration
import Glibc
import LibAV
import Logging
import MediaCore
import RealtimeAudio
import Synchronization

/// What is logged: to standard error, from a level up that may change at any time.
enum DaemonLog {
  private static let level = Mutex(Logger.Level.notice)
  private static let writer = Mutex<LogWriter?>(nil)
  /// How long the last lines are waited for.
  private static let lastPatienceNanoseconds: Int64 = 250_000_000

  /// Begins. Once, before anything is logged.
  static func start(_ level: DaemonOptions.LogLevel) {
    let writer = LogWriter(to: STDERR_FILENO)
    self.writer.withLock { $0 = writer }
    LoggingSystem.bootstrap { label in
      Handler(base: StreamLogHandler(label: label, stream: LogWriter.Stream(writer: writer)))
    }
    set(level)
  }

  /// Waits a moment for what has been logged to be written, before the process ends.
  static func finish() {
    writer.withLock { $0 }?.finish(by: HostTime.now.advanced(byNanoseconds: lastPatienceNanoseconds))
  }

  /// Logs from another level up, for all that have a logger already. Any thread.
  static func set(_ level: DaemonOptions.LogLevel) {
    self.level.withLock { $0 = Logger.Level(rawValue: level.rawValue) ?? .notice }
    LibAV.installLogBridge(logger: Logger(label: "playhead.ffmpeg"))
  }

  /// A handler whose level is everybody's.
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
