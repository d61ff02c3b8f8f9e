import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Groups of selectable tracks, and other properties of assets, over the socket.
@Suite struct SelectionTests {
  /// Three audio tracks and three subtitle tracks, each of a different kind.
  private func film(_ daemon: TestServer) throws -> String {
    let subtitles = daemon.folder.file("a.srt")
    try Data("1\n00:00:00,000 --> 00:00:01,000\nwords\n".utf8).write(to: URL(fileURLWithPath: subtitles))
    let audio = try [1, 2, 3].map { try daemon.wave($0, frameCount: 96_000) }
    let path = daemon.folder.file("film.mka")
    var arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y"] + audio.flatMap { ["-i", $0] }
    for _ in 0..<3 { arguments += ["-i", subtitles] }
    for index in 0..<6 { arguments += ["-map", "\(index)"] }
    arguments += ["-c:a", "flac", "-c:s", "srt"]
    let tracks: [(String, String, String)] = [
      ("a:0", "eng", "default+original"), ("a:1", "ger", "visual_impaired"), ("a:2", "ger", "comment"),
      ("s:0", "eng", "0"), ("s:1", "ger", "hearing_impaired"), ("s:2", "ger", "0"),
    ]
    for (track, language, disposition) in tracks {
      arguments += ["-metadata:s:\(track)", "language=\(language)", "-disposition:\(track)", disposition]
    }
    try ChildProcess.run(arguments + ["-metadata:s:a:2", "title=Remarks", path])
    return path
  }

  /// The content of the rows after their group and track.
  private let options = [
    "| group=audible allowsEmptySelection=false options=3",
    "| group=audible track=0 language=eng characteristics=audible,is-original-content playable=true default=true",
    "| group=audible track=1 language=ger characteristics=audible,describes-video playable=true default=false",
    "| group=audible track=2 language=ger title=Remarks characteristics=audible,is-auxiliary-content playable=true default=false",
    "| group=legible allowsEmptySelection=true options=3",
    "| group=legible track=3 language=eng characteristics=legible playable=true default=false",
    "| group=legible track=4 language=ger characteristics=legible,transcribes-spoken-dialog playable=true default=false",
    "| group=legible track=5 language=ger characteristics=legible playable=true default=false",
  ]

  /// The rows of an entry with these presented tracks.
  private func rows(selected: Int?...) -> [String] {
    options.map { row in
      guard let track = field("track", row) else { return row }
      return "\(row) selected=\(selected.contains(Int(track)))"
    }
  }

