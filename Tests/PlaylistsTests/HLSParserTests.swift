import MediaCore
import Testing

@testable import Playlists

/// HLS playlists, read.
@Suite struct HLSParserTests {
  private static let place = PlaylistPlace.url("http://a.example/live/list.m3u8")

  private func parse(_ lines: [String], at place: PlaylistPlace = place) throws -> HLSPlaylist {
    try HLSPlaylist(parsing: Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8), at: place)
  }

  private func media(_ lines: [String], at place: PlaylistPlace = place) throws -> HLSMediaPlaylist {
    guard case .media(let list) = try parse(lines, at: place) else { throw MediaError(.notAPlaylist, "a master") }
    return list
  }

  private func master(_ lines: [String]) throws -> HLSMasterPlaylist {
    guard case .master(let list) = try parse(lines) else { throw MediaError(.notAPlaylist, "a list of segments") }
    return list
  }

  private func code(_ lines: [String], at place: PlaylistPlace = place) -> Int {
    do {
      _ = try parse(lines, at: place)
      return 0
    } catch let error as MediaError { return error.code.rawValue } catch { return -1 }
  }

  @Test func segmentsHaveTheirPlacesLengthsNumbersAndDates() throws {
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
      list.segments.map(\.place)
        == ["live/a.m4s?x=1", "b.m4s", "c", "c"].map { .url("http://a.example/\($0)") })
    #expect(list.segments.map(\.isGap) == [false, true, false, false])
    #expect(list.segments[2].byteRange == HLSByteRange(start: 5, count: 10))
    #expect(list.segments[3].byteRange == HLSByteRange(start: 15, count: 20))
    #expect(list.segments[0].date == ISODate.parse("2026-11-22T09:00:00.500Z") && list.segments[1].date == nil)
    #expect(
      list.maps == [
        HLSMap(place: .url("http://a.example/live/init.mp4"), byteRange: HLSByteRange(start: 8, count: 100))
      ])
  }

  @Test func keysHoldForTheSegmentsBehindThem() throws {
    let list = try media([
      "#EXT-X-TARGETDURATION:4", "#EXTINF:4,", "0", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x0F", "#EXTINF:4,", "1",
      "#EXTINF:4,", "2", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
      "#EXTINF:4,", "3", "#EXT-X-KEY:METHOD=NONE", "#EXTINF:4,", "4",
    ])
    #expect(list.segments.map(\.keyIndex) == [nil, 0, 0, 1, nil])
    #expect(list.keys[0].method == .aes128 && list.keys[0].place == .url("http://a.example/live/k"))
    #expect(list.keys[0].initializationVector == [UInt8](repeating: 0, count: 15) + [15])
    #expect(list.keys[1].method == .other("SAMPLE-AES"))
  }

  @Test func variantsAndRenditionsAreRead() throws {
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

  @Test func badPlaylistsHaveTheirNumbers() {
    let target = "#EXT-X-TARGETDURATION:4"
    let rows: [([String], Int)] = [
      ([target, "a"], 2060), ([target, "#EXTINF:x,", "a"], 2060), ([target, "#EXTINF:-1,", "a"], 2060),
      ([target, "#EXTINF:3601,", "a"], 2060), (["#EXT-X-ENDLIST", "#EXTINF:1,", "a"], 2060),
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
  func placesThatAreLongOnlyOnceTheyAreWholeAreBounded(_ list: String) {
    let place = PlaylistPlace.url(list)
    let lines = ["#EXT-X-TARGETDURATION:4"] + Array(repeating: "#EXTINF:1,\na", count: 20_000)
    #expect(code(lines, at: place) == 2061)
  }

  @Test func aPlaylistThatIsCutOffAnywhereIsReadOrRefused() {
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
      do throws(MediaError) { _ = try HLSPlaylist(parsing: Array(text[..<count]), at: Self.place) } catch {
        #expect((2_060...2_063).contains(error.code.rawValue), "\(count)")
      }
    }
  }

  @Test func plainListsAreNoStreams() {
    #expect(!HLSPlaylist.recognizes(Array("#EXTM3U\n#EXTINF:1,a\na.mp3\n".utf8)))
    #expect(HLSPlaylist.recognizes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n".utf8)))
    #expect(code(["#EXTINF:1,a", "a.mp3"]) == 2060)
  }

  @Test func datesAreReadAndWritten() {
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

/// Where segments lie in time, and when a playlist is asked for again.
@Suite struct HLSTimelineTests {
  private func list(
    _ numbers: Range<Int64>, seconds: Int64 = 4, isEnded: Bool = false, dates: [Int64: Int64] = [:]
  ) -> HLSMediaPlaylist {
    var list = HLSMediaPlaylist(targetNanoseconds: seconds * 1_000_000_000)
    list.firstNumber = numbers.lowerBound
    list.isEnded = isEnded
    list.segments = numbers.map {
      HLSSegment(
        place: .url("http://a/\($0)"), durationNanoseconds: seconds * 1_000_000_000, number: $0, discontinuityNumber: 0,
        date: dates[$0])
    }
    return list
  }

  private static let second: Int64 = 1_000_000_000

  /// Whatever a server says next, no number runs over.
  @Test func leapsOfAServerAreTakenInOrRefused() {
    var timeline = HLSTimeline(list(0..<6, dates: [0: ISODate.parse("1900-01-01T00:00:00Z") ?? 0]))
    let far = timeline.update(list((1 << 53)..<(1 << 53) + 6))
    #expect(far == .restarted && timeline.startNanoseconds == 24 * Self.second)
    // Each leap is as far as one may be, until the stream has gone on for longer than times are counted.
    var (first, answers) = (Int64(0), Set<HLSTimeline.Update>())
    timeline = HLSTimeline(list(0..<6))
    for _ in 0..<200 {
      first += 6 + HLSLimits.totalNanoseconds / (4 * Self.second)
      answers.insert(timeline.update(list(first..<first + 6)))
      if answers.contains(.outOfReach) { break }
    }
    #expect(answers == [.changed, .outOfReach])
    #expect(timeline.endNanoseconds > 0 && timeline.endNanoseconds < HLSLimits.timelineNanoseconds * 2)
    let end = timeline.endNanoseconds
    timeline.move(timeline.numbers.lowerBound, toNanoseconds: .max)
    #expect(timeline.endNanoseconds == end)
  }

  @Test func noDateIsTooFarAway() throws {
    let said = try #require(ISODate.parse("1900-01-01T00:00:00Z"))
    let timeline = HLSTimeline(list(0..<6, dates: [0: said]))
    for date in [Int64.min, try #require(ISODate.parse("2100-12-31T23:59:59Z")), .max] {
      #expect(timeline.time(ofDate: date) == nil)
    }
    #expect(timeline.time(ofDate: said + Self.second) == Self.second)
  }

  @Test func aWindowMovesAndTimesStay() {
    var timeline = HLSTimeline(list(10..<16))
    #expect(timeline.startNanoseconds == 0 && timeline.endNanoseconds == 24 * Self.second)
    #expect(timeline.liveStartNanoseconds == 12 * Self.second && timeline.playStartNanoseconds == 12 * Self.second)
    let answer1 = timeline.update(list(10..<16))
    #expect(answer1 == .unchanged)
    let answer2 = timeline.update(list(12..<18))
    #expect(answer2 == .changed)
    #expect(timeline.startNanoseconds == 8 * Self.second && timeline.endNanoseconds == 32 * Self.second)
    #expect(timeline.entry(12)?.startNanoseconds == 8 * Self.second && timeline.entry(11) == nil)
    let answer3 = timeline.update(list(11..<17))
    #expect(answer3 == .unchanged, "a server that lags behind")
    #expect(timeline.numbers == 12..<18)
    // Two segments were missed altogether.
    let answer4 = timeline.update(list(20..<26))
    #expect(answer4 == .changed)
    #expect(timeline.startNanoseconds == 40 * Self.second)
    let answer5 = timeline.update(list(0..<6))
    #expect(answer5 == .restarted)
    #expect(timeline.startNanoseconds == 64 * Self.second)
    let answer6 = timeline.update(list(0..<6, isEnded: true))
    #expect(answer6 == .changed)
    #expect(timeline.playStartNanoseconds == timeline.startNanoseconds)
    timeline.move(2, toNanoseconds: 100 * Self.second)
    #expect(timeline.startNanoseconds == 92 * Self.second)
  }

  @Test func timesFindSegmentsAndDatesFindTimes() {
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

  @Test func aPlaylistIsAskedForAgainAfterATargetDurationOrHalfOfOne() {
    var schedule = HLSReloadSchedule(now: 0)
    let target = 4 * Self.second
    let answer7 = schedule.loaded(begin: 0, isChanged: true, targetNanoseconds: target)
    #expect(answer7 == target)
    let answer8 = schedule.loaded(begin: target, isChanged: false, targetNanoseconds: target)
    #expect(answer8 == 6 * Self.second)
    let answer9 = schedule.failed(at: 6 * Self.second, targetNanoseconds: target)
    #expect(answer9 == 8 * Self.second)
    let answer12 = schedule.becameStale(at: 11 * Self.second, targetNanoseconds: target)
    #expect(!answer12)
    let answer10 = schedule.becameStale(at: 12 * Self.second, targetNanoseconds: target)
    #expect(answer10)
    let answer13 = schedule.becameStale(at: 13 * Self.second, targetNanoseconds: target)
    #expect(!answer13, "once")
    _ = schedule.loaded(begin: 14 * Self.second, isChanged: true, targetNanoseconds: target)
    let answer11 = schedule.becameStale(at: 26 * Self.second, targetNanoseconds: target)
    #expect(answer11)
  }
}

/// Which variant is heard.
@Suite struct HLSVariantChoiceTests {
  private func variant(_ name: String, _ bandwidth: Int64, _ codecs: String, group: String? = nil) -> HLSVariant {
    HLSVariant(
      place: .url("http://a/\(name)"), bandwidth: bandwidth,
      codecs: codecs.isEmpty ? [] : codecs.split(separator: ",").map(String.init), audioGroup: group)
  }

  private func names(_ master: HLSMasterPlaylist, limit: Int64? = nil) -> [String] {
    HLSVariantChoice(master).candidates(peakBitRateLimit: limit).map {
      String($0.place.displayText.dropFirst(9))
    }
  }

  @Test func theBestSoundWithinTheLimitIsHeardAndTheNextWhenItFails() {
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

  @Test func aRenditionStandsForItsVariantsSound() {
    func rendition(_ name: String, isDefault: Bool = false) -> HLSRendition {
      HLSRendition(group: "g", name: name, isDefault: isDefault, place: .url("http://a/\(name)"))
    }
    let master = HLSMasterPlaylist(
      variants: [variant("v", 9, "avc1", group: "g"), variant("w", 8, "avc1", group: "g")],
      audioRenditions: [rendition("en"), rendition("de", isDefault: true)])
    #expect(names(master) == ["de"], "both variants have the same sound")
  }
}
