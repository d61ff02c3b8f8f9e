import PlayheadMediaCore
import Testing

@testable import PlayheadPlaylists

/// Parsing of HLS playlists.
@Suite struct HLSParserTests {
  private static let location = PlaylistLocation.url("http://a.example/live/list.m3u8")

  private func parse(_ lines: [String], at location: PlaylistLocation = location) throws -> HLSPlaylist {
    try HLSPlaylist(parsing: Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8), at: location)
  }

  private func media(_ lines: [String], at location: PlaylistLocation = location) throws -> HLSMediaPlaylist {
    guard case .media(let list) = try parse(lines, at: location) else { throw MediaError(.notAPlaylist, "a master") }
    return list
  }

  private func master(_ lines: [String]) throws -> HLSMasterPlaylist {
    guard case .master(let list) = try parse(lines) else { throw MediaError(.notAPlaylist, "a list of segments") }
    return list
  }

  private func code(_ lines: [String], at location: PlaylistLocation = location) -> Int {
    do {
      _ = try parse(lines, at: location)
      return 0
    } catch let error as MediaError { return error.code.rawValue } catch { return -1 }
  }

  @Test func segmentsHaveLocationsDurationsNumbersAndDates() throws {
    let list = try media([
      "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:7", "#EXT-X-DISCONTINUITY-SEQUENCE:2",
      "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"100@8\"", "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00.5+01:00",
      "#EXTINF:3.9999996,title", "a.m4s?x=1", "#EXT-X-DISCONTINUITY", "#EXT-X-GAP", "#EXTINF:.5", "/b.m4s",
      "#EXT-X-BYTERANGE:10@5", "#EXTINF:2,", "../c", "#EXT-X-BYTERANGE:20", "#EXTINF:2,", "../c", "#EXT-X-ENDLIST",
    ])
    #expect(list.targetNanoseconds == 4_000_000_000 && list.isEnded && list.firstNumber == 7)
    #expect(list.segments.map(\.number) == [7, 8, 9, 10])
    #expect(list.segments.map(\.discontinuityNumber) == [2, 3, 3, 3])
    #expect(list.segments.map(\.durationNanoseconds) == [3_999_999_600, 500_000_000, 2_000_000_000, 2_000_000_000])
    #expect(
      list.segments.map(\.location)
        == ["live/a.m4s?x=1", "b.m4s", "c", "c"].map { .url("http://a.example/\($0)") })
    #expect(list.segments.map(\.isGap) == [false, true, false, false])
    #expect(list.segments[2].byteRange == HLSByteRange(start: 5, count: 10))
    #expect(list.segments[3].byteRange == HLSByteRange(start: 15, count: 20))
    #expect(list.segments[0].date == ISODate.parse("2026-11-22T09:00:00.500Z") && list.segments[1].date == nil)
    #expect(
      list.maps == [
        HLSMap(location: .url("http://a.example/live/init.mp4"), byteRange: HLSByteRange(start: 8, count: 100))
      ])
  }

  @Test func segmentsMayLastLongerThanAnHour() throws {
    let list = try media([
      "#EXT-X-TARGETDURATION:86400", "#EXTINF:3600,", "a", "#EXTINF:5400.5,", "b", "#EXTINF:86400,", "c",
      "#EXT-X-ENDLIST",
    ])
    #expect(list.targetNanoseconds == 86_400_000_000_000)
    #expect(list.segments.map(\.durationNanoseconds) == [3_600_000_000_000, 5_400_500_000_000, 86_400_000_000_000])
  }

  @Test func keysApplyToTheSegmentsAfterThem() throws {
    let list = try media([
      "#EXT-X-TARGETDURATION:4", "#EXTINF:4,", "0", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x0F", "#EXTINF:4,", "1",
      "#EXTINF:4,", "2", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
      "#EXTINF:4,", "3", "#EXT-X-KEY:METHOD=NONE", "#EXTINF:4,", "4",
    ])
    #expect(list.segments.map(\.keyIndex) == [nil, 0, 0, 1, nil])
    #expect(list.keys[0].method == .aes128 && list.keys[0].location == .url("http://a.example/live/k"))
    #expect(list.keys[0].initializationVector == [UInt8](repeating: 0, count: 15) + [15])
    #expect(list.keys[1].method == .other("SAMPLE-AES"))
  }

  @Test func dateRangesAreParsedAndPositionedOnTheTimeline() throws {
    func range(_ attributes: String) -> String { "#EXT-X-DATERANGE:" + attributes }
    let lines = [
      "#EXT-X-TARGETDURATION:4", "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00Z", "#EXTINF:4,", "0",
      range("ID=\"a\",CLASS=\"x\",START-DATE=\"2026-11-22T10:00:02Z\",END-ON-NEXT=YES,X-A=\"b\",X-H=0xABC,X-F=1.5"),
      range("ID=\"b\",CLASS=\"x\",START-DATE=\"2026-11-22T10:00:05Z\",PLANNED-DURATION=3"),
      // A repeated range can add attributes, but cannot change known ones.
      range("ID=\"b\",START-DATE=\"2026-11-22T10:00:09Z\",DURATION=1,X-L=\"later\""),
      range("ID=\"before\",START-DATE=\"2026-11-22T09:59:50Z\",END-DATE=\"2026-11-22T10:00:01Z\""),
      // No id, no date, or no attribute list: ignored.
      range("START-DATE=\"2026-11-22T10:00:05Z\""), range("ID=\"c\""), range("ID=\"c\",START-DATE=\"now\""), range("?"),
      "#EXTINF:4,", "1", "#EXT-X-ENDLIST",
    ]
    let list = try media(lines)
    #expect(list.dateRanges.map(\.id) == ["a", "b", "before"])
    #expect(
      list.dateRanges[0].attributes["X-A"] == .text("b") && list.dateRanges[0].attributes["X-F"] == .number("1.5"))
    #expect(list.dateRanges[0].attributes["X-H"] == .data([0x0A, 0xBC]) && list.dateRanges[0].endsOnNext)
    #expect(list.dateRanges[1].attributes["X-L"] == .text("later"))
    var timeline = HLSTimeline(list)
    #expect(timeline.dateRanges.map(\.range.id) == ["before", "a", "b"])
    #expect(timeline.dateRanges.map(\.startNanoseconds) == [-10, 2, 5].map { $0 * 1_000_000_000 })
    #expect(timeline.dateRanges.map(\.endNanoseconds) == [1, 5, 6].map { $0 * 1_000_000_000 })
    let version = timeline.dateRangeVersion
    timeline.move(0, toNanoseconds: 1_000_000_000)
    #expect(timeline.dateRanges.map(\.startNanoseconds) == [-9, 3, 6].map { $0 * 1_000_000_000 })
    #expect(timeline.dateRangeVersion != version)
    // Without recording dates of segments, the positions are not known.
    #expect(HLSTimeline(try media(lines.filter { !$0.contains("PROGRAM") })).dateRanges == [])
    let many = (0..<3_000).map { range("ID=\"\($0)\",START-DATE=\"2026-11-22T10:00:02Z\"") }
    #expect(try media(many + lines).dateRanges.count == HLSDateRange.maximumCount)
    let long = String(repeating: "v", count: 300_000)
    let large = (0..<9).map { range("ID=\"\($0)\",START-DATE=\"2026-11-22T10:00:02Z\",X-A=\"\(long)\"") }
    #expect(try media(large + lines).dateRanges.count == 6)
  }

  @Test func sessionDataOfAMasterPlaylistIsParsedAndLimited() throws {
    let variant = ["#EXT-X-STREAM-INF:BANDWIDTH=1", "a.m3u8"]
    let list = try master(
      [
        "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.title\",VALUE=\"Titel\",LANGUAGE=\"de\"",
        "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.title\",VALUE=\"Title\",LANGUAGE=\"en\"",
        "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.lyrics\",URI=\"lyrics.json\"",
        "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.raw\",URI=\"raw\",FORMAT=RAW",
        // Neither value nor URI, both, no id, a forbidden location, or no attribute list: ignored.
        "#EXT-X-SESSION-DATA:DATA-ID=\"a\"", "#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"b\",URI=\"c\"",
        "#EXT-X-SESSION-DATA:VALUE=\"b\"", "#EXT-X-SESSION-DATA:DATA-ID=\"a\",URI=\"file:///etc/passwd\"",
        "#EXT-X-SESSION-DATA:?",
      ] + variant)
    #expect(
      list.sessionData.map(\.id) == ["com.example.title", "com.example.title"]
        + ["lyrics", "raw"].map { "com.example.\($0)" })
    #expect(list.sessionData.map(\.language) == ["de", "en", nil, nil])
    #expect(
      list.sessionData.map(\.content) == [
        .value("Titel"), .value("Title"), .location(.url("http://a.example/live/lyrics.json"), isJSON: true),
        .location(.url("http://a.example/live/raw"), isJSON: false),
      ])
    let many = (0..<2_000).map { "#EXT-X-SESSION-DATA:DATA-ID=\"\($0)\",VALUE=\"v\"" }
    #expect(try master(many + variant).sessionData.count == HLSSessionData.maximumCount)
    let long = String(repeating: "v", count: 300_000)
    let large = (0..<20).map { "#EXT-X-SESSION-DATA:DATA-ID=\"\($0)\",VALUE=\"\(long)\"" }
    #expect(try master(large + variant).sessionData.count == 3)
  }

  @Test func variantsAndRenditionsAreParsed() throws {
    let list = try master([
      "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"Français\",LANGUAGE=\"fr\",DEFAULT=YES,URI=\"fr.m3u8\"",
      "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"S\",URI=\"s.m3u8\"",
      "#EXT-X-STREAM-INF:BANDWIDTH=300000,AVERAGE-BANDWIDTH=200000,CODECS=\"avc1.42e00a,mp4a.40.2\",RESOLUTION=1x1,AUDIO=\"g\"",
      "v.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.5\"", "a.m3u8",
    ])
    #expect(list.variants.map(\.bandwidth) == [300_000, 64_000] && list.variants[0].codecs.count == 2)
    #expect(list.variants[0].hasVideo && !list.variants[1].hasVideo)
    #expect(list.audioRenditions.map(\.name) == ["Français"] && list.audioRenditions[0].isDefault)
  }

  @Test func renditionAttributesAreParsed() throws {
    let list = try master([
      "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"Deutsch\",LANGUAGE=\"de-AT\",ASSOC-LANGUAGE=\"gsw\",AUTOSELECT=YES,"
        + "CHANNELS=\"6/-\",CHARACTERISTICS=\"public.accessibility.describes-video, public.easy-to-read\",URI=\"de.m3u8\"",
      "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"English\",DEFAULT=YES,INSTREAM-ID=\"2\",CHANNELS=\"0\"",
      "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"Signs\",LANGUAGE=\"en\",FORCED=YES,URI=\"file:///etc/passwd\"",
      "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\"", "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"CC1\"",
      "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"g\",SUBTITLES=\"s\"", "a.m3u8",
    ])
    let (german, english) = (list.audioRenditions[0], list.audioRenditions[1])
    #expect(german.language == "de-AT" && german.associatedLanguage == "gsw" && german.name == "Deutsch")
    #expect(german.isAutoselect && !german.isDefault && german.channelCount == 6 && german.instreamID == nil)
    #expect(german.characteristics == ["public.accessibility.describes-video", "public.easy-to-read"])
    #expect(german.location == .url("http://a.example/live/de.m3u8"))
    #expect(english.isDefault && english.isAutoselect && english.location == nil && english.instreamID == "2")
    #expect(english.language == nil && english.channelCount == nil && english.characteristics.isEmpty)
    // Subtitles are not loaded, so errors in them do not invalidate the stream.
    #expect(list.subtitleRenditions.map(\.name) == ["Signs"] && list.subtitleRenditions[0].isForced)
    #expect(list.subtitleRenditions[0].location == nil && list.variants[0].subtitleGroup == "s")
    #expect(code(["#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a\"", "#EXT-X-STREAM-INF:BANDWIDTH=1", "a"]) == 2060)
    let many = Array(repeating: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"a\"", count: HLSLimits.variantCount + 1)
    #expect(code(many + ["#EXT-X-STREAM-INF:BANDWIDTH=1", "a"]) == 2061)
    let subtitles = many.map { $0.replacing("AUDIO", with: "SUBTITLES") }
    #expect(
      try master(subtitles + ["#EXT-X-STREAM-INF:BANDWIDTH=1", "a"]).subtitleRenditions.count == HLSLimits.variantCount)
  }

  @Test func invalidPlaylistsHaveTheExpectedErrorCodes() {
    let target = "#EXT-X-TARGETDURATION:4"
    let rows: [([String], Int)] = [
      ([target, "a"], 2060), ([target, "#EXTINF:x,", "a"], 2060), ([target, "#EXTINF:-1,", "a"], 2060),
      ([target, "#EXTINF:86401,", "a"], 2060), (["#EXT-X-ENDLIST", "#EXTINF:1,", "a"], 2060),
      ([target, "#EXT-X-BYTERANGE:5", "#EXTINF:1,", "a"], 2060), ([target, "#EXT-X-BYTERANGE:0@5"], 2060),
      (
        [target]
          + (0..<10).flatMap { ["#EXT-X-BYTERANGE:999999999999999999\($0 == 0 ? "@0" : "")", "#EXTINF:1,", "a"] },
        2060
      ), ([target, "#EXT-X-MAP:URI=\"i\",BYTERANGE=\"999999999999999999@999999999999999999\""], 2060),
      (
        [target] + (0..<3).flatMap { ["#EXT-X-BYTERANGE:4503599627370496\($0 == 0 ? "@0" : "")", "#EXTINF:1,", "a"] },
        2060
      ),
      ([target, "#EXT-X-KEY:METHOD=AES-128"], 2060), ([target, "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xg"], 2060),
      ([target, "#EXT-X-MAP:FOO"], 2060), ([target, "#EXT-X-I-FRAMES-ONLY"], 2060),
      ([target, "#EXTINF:1,", "file:///etc/passwd"], 2063), ([target, "#EXTINF:1,", "gopher://a/b"], 2063),
      ([target, "#EXT-X-KEY:METHOD=AES-128,URI=\"file:///k\""], 2063),
      (["#EXT-X-STREAM-INF:BANDWIDTH=1", "file:///a"], 2063), (["#EXT-X-STREAM-INF:BANDWIDTH=1"], 2060),
      (["#EXT-X-STREAM-INF:BANDWIDTH=1", "a", "#EXTINF:1,", "b"], 2060),
      ([target] + Array(repeating: "#EXTINF:1,\na", count: HLSLimits.segmentCount + 1), 2061),
      (Array(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\na", count: HLSLimits.variantCount + 1), 2061),
      ([String(repeating: "#EXT-X-TARGETDURATION:4\n", count: 400_000)], 2061), (["#EXTINF:1,", "a"], 2060),
    ]
    for (lines, expected) in rows { #expect(code(lines) == expected, "\(lines.prefix(3))") }
    #expect(code([target, "#EXTINF:1,", "http://b.example/a"], at: .file(Array("/a/b.m3u8".utf8))) == 0)
    #expect(code([target, "#EXTINF:1,", "c.ts"], at: .file(Array("/a/b.m3u8".utf8))) == 0)
  }

  private static let long = String(repeating: "x", count: 7_000)

  @Test(arguments: ["http://a.example/\(long)/l", "http://\(long)@a.example/l"])
  func totalSizeOfResolvedLocationsIsLimited(_ list: String) {
    let location = PlaylistLocation.url(list)
    let lines = ["#EXT-X-TARGETDURATION:4"] + Array(repeating: "#EXTINF:1,\na", count: 20_000)
    #expect(code(lines, at: location) == 2061)
  }

  @Test func truncatedPlaylistIsParsedOrRejectedWithAnHLSError() {
    let text = Array(
      """
      #EXTM3U
      #EXT-X-TARGETDURATION:4
      #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x000102030405060708090A0B0C0D0E0F
      #EXT-X-MAP:URI="i",BYTERANGE="10@0"
      #EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00.5+01:00
      #EXTINF:3.5,
      a.ts
      #EXT-X-BYTERANGE:7@9
      #EXTINF:3.5,
      b.ts
      #EXT-X-ENDLIST
      """.utf8)
    for count in 0...text.count {
      do throws(MediaError) { _ = try HLSPlaylist(parsing: Array(text[..<count]), at: Self.location) } catch {
        #expect((2_060...2_063).contains(error.code.rawValue), "\(count)")
      }
    }
  }

  @Test func plainPlaylistsAreNotHLS() {
    #expect(!HLSPlaylist.recognizes(Array("#EXTM3U\n#EXTINF:1,a\na.mp3\n".utf8)))
    #expect(HLSPlaylist.recognizes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n".utf8)))
    #expect(code(["#EXTINF:1,a", "a.mp3"]) == 2060)
  }

  @Test func datesAreParsedAndFormatted() {
    #expect(ISODate.parse("1970-01-01T00:00:00Z") == 0)
    #expect(ISODate.parse("2026-11-22T09:30:00.25+01:00") == 1_795_336_200_250_000_000)
    #expect(ISODate.parse("2024-02-29") == 1_709_164_800_000_000_000)
    #expect(ISODate.parse("1969-12-31T23:59:59.999Z") == -1_000_000)
    for text in [
      "", "2026", "2026-13-01", "2025-02-29", "2026-11-22T24:00:00", "2026-11-22T09:30:00.Z", "2026-11-22T09:30:00Zx",
    ] {
      #expect(ISODate.parse(text) == nil, "\(text)")
    }
    for text in ["2026-11-22T08:30:00.250Z", "1969-12-31T23:59:59.999Z", "2000-02-29T00:00:00.000000001Z"] {
      #expect(ISODate.parse(text).map(ISODate.text) == text)
    }
  }
}

/// Positions of segments in time, and reload times of a playlist.
@Suite struct HLSTimelineTests {
  private func list(
    _ numbers: Range<Int64>, seconds: Int64 = 4, isEnded: Bool = false, dates: [Int64: Int64] = [:]
  ) -> HLSMediaPlaylist {
    var list = HLSMediaPlaylist(targetNanoseconds: seconds * 1_000_000_000)
    list.firstNumber = numbers.lowerBound
    list.isEnded = isEnded
    list.segments = numbers.map {
      HLSSegment(
        location: .url("http://a/\($0)"), durationNanoseconds: seconds * 1_000_000_000, number: $0,
        discontinuityNumber: 0,
        date: dates[$0])
    }
    return list
  }

  private static let second: Int64 = 1_000_000_000

  /// No number overflows, whatever the server sends next.
  @Test func sequenceNumberJumpsAreAcceptedWithinTheTimelineLimit() {
    var timeline = HLSTimeline(list(0..<6, dates: [0: ISODate.parse("1900-01-01T00:00:00Z") ?? 0]))
    let farUpdate = timeline.update(list((1 << 53)..<(1 << 53) + 6))
    #expect(farUpdate == .restarted && timeline.startNanoseconds == 24 * Self.second)
    // Each jump has the maximum permitted length, until the stream exceeds the limit of the timeline.
    var (first, updates) = (Int64(0), Set<HLSTimeline.Update>())
    timeline = HLSTimeline(list(0..<6))
    for _ in 0..<200 {
      first += 6 + HLSLimits.totalNanoseconds / (4 * Self.second)
      updates.insert(timeline.update(list(first..<first + 6)))
      if updates.contains(.exceedsLimits) { break }
    }
    #expect(updates == [.changed, .exceedsLimits])
    #expect(timeline.endNanoseconds > 0 && timeline.endNanoseconds < HLSLimits.timelineNanoseconds * 2)
    let end = timeline.endNanoseconds
    timeline.move(timeline.numbers.lowerBound, toNanoseconds: .max)
    #expect(timeline.endNanoseconds == end)
  }

  @Test func distantDatesHaveNoTimeAndDoNotOverflow() throws {
    let firstDate = try #require(ISODate.parse("1900-01-01T00:00:00Z"))
    let timeline = HLSTimeline(list(0..<6, dates: [0: firstDate]))
    for date in [Int64.min, try #require(ISODate.parse("2100-12-31T23:59:59Z")), .max] {
      #expect(timeline.time(ofDate: date) == nil)
    }
    #expect(timeline.time(ofDate: firstDate + Self.second) == Self.second)
  }

  @Test func timesStayWhenTheLiveWindowMoves() {
    var timeline = HLSTimeline(list(10..<16))
    #expect(timeline.startNanoseconds == 0 && timeline.endNanoseconds == 24 * Self.second)
    #expect(timeline.liveStartNanoseconds == 12 * Self.second && timeline.playStartNanoseconds == 12 * Self.second)
    let update1 = timeline.update(list(10..<16))
    #expect(update1 == .unchanged)
    let update2 = timeline.update(list(12..<18))
    #expect(update2 == .changed)
    #expect(timeline.startNanoseconds == 8 * Self.second && timeline.endNanoseconds == 32 * Self.second)
    #expect(timeline.entry(12)?.startNanoseconds == 8 * Self.second && timeline.entry(11) == nil)
    let update3 = timeline.update(list(11..<17))
    #expect(update3 == .unchanged, "a server with an older playlist")
    #expect(timeline.numbers == 12..<18)
    // Two segments were missed.
    let update4 = timeline.update(list(20..<26))
    #expect(update4 == .changed)
    #expect(timeline.startNanoseconds == 40 * Self.second)
    let update5 = timeline.update(list(0..<6))
    #expect(update5 == .restarted)
    #expect(timeline.startNanoseconds == 64 * Self.second)
    let update6 = timeline.update(list(0..<6, isEnded: true))
    #expect(update6 == .changed)
    #expect(timeline.playStartNanoseconds == timeline.startNanoseconds)
    timeline.move(2, toNanoseconds: 100 * Self.second)
    #expect(timeline.startNanoseconds == 92 * Self.second)
  }

  /// Another variant or rendition of a stream. The timeline of the known one begins at 40 s with segment 20.
  @Test func otherPlaylistOfAStreamIsAlignedToTheSameTimes() {
    let date: Int64 = 1_795_336_200 * Self.second
    func start(_ new: HLSMediaPlaylist, beside known: HLSMediaPlaylist) -> Int64 {
      var other = HLSTimeline(known)
      other.move(known.firstNumber, toNanoseconds: 40 * Self.second)
      return HLSTimeline(new, alignedWith: other).startNanoseconds / Self.second
    }
    // Ended playlists of the same length begin together, whatever their numbers and dates are.
    #expect(
      start(list(0..<6, isEnded: true, dates: [0: 5]), beside: list(20..<26, isEnded: true, dates: [20: 9])) == 40)
    // Dates within the window, before it and after it; the numbers are then ignored.
    for (seconds, expected) in [(Int64(8), Int64(48)), (-30, 10), (100, 140)] {
      let new = list(7..<13, dates: [9: date + (seconds + 8) * Self.second])
      #expect(start(new, beside: list(20..<26, dates: [21: date + 4 * Self.second])) == expected, "\(seconds)")
    }
    #expect(start(list(22..<30), beside: list(20..<26)) == 48 && start(list(18..<24), beside: list(20..<26)) == 32)
    // Without common information, both end together.
    #expect(start(list(100..<104), beside: list(20..<26, dates: [20: date])) == 48)
    // A time beyond the limits is rejected.
    let distant = list(7..<13, dates: [7: Int64.max - 30 * Self.second])
    #expect(start(distant, beside: list(20..<26, dates: [20: -9_000_000_000 * Self.second])) == 40)
  }

  @Test func segmentsAreFoundByTimeAndTimesByDate() {
    let date: Int64 = 1_795_336_200 * Self.second
    let timeline = HLSTimeline(list(10..<16, dates: [12: date]))
    #expect(timeline.number(atNanoseconds: 3_999_999_999) == 10 && timeline.number(atNanoseconds: 4_000_000_000) == 11)
    #expect(timeline.number(atNanoseconds: -1) == 10 && timeline.number(atNanoseconds: .max) == 15)
    #expect(timeline.date(atNanoseconds: 9 * Self.second) == date + Self.second)
    #expect(timeline.date(atNanoseconds: 0) == date - 8 * Self.second)
    #expect(timeline.time(ofDate: date + 5 * Self.second) == 13 * Self.second)
    #expect(timeline.time(ofDate: date + 16 * Self.second) == 24 * Self.second)
    #expect(timeline.time(ofDate: date + 17 * Self.second) == nil)
    #expect(HLSTimeline(list(0..<3)).date(atNanoseconds: 0) == nil)
    #expect(HLSTimeline(list(0..<0)).number(atNanoseconds: 0) == nil)
  }

  @Test func playlistIsReloadedAfterATargetDurationOrHalfOfIt() {
    var schedule = HLSReloadSchedule(now: 0)
    let target = 4 * Self.second
    let nextReload1 = schedule.loaded(startedAt: 0, isChanged: true, targetNanoseconds: target)
    #expect(nextReload1 == target)
    let nextReload2 = schedule.loaded(startedAt: target, isChanged: false, targetNanoseconds: target)
    #expect(nextReload2 == 6 * Self.second)
    let nextReload3 = schedule.failed(at: 6 * Self.second, targetNanoseconds: target)
    #expect(nextReload3 == 8 * Self.second)
    let isStale1 = schedule.becameStale(at: 11 * Self.second, targetNanoseconds: target)
    #expect(!isStale1)
    let isStale2 = schedule.becameStale(at: 12 * Self.second, targetNanoseconds: target)
    #expect(isStale2)
    let isStale3 = schedule.becameStale(at: 13 * Self.second, targetNanoseconds: target)
    #expect(!isStale3, "once")
    _ = schedule.loaded(startedAt: 14 * Self.second, isChanged: true, targetNanoseconds: target)
    let isStale4 = schedule.becameStale(at: 26 * Self.second, targetNanoseconds: target)
    #expect(isStale4)
  }
}

/// The choice of variants.
@Suite struct HLSVariantChoiceTests {
  private func variant(_ name: String, _ bandwidth: Int64, _ codecs: String, group: String? = nil) -> HLSVariant {
    HLSVariant(
      location: .url("http://a/\(name)"), bandwidth: bandwidth,
      codecs: codecs.isEmpty ? [] : codecs.split(separator: ",").map(String.init), audioGroup: group)
  }

  private func names(_ master: HLSMasterPlaylist, limit: Int64? = nil) -> [String] {
    HLSVariantChoice(master).candidates(peakBitRateLimit: limit).map {
      String($0.location.displayText.dropFirst(9))
    }
  }

  @Test func variantsAreOrderedByAudioQualityWithinTheLimit() {
    let master = HLSMasterPlaylist(variants: [
      variant("64", 64_000, "mp4a.40.5"), variant("256", 256_000, "mp4a.40.2"), variant("128", 128_000, "mp4a.40.2"),
      variant("flac", 900_000, "fLaC"), variant("video", 700_000, "avc1.42,mp4a.40.2"), variant("mute", 1, "avc1.42"),
    ])
    #expect(names(master) == ["flac", "256", "128", "video", "64"])
    #expect(names(master, limit: 200_000) == ["128", "64", "256", "video", "flac"])
    #expect(names(master, limit: 0) == names(master))
    #expect(names(HLSMasterPlaylist(variants: [variant("a", 1, ""), variant("b", 2, "")])) == ["b", "a"])
    #expect(names(HLSMasterPlaylist(variants: [variant("v", 1, "avc1")])) == ["v"], "better than none")
  }

  @Test func renditionReplacesTheAudioOfItsVariants() {
    func rendition(_ name: String, isDefault: Bool = false) -> HLSRendition {
      HLSRendition(group: "g", name: name, isDefault: isDefault, location: .url("http://a/\(name)"))
    }
    let master = HLSMasterPlaylist(
      variants: [variant("v", 9, "avc1", group: "g"), variant("w", 8, "avc1", group: "g")],
      audioRenditions: [rendition("en"), rendition("de", isDefault: true)])
    #expect(names(master) == ["de"], "both variants have the same audio")
  }

  @Test func renditionsWithTheSameNameAndLanguageFormOneOption() {
    func rendition(
      _ group: String, _ name: String, _ language: String?, isDefault: Bool = false, isInVariant: Bool = false
    ) -> HLSRendition {
      HLSRendition(
        group: group, name: name, isDefault: isDefault, location: isInVariant ? nil : .url("http://a/\(group)-\(name)"),
        language: language)
    }
    let master = HLSMasterPlaylist(
      variants: [
        variant("hi", 900, "mp4a.40.2", group: "h"), variant("lo", 100, "mp4a.40.2", group: "l"),
        variant("plain", 50, "mp4a.40.2"),
      ],
      audioRenditions: [
        rendition("h", "en", "en", isInVariant: true), rendition("h", "de", "de", isDefault: true),
        rendition("l", "de", "de"),
        rendition("l", "en", "en", isDefault: true), rendition("l", "en", "en-GB"), rendition("unused", "fr", "fr"),
      ])
    let choice = HLSVariantChoice(master)
    let options = choice.audioOptions
    #expect(options.map(\.language) == ["en", "de", "en-GB"])
    func candidateNames(_ option: HLSRendition?) -> [String] {
      choice.candidates(peakBitRateLimit: nil, option: option).map { String($0.location.displayText.dropFirst(9)) }
    }
    // The default of the best variant is also the default in the others; where it is missing, their own default is
    // used.
    #expect(candidateNames(nil) == ["h-de", "l-de", "plain"])
    #expect(candidateNames(options[0]) == ["hi", "l-en"], "audio without a location is in the variant's own segments")
    #expect(candidateNames(options[1]) == ["h-de", "l-de"])
    #expect(candidateNames(options[2]) == ["l-en"], "only one variant has it")
    let limited = choice.candidates(peakBitRateLimit: 100, option: options[1])
    #expect(limited.map(\.isWithinLimit) == [true, false] && limited.map(\.variant.bandwidth) == [100, 900])
  }

  @Test func variantWithinTheNetworkThroughputIsChosen() {
    // The rates in order, the current variant, the throughput, whether enough is buffered, and the expected new
    // variant.
    let rows: [([Int64], Int, Double?, Bool, Int?)] = [
      ([300, 200, 100], 0, nil, true, nil), ([300, 200, 100], 0, 334, false, nil), ([300, 200, 100], 0, 332, false, 1),
      ([300, 200, 100], 0, 280, false, 2), ([300, 200, 100], 0, 1, false, 2), ([300, 200, 100], 2, 1, false, nil),
      ([300, 200, 100], 1, 430, true, 0), ([300, 200, 100], 1, 420, true, nil), ([300, 200, 100], 1, 430, false, nil),
      ([300, 200, 100], 2, 300, true, 1), ([300, 200, 100], 2, 1e12, true, 0), ([300], 0, 1, true, nil),
      // Unknown rates are not compared. The best audio may have a lower bit rate than the others.
      ([0, 200, 100], 0, 1, true, nil), ([300, 0, 100], 0, 200, true, 2), ([50, 900, 400], 0, 1_000, true, nil),
      ([50, 900, 400], 1, 600, true, 0), ([], 0, 1, true, nil), ([.max, 1], 0, 5, true, 1),
    ]
    for (rates, current, throughput, isAhead, expected) in rows {
      let ladder = HLSVariantLadder(rates.map { HLSVariantLadder.Rung(bitRate: $0) })
      #expect(
        ladder.choice(from: current, throughput: throughput, isAhead: isAhead) == expected,
        "\(rates) \(throughput ?? 0)")
    }
    var ladder = HLSVariantLadder([300, 200, 100].map { HLSVariantLadder.Rung(bitRate: $0) })
    ladder.rungs[1].isUsable = false
    #expect(ladder.choice(from: 0, throughput: 300, isAhead: false) == 2)
    #expect(ladder.choice(from: 2, throughput: 300, isAhead: true) == nil)
  }

  /// Measured rates are compared with measured rates, and bandwidths of the playlist with each other.
  @Test func measuredRatesAreNotComparedWithDeclaredBandwidths() {
    typealias Rung = HLSVariantLadder.Rung
    var ladder = HLSVariantLadder([
      Rung(bitRate: 256, bandwidth: 5_000), Rung(bitRate: 0, bandwidth: 2_500), Rung(bitRate: 0, bandwidth: 1_000),
    ])
    func choice(_ current: Int, _ throughput: Double) -> Int? {
      ladder.choice(from: current, throughput: throughput, isAhead: true)
    }
    #expect([choice(0, 285), choice(0, 284), choice(0, 180), choice(0, 10)] == [nil, 1, 2, 2])
    // The rate of the second variant is now measured, that of the third is not.
    ladder.rungs[1].bitRate = 192
    #expect([choice(1, 365), choice(1, 366), choice(1, 214), choice(1, 212)] == [nil, 0, nil, 2])
    ladder.rungs[2].bitRate = 64
    #expect([choice(2, 274), choice(2, 275), choice(2, 366), choice(0, 280)] == [nil, 1, 0, 1])
    // A variant with video in its segments loads the video too.
    ladder.rungs[2] = Rung(bitRate: 1_000, bandwidth: 1_000)
    #expect([choice(1, 100), choice(2, 1_000)] == [nil, 0])
    // Without a bandwidth in the playlist, the rate of a variant that was not loaded is not known.
    ladder = HLSVariantLadder([Rung(bitRate: 256), Rung(bitRate: 0, bandwidth: 100)])
    #expect(choice(0, 10) == nil)
  }

  @Test func higherVariantsAreChosenByCapacityUntilOneWasTooSlow() {
    var ladder = HLSVariantLadder([300, 200, 100].map { HLSVariantLadder.Rung(bitRate: $0) })
    func choice(_ current: Int, _ throughput: Double, _ capacity: Double) -> Int? {
      ladder.choice(from: current, throughput: throughput, capacity: capacity, isAhead: true)
    }
    #expect([choice(2, 150, 1_000), choice(2, 150, 400), choice(2, 150, 200)] == [0, 1, nil])
    #expect([choice(2, 100, 1_000), choice(0, 200, 1_000)] == [nil, 2], "a lower variant is chosen by throughput")
    ladder.rungs[0].wasTooSlow = true
    #expect([choice(2, 150, 1_000), choice(2, 429, 1_000)] == [1, 0])
    ladder.rungs[0].wasTooSlow = false
    ladder.rungs[1].wasTooSlow = true
    #expect([choice(2, 150, 1_000), choice(2, 286, 1_000)] == [nil, 1])
  }
}
