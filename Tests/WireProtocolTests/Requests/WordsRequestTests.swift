import MediaCore
import Testing

@testable import WireProtocol

@Suite struct WordsRequestTests {
  private static func seek(
    _ target: String, before: MediaTime = .zero, after: MediaTime = .zero, isChase: Bool = false,
    item: EntryReference? = nil
  ) throws -> FamilyCommand {
    .playback(
      .seek(
        .init(
          target: .time(try TimeExpression(parsing: target)), toleranceBefore: before, toleranceAfter: after,
          isChase: isChase,
          item: item)),
      player: "main")
  }

  private static func path(_ text: String) throws -> FilePath { try FilePath(text: text) }
  private static var network: NetworkOptions {
    get throws {
      var network = NetworkOptions()
      (network.isNetworkAllowed, network.timeout, network.userAgent) = (false, try seconds("2"), "me")
      return network
    }
  }

  private static var headerForAny: NetworkOptions {
    var network = NetworkOptions()
    (network.header, network.isHeaderForAny) = ("X: y", true)
    return network
  }

  private static func seconds(_ text: String) throws -> MediaTime { try #require(MediaTime(decimal: text)) }

  /// Otherwise one line of a read-only client could match tens of thousands of patterns with every key.
  @Test(arguments: ["observe", "events since=0", "wait", "asset.load 1"])
  func moreThan64PatternsAreRejected(_ command: String) throws {
    let value = ["wait": "ready", "asset.load 1": "duration"][command] ?? "*"
    func line(_ count: Int) -> String { command + String(repeating: " \(value)", count: count) }
    _ = try Lines.command(line(64))
    // Values after the limit are not parsed, because they would give another error.
    let error = try Lines.rejection(line(64) + " \(value) no.such.value").error.error
    #expect(error.code == .badArguments && error.message.contains("at most 64"), "\(error)")
  }

  @Test func everyCommandIsParsed() throws {
    let one = try Self.path("/a b")
    let cases: [(String, FamilyCommand)] = [
      ("play", .playback(.play, player: "main")), ("pause player=b.2", .playback(.pause, player: "b.2")),
      ("play-immediately", .playback(.playImmediately(nil), player: "main")),
      ("preroll", .playback(.preroll(nil), player: "main")), ("preroll 2", .playback(.preroll(2), player: "main")),
      ("play-immediately -1.5", .playback(.playImmediately(-1.5), player: "main")),
      ("step -5", .playback(.step(-5), player: "main")),
      ("auto-wait", .playback(.autoWait(nil), player: "main")),
      ("auto-wait off", .playback(.autoWait(.off), player: "main")),
      ("item.log 2", .item(.log(item: 2), player: "main")),
      ("item.buffer 2", .item(.buffer(item: 2, nil), player: "main")),
      ("item.buffer 2 3", .item(.buffer(item: 2, try Self.seconds("3")), player: "main")),
      (
        "item.end-time 2 forward=1:30 reverse=none",
        .item(.endTime(item: 2, forward: try Self.seconds("90"), reverse: .invalid), player: "main")
      ),
      ("toggle", .playback(.toggle, player: "main")), ("stop", .playback(.stop, player: "main")),
      ("seek 83.5", try Self.seek("83.5")), ("seek -5", try Self.seek("-5")), ("seek 50%", try Self.seek("50%")),
      ("seek end", try Self.seek("end")), ("seek 1:02:03.25 item=3", try Self.seek("1:02:03.25", item: 3)),
      ("seek 441000/44100 before=0.5 after=0", try Self.seek("441000/44100", before: Self.seconds("0.5"))),
      ("seek fast 10", try Self.seek("10", before: .positiveInfinity, after: .positiveInfinity)),
      ("seek 10 fast", try Self.seek("10", before: .positiveInfinity, after: .positiveInfinity)),
      ("seek 10 fast=false", try Self.seek("10")), ("seek 10 after=inf", try Self.seek("10", after: .positiveInfinity)),
      (
        "seek date=1970-01-01T00:00:02Z chase",
        .playback(.seek(.init(target: .date(2_000_000_000), isChase: true)), player: "main")
      ),
      ("seek +5 chase", try Self.seek("+5", isChase: true)), ("seek chase=false 5", try Self.seek("5")),
      (
        "seek 10 chase fast",
        try Self.seek("10", before: .positiveInfinity, after: .positiveInfinity, isChase: true)
      ),
      ("default-rate", .playback(.defaultRate(nil), player: "main")),
      ("default-rate 1.5", .playback(.defaultRate(1.5), player: "main")),
      ("rate", .playback(.rate(nil), player: "main")), ("rate -1.5", .playback(.rate(-1.5), player: "main")),
      (
        "play from=1 to=+0.5 player=b",
        .playback(
          .playRange(
            .init(start: .absolute(try Self.seconds("1")), end: .relative(try Self.seconds("0.5")))), player: "b")
      ),
      ("volume", .playback(.volume(nil), player: "main")),
      ("volume .25", .playback(.volume(.absolute(0.25)), player: "main")),
      ("volume 1e0", .playback(.volume(.absolute(1)), player: "main")), ("mute", .playback(.mute(nil), player: "main")),
      ("mute toggle", .playback(.mute(.toggle), player: "main")),
      ("pan", .playback(.pan(nil), player: "main")), ("pan -0.5", .playback(.pan(-0.5), player: "main")),
      ("fade 0 2.5", .playback(.fade(to: .absolute(0), duration: try Self.seconds("2.5"), .linear), player: "main")),
      (
        "fade 0.5 250ms equal-power player=b",
        .playback(.fade(to: .absolute(0.5), duration: try Self.seconds("0.25"), .equalPower), player: "b")
      ),
      (
        "fade 0 1 then=pause wait",
        .playback(
          .fade(to: .absolute(0), duration: try Self.seconds("1"), .linear, endAction: .pause, waits: true),
          player: "main")
      ),
      ("replay-gain", .playback(.replayGain(.init()), player: "main")),
      (
        "replay-gain auto pre-amp=-1.5 fallback=-6 protect=off player=two",
        .playback(
          .replayGain(.init(mode: .auto, preampDecibels: -1.5, fallbackDecibels: -6, preventsClipping: false)),
          player: "two")
      ),
      ("scan '/a b'", .asset(.scan(.init([one])))),
      (
        "scan '/a b' '/a b' album apply player=two",
        .asset(.scan(.init([one, one], measuresAlbum: true, player: "two")))
      ),
      ("waveform '/a b'", .asset(.waveform(.init(one, binCount: 100)))),
      (
        "waveform '/a b' start=1.5 end=2 bins=9 mono",
        .asset(
          .waveform(
            .init(
              one, start: try Self.seconds("1.5"), end: try Self.seconds("2"), binCount: 9, mixesChannels: true)))
      ),
      (
        "waveform '/a b' file='/a b' format=png width=32 height=33 color=102030 background=#000000 axis=off replace",
        .asset(
          .waveform(
            .init(
              one,
              output: .init(
                one, .png, replaces: true, width: 32, height: 33, color: "102030", background: "#000000",
                hasAxis: false))))
      ),
      (
        "waveform '/a b' file=/c.DAT samples-per-bin=512 bits=8",
        .asset(
          .waveform(
            .init(one, framesPerBin: 512, output: .init(try Self.path("/c.DAT"), .dat, bits: 8))))
      ),
      ("export '/a b' file=/c.MKA", .asset(.export(.init([one], file: try Self.path("/c.MKA"), format: .matroska)))),
      (
        "export '/a b' '/a b' file=/c format=m4a start=1.5 end=2 mix track=1 codec=aac sample-rate=8000 channels=1 bit-rate=9000 metadata=sharing replace",
        .asset(.export(try Self.audioExport([one, one])))
      ),
      (
        "export '/a b' file=/c.mp4 codec=none height=100 quality=30",
        .asset(.export(try Self.videoExport([one])))
      ),
      (
        "image '/a b' 1.5 file=/c.png",
        .asset(.image(.init(one, [try Self.seconds("1.5")], file: try Self.path("/c.png"))))
      ),
      (
        "image '/a b' 1 1:02 file=/c-%03d.JPG quality=5 width=9 height=8 before=0.5 after=inf upright=off replace",
        .asset(
          .image(
            .init(
              one, [try Self.seconds("1"), try Self.seconds("62")], file: try Self.path("/c-%03d.JPG"),
              .jpeg(quality: 5), replaces: true, width: 9, height: 8, before: try Self.seconds("0.5"),
              after: .positiveInfinity, isUpright: false)))
      ),
      (
        "image '/a b' file=/c format=png sheet=4x3 gap=0 fast",
        .asset(
          .image(
            .init(
              one, file: try Self.path("/c"), before: .positiveInfinity, after: .positiveInfinity,
              sheet: .init(columns: 4, rows: 3, gap: 0))))
      ),
      ("folder.list", .asset(.folder(.init(nil)))),
      ("folder.list '/a b' after='/a b/c' limit=7", .asset(.folder(.init(one, after: Array("c".utf8), limit: 7)))),
      ("folder.list / after=/c", .asset(.folder(.init(try Self.path("/"), after: Array("c".utf8))))),
      ("scan.cancel", .asset(.cancelScan(nil))),
      ("scan.cancel 4", .asset(.cancelScan(4))),
      ("pitch", .playback(.pitch(nil), player: "main")),
      ("pitch spectral player=two", .playback(.pitch(.spectral), player: "two")),
      ("item.pitch 9", .item(.pitch(item: 9, nil), player: "main")),
      ("item.pitch 9 varispeed", .item(.pitch(item: 9, .algorithm(.varispeed)), player: "main")),
      ("item.pitch 9 player", .item(.pitch(item: 9, .player), player: "main")),
      ("end-action", .playback(.endAction(nil), player: "main")),
      ("end-action stop", .playback(.endAction(.stop), player: "main")),
      ("end-action none", .playback(.endAction(PlaybackCommand.ItemEndAction.none), player: "main")),
      ("repeat", .playback(.repeat(nil), player: "main")), ("repeat all", .playback(.repeat(.all), player: "main")),
      ("repeat off player=x", .playback(.repeat(PlaybackCommand.RepeatMode.off), player: "x")),
      ("loop", .playback(.loop(.init(.none)), player: "main")),
      ("loop last", .playback(.loop(.init(.end)), player: "main")),
      (
        "play-at +0.5 a b",
        .players(.playAt(.after(try Self.seconds("0.5")), players: ["a", "b"]))
      ),
      ("rate-together 0.75 a b", .players(.rateTogether(0.75, players: ["a", "b"]))),
      ("play-at now main", .players(.playAt(.now, players: ["main"]))),
      ("play-at 83.5 x", .players(.playAt(.instant(try Self.seconds("83.5")), players: ["x"]))),
      ("play-at frame:480 x", .players(.playAt(.frame(480), players: ["x"]))),
      ("loop off item=3", .playback(.loop(.init(.off, item: 3)), player: "main")),
      (
        "loop 1:10 end count=3",
        .playback(.loop(.init(.range(start: .absolute(try Self.seconds("70")), end: .end, count: 3))), player: "main")
      ),
      ("status player=\"x\"", .playback(.status, player: "x")),
      ("load '/a b'", .queue(.load([one], waitUntilReady: false), player: "main")),
      ("load \"/a b\" wait=ready /a\\ b", .queue(.load([one, one], waitUntilReady: true), player: "main")),
      ("load precise '/a b'", .queue(.load([one], waitUntilReady: false, precise: true), player: "main")),
      (
        "append '/a b' precise=true if-version=7",
        .queue(.append([one], waitUntilReady: false, ifVersion: 7, precise: true), player: "main")
      ),
      ("append /a=b", .queue(.append([try Self.path("/a=b")], waitUntilReady: false, ifVersion: nil), player: "main")),
      (
        "append file:///a%20b if-version=7", .queue(.append([one], waitUntilReady: false, ifVersion: 7), player: "main")
      ),
      ("insert '/a b'", .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil), player: "main")),
      (
        "insert '/a b' after=2",
        .queue(.insert([one], at: .after(item: 2), waitUntilReady: false, ifVersion: nil), player: "main")
      ),
      (
        "insert before=2 '/a b' wait=ready",
        .queue(.insert([one], at: .before(item: 2), waitUntilReady: true, ifVersion: nil), player: "main")
      ),
      ("remove 1 2 3 if-version=0", .queue(.remove([1, 2, 3], ifVersion: 0), player: "main")),
      ("clear", .queue(.clear(), player: "main")), ("list", .queue(.list(offset: 0, limit: 1_000), player: "main")),
      ("list limit=5 offset=10", .queue(.list(offset: 10, limit: 5), player: "main")),
      ("next", .queue(.next(), player: "main")), ("item.status 9", .item(.status(item: 9), player: "main")),
      (
        "item.copy 9 before=2 if-version=3",
        .item(.copy(item: 9, to: .before(item: 2), ifVersion: 3), player: "main")
      ),
      ("seek.cancel", .playback(.cancelSeeks, player: "main")),
      ("preroll.cancel player=b", .playback(.cancelPrerolls, player: "b")),
      (
        "rate-at -0.5 +2 from=1.5",
        .playback(
          .rateAt(-0.5, .after(try Self.seconds("2")), from: try Self.seconds("1.5")), player: "main")
      ),
      ("rate-at 0 now", .playback(.rateAt(0, .now, from: nil), player: "main")),
      ("item.volume 9", .item(.volume(item: 9, .init(clears: false, step: nil)), player: "main")),
      ("item.volume 9 clear", .item(.volume(item: 9, .init(clears: true, step: nil)), player: "main")),
      (
        "item.volume 9 0.25",
        .item(
          .volume(item: 9, .init(clears: false, step: .init(volume: 0.25, time: .zero, ramp: nil))), player: "main")
      ),
      (
        "item.volume 9 0.5 at=4 to=0.2 over=5",
        .item(
          .volume(
            item: 9,
            .init(
              clears: false,
              step: .init(
                volume: 0.5, time: try Self.seconds("4"), ramp: .init(volume: 0.2, duration: try Self.seconds("5"))))),
          player: "main")
      ),
      ("item.copy 2", .item(.copy(item: 2, to: .after(item: 2), ifVersion: nil), player: "main")),
      ("asset.open '/a b'", .asset(.open(one, precise: false))),
      ("asset.open '/a b' precise", .asset(.open(one, precise: true))),
      ("asset.open '/a b' charset=gbk", .asset(.open(one, precise: false, charset: .gbk))),
      ("asset.metadata 3 charset=koi8-r", .asset(.metadata(asset: 3, MetadataQuery(charset: .koi8r)))),
      ("asset.load 3 duration tracks", .asset(.load(asset: 3, [.duration, .tracks]))),
      ("at-chapters", .watching(.atChapters(item: nil, includesSeeks: false, player: "main"))),
      ("at-chapters seeks item=7 player=x", .watching(.atChapters(item: 7, includesSeeks: true, player: "x"))),
      ("asset.cancel 3", .asset(.cancel(asset: 3, []))),
      ("asset.cancel 3 duration metadata", .asset(.cancel(asset: 3, [.duration, .metadata]))),
      ("asset.selection 3", .asset(.selection(asset: 3))),
      ("item.selection 3 player=x", .item(.selection(item: 3), player: "x")),
      (
        "scan '/a b' album network=false timeout=2 user-agent=me",
        .asset(.scan(.init([one], measuresAlbum: true, network: try Self.network)))
      ),
      ("asset.status 3", .asset(.status(asset: 3))), ("asset.tracks 3", .asset(.tracks(asset: 3))),
      ("asset.chapters 3", .asset(.chapters(asset: 3, offset: 0))), ("asset.close 3", .asset(.close(asset: 3))),
      (
        "asset.open '/a b' network=false timeout=2 user-agent=me",
        .asset(.open(one, precise: false, network: try Self.network))
      ),
      (
        "asset.open '/a b' header='X: y' header-for=any",
        .asset(.open(one, precise: false, network: Self.headerForAny))
      ),
      ("asset.metadata 3", .asset(.metadata(asset: 3, MetadataQuery()))),
      (
        "asset.metadata 3 space=id3 identifier=id3/TIT2 language=de,en common offset=7",
        .asset(
          .metadata(
            asset: 3,
            MetadataQuery(
              space: "id3", identifier: "id3/TIT2", languages: ["de", "en"], isCommon: true, offset: 7)))
      ),
      ("item.metadata 9 player=b", .item(.metadata(item: 9, MetadataQuery()), player: "b")),
      ("asset.artwork 3", .asset(.artwork(asset: 3, .list(from: 0)))),
      ("asset.artwork 3 from=250", .asset(.artwork(asset: 3, .list(from: 250)))),
      (
        "item.artwork 9 index=1 offset=5 limit=6",
        .item(.artwork(item: 9, .part(index: 1, offset: 5, limit: 6)), player: "main")
      ),
      ("asset.artwork 3 file='/a b'", .asset(.artwork(asset: 3, .file(index: nil, one, replaces: false)))),
      (
        "asset.artwork 3 index=2 file='/a b' replace",
        .asset(.artwork(asset: 3, .file(index: 2, one, replaces: true)))
      ),
      ("media-selection", .playback(.mediaSelection(MediaSelectionChange()), player: "main")),
      (
        "media-selection audible language=de,en characteristics=describes-video principal=is-original-content automatic=on",
        .playback(
          .mediaSelection(
            MediaSelectionChange(
              group: .audible,
              criteria: .init(
                languages: ["de", "en"], characteristics: [.describesVideo], principal: [.isOriginalContent]),
              automatic: .on)), player: "main")
      ),
      (
        "media-selection legible clear player=b",
        .playback(.mediaSelection(MediaSelectionChange(group: .legible, clears: true)), player: "b")
      ),
      ("next-chapter", .playback(.chapter(isNext: true), player: "main")),
      ("previous-chapter player=b", .playback(.chapter(isNext: false), player: "b")),
      ("item.tracks 9", .item(.tracks(item: 9), player: "main")),
      ("item.chapters 9", .item(.chapters(item: 9, offset: 0), player: "main")),
      (
        "item.chapters 9 language=de,en-GB",
        .item(.chapters(item: 9, offset: 0, languages: ["de", "en-GB"]), player: "main")
      ),
      ("asset.chapters 9 language=de", .asset(.chapters(asset: 9, offset: 0, languages: ["de"]))),
      ("item.chapters 9 offset=4 player=b", .item(.chapters(item: 9, offset: 4), player: "b")),
      ("item.select 9 audio=2", .item(.select(item: 9, audio: .track(2), subtitles: nil), player: "main")),
      (
        "item.select 9 audio=en-GB subtitles=none",
        .item(.select(item: 9, audio: .language("en-GB"), subtitles: ItemCommand.TrackChoice.none), player: "main")
      ),
      ("item.select 9 subtitles=auto", .item(.select(item: 9, audio: nil, subtitles: .automatic), player: "main")),
      ("meter", .watching(.meter(rate: 20, player: "main"))),
      ("meter 100", .watching(.meter(rate: 100, player: "main"))),
      ("unmeter 3", .watching(.unmeter(subscription: 3))),
      ("observe player.rate", .watching(.observe([.playerRate], player: "main"))),
      ("observe *Rate", .watching(.observe([.playerTimebaseRate, .playerDefaultRate], player: "main"))),
      ("observe *.rate *ersion", .watching(.observe([.playerRate, .queueVersion], player: "main"))),
      (
        "observe item.is*",
        .watching(
          .observe(
            [.itemIsPlaybackLikelyToKeepUp, .itemIsPlaybackBufferFull, .itemIsPlaybackBufferEmpty], player: "main"))
      ),
      ("observe *Buffer*y", .watching(.observe([.itemIsPlaybackBufferEmpty], player: "main"))),
      ("observe q**e*.*n", .watching(.observe([.queueVersion], player: "main"))),
      ("observe *", .watching(.observe(ObservableKey.allCases, player: "main"))),
      (
        "observe queue.version item.* item.status",
        .watching(
          .observe(
            [
              .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemTitle, .itemArtist,
              .itemAlbum, .itemCurrentMediaSelection,
              .itemIsPlaybackLikelyToKeepUp,
              .itemIsPlaybackBufferFull, .itemIsPlaybackBufferEmpty, .itemEvents, .queueVersion,
            ],
            player: "main"))
      ),
      ("observe *", .watching(.observe(ObservableKey.allCases, player: "main"))),
      ("unobserve 1", .watching(.unobserve(subscription: 1))), ("untick 2", .watching(.untick(subscription: 2))),
      ("tick 250ms", .watching(.tick(interval: try Self.seconds("0.25"), player: "main"))),
      (
        "at 90 1:35.25 item=4",
        .watching(
          .at([try Self.seconds("90"), try Self.seconds("95.25")], item: 4, includesSeeks: false, player: "main"))
      ),
      (
        "wait time>=90 status=playing item=3 timeout=5",
        .watching(
          .wait(
            [.timeAtLeast(try Self.seconds("90")), .status(.playing), .currentItem(3)], timeout: try Self.seconds("5"),
            player: "main"))
      ),
      (
        "wait time>=1.5 time<=2",
        .watching(
          .wait(
            [.timeAtLeast(try Self.seconds("1.5")), .timeAtMost(try Self.seconds("2"))], timeout: nil, player: "main"))
      ),
      (
        "wait ended ready status=waiting status=waitingToPlayAtSpecifiedRate",
        .watching(
          .wait(
            [.ended, .ready, .status(.waitingToPlayAtSpecifiedRate), .status(.waitingToPlayAtSpecifiedRate)],
            timeout: nil,
            player: "main"))
      ),
      (
        "events",
        .watching(
          .events(
            EventQuery(
              keys: ObservableKey.allCases, player: nil, since: nil, instance: nil, limit: 1_000, waits: false,
              timeout: nil)))
      ),
      (
        "events queue.* since=7 instance=9f86 limit=5 wait timeout=2 player=b",
        .watching(
          .events(
            EventQuery(
              keys: [.queueVersion], player: "b", since: 7, instance: "9f86", limit: 5, waits: true,
              timeout: try Self.seconds("2"))))
      ),
      ("queue.changes 7", .queue(.changes(since: 7, instance: nil), player: "main")),
      ("queue.changes 7 instance=9f86 player=b", .queue(.changes(since: 7, instance: "9f86"), player: "b")),
      ("explain", .watching(.explain(player: "main"))), ("explain player=b", .watching(.explain(player: "b"))),
      ("clock.advance 2.5", .watching(.clockAdvance(try Self.seconds("2.5")))),
      ("load '/a b' resume=true", .queue(.load([one], waitUntilReady: false, resumes: true), player: "main")),
      (
        "append '/a b' resume=false",
        .queue(.append([one], waitUntilReady: false, ifVersion: nil, resumes: false), player: "main")
      ),
      (
        "insert '/a b' resume=true",
        .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil, resumes: true), player: "main")
      ),
      (
        "load title=\"Morning News\" '/a b'",
        .queue(.load([one], waitUntilReady: false, title: "Morning News"), player: "main")
      ),
      (
        "append '/a b' title=N",
        .queue(.append([one], waitUntilReady: false, ifVersion: nil, title: "N"), player: "main")
      ),
      (
        "insert '/a b' title=N",
        .queue(.insert([one], at: .next, waitUntilReady: false, ifVersion: nil, title: "N"), player: "main")
      ),
    ]
    // Queue commands, and commands that are defined as types, have separate tests.
    var seen = Set(try QueueRequestTests.cases().map { try Lines.request($0.line).name })
    seen.formUnion(ArgumentCase.all.map(\.name))
    for (line, command) in cases {
      let request = try Lines.request(line)
      #expect(request.command == command, "\(line)")
      #expect(request.address == .words)
      seen.insert(request.name)
    }
    #expect(Set(CommandTable.all.map(\.name)).subtracting(seen) == [])
  }

  private static func audioExport(_ paths: WireList<FilePath>) throws -> AssetCommand.Export {
    var export = AssetCommand.Export(paths, file: try path("/c"), format: .m4a)
    (export.start, export.end) = (try seconds("1.5"), try seconds("2"))
    (export.mixes, export.replaces, export.track, export.codec) = (true, true, 1, .aac)
    (export.sampleRateHz, export.channelCount, export.bitRate) = (8_000, 1, 9_000)
    export.tags = .sharing
    return export
  }

  /// A height requires that the video is encoded again.
  private static func videoExport(_ paths: WireList<FilePath>) throws -> AssetCommand.Export {
    var export = AssetCommand.Export(paths, file: try path("/c.mp4"), format: .mp4)
    (export.codec, export.video, export.height, export.quality) = (.omit, .h264, 100, 30)
    return export
  }
}
