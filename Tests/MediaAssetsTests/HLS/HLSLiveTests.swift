import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Streams whose playlists get new segments during playback.
@Suite(.timeLimit(.minutes(5))) struct HLSLiveTests {
  @Test func liveStreamStartsThreeTargetDurationsBeforeItsEndAndContinues() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<6, isEnded: false, before: [0: "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:00Z"])
    let session = try rig.session("a.m3u8")
    let reader = try rig.reader(session)
    let timeline = session.timeline
    // Segments are cut at packet boundaries, so each is slightly longer than two seconds.
    #expect(
      timeline.liveStartNanoseconds == timeline.entry(2)?.startNanoseconds
        || timeline.number(atNanoseconds: timeline.liveStartNanoseconds) == 2)
    let start = MediaTime(value: timeline.liveStartNanoseconds, timescale: 1_000_000_000)
    let reached = try reader.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(abs((reached - start).seconds) < 0.001)
    let live = try rig.audio(2..<12)
    // Three segments are available; then the reader waits for more.
    let first = try reader.frames(44_100 * 5)
    #expect(first.count == 44_100 * 10)
    try rig.write("a.m3u8", 2..<9, isEnded: false, before: [2: "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:04Z"])
    rig.clock.advance(seconds: 3)
    let second = try reader.frames(44_100 * 7)
    #expect(session.timeline.numbers == 2..<9)
    try rig.write("a.m3u8", 4..<12, isEnded: true)
    rig.clock.advance(seconds: 3)
    let third = try reader.frames(2_000_000)
    let samples = first + second + third
    #expect(samples.count == live.count)
    // The decoder has converged after some packets.
    #expect(samples.dropFirst(2 * 2_048).elementsEqual(live.dropFirst(2 * 2_048)))
    #expect(reader.end != nil && rig.errorCodes.isEmpty)
    #expect(rig.log.accessEvents.first?.playbackType == "live")
  }

  @Test func seeksAndDatesStayWithinTheLiveWindow() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<9, isEnded: false, before: [0: "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:00Z"])
    let asset = try Asset(url: "\(rig.server.address)/a.m3u8")
    let properties = try asset.load()
    #expect(properties.duration == .indefinite && properties.isSeekable)
    let window = try #require(asset.liveWindow)
    #expect(window.seekable.start == .zero && window.edge - window.seekable.end >= MediaTime(value: 6, timescale: 1))
    let reader = try AudioTrackReader(asset: asset)
    let whole = try rig.audio(0..<9)
    #expect(asset.date(at: MediaTime(value: 3, timescale: 1)) == ISODate.parse("2026-11-22T09:00:03Z"))
    let date = try #require(ISODate.parse("2026-11-22T09:00:05.5Z"))
    let time = try #require(asset.time(ofDate: date))
    #expect(time == MediaTime(value: 11, timescale: 2))
    // A reader's first seek goes to the live position; others go to their target.
    let live = try reader.seekExactly(to: .zero)
    #expect(live.seconds > 10)
    for frame in [Int64(0), 200_000, 100_000] {
      let reached = try reader.seekExactly(to: MediaTime(frame: frame, rate: 44_100))
      let samples = try reader.readFrames(2_000).samples
      // The position of the window's first sample is known only from the playlist until it is read.
      #expect(abs(reached.seconds - Double(frame) / 44_100) < 0.001)
      if reader.positionDoubt == nil { #expect(samples == Array(whole[Int(frame) * 2..<Int(frame) * 2 + 4_000])) }
    }
    let beyond = try reader.seekExactly(to: MediaTime(value: 1_000, timescale: 1))
    #expect(abs((beyond - window.seekable.end).seconds) < 0.001)
    #expect(asset.time(ofDate: 0) == nil)
  }

  @Test func segmentsThatLeftTheWindowAreSkippedAndReported() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<4, isEnded: false)
    let session = try rig.session("a.m3u8")
    let reader = try rig.reader(session)
    _ = try reader.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    _ = try reader.frames(44_100)
    // Meanwhile no segment was read: segments 4 to 7 are removed.
    try rig.write("a.m3u8", 8..<12, isEnded: true)
    rig.clock.advance(seconds: 3)
    let rest: [Float] = try reader.frames(2_000_000)
    let expected: [Float] = try rig.audio(8..<12)
    let comparedCount: Int = expected.count - 20_000
    #expect(rest.suffix(comparedCount) == expected.suffix(comparedCount))
    #expect(rig.errorCodes.contains(2067))
    #expect(reader.popWarning()?.error.code == .segmentsLeftWindow)
  }

  @Test func failingLivePlaylistIsRetriedUpToTheLimit() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<4, isEnded: false)
    let session = try rig.session("a.m3u8")
    let reader = try rig.reader(session)
    try rig.server.write([0], to: "a.m3u8")
    let thread = CodeThread { _ = try reader.frames(2_000_000) }
    waitForReloadFailures(1...StreamSession.maximumReloadFailureCount, rig)
    #expect(thread.code() == 2060)
    #expect(rig.errorCodes.filter { $0 == 2060 }.count == StreamSession.maximumReloadFailureCount)
    #expect(rig.errorCodes.filter { $0 == 2069 }.count <= 1)
  }

  /// A live stream with the variants a.m3u8 and b.m3u8, of which the first has the higher bit rate.
  private func rigWithTwoLiveVariants() throws -> HLSRig {
    let rig = try HLSRig()
    let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2\na.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n"
    try rig.server.write(Array(master.utf8), to: "m.m3u8")
    for name in ["a.m3u8", "b.m3u8"] { try rig.write(name, 0..<4, isEnded: false) }
    return rig
  }

  /// Advances the clock by the reload interval until each of these numbers of reload failures is logged.
  private func waitForReloadFailures(_ counts: ClosedRange<Int>, _ rig: HLSRig) {
    for count in counts {
      rig.clock.advance(seconds: 3)
      rig.wait { rig.errorCodes.count { $0 == 2060 } >= count }
    }
  }

  /// The replacement variant's playlist is polled like the previous one's.
  @Test func failingLiveVariantIsReplacedByAnother() throws {
    let rig = try rigWithTwoLiveVariants()
    let session = try rig.session("m.m3u8")
    let reader = try rig.reader(session)
    let first = session.timeline.number(atNanoseconds: session.timeline.playStartNanoseconds) ?? 0
    _ = try reader.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    try rig.server.write([0], to: "a.m3u8")
    let heard = Mutex([Float]())
    let thread = CodeThread {
      let samples = try reader.frames(2_000_000)
      heard.withLock { $0 = samples }
    }
    waitForReloadFailures(1...StreamSession.maximumReloadFailureCount, rig)
    rig.wait { session.location.displayText.hasSuffix("b.m3u8") }
    try rig.write("b.m3u8", 0..<7, isEnded: true)
    rig.clock.advance(seconds: 3)
    #expect(thread.code() == 0)
    let whole = try rig.audio(Int(first)..<7)
    let samples = heard.withLock { $0 }
    #expect(samples.count == whole.count)
    #expect(samples.suffix(44_100 * 4).elementsEqual(whole.suffix(44_100 * 4)))
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 1)
  }

  /// Failures of the previous variant do not count: the next one gets as many attempts.
  @Test func failuresOfALiveVariantDoNotCountForTheNextOne() throws {
    let rig = try rigWithTwoLiveVariants()
    let session = try rig.session("m.m3u8")
    let reader = try rig.reader(session)
    try rig.server.write([0], to: "a.m3u8")
    let thread = CodeThread { _ = try reader.frames(2_000_000) }
    let maximumCount = StreamSession.maximumReloadFailureCount
    waitForReloadFailures(1...maximumCount, rig)
    rig.wait { session.location.displayText.hasSuffix("b.m3u8") }
    try rig.server.write([0], to: "b.m3u8")
    waitForReloadFailures(maximumCount + 1...2 * maximumCount - 1, rig)
    // One more attempt would be too many.
    try rig.write("b.m3u8", 0..<7, isEnded: true)
    rig.clock.advance(seconds: 3)
    #expect(thread.code() == 0)
    #expect(rig.errorCodes.count { $0 == 2060 } == 2 * maximumCount - 1 && reader.end != nil)
  }

  @Test func waitForALiveSegmentIsCancelled() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<4, isEnded: false)
    let reader = try rig.reader(try rig.session("a.m3u8"))
    let read = try reader.frames(44_100 * 4)
    #expect(!read.isEmpty)
    let thread = CodeThread { while case .frames = try reader.readChunk() {} }
    reader.cancel()
    #expect(thread.code() == 0)
  }
}

