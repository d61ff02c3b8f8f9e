import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// Lines of the text form: ids, limits, and lines that are rejected.
@Suite struct WordsLineTests {
  @Test(arguments: [
    ("nosuch", MediaError.Code.unknownCommand, "unknown command 'nosuch'"),
    ("paly", .unknownCommand, "did you mean play?"), ("PLAY", .unknownCommand, "did you mean play?"),
    ("player", .unknownCommand, "did you mean play"), ("stat", .unknownCommand, "did you mean sta"),
    ("help seeek", .unknownCommand, "did you mean seek?"), ("'@5' ping", .unknownCommand, "'@5'"),
    ("* tick", .unknownCommand, "'*'"),
    ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", .unknownCommand, "...'"),
    ("@ ping", .badArguments, "an id must be @"), ("@a/b ping", .badArguments, "an id must be @"),
    ("@\"5\" ping", .badArguments, "an id must be @"),
    ("ping x", .badArguments, "unexpected word 'x' at column 6"),
    ("ping player=x", .badArguments, "unexpected word"),
    ("seek", .badArguments, "time is missing"), ("seek 1 2", .badArguments, "unexpected word"),
    ("seek fast", .badArguments, "time is missing"),
    ("seek x", .invalidTime, "+5, -5, 50%, end or live (got 'x')"),
    ("seek 1:75", .invalidTime, "(got '1:75': minutes and seconds after a colon are at most 59)"),
    ("seek 1:2:3:4", .invalidTime, "(got '1:2:3:4': at most hours, minutes and seconds are possible)"),
    ("seek 1 before=0:60", .invalidTime, "(got '0:60': minutes and seconds after a colon are at most 59)"),
    ("seek 1 before=-1", .invalidTime, "before must be a time of at least 0, or inf (got '-1')"),
    ("seek 1 before=5%", .invalidTime, "before must be"),
    ("seek 1 fast before=1", .badArguments, "fast cannot be combined"),
    ("seek 1 fast=maybe", .badArguments, "fast must be"),
    ("seek 1 chase=maybe", .badArguments, "chase must be"), ("seek chase", .badArguments, "time is missing"),
    ("seek 1 chase chase", .badArguments, "chase is given twice"), ("explain all", .badArguments, "unexpected word"),
    ("seek 1 before=1 before=2", .badArguments, "before is given twice"),
    (
      "seek 1 item=0", .badArguments, "item must be the id of an entry, current, next, previous, +N, -N or #N (got '0')"
    ),
    ("seek", .badArguments, "time is missing"), ("seek date=soon", .badArguments, "2026-11-22T09:30:00Z"),
    ("seek 1 date=2026-11-22T09:30:00Z", .badArguments, "TIME and date cannot be combined"),
    ("seek inf", .invalidTime, "time must be"), ("seek nan", .invalidTime, "time"),
    ("seek 1e999999", .invalidTime, "time"),
    ("rate 0", .badArguments, "but not 0"), ("rate -0.0", .badArguments, "but not 0"),
    ("rate inf", .badArguments, "rate must be"),
    ("rate 0x1", .badArguments, "rate must be"), ("rate 33", .badArguments, "-32 to 32"),
    ("rate 1.", .badArguments, "rate"),
    ("volume 1.01", .badArguments, "a number from 0 to 1"), ("volume -2", .badArguments, "volume"),
    ("volume ''", .badArguments, "volume"),
    ("mute yes", .badArguments, "state must be on, off or toggle (got 'yes')"),
    (
      "session.category mode=default", .badArguments,
      "mode and options need a category"
    ),
    (
      "session.category playback options=loud", .badArguments,
      "options must be any of mixWithOthers, duckOthers, allowBluetooth, defaultToSpeaker, interruptSpokenAudioAndMixWithOthers, allowBluetoothA2DP, allowAirPlay (got 'loud')"
    ),
    ("replay-gain protect=toggle", .badArguments, "protect must be on or off (got 'toggle')"),
    ("pitch lowQuality", .badArguments, "timeDomain, spectral, varispeed"),
    ("media-selection both", .badArguments, "audible, legible"),
    ("media-selection language=de", .badArguments, "a group is missing"),
    ("media-selection audible clear language=de", .badArguments, "clear cannot be combined"),
    ("media-selection audible principal=loud", .badArguments, "describes-video (got 'loud')"),
    ("media-selection automatic=maybe", .badArguments, "automatic must be"),
    ("asset.artwork 1 file=/a offset=1", .badArguments, "file and offset exclude each other"),
    ("asset.artwork 1 from=1 offset=1", .badArguments, "from excludes file and offset"),
    ("asset.artwork 1 from=1 file=/a", .badArguments, "from excludes file and offset"),
    ("asset.artwork 1 replace", .badArguments, "replace needs file"),
    ("asset.metadata 1 offset=-1", .badArguments, "offset must be"),
    ("item.pitch 1 loud", .badArguments, "varispeed, player"), ("item.pitch fast", .badArguments, "id"),
    ("end-action loop", .badArguments, "advance, stop, pause, none"), ("load", .badArguments, "paths is missing"),
    ("load rel", .badArguments, "not absolute: it must begin with /, or be a URL or fd:TOKEN"),
    ("load", .badArguments, "https:// URL, or fd:TOKEN"), ("load ''", .badArguments, "must not be empty"),
    ("load ftp://h/x", .unsupportedLocation, "the scheme must be file, http or https"),
    ("load ftp://user:hunter2@h/x", .unsupportedLocation, "'ftp://h/x': the scheme must be file"),
    (
      "load 'http://user:hun ter2@h/x'", .badArguments,
      "'http://h/x': a URL must not contain spaces; write %20 instead"
    ),
    ("load 'http://h/a b.flac'", .badArguments, "'http://h/a b.flac': a URL must not contain spaces; write %20"),
    ("load \"http://h/a\\x09b\"", .badArguments, "a URL must not contain control characters"),
    ("load http:///user:hunter2@h/x", .badArguments, "'http:///h/x': a URL must have a host"),
    ("load http://:80/x", .badArguments, "a URL must have a host"),
    (
      "load http://h/\(String(repeating: "a", count: 9_000))", .badArguments,
      "a URL must have at most 8192 bytes (got 9009)"
    ),
    ("load user:hunter2@h/x", .badArguments, "'h/x' is not absolute"),
    (
      "load ftp://user:hunter2222222222222222222222222222222222222222222222222222222222222@h/x", .unsupportedLocation,
      "'ftp://h/x'"
    ),
    ("play ftp://user:hunter2@h/x", .badArguments, "'ftp://h/x'"),
    ("load /a header-for=all", .badArguments, "header-for must be one of origin, any (got 'all')"),
    ("load /a wait=never", .badArguments, "wait must be ready (got 'never')"),
    ("load \"/a\\x00\"", .badArguments, "NUL"), ("insert /a after=1 before=2", .badArguments, "exclude each other"),
    ("append /a if-version=-1", .badArguments, "if-version must be a whole number of at least 0 (got '-1')"),
    ("append /a if-version=99999999999999999999", .badArguments, "if-version"),
    ("remove", .badArguments, "ids is missing"),
    ("remove x", .badArguments, "ids must be the id of an entry, current, next, previous, +N, -N or #N (got 'x')"),
    ("remove +0", .badArguments, "ids"),
    ("replace", .badArguments, "id is missing"), ("observe", .badArguments, "keys is missing"),
    ("observe player.volum", .noSuchProperty, "did you mean player.volume?"), ("observe x*", .noSuchProperty, "'x*'"),
    ("observe *.volum", .noSuchProperty, "'*.volum'"),
    ("observe player.volume*x", .noSuchProperty, "'player.volume*x'"),
    ("observe 'player.?olume'", .noSuchProperty, "lists the keys"),
    ("observe ''", .noSuchProperty, "''"), ("tick 0", .invalidTime, "above 0"), ("tick -1", .invalidTime, "above 0"),
    ("tick 50%", .invalidTime, "interval"), ("at", .badArguments, "times is missing"),
    ("at -1", .invalidTime, "times must be"),
    ("wait", .badArguments, "conditions is missing"), ("wait time>x", .invalidTime, "conditions must be"),
    ("wait time<0", .invalidTime, "conditions must be"), ("wait time=5", .badArguments, "conditions must be"),
    ("wait item=later", .badArguments, "conditions must be"),
    ("wait time>=x", .invalidTime, "conditions"), ("wait time<=-1", .invalidTime, "conditions"),
    ("wait time<=end", .invalidTime, "conditions"), ("wait time<=", .invalidTime, "conditions"),
    ("wait time<=1 time>=2", .badArguments, "time>=2 and time<=1 cannot both hold"),
    ("wait status=stopped", .badArguments, "conditions"),
    ("wait item=0", .badArguments, "conditions"), ("wait ended timeout=-1", .invalidTime, "timeout"),
    ("clock.advance", .badArguments, "duration is missing"), ("player.create a/b", .badArguments, "name must be"),
    ("player.create ''", .badArguments, "name"),
    (
      "play player='a b'", .badArguments,
      "player must be 1 to 64 characters of A-Z a-z 0-9 . _ -, or * for all players (got 'a b')"
    ),
    ("play 'player=x'", .badArguments, "unexpected word"), ("seek 'unclosed", .badQuoting, "column 6"),
  ])
  func invalidLinesAreRejectedWithAnExplanation(line: String, code: MediaError.Code, message: String) throws {
    let rejection = try Lines.rejection(line)
    #expect(rejection.error.error.code == code, "\(rejection.error.error)")
    #expect(rejection.error.error.message.contains(message), "\(rejection.error.error.message)")
    #expect(rejection.address == .words)
  }

