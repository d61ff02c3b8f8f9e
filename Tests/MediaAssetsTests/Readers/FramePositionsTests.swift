import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Positions of packets and frames, without a reader: in order, after a lost packet, and after a seek.
@Suite struct FramePositionsTests {
  /// A FLAC file whose packets are read and decoded one by one.
  private final class Rig {
    let packets: PacketFrameReader
    let frame: Frame
    var packetPositions: PacketPositions
    var framePositions: FramePositions

    init(_ folder: TemporaryFolder) throws {
      let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 46_080)
      try Tool.ffmpeg("-i", folder.write(wav, as: "a.wav"), folder.file("a.flac"))
      let demuxer = try openFile(Asset(path: folder.file("a.flac")), interrupt: Interrupt())
      let properties = try AssetProperties(demuxer: demuxer, byteCount: 0, displayPath: "a.flac")
      let (format, edges) = (ContainerFormat(properties.formatName), try #require(properties.audioEdges))
      packets = try PacketFrameReader(demuxer: demuxer, streamIndex: 0)
      frame = try Frame()
      packetPositions = try PacketPositions(demuxer: demuxer, stream: packets.stream, format: format, edges: edges)
      framePositions = FramePositions(stream: packets.stream, format: format, edges: edges, others: [])
    }

    /// Reads a packet and determines its position.
    func readPacket() throws {
      #expect(try packets.readPacket() == .packet)
      try packetPositions.note(
        packets.packet, in: framePositions.timeline, grid: framePositions.grid, isConverted: false)
    }

    /// Decodes the next packet. Returns the step to its frame.
    func decode() throws -> AudioTimeline.Step? {
      try readPacket()
      packets.returnPacket()
      #expect(try packets.next(into: frame, reading: packets.readPacket) == .frame)
      let outcome = framePositions.note(
        frame, of: packets.packet, &packetPositions, trims: PacketTrims(), isConverted: false)
      guard case .known(let step, _) = outcome else { return nil }
      return step
    }
  }

  @Test func framesFollowEachOther() throws {
    let rig = try Rig(TemporaryFolder())
    var end: Int64 = 0
    for _ in 0..<5 {
      #expect(try rig.decode() == .contiguous)
      #expect(rig.framePositions.start == end)
      end += Int64(rig.frame.frameCount)
    }
    #expect(rig.packetPositions.countedFrame == end && rig.packetPositions.isCounted)
    #expect(rig.framePositions.isProven && rig.framePositions.lostEnd == nil)
  }

  @Test func lostPacketKeepsTheTimesOfLaterFrames() throws {
    let rig = try Rig(TemporaryFolder())
    #expect(try rig.decode() == .contiguous)
    let count = Int64(rig.frame.frameCount)
    try rig.readPacket()
    rig.framePositions.noteLoss(of: rig.packets.packet)
    #expect(rig.framePositions.lostEnd == 2 * count && rig.framePositions.isAfterLoss)
    #expect(try rig.decode() == .contiguous, "a loss is no jump of the timestamps")
    #expect(rig.framePositions.start == 2 * count && rig.framePositions.lostEnd == nil)
  }

  @Test func timestampDefinesThePositionAfterASeek() throws {
    let rig = try Rig(TemporaryFolder())
    for _ in 0..<3 { _ = try rig.decode() }
    let third = rig.framePositions.start
    try rig.packets.seek(toTicks: third)
    rig.packetPositions.restart()
    rig.packetPositions.restartAnywhere()
    rig.framePositions.restart()
    #expect(rig.framePositions.timeline?.expectedFrame == nil && !rig.packetPositions.isCounted)
    _ = try rig.decode()
    #expect(rig.framePositions.start <= third && rig.framePositions.isProven)
    var samples: [Float] = [0, 0]
    var converter = FrameConverter(
      format: AudioFormat(sampleRateHz: 44_100, channelCount: 2), sampleFormat: .float32)
    try converter.convert(rig.frame, range: 0..<1, into: &samples, of: "a.flac")
    #expect(IndexedAudio.index(left: samples[0], right: samples[1]) == rig.framePositions.start)
  }
}