extension SegmentedTrackReader {
  fileprivate func readChunk() throws -> AudioTrackReader.ReadResult {
    var samples = [Float](repeating: 0, count: 4_096 * format.channelCount)
    return try samples.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return .endOfTrack }
      return try read(into: base, capacityFrames: 4_096)
    }
  }
}

/// A thread that a test waits for, and the code of the error with which it ended.
final class CodeThread: Sendable {
  private let result = Mutex<Int?>(nil)
  private let thread = Mutex<NamedThread?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    let started = NamedThread(name: "test") { [self] in
      let code = errorCode(body)
      result.withLock { $0 = code }
    }
    thread.withLock { $0 = started }
  }

  func code() -> Int? {
    thread.withLock { $0 }?.join()
    return result.withLock { $0 }
  }
}

/// Audio packets without a container.
enum BarePackets {
  /// Splits ADTS or layer III at 44.1 kHz according to its headers.
  static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    let rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    var packets: [[UInt8]] = []
    var offset = 0
    while offset + 7 < bytes.count {
      let isADTS = bytes[offset + 1] & 0x06 == 0
      let length =
        isADTS
        ? Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5]) >> 5
        : 144_000 * rates[Int(bytes[offset + 2] >> 4)] / 44_100 + Int(bytes[offset + 2] >> 1 & 1)
      packets.append(Array(bytes[offset..<min(bytes.count, offset + length)]))
      offset += length
    }
    return packets
  }

  /// An ID3 tag with a timestamp.
  static func tag(_ ticks: Int64) -> [UInt8] {
    let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
    let data = owner + (0..<8).map { UInt8(truncatingIfNeeded: ticks >> (56 - 8 * $0)) }
    let count = UInt8(data.count)
    return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, count + 10] + Array("PRIV".utf8) + [0, 0, 0, count, 0, 0] + data
  }
}
