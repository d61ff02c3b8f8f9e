import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Switches between variants while several readers use the stream, or while its playlist is requested.
@Suite(.timeLimit(.minutes(5))) struct HLSSwitchTests {
  /// Two variants with time codes 1 and 2 and segments of about a second, and a third that is missing.
  private func variants(_ rig: CodedStreamRig, high: String = "high.m3u8", low: String = "low.m3u8") throws {
    for (file, name) in [(1, "high"), (2, "low")] { try rig.encode(file, as: name) }
    let rate = try rig.byteCount("high", 4) * 8
    try rig.write(master: [
      "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),CODECS=\"fLaC\"", high,
      "#EXT-X-STREAM-INF:BANDWIDTH=\(rate / 40),CODECS=\"fLaC\"", low,
      "#EXT-X-STREAM-INF:BANDWIDTH=\(rate / 400),CODECS=\"fLaC\"", "none.m3u8",
    ])
  }

  private func switchVariant(_ session: StreamSession, to index: Int, from variantNumber: Int) throws {
    try session.switchVariant(to: index, from: variantNumber, session.fetcher, interrupt: Interrupt())
  }

  /// The playlist of the previous variant never arrives.
  @Test func hangingLivePlaylistIsAbandonedWithItsVariant() throws {
    let rig = try CodedStreamRig()
    try variants(rig, high: "high.m3u8?again=hold%3Dlist")
    try rig.write("high", 0..<6, isEnded: false, query: [4: "?gate=slow&at=1000"])
    try rig.write("low", 0..<6, isEnded: false)
    let session = try rig.session()
    let reader = try rig.reader(session)
    let heard = Mutex([Float]())
    let thread = CodeThread {
      let samples = try reader.frames(48_000 * 13)
      heard.withLock { $0 = samples }
    }
    try rig.server.wait("gate slow")
    rig.clock.advance(seconds: 10)
    try rig.server.wait("gate list")
    rig.server.open(gate: "slow")
    try rig.server.wait("request GET /low.m3u8")
    rig.wait { session.location.displayText.hasSuffix("low.m3u8") }
    try rig.write("low", 0..<9)
    rig.clock.advance(seconds: 3)
    try rig.server.wait("request GET /low.m3u8")
    #expect(thread.code() == 0)
    let runs = CodedStreamRig.runs(heard.withLock { $0 })
    print(runs)
    #expect(runs.map(\.file) == [1, 2])
    #expect(Set(runs.map { $0.firstIndex - $0.position }).count == 1, "no sample is lost or repeated")
    let end = Double(session.timeline.endNanoseconds) * 48e-6
    #expect(runs.last.map { abs(Double($0.endIndex) - end) < 100 } == true && rig.log.errorEvents.isEmpty)
    rig.server.open(gate: "list")
  }

  /// The same sequence number is a different segment there.
  @Test func waitingReaderContinuesInTheVariantThatAnotherReaderSelected() throws {
    let rig = try CodedStreamRig()
    try variants(rig)
    try rig.write("high", 0..<6, isEnded: false, date: 1_800_000_000)
    try rig.write("low", 0..<9, numberedFrom: 3, date: 1_800_000_000)
    let session = try rig.session()
    let interrupt = Interrupt()
    let found = Mutex<StreamSession.Lookup?>(nil)
    let waiting = CodeThread {
      let lookup = try session.lookUp(6, variantNumber: 0, interrupt: interrupt)
      found.withLock { $0 = lookup }
    }
    let reader = try rig.reader(session)
    let heard = Mutex([Float]())
    let thread = CodeThread {
      let samples = try reader.frames(48_000 * 13)
      heard.withLock { $0 = samples }
    }
    try rig.server.wait("request GET /high-5.m4s")
    try switchVariant(session, to: 1, from: 0)
    #expect(waiting.code() == 0)
    guard case .variant = found.withLock({ $0 }) else {
      Issue.record("a segment of another variant")
      return
    }
    #expect(session.timeline.entry(6) != nil)
    #expect(thread.code() == 0)
    let runs = CodedStreamRig.runs(heard.withLock { $0 })
    print(runs)
    #expect(runs.map(\.file) == [1, 2])
    #expect(Set(runs.map { $0.firstIndex - $0.position }).count == 1, "no sample is lost or repeated")
    #expect(reader.popWarning() == nil && rig.log.errorEvents.isEmpty)
  }

  @Test func concurrentSwitchesToOneVariantSwitchOnce() throws {
    let rig = try CodedStreamRig()
    try variants(rig, low: "low.m3u8?hold=list")
    for name in ["high", "low"] { try rig.write(name) }
    let session = try rig.session()
    let threads = (0..<2).map { _ in
      CodeThread { try session.switchVariant(to: 1, from: 0, session.fetcher, interrupt: Interrupt()) }
    }
    for _ in threads { try rig.server.wait("gate list") }
    // Changes while they wait for the playlist are kept.
    try switchVariant(session, to: 2, from: 0)
    #expect(session.variantNumber == 0 && session.signal.withState { $0.variants.others(at: rig.clock.now) } == [1])
    rig.server.open(gate: "list")
    for thread in threads { #expect(thread.code() == 0) }
    #expect(session.variantNumber == 1 && session.location.displayText.contains("low.m3u8"))
    #expect(session.signal.withState { $0.variants.others(at: rig.clock.now) } == [0])
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 1)
    _ = try rig.server.drain()
    // A reader of the previous variant, or one that has already switched, changes nothing and requests nothing.
    try switchVariant(session, to: 0, from: 0)
    try switchVariant(session, to: 1, from: 1)
    #expect(try session.fallBack(from: 0, session.fetcher, interrupt: Interrupt()))
    #expect(session.variantNumber == 1)
    #expect(try rig.server.drain().isEmpty)
  }

  @Test func segmentOfThePreviousVariantIsNotCountedForTheCurrentOne() throws {
    let rig = try CodedStreamRig()
    try variants(rig)
    for name in ["high", "low"] { try rig.write(name) }
    let session = try rig.session()
    try switchVariant(session, to: 1, from: 0)
    let entry = try #require(session.timeline.entry(0))
    let measure = TransferStatistics(byteCount: 10, nanoseconds: 1_000_000_000)
    func choice(_ variantNumber: Int) -> Int? {
      session.addTransfer(measure, entry.segment, variantNumber: variantNumber, idleNanoseconds: 0)
    }
    #expect(choice(0) == nil, "however slow it was")
    #expect(choice(1) == 2)
  }
}
