import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Streams with several renditions: every sample identifies its rendition.
@Suite(.timeLimit(.minutes(5))) struct HLSRenditionTests {
  private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  private static func audio(_ group: String, _ name: String, _ language: String, _ more: String = "") -> String {
    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"\(name)\",LANGUAGE=\"\(language)\"\(more)"
  }

  private static let subtitles =
    "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"Zeichen\",LANGUAGE=\"de\",FORCED=YES,URI=\"s.m3u8\""

  /// English in the variant's segments, German and a commentary in separate ones.
  private func languages() throws -> CodedStreamRig {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "en"), (2, "de"), (3, "comment")] {
      try rig.encode(file, as: name)
      try rig.write(name)
    }
    try rig.write(master: [
      Self.audio("g", "English", "en", ",DEFAULT=YES"),
      Self.audio("g", "Deutsch", "de", ",URI=\"de.m3u8\",AUTOSELECT=YES"),
      Self.audio("g", "Comments", "en", ",URI=\"comment.m3u8\",CHARACTERISTICS=\"public.auxiliary-content\""),
      Self.subtitles, "#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS=\"fLaC\",AUDIO=\"g\",SUBTITLES=\"s\"", "en.m3u8",
    ])
    return rig
  }

  @Test func renditionsAreSelectableTracks() throws {
    let rig = try languages()
    let asset = try Asset(url: "\(rig.server.address)/m.m3u8")
    let properties = try asset.load()
    let tracks = properties.tracks
    #expect(tracks.map(\.id) == [0, 1, 2, 3] && tracks.map(\.mediaType) == [.audio, .audio, .audio, .subtitle])
    #expect(tracks.map(\.languageCode) == ["en", "de", "en", "de"])
    #expect(tracks.map(\.title) == ["English", "Deutsch", "Comments", "Zeichen"])
    #expect(
      tracks.map(\.isDefault) == [true, false, false, false] && tracks.map(\.isEnabled) == [true, true, false, false])
    #expect(tracks.prefix(3).allSatisfy { $0.isAudible && $0.codecName == "flac" })
    #expect(properties.audioTrackID == 0 && properties.hasAudio)
    let audible = try #require(properties.mediaSelectionGroup(for: .audible))
    #expect(audible.options.map(\.trackID) == [0, 1, 2] && audible.defaultOption?.trackID == 0)
    #expect(audible.options[2].characteristics == [.audible, .isAuxiliaryContent] && !audible.allowsEmptySelection)
    #expect(audible.option(matching: MediaSelectionCriteria(preferredLanguages: ["ger"]))?.trackID == 1)
    let legible = try #require(properties.mediaSelectionGroup(for: .legible))
    #expect(legible.options.map(\.trackID) == [3] && legible.options[0].isPlayable)
    #expect(legible.options[0].characteristics == [.legible, .containsOnlyForcedSubtitles])
    // Only played segments were requested.
    let requests = try rig.server.drain()
    #expect(!requests.contains { $0.contains("/de") || $0.contains("/s.m3u8") })
    for (id, file) in [(nil, 1), (0, 1), (1, 2), (2, 3)] {
      let reader = try AudioTrackReader(asset: asset, trackID: id)
      #expect(reader.trackID == id ?? 0)
      let runs = CodedStreamRig.runs(try reader.readToEnd())
      #expect(runs == [CodedStreamRig.Code.Run(file: file, firstIndex: 0, count: 12 * 48_000, position: 0)], "\(runs)")
      #expect(
        try reader.seekExactly(to: MediaTime(frame: 300_001, rate: 48_000)) == MediaTime(frame: 300_001, rate: 48_000))
      let found = CodedStreamRig.runs(try reader.readFrames(3_000).samples)
      #expect(found.map(\.firstIndex) == [300_001] && found.map(\.file) == [file])
    }
    for id in [3, 4, -1] { expectError(.noSuchTrack) { try AudioTrackReader(asset: asset, trackID: id) } }
  }

  /// When a rendition fails in one variant, playback continues in another variant, in the same language.
  @Test func renditionContinuesInAnotherVariantAfterAFailure() throws {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "en"), (2, "de"), (3, "de-low")] { try rig.encode(file, as: name) }
    for name in ["en", "de-low"] { try rig.write(name) }
    try rig.write("de", query: Dictionary(uniqueKeysWithValues: (4..<12).map { ($0, "?status=404") }))
    try rig.write(master: [
      Self.audio("hi", "English", "en", ",DEFAULT=YES,URI=\"en.m3u8\""),
      Self.audio("hi", "Deutsch", "de", ",URI=\"de.m3u8\""),
      Self.audio("none", "English", "en", ",DEFAULT=YES,URI=\"en.m3u8\""),
      Self.audio("low", "English", "en", ",DEFAULT=YES,URI=\"en.m3u8\""),
      Self.audio("low", "Deutsch", "de", ",URI=\"de-low.m3u8\""),
      "#EXT-X-STREAM-INF:BANDWIDTH=3000,CODECS=\"fLaC\",AUDIO=\"hi\"", "v1",
      "#EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS=\"fLaC\",AUDIO=\"none\"", "v2",
      "#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS=\"fLaC\",AUDIO=\"low\"", "v3",
    ])
    let session = try rig.session()
    let reader = try rig.reader(session, trackID: 1)
    let runs = CodedStreamRig.runs(try reader.frames(1_000_000))
    print(runs)
    #expect(runs.map(\.file) == [2, 3] && runs[1].endIndex == 12 * 48_000)
    for run in runs { #expect(run.firstIndex == run.position) }
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 1)
    #expect(session.location.displayText.hasSuffix("/en.m3u8"), "the other rendition did not switch")
  }

  /// Copies of an entry read one stream: a rendition that none of them reads does not count.
  @Test func activeRenditionIsOneThatIsRead() throws {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "en"), (2, "de")] {
      try rig.encode(file, as: name)
      try rig.write(name, 0..<9, isEnded: false)
    }
    try rig.write(master: [
      Self.audio("g", "English", "en", ",DEFAULT=YES,URI=\"en.m3u8\""),
      Self.audio("g", "Deutsch", "de", ",URI=\"de.m3u8\""),
      "#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO=\"g\"", "v",
    ])
    let session = try rig.session()
    #expect(session.family.active == nil && session.family.renditionBeingRead == nil)
    var english: SegmentedTrackReader? = try rig.reader(session)
    var german: SegmentedTrackReader? = try rig.reader(session, trackID: 1)
    #expect(try german?.frames(100).count == 200 && session.family.renditionBeingRead?.trackID == 1)
    german = nil
    #expect(session.family.renditionBeingRead === session && session.family.active === session)
    // Its window moves.
    let edge = session.timeline.endNanoseconds
    try rig.write("en", 3..<12)
    rig.clock.advance(seconds: 3)
    let frames = try #require(try english?.frames(48_000 * 20).count) / 2
    #expect(frames > 48_000 * 3 && session.family.active.map { $0.timeline.endNanoseconds > edge } == true)
    english = nil
    #expect(
      session.family.renditionBeingRead == nil && session.family.active === session, "the last rendition that was read")
    german = try rig.reader(session, trackID: 1)
    #expect(session.family.active?.trackID == 1)
    german = nil
    #expect(session.family.active?.trackID == 1 && session.family.renditionBeingRead == nil)
  }

  /// Sequence numbers and windows may differ: dates determine the positions, or else the numbers.
  @Test(arguments: [true, false])
  func renditionsOfALiveStreamAreAlignedInTime(_ hasDates: Bool) throws {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "en"), (2, "de")] { try rig.encode(file, as: name) }
    try rig.write(master: [
      Self.audio("g", "English", "en", ",DEFAULT=YES,URI=\"en.m3u8\""),
      Self.audio("g", "Deutsch", "de", ",URI=\"de.m3u8\""),
      "#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO=\"g\"", "v",
    ])
    let date = hasDates ? 1_800_000_000 : nil
    try rig.write("en", 1..<9, isEnded: false, date: date)
    try rig.write("de", 2..<9, numberedFrom: hasDates ? 700 : 0, isEnded: false, date: date)
    let session = try rig.session()
    let english = try rig.reader(session)
    _ = try english.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    let first = english.position
    let heard = CodedStreamRig.runs(try english.frames(60_000))
    #expect(heard.map(\.file) == [1])
    let offset = try #require(heard.first).firstIndex - Int(first)
    // Closer to the end than playback starts.
    let time = MediaTime(frame: english.position, rate: 48_000)
    let german = try rig.reader(session, trackID: 1)
    let reached = try german.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(reached == time && german.positionDoubt == english.positionDoubt)
    let other = CodedStreamRig.runs(try german.frames(30_000))
    #expect(other.map(\.file) == [2] && other.map(\.firstIndex) == [Int(german.position) - 30_000 + offset], "\(other)")
    // The active window is that of the rendition that is read.
    #expect(session.family.active?.trackID == 1)
    // And back, after the window has moved.
    try rig.write("de", 5..<12, numberedFrom: hasDates ? 700 : 0, isEnded: false, date: date)
    try rig.write("en", 6..<12, isEnded: false, date: date)
    rig.clock.advance(seconds: 3)
    let more = CodedStreamRig.runs(try german.frames(96_000))
    #expect(more.map(\.file) == [2] && more.map(\.count) == [96_000])
    let later = MediaTime(frame: german.position, rate: 48_000)
    let back = try rig.reader(session, trackID: 0)
    #expect(try back.seek(to: later, toleranceBefore: .zero, toleranceAfter: .zero) == later)
    let end = CodedStreamRig.runs(try back.frames(20_000))
    #expect(end.map(\.file) == [1] && end.map(\.firstIndex) == [Int(back.position) - 20_000 + offset])
    #expect(rig.log.errorEvents.isEmpty)
  }
}