  @Test func groupsAreListedWithTheirOptionsAndSelection() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try film(daemon)
    try client.reply("asset.open \(path)")
    #expect(try client.reply("asset.selection 1").hasPrefix("error code=1003"))
    try client.reply("asset.load 1 tracks")
    #expect(try client.ask("asset.selection 1") == options + ["ok asset=1 count=2"])
    try client.reply("append \(path) wait=ready")
    #expect(try client.ask("item.selection 1") == rows(selected: 0) + ["ok item=1 audio=0 subtitles=none"])
    try client.reply("item.select 1 audio=2 subtitles=en")
    #expect(try client.ask("item.selection 1") == rows(selected: 2, 3) + ["ok item=1 audio=2 subtitles=3"])
    try client.reply("item.select 1 audio=auto subtitles=none")
    #expect(try client.ask("item.selection 1") == rows(selected: 0) + ["ok item=1 audio=0 subtitles=none"])
    // An item with one track has a group of one, and an item without subtitles has no such group.
    try client.reply("append \(try daemon.wave(7, frameCount: 480)) wait=ready")
    let single = try client.ask("item.selection 2")
    #expect(
      single == [
        "| group=audible allowsEmptySelection=false options=1",
        "| group=audible track=0 characteristics=audible playable=true default=true selected=true",
        "ok item=2 audio=0 subtitles=none",
      ])
    #expect(try client.reply("item.selection 9").hasPrefix("error code=2004"))
    #expect(try client.reply("asset.selection 9").hasPrefix("error code=1014"))
    try client.reply("append /none wait=ready")
    #expect(try client.reply("item.selection 3").hasPrefix("error code=2001"))
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"item.selection","params":{"id":1}}"#)
    let json = try client.line() ?? ""
    #expect(
      json.contains(
        #"{"group":"audible","track":1,"language":"ger","characteristics":["audible","describes-video"],"playable":true,"default":false,"selected":false}"#
      ), "\(json)")
  }

  /// By language, by characteristics, and by both, for audio and subtitles.
  @Test func playerCriteriaSelectTracksOfBothGroups() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try film(daemon)) wait=ready")
    let table: [(String, String)] = [
      ("audible language=de", "audio=1 subtitles=none"),
      ("audible language=de characteristics=is-auxiliary-content", "audio=2 subtitles=none"),
      ("audible principal=describes-video", "audio=1 subtitles=none"),
      // None of these has that language, so the file's default applies.
      ("audible language=en principal=describes-video", "audio=0 subtitles=none"),
      ("audible clear", "audio=0 subtitles=none"),
      ("legible language=fr,de", "audio=0 subtitles=4"),
      ("legible language=de,en characteristics=transcribes-spoken-dialog", "audio=0 subtitles=4"),
      ("legible language=en characteristics=transcribes-spoken-dialog", "audio=0 subtitles=3"),
      ("legible principal=transcribes-spoken-dialog", "audio=0 subtitles=4"),
      ("legible principal=contains-only-forced-subtitles", "audio=0 subtitles=none"),
      ("legible language=fr", "audio=0 subtitles=none"),
    ]
    for (criteria, presented) in table {
      #expect(try client.reply("media-selection \(criteria)") == "ok automatic=true")
      #expect(try client.reply("item.selection 1") == "ok item=1 \(presented)", "\(criteria)")
    }
    try client.reply("media-selection legible language=de")
    try client.reply("item.select 1 subtitles=5")
    #expect(try client.reply("item.selection 1") == "ok item=1 audio=0 subtitles=5", "an explicit selection stays")
    try client.reply("item.select 1 subtitles=auto")
    #expect(try client.reply("item.selection 1") == "ok item=1 audio=0 subtitles=4")
    try client.reply("media-selection automatic=off")
    #expect(try client.reply("item.selection 1") == "ok item=1 audio=0 subtitles=none")
    #expect(try client.reply("media-selection legible characteristics=nonsense").hasPrefix("error code=6002"))
  }

  @Test func criteriaAndSelectionsAreObserved() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try film(daemon)
    try client.send("observe player.mediaSelectionCriteria.* player.applies* item.currentMediaSelection")
    #expect(try client.line()?.unnumbered == "ok id=1")
    let head = "* changed id=1 player=main key="
    #expect(try client.line() == "\(head)player.mediaSelectionCriteria.audible new=none cause=initial initial=true")
    #expect(try client.line() == "\(head)player.mediaSelectionCriteria.legible new=none cause=initial initial=true")
    #expect(
      try client.line()
        == "\(head)player.appliesMediaSelectionCriteriaAutomatically new=true cause=initial initial=true")
    func changes(_ request: String) throws -> [String] {
      try client.ask(request).filter { $0.hasPrefix("* ") }.map { String($0.unnumbered.dropFirst(head.count)) }
    }
    let selection = "item.currentMediaSelection item="
    #expect(
      try changes("append \(path) \(path) wait=ready")
        == [1, 2].map {
          "\(selection)\($0) old=none new=audible=0,legible=none cause=itemLoaded"
        })
    // The criteria first, then their effect on every entry without a selection.
    #expect(
      try changes("item.select 2 subtitles=3") == [
        "\(selection)2 old=audible=0,legible=none new=audible=0,legible=3 cause=request"
      ])
    #expect(try changes("item.select 2 subtitles=3") == [])
    #expect(
      try changes("media-selection legible language=fr,de principal=transcribes-spoken-dialog") == [
        "player.mediaSelectionCriteria.legible old=none new=\"language=fr,de principal=transcribes-spoken-dialog\" cause=request",
        "\(selection)1 old=audible=0,legible=none new=audible=0,legible=4 cause=request",
      ])
    #expect(
      try changes("media-selection audible language=de") == [
        "player.mediaSelectionCriteria.audible old=none new=language=de cause=request",
        "\(selection)1 old=audible=0,legible=4 new=audible=1,legible=4 cause=request",
        "\(selection)2 old=audible=0,legible=3 new=audible=1,legible=3 cause=request",
      ])
    #expect(try changes("media-selection audible language=de") == [])
    #expect(
      try changes("media-selection automatic=off") == [
        "player.appliesMediaSelectionCriteriaAutomatically old=true new=false cause=request",
        "\(selection)1 old=audible=1,legible=4 new=audible=0,legible=none cause=request",
        "\(selection)2 old=audible=1,legible=3 new=audible=0,legible=3 cause=request",
      ])
    #expect(
      try changes("item.select 1 audio=de") == [
        "\(selection)1 old=audible=0,legible=none new=audible=1,legible=none cause=request"
      ])
    // A later observer starts with the current values.
    let other = try daemon.connect()
    try other.send("observe item.currentMediaSelection")
    #expect(try other.line()?.unnumbered == "ok id=1")
    #expect(try other.line() == "\(head)\(selection)1 new=audible=1,legible=none cause=initial initial=true")
    #expect(try other.line() == "\(head)\(selection)2 new=audible=0,legible=3 cause=initial initial=true")
  }

  @Test func assetPropertiesAreReportedWithTheirValues() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("a.m4a")
    let protected = daemon.folder.file("protected.mp4")
    let tone = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac"]
    try ChildProcess.run(tone + ["-metadata", "title=T", path])
    try ChildProcess.run(
      tone + [
        "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
        "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8", protected,
      ])
    // The preferred rate and volume in the movie header (ISO/IEC 14496-12, 8.2.2).
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let header = try #require(bytes.range(of: Data("mvhd".utf8))).upperBound
    bytes.replaceSubrange(header + 20..<header + 26, with: [0, 1, 0x80, 0, 0, 0x40])
    try bytes.write(to: URL(fileURLWithPath: path))
    let bare = daemon.folder.file("a.mp3")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=1", "-write_xing", "0", bare,
    ])
    let keys = [
      "playable", "readable", "composable", "hasProtectedContent", "preferredRate", "preferredVolume",
      "providesPreciseDuration", "chapters", "tracks",
    ]
    let table: [(String, [String])] = [
      (path, ["true", "true", "true", "false", "1.5", "0.25", "true", "0", "1"]),
      (protected, ["false", "false", "false", "true", "1", "1", "true", "0", "1"]),
      (bare, ["true", "true", "true", "false", "1", "1", "false", "0", "1"]),
    ]
    for (index, (path, values)) in table.enumerated() {
      try client.reply("asset.open \(path)")
      let rows = try client.ask("asset.load \(index + 1) \(keys.joined(separator: " "))")
      #expect(
        rows == zip(keys, values).map { "| key=\($0) status=loaded value=\($1)" } + [
          "ok asset=\(index + 1) status=loaded"
        ])
    }
    let formats = try client.ask("asset.load 1 availableMetadataFormats")
    #expect(field("value", formats[0])?.contains("itsk") == true, "\(formats)")
  }
}