  @Test(arguments: [
    ("export /a file=/b.flac start=60 end=30", "end must be after start 60 (got 30)"),
    ("waveform /a start=1 end=0.5", "end must be after start 1 (got 0.5)"),
    ("export /a file=/b.xyz", "unknown file name extension 'xyz'; specify format"),
    ("export /a file=/b", "the file name has no extension; specify format"),
    ("export /a file=/b.mp4 video=copy height=64", "height and quality cannot be combined with video=copy"),
    ("export /a file=/b.flac codec=copy sample-rate=48000", "sample-rate cannot be combined with codec=copy"),
    ("seek date=soon", "invalid date 'soon'; expected a form such as 2026-11-22T09:30:00Z"),
    (
      "rate-at 1 frame:5",
      "time must be now, a time from now such as +0.5, a date such as 2026-12-24T18:00:00+01:00, a time of day such as"
        + " 18:00, or an instant of the monotonic clock such as 1234.5"
    ),
    (
      "record.start at=frame:5",
      "at must be now, a time from now such as +0.5, or an instant of the monotonic clock such as 1234.5"
    ),
    ("image /a 1 file=/b.gif", "unknown file name extension 'gif'; specify format"),
    ("image /a 1 file=/b", "the file name has no extension; specify format"),
    ("queue.edit 'append /a.m3u'", "a playlist is not allowed within queue.edit"),
  ])
  func invalidArgumentsAreRejectedWithTheirValues(line: String, message: String) throws {
    let error = try Lines.rejection(line).error.error
    #expect(error.code == .badArguments)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test(arguments: [
    ("play-at 24:00 a", "time: invalid date \"24:00\": the hour must be between 00 and 23 (got 24)"),
    ("play-at 8:00 a", "the hour must have 2 digits (got 1)"),
    ("play-at 2026-02-29T00:00 a", "the day must be between 01 and 28 (got 29)"),
    ("play-at 2026-12-24 a", "a T and a time of day must follow the date"),
    ("rate-at 1 2026-12-24T18:00+15:00", "the hour of the offset must be between 00 and 14 (got 15)"),
    ("wait silence>=0.01", "conditions must be one of time>=TIME"), ("wait silence>=-1", "conditions must be one of"),
    ("record.start at=18:00", "at must be now, a time from now such as +0.5, or an instant of the monotonic clock"),
  ])
  func invalidTimesAreRejectedWithTheAcceptedValues(line: String, message: String) throws {
    let error = try Lines.rejection(line).error.error
    #expect(error.code == .invalidTime)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func argumentErrorsNameTheCommand() throws {
    for line in ["seek x", "seek", "load rel", "observe x", "insert /a after=1 before=2", "ping x"] {
      let operation = try Lines.rejection(line).error.error.operation
      #expect(operation.map { line.hasPrefix($0) } == true, "\(line)")
    }
  }

  @Test func requestIDIsKeptInValidAndInvalidLines() throws {
    let id = String(repeating: "x", count: 64)
    #expect(try Lines.request("@\(id) ping").address.id == .words(id))
    #expect(try Lines.rejection("@\(id)x ping").address.id == .none)
    #expect(try Lines.request("  @a.B_9-  ping").address.id == .words("a.B_9-"))
    for line in ["@7 nosuch", "@7 seek", "@7 seek 'x", "@7", "@7 ping \\", "@7 append \"/\\xff\""] {
      #expect(try Lines.rejection(line).address.id == .words("7"), "\(line)")
    }
    #expect(try Lines.rejection(Array("@7 load /".utf8) + [0xFF]).address.id == .words("7"))
    #expect(try Lines.rejection([0xFF] + Array("@7 load /".utf8)).address.id == .none)
  }

  @Test func idWithoutACommandIsRejected() throws {
    let rejection = try Lines.rejection("@5 ")
    #expect(rejection.error.error.message == "a command is missing after the id")
    #expect(rejection.address.id == .words("5"))
  }

  @Test func blankLinesAreIgnored() {
    for line in ["", " ", "\t  "] { #expect(Lines.parse(line) == .blank) }
  }

  @Test func waitingRequestsAreRecognized() throws {
    let waiting = [
      "seek 1", "wait ended", "clock.advance 1", "load /a wait=ready", "append /a wait=ready", "insert /a wait=ready",
    ]
    for line in waiting { #expect(try Lines.request(line).isWaiting, "\(line)") }
    for line in ["play", "load /a", "append /a", "insert /a", "tick 1", "observe *"] {
      #expect(try !Lines.request(line).isWaiting, "\(line)")
    }
  }

  @Test func overlongLineErrorHasTheFormAndIDOfTheLine() {
    let tail = String(repeating: "x", count: 70_000) + "\nping\n"
    for (beginning, address) in [
      ("@9 load /", ReplyAddress(form: .words, id: .words("9"))), ("load '/", .words), ("@", .words), ("", .words),
      ("@9 'é", ReplyAddress(form: .words, id: .words("9"))), (" {", ReplyAddress(form: .json, id: .jsonNull)),
      ("[", ReplyAddress(form: .json, id: .jsonNull)),
    ] {
      for sizes in [[100_000], [1, 4_096], [65_536]] {
        let incoming = Lines.incoming(Array((beginning + tail).utf8), chunks: sizes)
        guard incoming.count == 2, case .rejected(let rejection) = incoming[0], case .request = incoming[1] else {
          Issue.record("\(beginning): \(incoming)")
          continue
        }
        #expect(rejection.address == address)
        #expect(rejection.error.error.code == .lineTooLong)
      }
    }
  }

  @Test func connectionClosesAfterAMebibyteWithoutALineFeed() {
    let incoming = Lines.incoming(
      [UInt8](repeating: UInt8(ascii: "{"), count: 1_100_000) + Array("\nping\n".utf8), chunks: [65_536])
    guard incoming.count == 2, case .rejected = incoming[0], case .close(let error, .json) = incoming[1] else {
      Issue.record("\(incoming)")
      return
    }
    #expect(error.code == .lineTooLong)
  }

  /// Removing quotes leaves unused bytes in the buffer, which must not be interpreted.
  @Test(arguments: ["'é'", "\"/music/Ä\"", "'ß' load /a"])
  func quotedFirstWordIsAnUnknownCommand(_ line: String) throws {
    #expect(try Lines.rejection(line).error.error.code == .unknownCommand)
    let withID = try Lines.rejection("@1 \(line)")
    #expect(withID.error.error.code == .unknownCommand && withID.address.id == .words("1"))
  }

  @Test func lineThatIsNotUTF8KeepsItsID() throws {
    let rejection = try Lines.rejection(Array("@1 'a' ".utf8) + [0xC3])
    #expect(rejection.error.error.code == .invalidUTF8 && rejection.address.id == .words("1"))
  }
}
