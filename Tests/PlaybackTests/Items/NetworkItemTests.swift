import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// Items whose data comes from a source with delays.
@Suite(.timeLimit(.minutes(2))) struct NetworkItemTests {
  /// The bytes of a time-coded file of five seconds.
  private func bytes(_ rig: SlowRig, file: Int) throws -> [UInt8] { try bytes(rig.files, file: file) }

  private func bytes(_ files: TemporaryDirectory, file: Int) throws -> [UInt8] {
    let path = files.file("\(file).wav")
    try TimeCode.writeWAV(path: path, file: file, frameCount: 240_000, sampleRateHz: 48_000)
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 44 + 240_000 * 4)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    #expect(count == bytes.count)
    return bytes
  }

  @Test func stallEndsWhenBytesArrive() async throws {
    let rig = try await SlowRig()
    let supply = Supply(bytes: try bytes(rig, file: 1), limit: 44 + 60_000 * 4)
    let item = PlayerItem(asset: Asset(name: "slow") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    try await rig.run { try $0.append([item]) }
    try supply.waitUntilBlocked()
    await rig.run { $0.play() }
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.advance(milliseconds: 2_000)
    await rig.wait { $0.timeControlStatus == .waiting }
    #expect(await rig.state.reasonForWaitingToPlay == .toMinimizeStalls)
    #expect(await rig.state.rate == 1)
    #expect(await rig.state.isPlaybackBufferEmpty)
    #expect(rig.events.count { $0.hasPrefix("stalled item 1") } == 1)
    #expect(item.asset.networkLog.accessEvents.isEmpty, "only servers have a log")
    supply.open()
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 6_000)
    #expect(rig.events.contains { $0.hasPrefix("playedToEnd item 1") }, "\(rig.events)")
  }

  @Test func advanceToNextItemDoesNotWaitForAnUnresponsiveServer() async throws {
    let rig = try await SlowRig()
    let supply = Supply(bytes: [], limit: 0)
    let never = PlayerItem(asset: Asset(name: "never") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    let after = try rig.wav(file: 2, frames: 96_000)
    let second = PlayerItem(asset: after.asset, id: 2)
    try await rig.run { try $0.append([never, second]) }
    await rig.run { $0.play() }
    try supply.waitUntilBlocked()
    #expect(await rig.state.timeControlStatus == .waiting)
    #expect(await rig.state.reasonForWaitingToPlay == .evaluatingBufferingRate)
    await rig.run { $0.advanceToNextItem() }
    await rig.wait { $0.timeControlStatus == .playing }
    #expect(await rig.state.currentItemID == 2)
  }

  @Test func engineCloseCancelsABlockedRead() async throws {
    let rig = try await SlowRig()
    let supply = Supply(bytes: [], limit: 0)
    let never = PlayerItem(asset: Asset(name: "never") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    try await rig.run { try $0.append([never]) }
    try supply.waitUntilBlocked()
    await withCheckedContinuation { continuation in
      rig.loop.execute { [engine = rig.engine] in engine.close { continuation.resume() } }
    }
    try supply.waitUntilCancelled()
  }

  @Test func loadedTimeRangesCoverTheBytesInMemory() async throws {
    let rig = try await SlowRig()
    let all = try bytes(rig, file: 1)
    let supply = Supply(bytes: all, limit: 44 + 60_000 * 4)
    let item = PlayerItem(asset: Asset(name: "slow") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    try await rig.run { try $0.append([item]) }
    try supply.waitUntilBlocked()
    await rig.wait { $0.itemStatus == .readyToPlay }
    let ranges = try await rig.run { try $0.loadedTimeRanges(of: 1) }
    print("loaded: \(ranges)")
    #expect(ranges.count == 1)
    // 60,000 of 240,000 frames, to the millisecond.
    #expect(abs((ranges.first?.end.seconds ?? 0) - 1.25) < 0.01)
    #expect(item.seekableTimeRanges.count == 1)
    supply.open()
  }

  @Test func streamRejectsSeeksAndReversePlayback() async throws {
    let rig = try await SlowRig()
    let supply = Supply(bytes: try bytes(rig, file: 1), limit: .max, isStream: true)
    let item = PlayerItem(asset: Asset(name: "radio.wav") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    try await rig.run { try $0.append([item]) }
    await rig.run { $0.play() }
    // All audio that is played below is decoded: in this rig time does not wait for it.
    await rig.wait { $0.timeControlStatus == .playing && $0.isPlaybackBufferFull }
    #expect(item.seekableTimeRanges == [] && item.isSeekable == false)
    await expectError(.rangesNotSupported) {
      try await rig.run { try $0.seek(to: MediaTime(value: 1, timescale: 1)) { _ in } }
    }
    // It cannot be reversed by any call.
    let (engine, player) = (rig.engine, rig.player)
    let reversals: [@Sendable (isolated QueuePlayer) throws -> Void] = [
      { try $0.setRate(-1) }, { try $0.setRate(-2, startsPlayback: false) }, { try $0.playImmediately(atRate: -1) },
      { _ in try engine.core.setRate(-1, of: [player]) { _ in } },
    ]
    for (index, reversal) in reversals.enumerated() {
      await expectError(.rangesNotSupported, "\(index)") { try await rig.run(reversal) }
    }
    #expect(await rig.state.rate == 1)
    #expect(item.canPlaySlowForward && item.canPlayFastForward)
    #expect(!item.canPlayReverse && !item.canPlaySlowReverse && !item.canPlayFastReverse)
    #expect(!item.canStepForward && !item.canStepBackward)
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.time == MediaTime(value: 1, timescale: 1))
  }

  @Test func streamHasIndefiniteDurationAndCannotBeLooped() async throws {
    let rig = try await SlowRig()
    for range in [nil, TimeRange(start: .zero, end: MediaTime(value: 1, timescale: 1))] {
      let supply = Supply(bytes: try bytes(rig, file: 2), limit: 44 + 60_000 * 4, isStream: true)
      let stream = PlayerItem(asset: Asset(name: "radio.wav") { () throws(MediaError) in SuppliedSource(supply) })
      let looper = try PlayerLooper(player: rig.player, item: stream, timeRange: range)
      try supply.waitUntilBlocked()
      await rig.wait { $0.itemStatus == .readyToPlay }
      await rig.run { _ in }
      #expect(stream.duration == .indefinite)
      guard case .failed(let error) = looper.status else {
        Issue.record("\(looper.status)")
        continue
      }
      #expect(error.code == .invalidTime)
      let state = await rig.state
      #expect(state.itemStatus == .readyToPlay && state.repeatMode == .off && state.loop == nil)
      await rig.run { $0.removeAllItems() }
    }
  }

  @Test func streamThatBecomesCurrentInReversePausesAtItsBeginning() async throws {
    let rig = try await Rig()
    let supply = Supply(bytes: try bytes(rig.files, file: 2), limit: .max, isStream: true)
    let first = try rig.wav(file: 1, frames: 48_000)
    let stream = PlayerItem(asset: Asset(name: "radio.wav") { () throws(MediaError) in SuppliedSource(supply) }, id: 2)
    try await rig.run { try $0.append([first, stream]) }
    await rig.settle()
    let end = MediaTime(value: 1, timescale: 1)
    try await rig.run { try $0.seek(to: end, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.advanceToNextItem() }
    await rig.advance(milliseconds: 200)
    let state = await rig.run { $0.state }
    #expect(state.currentItemID == 2 && state.itemStatus == .readyToPlay && state.rate == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    #expect(rig.heard.runs.allSatisfy { $0.file == 1 })
    // It cannot start in reverse either.
    #expect(await rig.error { try $0.setRate(-1) } == .rangesNotSupported)
    #expect(await rig.error { try $0.preroll(atRate: -1) { _ in } } == .rangesNotSupported)
    let (engine, player) = (rig.engine, rig.player)
    try await rig.run { try $0.setDefaultRate(-1) }
    await rig.run { $0.play() }
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(
      await rig.error { _ in try engine.core.start([player], at: .whenReady) { _ in } } == .rangesNotSupported)
    await rig.run { $0.setAutomaticallyWaitsToMinimizeStalling(false) }
    #expect(await rig.error { try $0.setRate(-1, time: nil, atHostTime: nil) } == .rangesNotSupported)
    // It plays as the data arrives.
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.last.map { [$0.file, $0.firstIndex, $0.count] } == [2, 0, 24_000])
  }

  @Test func itemRequestedInReverseFailsWhenItIsAStream() async throws {
    let rig = try await SlowRig()
    let supply = Supply(bytes: try bytes(rig, file: 1), limit: 0, isStream: true)
    let item = PlayerItem(asset: Asset(name: "radio.wav") { () throws(MediaError) in SuppliedSource(supply) }, id: 1)
    try await rig.run { try $0.append([item]) }
    try supply.waitUntilBlocked()
    try await rig.run { player in
      try player.seek(to: MediaTime(value: 1, timescale: 1)) { _ in }
      try player.setRate(-1)
    }
    supply.open()
    await rig.wait { $0.itemStatus.error != nil }
    #expect(await rig.state.itemStatus.error?.code == .rangesNotSupported)
  }

  @Test func stationTitleIsTimedMetadataWhileTheItemPlays() async throws {
    let rig = try await SlowRig()
    var supply = Supply(bytes: try bytes(rig, file: 1), limit: .max, isStream: true)
    supply.title = StreamTitle(offset: 44 + 48_000 * 4, title: "One", url: "http://x/")
    let all = supply
    let item = PlayerItem(asset: Asset(name: "radio.wav") { () throws(MediaError) in SuppliedSource(all) }, id: 1)
    let after = PlayerItem(asset: try rig.wav(file: 2, frames: 96_000).asset, id: 2)
    try await rig.run { try $0.append([item, after]) }
    await rig.run { $0.play() }
    await rig.wait { $0.timeControlStatus == .playing && $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 500)
    #expect(item.streamTitle == nil && item.timedMetadata == [])
    await rig.advance(milliseconds: 2_000)
    #expect(item.streamTitle?.title.title == "One")
    let metadata = item.timedMetadata
    #expect(metadata.map(\.identifier.rawValue) == ["icy/StreamTitle", "icy/StreamUrl"])
    #expect(metadata.map(\.stringValue) == ["One", "http://x/"])
    #expect(metadata.first?.commonKey == .title)
    // Its position in the file, as exact as packets are.
    #expect(metadata.allSatisfy { abs(($0.time?.seconds ?? 0) - 1) < 0.2 }, "\(metadata)")
    // An item that does not play has none.
    await rig.run { $0.advanceToNextItem() }
    await rig.wait { $0.currentItemID == 2 && $0.timeControlStatus == .playing }
    #expect(item.streamTitle == nil)
  }
}

/// Bytes that are available up to a limit, and the readers that wait for more.
private struct Supply: Sendable {
  struct State {
    var limit: Int
    var isBlocked = false
    /// The readers that were cancelled: each reader has a separate source.
    var cancelled: Set<ObjectIdentifier> = []
    var wasCancelled = false
    var hasReportedTitle = false
  }

  let bytes: [UInt8]
  let isStream: Bool
  let state: ConditionMutex<State>
  /// The title that the stream reports.
  var title: StreamTitle?

  init(bytes: [UInt8], limit: Int, isStream: Bool = false) {
    self.bytes = bytes
    self.isStream = isStream
    state = ConditionMutex(State(limit: limit))
  }

  func open() { state.update { $0.limit = .max } }

  /// Makes a faulty test fail instead of hanging.
  private var deadline: HostTime { HostTime.now.advanced(byNanoseconds: 60_000_000_000) }

  func waitUntilBlocked() throws {
    let isBlocked: Bool? = state.wait(until: deadline) { $0.isBlocked ? true : nil }
    try #require(isBlocked == true, "no reader waited for bytes")
  }

  func waitUntilCancelled() throws {
    let isCancelled: Bool? = state.wait(until: deadline) { $0.wasCancelled ? true : nil }
    try #require(isCancelled == true, "no reader was cancelled")
  }
}

/// A reader of a supply.
private final class SuppliedSource: ByteSource {
  private let supply: Supply

  init(_ supply: Supply) { self.supply = supply }

  deinit { resume() }

  var byteCount: Int64? { supply.isStream ? nil : Int64(supply.bytes.count) }
  var isSeekable: Bool { !supply.isStream }
  var availableByteRange: Range<Int64>? { 0..<Int64(min(supply.bytes.count, supply.state.withState { $0.limit })) }

  func open() throws(MediaError) {
    if supply.bytes.isEmpty { _ = try availableCount(at: 0) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    let start = min(Int(offset), supply.bytes.count)
    if start == supply.bytes.count { return 0 }
    let count = min(buffer.count, supply.bytes.count - start, try availableCount(at: start))
    buffer.copyBytes(from: supply.bytes[start..<start + count])
    return count
  }

  private func availableCount(at start: Int) throws(MediaError) -> Int {
    let availableCount: Int? = supply.state.wait { state -> Int? in
      if state.cancelled.contains(ObjectIdentifier(self)) { return -1 }
      return start < state.limit ? state.limit - start : nil
    } beforeWaiting: {
      $0.isBlocked = true
    }
    guard let availableCount, availableCount >= 0 else { throw MediaError(.cancelled, "cancelled") }
    return availableCount
  }

  func popTitles(before offset: Int64) -> [StreamTitle] {
    guard let title = supply.title, title.offset < offset else { return [] }
    return supply.state.update { state in
      defer { state.hasReportedTitle = true }
      return state.hasReportedTitle ? [] : [title]
    }
  }

  func cancel() {
    supply.state.update { state in
      state.cancelled.insert(ObjectIdentifier(self))
      state.wasCancelled = true
    }
  }

  func resume() { supply.state.update { _ = $0.cancelled.remove(ObjectIdentifier(self)) } }
}

extension ConditionMutex {
  /// Like `wait`, and records before it waits that a reader waits.
  fileprivate func wait<Result>(_ body: (inout State) -> Result?, beforeWaiting: (inout State) -> Void) -> Result? {
    if let result = withState({ body(&$0) }) { return result }
    update { beforeWaiting(&$0) }
    return wait { body(&$0) }
  }
}
