import CPlayheadFFmpeg
import Foundation
import Glibc
import Logging
import Synchronization
import Testing

@testable import PlayheadLibAV

/// FFmpeg's log arrives in swift-log, complete and attributed. One suite, because the bridge is process-wide.
@Suite(.serialized) struct LogBridgeTests {
  /// The messages that a logger received.
  final class Records: Sendable {
    struct Record: Hashable {
      var level: Logger.Level
      var message: String
      var metadata: [String: String]
    }

    private let records = Mutex<[Record]>([])

    func append(_ record: Record) { records.withLock { $0.append(record) } }
    var all: [Record] { records.withLock { $0 } }
  }

  struct Handler: LogHandler {
    let records: Records
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
      records.append(.init(level: event.level, message: "\(event.message)", metadata: metadata))
    }
  }

  private func install(level: Logger.Level) -> Records {
    let records = Records()
    LibAV.installLogBridge(
      logger: Logger(label: "playhead.ffmpeg") { _ in Handler(records: records, logLevel: level) })
    return records
  }

  /// Returns the records of this suite: other tests of this process cause FFmpeg messages, too.
  private func ownRecords(_ records: Records) -> [Records.Record] {
    records.all.filter { $0.message.contains("bridge:") }
  }

  @Test func ffmpegLevelsMapToLoggerLevels() {
    let records = install(level: .trace)
    let levels: [(Int32, Logger.Level)] = [
      (AV_LOG_FATAL, .error), (AV_LOG_ERROR, .warning), (AV_LOG_WARNING, .warning), (AV_LOG_INFO, .info),
      (AV_LOG_VERBOSE, .debug), (AV_LOG_DEBUG, .debug), (AV_LOG_TRACE, .trace),
    ]
    for (level, _) in levels { shim_av_log(nil, level, "bridge: one\n") }
    #expect(ownRecords(records).map(\.level) == levels.map(\.1))
  }

  @Test(arguments: HarmlessMessages.prefixes) func harmlessMessagesAreLoggedAtDebugLevel(_ message: String) {
    let debugRecords = install(level: .debug)
    shim_av_log(nil, AV_LOG_ERROR, "\(message) (bridge: harmless)\n")
    shim_av_log(nil, AV_LOG_FATAL, "bridge: \(message)\n")
    #expect(ownRecords(debugRecords).map(\.level) == [.debug, .error], "only a message with that prefix is harmless")
    let infoRecords = install(level: .info)
    shim_av_log(nil, AV_LOG_WARNING, "\(message) (bridge: harmless)\n")
    shim_av_log(nil, AV_LOG_WARNING, "bridge: heard\n")
    #expect(ownRecords(infoRecords).map(\.message) == ["bridge: heard"])
  }

  /// FFmpeg's message about a file without a duration matches the table. The text is FFmpeg's and may change with its
  /// version.
  @Test func estimatedDurationMessageIsLoggedAtDebugLevel() throws {
    let records = install(level: .debug)
    // MPEG-1 Layer III, 128 kbit/s, 44,100 Hz: frames of 417 bytes, silent because all else is 0.
    let frame: [UInt8] = [0xff, 0xfb, 0x90, 0] + [UInt8](repeating: 0, count: 413)
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("playhead-libav-\(UUID().uuidString).mp3")
    try Data((0..<50).flatMap { _ in frame }).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    _ = try Demuxer(source: FileSource(path: Array(url.path.utf8), interrupt: Interrupt()))
    let estimates = records.all.filter { $0.message.contains("duration from bitrate") && $0.metadata["name"] == "mp3" }
    #expect(estimates.map(\.level) == [.debug])
  }

  @Test func messagesBelowTheLoggerLevelAreDropped() {
    let records = install(level: .warning)
    shim_av_log(nil, AV_LOG_INFO, "bridge: unheard\n")
    shim_av_log(nil, AV_LOG_WARNING, "bridge: heard\n")
    #expect(ownRecords(records).map(\.message) == ["bridge: heard"])
  }

  @Test func partsOfALineAreJoined() {
    let records = install(level: .info)
    for part in ["bridge: ", "one", " line\nbridge: another\n", "\n"] { shim_av_log(nil, AV_LOG_INFO, part) }
    #expect(ownRecords(records).map(\.message) == ["bridge: one line", "bridge: another"])
  }

  @Test func overlongLinesAreTruncated() {
    let records = install(level: .info)
    shim_av_log(nil, AV_LOG_INFO, "bridge:" + String(repeating: "x", count: 5_000) + "\n")
    shim_av_log(nil, AV_LOG_INFO, "\n")
    #expect(ownRecords(records).map(\.message.utf8.count) == [1_023])
  }

  @Test func recordNamesTheClassAndFormatOfItsContext() throws {
    let records = install(level: .info)
    let context = avformat_alloc_context()
    defer { avformat_free_context(context) }
    context?.pointee.iformat = av_find_input_format("flac")
    shim_av_log(context, AV_LOG_INFO, "bridge: speaking\n")
    context?.pointee.iformat = nil
    let record = try #require(ownRecords(records).first)
    #expect(record.metadata == ["class": "AVFormatContext", "name": "flac"])
  }

  @Test func linesOfDifferentThreadsAreNotMixed() async {
    let records = install(level: .info)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            for part in ["bridge: ", "\(thread)", "\(thread)", "\n"] { shim_av_log(nil, AV_LOG_INFO, part) }
          }
        }
      }
    }
    let counts = Dictionary(grouping: ownRecords(records), by: \.message).mapValues(\.count)
    #expect(counts == ["bridge: 00": 200, "bridge: 11": 200, "bridge: 22": 200, "bridge: 33": 200])
  }
}
