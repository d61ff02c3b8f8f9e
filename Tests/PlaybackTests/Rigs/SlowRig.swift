import Foundation
import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// Limits decode threads: an item is read only up to the allowed frame.
final class Gate: Sendable {
  private struct State {
    var limit = Int64.max
    var isClosedToOpening = false
    /// The item whose decoder waits at the limit; nil: none has reached it since the limit was set.
    var blockedItemID: PlayerItem.ID?
  }

  private let state = ConditionMutex(State())
  /// Makes a faulty test fail instead of hanging.
  private var deadline: HostTime { HostTime.now.advanced(byNanoseconds: 60_000_000_000) }

  /// Allows reading up to about frame `limit`.
  func open(upTo limit: Int64 = .max) {
    state.update { state in
      (state.limit, state.isClosedToOpening, state.blockedItemID) = (limit, false, nil)
    }
  }

  /// Blocks opening until `open`.
  func close() { state.update { $0.isClosedToOpening = true } }

  /// Allows reading to the end of the file. No other file is opened until `open`.
  func openToEnd() {
    state.update { state in
      (state.limit, state.isClosedToOpening, state.blockedItemID) = (.max, true, nil)
    }
  }

  /// Blocks the decode thread while the decoder of an item may not read at this frame; nil: while it may not open.
  func pass(_ itemID: PlayerItem.ID, at frame: Int64?) {
    state.update { state in
      if Self.blocks(state, frame) { state.blockedItemID = itemID }
    }
    let _: Bool? = state.wait { Self.blocks($0, frame) ? nil : true }
  }

  private static func blocks(_ state: State, _ frame: Int64?) -> Bool {
    frame.map { $0 >= state.limit } ?? state.isClosedToOpening
  }

  /// Waits until a decode thread has reached the limit.
  ///
  /// - Parameter itemID: the item that it decodes; nil: any.
  func waitUntilBlocked(_ itemID: PlayerItem.ID? = nil) throws {
    let isBlocked: Bool? = state.wait(until: deadline) { state in
      guard let blocked = state.blockedItemID else { return nil }
      return itemID == nil || blocked == itemID ? true : nil
    }
    try #require(isBlocked == true, "the decode thread did not reach the gate")
  }
}

/// A decoder that a gate limits.
final class SlowDecoder: ItemDecoder {
  private let gate: Gate

  init(_ source: DecodePipeline.Source, gate: Gate) throws(MediaError) {
    gate.pass(source.itemID, at: nil)
    self.gate = gate
    try super.init(source)
  }

  override func read(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> ReadResult {
    gate.pass(itemID, at: position)
    return try super.read(into: samples, capacityFrames: capacityFrames)
  }
}

/// A player on virtual time that does not wait for decoders. A gate limits the decoding of its files.
///
/// The rig closes its engine when the test releases it. Handlers that the player stores must not capture the rig.
final class SlowRig: Sendable {
  static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  let loop: VirtualControlLoop
  let engine: PlaybackEngine
  let player: QueuePlayer
  let heard = HeardSamples()
  let gate = Gate()
  let files: TemporaryDirectory
  private let eventLog = TextLog()
  private let nextItemID = Mutex<PlayerItem.ID>(1)

  /// - Parameter lookAheadFrames: the buffer of the device.
  init(lookAheadFrames: Int = 4_800) async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "slow-rig"))
    let sink = VirtualSink(
      format: Self.format, lookAheadFrames: lookAheadFrames, writer: heard, waitsForSamples: false,
      now: { [unowned loop] in loop.now })
    self.loop = loop
    files = try TemporaryDirectory("slow")
    let (engine, gate) = (PlaybackEngine(loop: loop, output: OutputConfiguration(makeSink: { sink })), gate)
    self.engine = engine
    await withCheckedContinuation { continuation in
      loop.execute {
        loop.attach(sink)
        engine.core.openDecoder = { source throws(MediaError) in try SlowDecoder(source, gate: gate) }
        engine.open { _ in continuation.resume() }
      }
    }
    player = QueuePlayer(engine: engine)
    await run { player in
      _ = player.addEventObserver { [eventLog] event in
        if case .itemChanged = event { return }
        eventLog(Rig.text(event))
      }
    }
    await run { _ in engine.core.waitsForDecoders = false }
  }

  deinit {
    gate.open()
    loop.execute { [engine] in engine.close {} }
  }

  /// The events except `itemChanged`.
  var events: [String] { eventLog.lines }

  @discardableResult
  func run<Result: Sendable>(_ body: @Sendable (isolated QueuePlayer) throws -> Result) async rethrows -> Result {
    try await body(player)
  }

  var state: PlayerState { get async { await run { $0.state } } }
  var time: MediaTime { get async { await run { $0.currentTime() } } }

  func advance(milliseconds: Int64) async { await loop.advance(byNanoseconds: milliseconds * 1_000_000) }

  /// Waits until the decode thread has reached the gate, and the player has its earlier reports.
  ///
  /// - Parameter itemID: the item whose decoder has reached it; nil: any.
  func block(_ itemID: PlayerItem.ID? = nil) async throws {
    try gate.waitUntilBlocked(itemID)
    await run { _ in }
  }

  /// Waits, without time passing, until the player's state fulfils `condition`.
  func wait(until condition: @Sendable (PlayerState) -> Bool) async {
    for await state in await run({ $0.states() }) where condition(state) { return }
  }

  /// A time-coded file.
  func wav(file: Int, frames: Int) throws -> PlayerItem {
    let path = files.file("code-\(file).wav")
    try TimeCode.writeWAV(path: path, file: file, frameCount: frames, sampleRateHz: Self.format.sampleRateHz)
    return item(path)
  }

  /// Creates an item that circles, in float32.
  func circle(frames: Int) throws -> PlayerItem {
    let path = files.file("circle-\(frames).wav")
    try Data(Circle.file(frames: frames, rate: Self.format.sampleRateHz)).write(to: URL(fileURLWithPath: path))
    return item(path)
  }

  /// Creates an item with an id that counts from 1.
  func item(_ path: String) -> PlayerItem {
    let id = nextItemID.withLock { id in
      defer { id += 1 }
      return id
    }
    return PlayerItem(asset: Asset(path: path), id: id)
  }
}
