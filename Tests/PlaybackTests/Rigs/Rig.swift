import Foundation
import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayerModel

/// A player on virtual time, with real files, the real decode thread and the real mixer. The rig stores the heard audio
/// in memory, and logs all changes and events as text.
///
/// The rig closes its engine when the test releases it. Handlers that the player stores must not capture the rig, but
/// `log` or other parts of it.
final class Rig: Sendable {
  static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  let loop: VirtualControlLoop
  let engine: PlaybackEngine
  let player: QueuePlayer
  let heard: HeardSamples
  let files: TemporaryDirectory
  /// The changes and events so far. `rig.log("…")` adds a line.
  let log = TextLog()
  private let faultLog = TextLog()
  private let nextItemID = Mutex<PlayerItem.ID>(1)

  /// - Parameters:
  ///   - lookAheadFrames: the buffer of the device; 100 ms by default, so that every change has to rewind.
  ///   - streamMilliseconds: the capacity of streams. Every change of the rate or the pitch decodes a stream again; a
  ///     test of many changes takes less time with less than the default of 4.5 s.
  init(lookAheadFrames: Int = 4_800, streamMilliseconds: Int = 4_500) async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "rig"))
    let heard = HeardSamples()
    let sink = VirtualSink(
      format: Self.format, lookAheadFrames: lookAheadFrames, writer: heard, now: { [unowned loop] in loop.now })
    self.loop = loop
    self.heard = heard
    files = try TemporaryDirectory()
    let engine = PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink }))
    self.engine = engine
    await withCheckedContinuation { continuation in
      loop.execute {
        loop.attach(sink)
        engine.core.streamMilliseconds = streamMilliseconds
        engine.open()
        continuation.resume()
      }
    }
    player = QueuePlayer(engine: engine)
    // Time-coded samples must not go through a stretcher.
    try await run { try $0.setAudioTimePitchAlgorithm(.varispeed) }
    await observe()
  }

  deinit { loop.execute { [engine] in engine.close {} } }

  /// Logs every change and event.
  private func observe() async {
    await run { player in
      _ = player.addStateObserver { [log] change in
        for line in Self.differences(change) { log(line) }
      }
      _ = player.addEventObserver { [log, faultLog] event in
        // Reported when the fault is found, at any time before it is heard.
        switch event {
        case .packetsSkipped, .newErrorLogEntry: faultLog(Self.text(event))
        default: log("event \(Self.text(event))")
        }
      }
    }
  }

  /// The faults of files, in the order of their positions.
  var faults: [String] { faultLog.lines }

  /// Runs `body` on the loop, in the player's isolation.
  @discardableResult
  func run<Result: Sendable>(_ body: @Sendable (isolated QueuePlayer) throws -> Result) async rethrows -> Result {
    try await body(player)
  }

  /// Lets virtual time pass, after all earlier requests have started.
  func advance(milliseconds: Int64) async {
    await settle()
    log("-- \(milliseconds) ms")
    await loop.advance(byNanoseconds: milliseconds * 1_000_000)
  }

  /// Waits until decoders are ready, without letting time pass.
  func settle() async { await loop.advance(byNanoseconds: 0) }

  /// An item with an id that counts from 1 in each rig.
  func item(_ path: String) -> PlayerItem {
    PlayerItem(
      asset: Asset(path: path),
      id: nextItemID.withLock { id in
        defer { id += 1 }
        return id
      })
  }

  /// A time-coded WAV file.
  func wav(file: Int, frames: Int) throws -> PlayerItem {
    let path = files.file("code-\(file)-\(frames).wav")
    try TimeCode.writeWAV(path: path, file: file, frameCount: frames, sampleRateHz: Self.format.sampleRateHz)
    return item(path)
  }

  /// A time-coded FLAC file.
  func flac(file: Int, frames: Int) throws -> PlayerItem {
    let path = files.file("code-\(file)-\(frames).flac")
    try TimeCode.writeFLAC(path: path, file: file, frameCount: frames, sampleRateHz: Self.format.sampleRateHz)
    return item(path)
  }

  /// The log and the heard audio.
  var dump: String {
    (log.lines + ["== heard"]
      + heard.runs.map { run in
        "file \(run.file) from \(run.firstIndex) count \(run.count) at \(run.position)"
      }).joined(separator: "\n") + "\n"
  }

  // MARK: - Text

  private static func differences(_ change: PlayerChange) -> [String] {
    let (old, new) = (change.old, change.new)
    var lines: [String] = []
    func add(_ name: String, _ old: some Equatable, _ new: some Equatable, _ text: String) {
      if "\(old)" != "\(new)" { lines.append("\(name) \(text) (\(change.cause.rawValue))") }
    }
    add("timeControlStatus", old.timeControlStatus, new.timeControlStatus, new.timeControlStatus.rawValue)
    add(
      "reasonForWaitingToPlay", old.reasonForWaitingToPlay?.rawValue ?? "-",
      new.reasonForWaitingToPlay?.rawValue ?? "-",
      new.reasonForWaitingToPlay?.rawValue ?? "-")
    add("rate", old.rate, new.rate, "\(new.rate)")
    add("currentItem", old.currentItemID ?? 0, new.currentItemID ?? 0, new.currentItemID.map { "\($0)" } ?? "-")
    add("itemStatus", old.itemStatus.name, new.itemStatus.name, new.itemStatus.name)
    add("itemCount", old.itemCount, new.itemCount, "\(new.itemCount)")
    add("volume", old.volume, new.volume, "\(new.volume)")
    add("isMuted", old.isMuted, new.isMuted, "\(new.isMuted)")
    add("pan", old.pan, new.pan, "\(new.pan)")
    add(
      "audioTimePitchAlgorithm", old.audioTimePitchAlgorithm, new.audioTimePitchAlgorithm,
      new.audioTimePitchAlgorithm.rawValue)
    add("repeatMode", old.repeatMode, new.repeatMode, new.repeatMode.rawValue)
    add("loop", text(old.loop), text(new.loop), text(new.loop))
    add("actionAtItemEnd", old.actionAtItemEnd, new.actionAtItemEnd, new.actionAtItemEnd.rawValue)
    return lines
  }

  private static func text(_ loop: PlayerLoop?) -> String {
    guard let loop else { return "-" }
    let count = loop.remainingCount.map { "\($0)" } ?? "endless"
    return "\(loop.range.start.decimalDescription) to \(loop.range.end.decimalDescription) \(count)"
  }

  static func text(_ event: PlayerEvent) -> String {
    switch event {
    case .playedToEnd(let id, let time): "playedToEnd item \(id) at \(time.decimalDescription)"
    case .failedToPlayToEnd(let id, let time, let error):
      "failedToPlayToEnd item \(id) at \(time.decimalDescription): \(error.code)"
    case .stalled(let id, let time): "stalled item \(id) at \(time.decimalDescription)"
    case .timeJumped(let id, let time, let cause, _):
      "timeJumped item \(id) to \(time.decimalDescription) by \(cause.rawValue)"
    case .itemChanged(let id, let status, let duration, let isPrecise):
      "itemChanged \(id) \(status.name) \(duration.decimalDescription)\(isPrecise || status != .readyToPlay ? "" : " (estimate)")"
    case .mediaSelectionChanged(let id, _): "mediaSelectionChanged \(id)"
    case .itemFailed(let id, let error): "itemFailed \(id): \(error.code)"
    case .itemSkipped(let id, let error): "itemSkipped \(id): \(error.code)"
    case .packetsSkipped(let id, let time, let count, let error):
      "packetsSkipped item \(id) at \(time.decimalDescription) count \(count): \(error.code)"
    case .newAccessLogEntry(let id, let time, let event):
      "newAccessLogEntry item \(id) at \(time.decimalDescription): \(event.uri)"
    case .streamTitle(let id, let time, let title):
      "streamTitle item \(id) at \(time.decimalDescription): \(title.title)"
    case .timedMetadata(let id, let group):
      "timedMetadata item \(id) at \(group.time.decimalDescription): \(group.items.map(\.identifier.rawValue))"
    case .newErrorLogEntry(let id, let time, let error):
      "newErrorLogEntry item \(id) at \(time.decimalDescription): \(error.code)"
    case .chapterChanged(let id, let time, let position):
      "chapter item \(id) at \(time.decimalDescription): \(position.map { "\($0.number) of \($0.count) \($0.chapter.title ?? "-")" } ?? "none")"
    case .silence(let silence): "silence \(silence.phase.rawValue) at frame \(silence.outputFrame ?? -1)"
    case .transition(let transition):
      "transition \(transition.fromItemID) to \(transition.toItemID) at \(transition.time.decimalDescription)"
        + " trimmed \(transition.trimmedEnd.frameCount) by \(transition.trimmedEnd.source.rawValue)"
        + " and \(transition.trimmedStart.frameCount) by \(transition.trimmedStart.source.rawValue)"
        + " inserted \(transition.insertedFrameCount)"
        + (transition.curve.map { " overlap \(transition.overlapFrameCount) \($0.rawValue)" } ?? "")
    }
  }

  static func text(_ result: SeekResult) -> String {
    "\(result.unfinishedReason?.rawValue ?? "finished") at \(result.time.fractionDescription) asked"
      + " \(result.requested.fractionDescription)\(result.isExact ? " exact" : "")\(result.isClamped ? " clamped" : "")"
  }

  static func text(_ observation: TimeObservation) -> String {
    "\(observation.reason.rawValue) item \(observation.itemID) time \(observation.time.decimalDescription) late \(observation.lateNanoseconds)"
  }
}

/// Compares text with a file in `Goldens/`; with `PLAYHEAD_UPDATE_GOLDENS=1` writes it (`make golden`).
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Goldens/\(name).txt")
  if ProcessInfo.processInfo.environment["PLAYHEAD_UPDATE_GOLDENS"] == "1" {
    try text.write(to: path, atomically: true, encoding: .utf8)
    return
  }
  let golden = try String(contentsOf: path, encoding: .utf8)
  #expect(text == golden, "differs from Goldens/\(name).txt", sourceLocation: sourceLocation)
}
