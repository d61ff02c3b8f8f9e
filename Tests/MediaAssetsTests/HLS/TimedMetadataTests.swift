import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Timed metadata of an HLS stream: ID3 tags between its audio, and date ranges.
@Suite(.timeLimit(.minutes(5))) struct TimedMetadataTests {
  private func titles(_ groups: [TimedMetadataGroup]) -> [String] {
    groups.flatMap { group in group.items.filter { $0.key == "TIT2" }.compactMap(\.stringValue) }
  }

  private func write(
    _ rig: HLSRig, _ index: Int, _ tags: [(after: Int, tag: [UInt8])], _ carriage: TimedID3.Carriage = .hls
  ) throws {
    let name = rig.segments[index].name
    let bytes = try readFile(rig.server.files.file(name))
    let first = try #require(TimedID3.firstStamp(in: bytes))
    try rig.server.write(TimedID3.adding(tags.map { (first + $0.after, $0.tag) }, to: bytes, carriage), to: name)
  }

  @Test func tagsOfATransportStreamAreReturnedAtTheirTimes() throws {
    let rig = try HLSRig()
    let audio = try rig.reader(
      try {
        try rig.write("plain.m3u8", 0..<4)
        return try rig.session("plain.m3u8")
      }()
    ).frames(44_100 * 5)
    try write(rig, 0, [(45_000, TimedID3.tag("Half a second", owner: "x.example", data: [1, 2]))])
    try write(rig, 1, [(0, TimedID3.tag("Two")), (90_000, TimedID3.tag("Three"))])
    try rig.write("list.m3u8", 0..<4)
    let reader = try rig.reader(try rig.session("list.m3u8"))
    #expect(try reader.frames(44_100 * 4 / 10).count == 44_100 * 4 / 10 * 2 && reader.popTimedMetadata() == [])
    _ = try reader.frames(44_100 / 5)
    let early = reader.popTimedMetadata()
    #expect(early.map { $0.items.map(\.identifier.rawValue) } == [["id3/TIT2", "id3/PRIV"]])
    #expect(
      early.first?.items.last?.dataValue == [1, 2] && early.first?.items.last?.extraAttributes[.owner] == "x.example")
    #expect(early.first?.items.first?.commonKey == .title && early.first?.isCarriedOver == false)
    let earlyTime: Double = try #require(early.first).time.seconds
    #expect(abs(earlyTime - 0.5) < 0.001, "\(early)")
    #expect(early.first?.items.first?.time == early.first?.time)
    _ = try reader.frames(44_100 * 3)
    let later = reader.popTimedMetadata()
    #expect(titles(later) == ["Two", "Three"] && later.allSatisfy { !$0.isCarriedOver })
    try #require(later.count == 2)
    let laterTimes: [Double] = later.map(\.time.seconds)
    #expect(abs(laterTimes[1] - laterTimes[0] - 1) < 0.001)
    // After a seek the current tag is returned, and the later ones again.
    try reader.seek(toFrame: 44_100 * 5 / 2)
    _ = try reader.frames(44_100)
    let again = reader.popTimedMetadata()
    #expect(titles(again) == ["Two", "Three"] && again.map(\.isCarriedOver) == [true, false])
    #expect(again.map(\.time) == later.map(\.time))
    // The audio is unaffected by them.
    try reader.seek(toFrame: 0)
    #expect(try reader.frames(44_100 * 5) == audio)
  }

  @Test(arguments: TimedID3.Carriage.allCases)
  func tagsAreFoundInEveryTransportStreamCarriage(carriage: TimedID3.Carriage) throws {
    let rig = try HLSRig()
    let tags = [TimedID3.tag("Small"), TimedID3.tag(String(repeating: "L", count: 130), version: 3)]
    try write(rig, 0, [(45_000, tags[0]), (90_000, tags[1])], carriage)
    try rig.write("list.m3u8", 0..<2)
    let reader = try rig.reader(try rig.session("list.m3u8"))
    _ = try reader.frames(44_100 * 3 / 2)
    let groups = reader.popTimedMetadata()
    #expect(titles(groups) == ["Small", String(repeating: "L", count: 130)])
    let times: [Double] = groups.map(\.time.seconds)
    try #require(times.count == 2)
    #expect(abs(times[1] - times[0] - 0.5) < 0.001)
  }

  @Test(arguments: [2, 3, 4] as [UInt8]) func tagBytesThatFFmpegRemovesAreRestored(version: UInt8) throws {
    let tags = ["A", String(repeating: "L", count: 130), String(repeating: "M", count: 300)].map {
      TimedID3.tag($0, version: version)
    }
    for tag in tags {
      #expect(TransportTag.restored(tag) == tag)
      #expect(TransportTag.restored(Array(tag.dropFirst(5))).map { Array($0.dropFirst(4)) } == Array(tag.dropFirst(4)))
      #expect(TransportTag.restored(Array((tag + tag).dropFirst(5)))?.count == 2 * tag.count)
      for count in 0..<(tag.count - 5) { #expect(TransportTag.restored(Array(tag.dropFirst(5).prefix(count))) == nil) }
      for index in 5..<tag.count {
        var bytes = tag
        bytes[index] = 0xFF
        _ = TransportTag.restored(Array(bytes.dropFirst(5)))
      }
      // Other bytes after it, or before it.
      #expect(TransportTag.restored(Array(tag.dropFirst(5)) + [1, 2, 3]) == nil)
      #expect(TransportTag.restored([1] + tag.dropFirst(5)) == nil)
      // Of a rewritten tag only the frames remain.
      let frames = Array(tag.dropFirst(10))
      #expect(TransportTag.restored(frames).map { Array($0.dropFirst(5)) } == Array(tag.dropFirst(5)))
      #expect(TransportTag.restored(Array(frames.dropLast())) == nil && TransportTag.restored(frames + [1]) == nil)
    }
    // The version is recognizable from frames longer than 127 bytes, or short names.
    let long = tags.dropFirst(version == 2 ? 0 : 1)
    #expect(long.allSatisfy { TransportTag.restored(Array($0.dropFirst(5))) == $0 })
    #expect(long.allSatisfy { TransportTag.restored(Array($0.dropFirst(10))) == $0 })
    #expect(TransportTag.restored([]) == nil && TransportTag.restored(Array("Text".utf8)) == nil)
  }

  @Test func tagsBeforeRawAudioAreReturnedWithoutTheirTimestamps() throws {
    let rig = try HLSRig()
    // Audio without a container, in segments with timestamps.
    let path = rig.server.files.file("all.aac")
    try Tool.ffmpeg("-i", rig.server.files.file("source.wav"), "-t", "6", "-c:a", "aac", path)
    let frames = Self.frames(ofADTS: try readFile(path))
    var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2"]
    for index in 0..<3 {
      let chunk = frames[(index * 80)..<(index * 80 + 80)].flatMap { $0 }
      let title = ["", "B", "C"][index]
      let tag = TimedID3.stamped(900_000 + index * 80 * 1_024 * 90_000 / 44_100, title: title)
      try rig.server.write(tag + chunk, to: "p\(index).aac")
      lines += ["#EXTINF:1.858,", "p\(index).aac"]
    }
    try rig.server.write(Array((lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n").utf8), to: "bare.m3u8")
    let reader = try rig.reader(try rig.session("bare.m3u8"))
    _ = try reader.frames(44_100 * 5)
    let groups = reader.popTimedMetadata()
    #expect(groups.map { $0.items.map(\.identifier.rawValue) } == [["id3/TIT2"], ["id3/TIT2"]])
    #expect(titles(groups) == ["B", "C"])
    for (group, frame) in zip(groups, [81_920, 163_840]) {
      #expect(abs(group.time.seconds - Double(frame) / 44_100) < 0.001, "\(groups)")
    }
  }

  private static func frames(ofADTS bytes: [UInt8]) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var offset = 0
    while offset + 7 <= bytes.count {
      let length = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5]) >> 5
      guard length > 7 else { break }
      frames.append(Array(bytes[offset..<min(bytes.count, offset + length)]))
      offset += length
    }
    return frames
  }

  @Test func tagsInEventMessagesAreReturned() throws {
    let rig = try HLSRig(
      ["-c:a", "aac", "-aac_pns", "0", "-hls_segment_type", "fmp4"], name: "s%d.m4s")
    let name = rig.segments[1].name
    let path = rig.server.files.file(name)
    let events =
      TimedID3.event(TimedID3.tag("From the start"), version: 0, timescale: 1_000, time: 500)
      + TimedID3.event(TimedID3.tag("By the clock"), version: 1, timescale: 44_100, time: 44_100 * 3)
      + TimedID3.event(TimedID3.tag("Not ours"), version: 1, timescale: 44_100, time: 0, scheme: "urn:other")
    try rig.server.write(events + readFile(path), to: name)
    let reader = try rig.reader(try rig.session("vod.m3u8"))
    _ = try reader.frames(44_100 * 5)
    let groups = reader.popTimedMetadata()
    #expect(titles(groups) == ["From the start", "By the clock"])
    #expect(abs((groups.first?.time.seconds ?? 0) - 2.5) < 0.1 && abs((groups.last?.time.seconds ?? 0) - 3) < 0.1)
  }

  private func range(_ id: String, _ start: String, _ attributes: String = "") -> String {
    let separator = attributes.isEmpty ? "" : ","
    return "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-11-22T09:00:\(start)Z\"\(separator)\(attributes)"
  }

  @Test func dateRangesAreReturnedWhenTheyBegin() throws {
    let rig = try HLSRig()
    let tags = [
      "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T09:00:00Z", range("a", "01.5", "DURATION=2,X-COM=\"Ad\",X-N=7"),
      range("b", "03", "CLASS=\"c\",END-ON-NEXT=YES,SCTE35-OUT=0xFC01"), range("c", "04", "CLASS=\"c\""),
    ]
    try rig.write("list.m3u8", 0..<6, before: [0: tags.joined(separator: "\n")])
    let session = try rig.session("list.m3u8")
    let reader = try rig.reader(session)
    _ = try reader.frames(44_100)
    #expect(reader.popTimedMetadata() == [])
    _ = try reader.frames(44_100)
    let first = reader.popTimedMetadata()
    #expect(first.map(\.time) == [MediaTime(value: 1_500_000, timescale: 1_000_000)])
    #expect(first.first?.duration == MediaTime(value: 2, timescale: 1) && first.first?.isCarriedOver == false)
    #expect(
      first.first?.items.map(\.identifier.rawValue) == [
        "hls/ID", "hls/DURATION", "hls/START-DATE", "hls/X-COM", "hls/X-N",
      ])
    #expect(first.first?.items.map(\.stringValue).suffix(2) == ["Ad", "7"])
    #expect(first.first?.items.allSatisfy { $0.extraAttributes[.info] == "a" } == true)
    #expect(first.first?.items[2].dateValue?.hour == 9)
    _ = try reader.frames(44_100 * 3)
    let second = reader.popTimedMetadata()
    #expect(second.map { $0.items.first?.stringValue } == ["b", "c"])
    #expect(second.map(\.duration) == [MediaTime(value: 1, timescale: 1), nil])
    #expect(second.first?.items.first { $0.key == "SCTE35-OUT" }?.dataValue == [0xFC, 1])
    // A current range is reported. An earlier one that has ended, or an instant, is not.
    try reader.seek(toFrame: 44_100 * 5 / 2)
    _ = try reader.frames(441)
    let current = reader.popTimedMetadata()
    #expect(current.map { $0.items.first?.stringValue } == ["a"] && current.map(\.isCarriedOver) == [true])
    try reader.seek(toFrame: 44_100 * 6)
    _ = try reader.frames(441)
    #expect(reader.popTimedMetadata() == [])
  }

  @Test func pendingMetadataIsBounded() throws {
    var metadata = StreamMetadata()
    for index in 0..<2_000 {
      metadata.add(SegmentTag(time: .now, bytes: TimedID3.tag("\(index)")), atFrame: Int64(index))
    }
    let list = Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n".utf8)
    guard case .media(let media) = try HLSPlaylist(parsing: list, at: .url("http://a.example/")) else { return }
    let empty = { HLSTimeline(media) }
    let groups = metadata.drain(before: .max, sampleRateHz: 48_000, empty)
    #expect(groups.count == StreamMetadata.maximumCount && titles(groups).last == "1999")
    // The same tag again, as in a segment that is read twice, is returned once.
    metadata.add(SegmentTag(time: .now, bytes: TimedID3.tag("1999")), atFrame: 1_999)
    #expect(metadata.drain(before: .max, sampleRateHz: 48_000, empty) == [])
    let image = [UInt8](repeating: 1, count: 200_000)
    for index in 0..<100 {
      metadata.add(
        SegmentTag(time: .now, bytes: TimedID3.tag("", owner: "\(index)", data: image)), atFrame: Int64(5_000 + index)
      )
    }
    let large = metadata.drain(before: .max, sampleRateHz: 48_000, empty)
    #expect(large.count == StreamMetadata.maximumByteCount / 200_100)
  }

  @Test func invalidEventMessagesAreIgnored() {
    for version: UInt8 in [0, 1] {
      let whole = Array(TimedID3.event(TimedID3.tag("A"), version: version, timescale: 1_000, time: 5)[8...])
      #expect(EventMessage.tag(in: whole[...], startNanoseconds: 0)?.items.count == 1)
      for count in whole.indices.dropLast(TimedID3.tag("A").count - 3) {
        _ = EventMessage.tag(in: whole[..<count], startNanoseconds: 0)
      }
      for index in whole.indices {
        var bytes = whole
        bytes[index] = 0xFF
        _ = EventMessage.tag(in: bytes[...], startNanoseconds: 1 << 60)?.items
      }
      let zero = TimedID3.event(TimedID3.tag("A"), version: version, timescale: 0, time: 5)[8...]
      #expect(EventMessage.tag(in: zero, startNanoseconds: 0) == nil)
    }
    #expect(EventMessage.tag(in: [2, 0, 0, 0], startNanoseconds: 0) == nil)
  }
}
