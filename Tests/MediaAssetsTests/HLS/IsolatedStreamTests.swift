import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// A worker process decodes streams to the same samples as this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedStreamTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var arguments: [String]
    var segmentName = "s%d.ts"
    var testDescription: String { name }
  }

  private static let rows = [
    Row(name: "AAC in MPEG-TS", arguments: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "AC-3 in MPEG-TS", arguments: ["-c:a", "ac3"]),
    Row(
      name: "AAC in MP4", arguments: ["-c:a", "aac", "-aac_pns", "0", "-hls_segment_type", "fmp4"],
      segmentName: "s%d.m4s"),
    Row(
      name: "FLAC in MP4", arguments: ["-c:a", "flac", "-strict", "experimental", "-hls_segment_type", "fmp4"],
      segmentName: "s%d.m4s"),
  ]

  /// The audio of a reader: the start, after some seeks, and the end.
  private static func reading(_ rig: HLSRig, _ isolation: Asset.Isolation) throws -> [[Float]] {
    let reader = try rig.reader(try rig.session("vod.m3u8", isolation))
    var parts = [try reader.frames(10_000)]
    for frame: Int64 in [500_001, 88_200, 1_000_000] {
      try reader.seek(toFrame: frame)
      #expect(reader.position == frame)
      parts.append(try reader.frames(5_000))
    }
    try reader.seek(toFrame: 900_000)
    parts.append(try reader.frames(.max >> 40))
    #expect(reader.end?.isExact == true)
    return parts
  }

  @Test("a worker reads the same samples", arguments: rows)
  func workerReadsTheSameSamples(_ row: Row) throws {
    let rig = try HLSRig(row.arguments, name: row.segmentName)
    let (local, isolated) = (try Self.reading(rig, .none), try Self.reading(rig, .opening))
    print("isolated stream: \(row.name): \(local.map { $0.count / 2 }) frames")
    #expect(local.allSatisfy { !$0.isEmpty })
    #expect(local == isolated)
    let path = Array(rig.server.files.file("vod.m3u8").utf8)
    #expect(
      try Asset(path: path, isolation: .none).load() == (try Asset(path: path, isolation: .opening).load()))
  }

  @Test("playback is decoded in this process with `worker`, and in a worker with `playback`")
  func isolationDeterminesWherePlaybackIsDecoded() throws {
    let rig = try HLSRig()
    func isInWorker(_ isolation: Asset.Isolation, isPlayback: Bool) throws -> Bool {
      let session = try rig.session("vod.m3u8", isolation)
      var fetcher = session.fetcher
      fetcher.isPlayback = isPlayback
      let (segmentReader, _) = try ContiguousSegmentReader.first(of: session, fetcher: fetcher, interrupt: Interrupt())
      return segmentReader.isInWorker
    }
    for (isolation, isPlayback, expected) in [
      (Asset.Isolation.none, false, false), (.none, true, false), (.opening, false, true), (.opening, true, false),
      (.playback, false, true), (.playback, true, true),
    ] {
      let found = try isInWorker(isolation, isPlayback: isPlayback)
      print("isolated stream: \(isolation), \(isPlayback ? "playback" : "other"): \(found ? "worker" : "this process")")
      #expect(found == expected)
    }
  }

  @Test func cancelledReadOfAWorkerIsNotAnError() throws {
    let rig = try HLSRig()
    let session = try rig.session("vod.m3u8", .opening)
    let interrupt = Interrupt()
    let reader = try SegmentedTrackReader(
      session: session, fetcher: session.fetcher, interrupt: interrupt, trackID: nil)
    var samples = [Float](repeating: 0, count: 2_048)
    interrupt.cancel()
    let result = try samples.withUnsafeMutableBufferPointer { buffer in
      try reader.read(into: try #require(buffer.baseAddress), capacityFrames: 1_024)
    }
    // Samples of the last decoded frame may come first.
    if case .endOfTrack = result { Issue.record("a cancelled read is not the end") }
    interrupt.reset()
    try reader.seek(toFrame: 300_000)
    #expect(try reader.frames(1_000).count == 2_000)
  }

  @Test(
    "implausible descriptions of a worker are rejected",
    arguments: [
      "honest", "track", "ticks", "rate", "format", "preroll", "edit",
    ])
  func implausibleDescriptionsOfAWorkerAreRejected(_ name: String) {
    var description = SegmentDescription(
      trackIndex: 0, codecName: "aac", tickNumerator: 1, tickDenominator: 90_000, sampleRateHz: 44_100,
      audioFormat: AudioFormat(sampleRateHz: 44_100, channelCount: 2), seekPrerollFrames: nil, isMovie: false,
      isMPEGTransport: true, editTicks: 0)
    switch name {
    case "track": description.trackIndex = -1
    case "ticks": description.tickDenominator = 0
    case "rate": description.sampleRateHz = 0
    case "format": description.audioFormat = AudioFormat(sampleRateHz: 44_100, channelCount: 1_000)
    case "preroll": description.seekPrerollFrames = -5
    case "edit": description.editTicks = .min
    default: break
    }
    #expect(description.isPlausible == (name == "honest"))
  }

  @Test(
    "frames that do not fit into the shared memory are rejected",
    arguments: [
      (1_024, 2, 44_100, 8_192), (0, 2, 44_100, nil), (-1, 2, 44_100, nil), (1_024, 65, 44_100, nil),
      (1_024, 0, 44_100, nil), (1_024, 2, 0, nil), (131_072, 2, 44_100, 1 << 20), (131_073, 2, 44_100, nil),
      (Int.max, 64, 44_100, nil),
    ] as [(Int, Int, Int, Int?)])
  func framesLargerThanTheSharedMemoryAreRejected(
    _ frameCount: Int, _ channelCount: Int, _ rate: Int, _ byteCount: Int?
  ) {
    let layout = SampleLayout(format: .float32Planar, sampleRateHz: rate, channelCount: channelCount)
    #expect(SegmentFrame(layout: layout, frameCount: frameCount).sampleByteCount == byteCount)
  }

  @Test func framesAreUnchangedAfterCopyingThroughSharedMemory() throws {
    for format in SampleFormat.allCases {
      for channelCount in [1, 2, 6, 12] {
        let layout = SampleLayout(
          format: format, sampleRateHz: 48_000, channelCount: channelCount,
          channelMask: channelCount == 12 ? nil : SampleLayout.defaultChannelMask(channelCount: channelCount))
        let byteCount = 100 * channelCount * format.byteCount
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let frame = try Frame()
        try frame.fill(layout, frameCount: 100, pts: 5, from: bytes)
        #expect(frame.layout == layout && frame.pts == 5 && frame.sampleByteCount == byteCount)
        var copied = [UInt8](repeating: 0, count: byteCount)
        copied.withUnsafeMutableBytes { buffer in
          if let base = buffer.baseAddress { frame.copyPlanes(into: base) }
        }
        #expect(copied == bytes, "\(format) \(channelCount)")
      }
    }
    let wrong = SampleLayout(format: .float32, sampleRateHz: 48_000, channelCount: 2, channelMask: 7)
    let frame = try Frame()
    #expect(throws: AVFailure.self) {
      try frame.fill(wrong, frameCount: 1, pts: nil, from: [UInt8](repeating: 0, count: 64))
    }
  }
}
