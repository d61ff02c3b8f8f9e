import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The states of the loop from packets to frames, and its values.
@Suite struct PacketFrameReaderTests {
  private typealias State = PacketFrameReader.State

  private func open(
    _ folder: TemporaryFolder, _ name: String = "a.flac", frameCount: Int = 46_080
  ) throws -> (PacketFrameReader, Frame) {
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: frameCount)
    try Tool.ffmpeg("-i", folder.write(wav, as: "a.wav"), folder.file(name))
    let demuxer = try openFile(Asset(path: folder.file(name)), interrupt: Interrupt())
    return (try PacketFrameReader(demuxer: demuxer, streamIndex: 0), try Frame())
  }

  private func frameCount(_ packets: PacketFrameReader, _ frame: Frame) throws -> Int {
    var count = 0
    while try packets.next(into: frame, reading: packets.readPacket) == .frame { count += frame.frameCount }
    return count
  }

  @Test func stateFollowsTheFileToItsEnd() throws {
    let (packets, frame) = try open(TemporaryFolder())
    #expect(packets.state == .reading(ReadErrorBudget()))
    #expect(try packets.readPacket() == .packet)
    packets.returnPacket()
    #expect(packets.state == .hasPacket)
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .frame)
    #expect(packets.state == .reading(ReadErrorBudget()) && frame.pts == 0)
    var packetCount = 0
    while try packets.readPacket() == .packet { packetCount += 1 }
    #expect(packetCount > 5 && packets.state == .draining && packets.isAtEndOfFile)
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .end)
    #expect(packets.state == .ended && packets.isAtEndOfFile && packets.isFinished)
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .end)
    #expect(try packets.readPacket() == .endOfFile)
  }

  @Test func aSeekAndReopeningContinueAfterTheEnd() throws {
    let (packets, frame) = try open(TemporaryFolder())
    #expect(try frameCount(packets, frame) == 46_080)
    try packets.seek(toTicks: 0)
    #expect(packets.state == .reading(ReadErrorBudget()))
    #expect(try frameCount(packets, frame) == 46_080)
    try packets.reopen()
    #expect(try frameCount(packets, frame) == 46_080)
  }

  @Test func aFailureIsThrownAgainUntilTheNextSeek() throws {
    let folder = try TemporaryFolder()
    _ = try open(folder, "a.wv", frameCount: 200_000)
    var bytes = try readFile(folder.file("a.wv"))
    for index in (bytes.count * 6 / 10)..<bytes.count { bytes[index] = 0x55 }
    let demuxer = try openFile(Asset(path: folder.write(bytes, as: "b.wv")), interrupt: Interrupt())
    let (packets, frame) = (try PacketFrameReader(demuxer: demuxer, streamIndex: 0), try Frame())
    var skippedCount = 0
    let thrown = #expect(throws: AVFailure.self) {
      while true {
        let result = try packets.next(into: frame, reading: packets.readPacket)
        if result == .end { return }
        if case .skipped = result { skippedCount += 1 }
      }
    }
    let failure = try #require(thrown)
    #expect(skippedCount >= ReadErrorBudget.maximumFailureCount - 1)
    #expect(packets.isFinished && !packets.isAtEndOfFile)
    #expect(throws: failure) { try packets.next(into: frame, reading: packets.readPacket) }
    #expect(throws: failure) { try packets.readPacket() }
    packets.flush()
    #expect(packets.state == .reading(ReadErrorBudget()))
    try packets.reopen()
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .frame)
  }

  @Test func theCallerChoosesPacketsAndStops() throws {
    let (packets, frame) = try open(TemporaryFolder())
    #expect(try packets.next(into: frame) { () throws(AVFailure) in .stopped } == .stopped)
    let second = try packets.next(into: frame) { () throws(AVFailure) in
      _ = try packets.readPacket()
      return try packets.readPacket()
    }
    #expect(second == .frame && frame.pts != 0)
    #expect(try packets.readPacket() == .packet)
    try packets.decodeAlone()
    #expect(packets.state == .draining)
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .frame)
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .end)
    packets.restart()
    #expect(try packets.next(into: frame, reading: packets.readPacket) == .frame)
  }

  @Test func budgetAcceptsConsecutiveInvalidDataOnly() {
    /// The number of failed reads that a new budget accepts, up to 100.
    func acceptedCount(_ failure: AVFailure) -> Int {
      var budget = ReadErrorBudget()
      return (0..<100).prefix { _ in budget.accept(failure) }.count
    }
    #expect(acceptedCount(AVFailure(invalidDataIn: "av_read_frame")) == ReadErrorBudget.maximumFailureCount - 1)
    #expect(acceptedCount(AVFailure(errno: 12, call: "av_read_frame")) == 0)
    #expect(acceptedCount(AVFailure(MediaError(.readFailed, "the server is gone"))) == 0)
  }

  @Test func reportContainsTheFirstPacketAndTheCount() {
    var report = SkipReport()
    let (first, second) = (AVFailure(invalidDataIn: "avcodec_send_packet"), AVFailure(invalidDataIn: "av_read_frame"))
    report.note(first, at: nil)
    var skipped = report.drain()
    #expect(skipped == nil, "preroll is not reported")
    report.note(first, at: 44_100)
    report.note(second, at: 88_200)
    skipped = report.drain()
    #expect(skipped == SkippedPackets(count: 2, failure: first, frame: 44_100))
    let reported = skipped?.report(sampleRateHz: 44_100, path: "a.flac")
    #expect(reported?.count == 2 && reported?.time == MediaTime(value: 1, timescale: 1))
    #expect(reported?.error.code == .decodeFailed && reported?.error.operation == first.call)
    skipped = report.drain()
    #expect(skipped == nil)
  }
}
