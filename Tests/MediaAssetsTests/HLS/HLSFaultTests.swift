import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Special features of streams in addition to consecutive segments, and their errors.
@Suite(.timeLimit(.minutes(5))) struct HLSFaultTests {
  private static let key: [UInt8] = Array(1...16)

  /// Encrypts a file with `openssl`, an implementation different from the decrypting one.
  private func encrypt(_ rig: HLSRig, _ name: String, number: Int, to output: String) throws {
    let key = Self.key.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    let digits = String(number, radix: 16)
    let vector = String(repeating: "0", count: 32 - digits.count) + digits
    try Tool.run(
      "openssl",
      [
        "enc", "-aes-128-cbc", "-K", key, "-iv", vector, "-in", rig.server.files.file(name), "-out",
        rig.server.files.file(output),
      ])
  }

  @Test func encryptedSegmentsDecodeAndSeekLikePlainOnes() throws {
    let rig = try HLSRig()
    let whole = try rig.audio(0..<12)
    try rig.server.write(Self.key, to: "key")
    for index in 0..<12 { try encrypt(rig, "s\(index).ts", number: index, to: "s\(index).ts.enc") }
    try rig.write(
      "a.m3u8", 0..<12, before: [0: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""],
      query: Dictionary(uniqueKeysWithValues: (0..<12).map { ($0, ".enc") }))
    let reader = try rig.reader(try rig.session("a.m3u8"))
    #expect(try reader.frames(2_000_000) == whole)
    try reader.seek(toFrame: 700_001)
    #expect(try reader.frames(3_000) == Array(whole[1_400_002..<1_406_002]))
    #expect(rig.errorCodes.isEmpty)
    #expect(try rig.server.drain().filter { $0.contains("/key") }.count == 1)
  }

  @Test func undecryptableSegmentsReportTheirErrors() throws {
    let rig = try HLSRig()
    try rig.server.write(Array(Self.key.reversed()), to: "wrong")
    try rig.server.write([1, 2, 3], to: "short")
    for index in 0..<12 { try encrypt(rig, "s\(index).ts", number: index, to: "s\(index).ts.enc") }
    let query = Dictionary(uniqueKeysWithValues: (0..<12).map { ($0, ".enc") })
    for (tag, code) in [
      ("METHOD=AES-128,URI=\"wrong\"", 2066), ("METHOD=AES-128,URI=\"short\"", 2066),
      ("METHOD=SAMPLE-AES,URI=\"wrong\"", 2065),
    ] {
      try rig.write("a.m3u8", 0..<12, before: [0: "#EXT-X-KEY:\(tag)"], query: query)
      let session = try rig.session("a.m3u8")
      #expect(errorCode { _ = try rig.reader(session) } == code, "\(tag)")
    }
  }

  @Test func rawAudioSegmentsArePositionedByTheirID3Timestamps() throws {
    for (arguments, ending) in [
      (["-c:a", "aac", "-aac_pns", "0", "-f", "adts"], "aac"),
      (["-c:a", "libmp3lame", "-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"], "mp3"),
    ] {
      let rig = try HLSRig()
      let path = rig.server.files.file("all.\(ending)")
      try Tool.ffmpeg(arguments: ["-i", rig.server.files.file("source.wav")] + arguments + [path])
      // Packets of 1,024 or 1,152 frames each, in groups of a hundred.
      let packets = BarePackets.split(try readFile(path))
      let frameCount = ending == "aac" ? 1_024 : 1_152
      var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:3"]
      for (index, start) in stride(from: 0, to: packets.count, by: 100).enumerated() {
        let ticks = (Int64(start * frameCount) * 90_000 + 22_050) / 44_100 + (1 << 33) - 900_000
        let chunk = packets[start..<min(packets.count, start + 100)].flatMap { $0 }
        try rig.server.write(BarePackets.tag(ticks & (1 << 33 - 1)) + chunk, to: "b\(index).\(ending)")
        lines += ["#EXTINF:2.4,", "b\(index).\(ending)"]
      }
      try rig.server.write(Array((lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n").utf8), to: "a.m3u8")
      let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
      let reader = try rig.reader(try rig.session("a.m3u8"))
      let samples = try reader.frames(2_000_000)
      #expect(samples.count == whole.count && samples == whole, "\(ending)")
      for frame in [Int64(700_001), 100, 903_000] {
        try reader.seek(toFrame: frame)
        #expect(reader.positionDoubt == nil)
        let first = Int(frame) * 2
        #expect(try reader.frames(3_000) == Array(whole[first..<first + 6_000]), "\(ending) at \(frame)")
      }
      #expect(rig.errorCodes.isEmpty)
    }
  }

  @Test func audioAfterADiscontinuityFollowsWithoutAGap() throws {
    let rig = try HLSRig()
    // The second half comes before the first: timestamps jump back.
    let halves = try (rig.audio(6..<12), rig.audio(0..<6))
    var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2"]
    for index in Array(6..<12) + Array(0..<6) {
      if index == 0 { lines.append("#EXT-X-DISCONTINUITY") }
      lines += ["#EXTINF:\(rig.segments[index].length),", rig.segments[index].name]
    }
    try rig.server.write(Array((lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n").utf8), to: "a.m3u8")
    let session = try rig.session("a.m3u8")
    let fresh = try rig.reader(session)
    let target = Int64(halves.0.count / 2 + 100_000)
    try fresh.seek(toFrame: target)
    #expect(fresh.positionDoubt == .estimated, "only reading the first part shows where the second one starts")
    let reader = try rig.reader(session)
    #expect(try reader.frames(2_000_000) == halves.0 + halves.1)
    #expect(reader.popWarning() == nil)
    try reader.seek(toFrame: target)
    #expect(reader.positionDoubt == nil)
    #expect(try reader.frames(3_000) == Array(halves.1[200_000..<206_000]))
  }

  /// Advertisements may have other rates, and be in other variants.
  @Test func sampleRateMayChangeAtADiscontinuity() throws {
    let rig = try HLSRig()
    let other = try HLSRig(["-c:a", "aac", "-aac_pns", "0", "-ar", "48000", "-ac", "1"], name: "o%d.ts")
    for index in 0..<6 {
      try rig.server.write(try readFile(other.server.files.file("o\(index).ts")), to: "o\(index).ts")
    }
    try other.server.write(other.bytes(0..<6), to: "part.ts")
    let mono = try AudioTrackReader(asset: Asset(path: other.server.files.file("part.ts")))
    #expect(mono.format == AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    let expected = try converted(
      mono.readToEnd(), from: mono.format, to: AudioFormat(sampleRateHz: 44_100, channelCount: 2))
    let halves = try (rig.audio(0..<6), rig.audio(6..<12))
    var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2"]
    for (number, name)
      in (Array(0..<6).map { "s\($0).ts" } + (0..<6).map { "o\($0).ts" } + (6..<12).map { "s\($0).ts" })
      .enumerated()
    {
      if number == 6 || number == 12 { lines.append("#EXT-X-DISCONTINUITY") }
      let segment = number < 12 ? number % 6 : number - 6
      lines += ["#EXTINF:\(rig.segments[segment].length),", name]
    }
    try rig.server.write(Array((lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n").utf8), to: "a.m3u8")
    let reader = try rig.reader(try rig.session("a.m3u8"))
    let samples = try reader.frames(3_000_000)
    #expect(reader.popWarning() == nil && rig.errorCodes.isEmpty)
    #expect(samples.count == halves.0.count + expected.count + halves.1.count)
    #expect(samples.prefix(halves.0.count).elementsEqual(halves.0))
    #expect(samples.dropFirst(halves.0.count).prefix(expected.count).elementsEqual(expected))
    #expect(samples.suffix(halves.1.count).elementsEqual(halves.1))
    // A seek into it finds the same audio, except that the resampler starts up to half a frame earlier or later.
    let target = halves.0.count / 2 + 200_000
    try reader.seek(toFrame: Int64(target))
    let found = try reader.frames(20_000)
    let largest = zip(found, samples[(2 * target)...]).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
    print("after a seek, the conversion differs by at most \(largest)")
    #expect(found.count == 40_000 && largest < 1 / 1_024)
  }

  private func converted(_ samples: [Float], from input: AudioFormat, to output: AudioFormat) throws -> [Float] {
    let converter = try AudioConverter(from: input, to: output)
    var buffer = [Float](repeating: 0, count: samples.count * 4)
    let count = try buffer.withUnsafeMutableBufferPointer { buffer in
      try samples.withUnsafeBufferPointer { samples in
        let (base, source) = (try #require(buffer.baseAddress), try #require(samples.baseAddress))
        let capacity = buffer.count / output.channelCount
        var count = try converter.convert(
          source, frameCount: samples.count / input.channelCount, into: base, capacityFrames: capacity)
        count += try converter.drain(into: base + count * output.channelCount, capacityFrames: capacity - count)
        return count
      }
    }
    return Array(buffer.prefix(count * output.channelCount))
  }

  @Test func missingSegmentIsRequestedThreeTimesThenSilent() throws {
    let rig = try HLSRig()
    let whole = try rig.audio(0..<12)
    try rig.write("a.m3u8", 0..<12, before: [8: "#EXT-X-GAP"], query: [3: "?status=404", 6: "?status=500&times=2"])
    let reader = try rig.reader(try rig.session("a.m3u8"))
    let samples = try reader.frames(2_000_000)
    #expect(samples.count == whole.count)
    let different = zip(samples, whole).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
    let first = try #require(different.first)
    let last = try #require(different.last)
    // Segments 3 and 8, with the overlap of the decoder's windows.
    #expect(first > 2 * 44_100 * 5 && last < 2 * 44_100 * 19)
    #expect(samples[2 * 44_100 * 7] == 0 && samples[2 * 44_100 * 11] == whole[2 * 44_100 * 11])
    #expect(rig.errorCodes.sorted() == [2043, 2043, 2043, 2047, 2047, 2064, 2064])
    #expect(reader.popWarning()?.error.code == .irregularTimestamps)
  }

  @Test func manyMissingSegmentsEndTheStreamOrSwitchTheVariant() throws {
    let rig = try HLSRig()
    let missing = Dictionary(uniqueKeysWithValues: (4..<12).map { ($0, "?status=404") })
    try rig.write("low.m3u8", 0..<12, query: missing)
    let reader = try rig.reader(try rig.session("low.m3u8"))
    expectError(.segmentUnavailable) { try reader.frames(2_000_000) }

    try rig.write("high.m3u8", 0..<12)
    try rig.server.write(
      Array(
        """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="mp4a.40.2"
        none.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="mp4a.40.2"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2"
        high.m3u8
        """.utf8), to: "master.m3u8")
    let whole = try rig.audio(0..<12)
    let other = try rig.reader(try rig.session("master.m3u8"))
    let samples = try other.frames(2_000_000)
    #expect(samples.count == whole.count)
    #expect(samples.prefix(300_000) == whole.prefix(300_000) && samples.suffix(300_000) == whole.suffix(300_000))
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 2)
  }

  /// A variant that failed before is used again when its replacement fails.
  @Test func firstVariantIsPlayedAgainAfterItsReplacementFails() throws {
    let rig = try CodedStreamRig()
    for (file, name, missing) in [(1, "a", 4..<10), (2, "b", 14..<20)] {
      try rig.encode(file, as: name, seconds: 24)
      try rig.write(name, query: Dictionary(uniqueKeysWithValues: missing.map { ($0, "?status=404") }))
    }
    try rig.write(master: [
      "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"fLaC\"", "a.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"fLaC\"",
      "b.m3u8",
    ])
    let reader = try rig.reader(try rig.session())
    let runs = CodedStreamRig.runs(try reader.frames(2_000_000))
    print(runs)
    #expect(runs.map(\.file) == [1, 2, 1] && runs.last?.endIndex == 24 * 48_000)
    for run in runs { #expect(run.firstIndex == run.position, "no sample is lost or repeated") }
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 2)
  }

  @Test func unusablePlaylistsReportTheirErrors() throws {
    let rig = try HLSRig()
    func variant(_ location: String) -> [UInt8] { Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(location)\n".utf8) }
    try rig.server.write(variant("self.m3u8"), to: "self.m3u8")
    try rig.server.write(variant("self.m3u8"), to: "other.m3u8")
    try rig.server.write(variant("file:///etc/hostname"), to: "file.m3u8")
    try rig.server.write(variant("source.wav"), to: "wav.m3u8")
    try rig.server.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-ENDLIST\n".utf8), to: "empty.m3u8")
    try rig.server.write(
      Array(("#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + String(repeating: "#EXTINF:1,\n", count: 900_000)).utf8),
      to: "long.m3u8")
    for (name, code) in [
      ("self", 2062), ("other", 2062), ("file", 2063), ("wav", 2060), ("empty", 2060), ("long", 2061),
    ] {
      #expect(errorCode { _ = try Asset(url: "\(rig.server.address)/\(name).m3u8").load() } == code, "\(name)")
    }
    try rig.server.write(Array("#EXTM3U\n#EXTINF:1,a\na.mp3\n".utf8), to: "plain.m3u8")
    expectError(.unknownFormat, "a list, not a stream") { try Asset(url: "\(rig.server.address)/plain.m3u8").load() }
  }

  @Test func localPlaylistIsReadAsAStream() throws {
    let rig = try HLSRig()
    let reader = try AudioTrackReader(asset: Asset(path: rig.server.files.file("vod.m3u8")))
    #expect(try reader.readToEnd() == rig.audio(0..<rig.segments.count))
    let precise = Asset(path: rig.server.files.file("vod.m3u8"), prefersPreciseDuration: true)
    let properties = try precise.load()
    #expect(properties.providesPreciseDuration)
    #expect(properties.duration == reader.end.map { MediaTime(frame: $0.frame, rate: 44_100) })
  }

  /// A local playlist may contain URLs. The asset's options determine whether and how servers are accessed, and the log
  /// has the requests.
  @Test func localPlaylistAccessesServersWithItsAssetsOptions() throws {
    let rig = try HLSRig()
    let path = rig.server.files.file("far.m3u8")
    let lines = String(decoding: try readFile(rig.server.files.file("vod.m3u8")), as: UTF8.self)
    let far = lines.split(separator: "\n").map { $0.hasPrefix("#") ? String($0) : "\(rig.server.address)/\($0)" }
    try rig.server.write(Array(far.joined(separator: "\n").utf8), to: "far.m3u8")
    var options = HTTPOptions()
    options.isNetworkAllowed = false
    let forbidden = Asset(path: Array(path.utf8), options: options)
    expectError(.networkNotAllowed) { try forbidden.load() }
    #expect(try rig.server.drain().isEmpty)
    options.isNetworkAllowed = true
    options.headers = [.init(name: "X-Test", value: "a")]
    // A file has no origin to which header fields could apply.
    #expect(try Asset(path: Array(path.utf8), options: options).load().duration.isNumeric)
    #expect(try !rig.server.drain().contains("header X-Test: a"))
    options.headerScope = .any
    let asset = Asset(path: Array(path.utf8), options: options)
    #expect(try AudioTrackReader(asset: asset).readToEnd() == rig.audio(0..<rig.segments.count))
    #expect(try rig.server.drain().contains("header X-Test: a"))
    #expect(asset.networkLog.accessEvents.map(\.uri) == [path] && asset.networkLog.errorEvents.isEmpty)
    #expect(asset.networkLog.accessEvents.first.map { $0.numberOfBytesTransferred > 100_000 } == true)
  }

  @Test func headerFieldsAreNotSentToOtherServersOfAStream() throws {
    let (rig, other) = (try HLSRig(), try HTTPServer())
    for segment in rig.segments { try other.write(try readFile(rig.server.files.file(segment.name)), to: segment.name) }
    try other.write([UInt8](repeating: 7, count: 16), to: "key")
    try rig.server.write(
      Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(other.address)/media.m3u8\n".utf8), to: "master.m3u8")
    func media(_ lines: [String]) -> [UInt8] {
      let text = ["#EXTM3U", "#EXT-X-TARGETDURATION:2"] + lines + ["#EXT-X-ENDLIST"]
      return Array(text.joined(separator: "\n").utf8)
    }
    let (first, second) = (rig.segments[0], rig.segments[1])
    let lines = [
      "#EXTINF:\(first.length),", "\(rig.server.address)/\(first.name)", "#EXTINF:\(second.length),",
      "\(other.address)/\(second.name)",
    ]
    try other.write(media(lines), to: "media.m3u8")
    try rig.server.write(media(lines), to: "media.m3u8")
    try rig.server.write(
      media(
        ["#EXT-X-KEY:METHOD=AES-128,URI=\"\(other.address)/key\"", "#EXT-X-MAP:URI=\"\(other.address)/key\""] + lines),
      to: "keys.m3u8")
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Api-Key", value: "k"), .init(name: "Authorization", value: "Bearer t")]
    options.reconnectDelays = []
    for name in ["media.m3u8", "master.m3u8", "keys.m3u8"] {
      let asset = Asset(url: try HTTPURL("\(rig.server.address)/\(name)"), options: options)
      if name == "keys.m3u8" {
        expectError(.decryptionFailed) { try AudioTrackReader(asset: asset).readToEnd() }
      } else {
        #expect(try AudioTrackReader(asset: asset).readToEnd() == rig.audio(0..<2))
      }
      let (own, others) = (try rig.server.drain(), try other.drain())
      #expect(own.contains("header X-Api-Key: k") && own.contains("header Authorization: Bearer t"), "\(name)")
      #expect(others.contains { $0.hasPrefix("request ") }, "\(name)")
      #expect(!others.contains { $0.hasPrefix("header X-Api-Key") || $0.hasPrefix("header Auth") }, "\(name)")
    }
    options.headerScope = .any
    let asset = Asset(url: try HTTPURL("\(rig.server.address)/media.m3u8"), options: options)
    #expect(try AudioTrackReader(asset: asset).readToEnd() == rig.audio(0..<2))
    #expect(try other.drain().contains("header X-Api-Key: k"))
  }

  @Test func onlyTheFirstOfManyDeadVariantsAreTried() throws {
    let rig = try HLSRig()
    let variants = (0..<511).map { "#EXT-X-STREAM-INF:BANDWIDTH=\(1_000 - $0)\nnone\($0).m3u8" }
    try rig.server.write(Array((["#EXTM3U"] + variants).joined(separator: "\n").utf8), to: "master.m3u8")
    expectError(.httpNotFound) { try rig.session("master.m3u8") }
    let requests = try rig.server.drain().filter { $0.hasPrefix("request ") }.count
    #expect(requests == StreamVariants.maximumAttemptCount)
  }

  /// A segment that contains only tags is not kept.
  @Test func tagsBeforeAudioAreBufferedUpToALimit() throws {
    let rig = try HLSRig()
    // Each has 100 KiB of padding.
    let tag = Array("ID3".utf8) + [4, 0, 0, 0, 6, 32, 0] + [UInt8](repeating: 0, count: 102_400)
    try rig.server.write((0..<200).flatMap { _ in tag }, to: "tags.aac")
    try rig.server.write(
      Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\ntags.aac\n#EXT-X-ENDLIST".utf8), to: "a.m3u8")
    let session = try rig.session("a.m3u8")
    let entry = try #require(session.timeline.entry(0))
    let bytes = try SegmentBytes(entry, session: session, fetcher: session.fetcher, interrupt: Interrupt())
    try bytes.open()
    #expect(bytes.head.count > 900_000 && bytes.head.count <= 1 << 20)
  }

  @Test func seekLoadsOnlyTheSegmentsThatItNeeds() throws {
    let rig = try HLSRig()
    let whole = try rig.audio(0..<12)
    let session = try rig.session("vod.m3u8")
    let reader = try rig.reader(session)
    try reader.seek(toFrame: 44_100 * 17)
    #expect(try reader.frames(1_000) == Array(whole[2 * 44_100 * 17..<2 * (44_100 * 17 + 1_000)]))
    let requests = try rig.server.drain().filter { $0.hasPrefix("request") }.compactMap {
      $0.split(separator: " ").dropFirst(2).first
    }
    #expect(requests.contains("/s8.ts"))
    #expect(!requests.contains { ["/s3.ts", "/s4.ts", "/s5.ts", "/s6.ts"].contains($0) })
  }

  @Test func openingOfAHangingStreamIsCancelled() throws {
    let rig = try HLSRig()
    try rig.write("a.m3u8", 0..<12, query: [0: "?hold=never"])
    let asset = try Asset(url: "\(rig.server.address)/a.m3u8")
    let opening = AssetOpening()
    let thread = CodeThread { _ = try opening.load(asset) }
    try rig.server.wait("gate never")
    opening.cancel()
    #expect(thread.code() == 6015)
    rig.server.open(gate: "never")
    #expect(try asset.load().hasAudio)
  }
}
