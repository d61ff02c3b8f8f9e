import DaemonTesting
import RigSupport
import Testing

/// The encoding of tags that do not state one: `charset` of the requests and of the client, and `tags.charset`.
@Suite struct TagCharsetTests {
  /// The same six bytes in four encodings. Too few to detect one with certainty.
  private static let bytes: [UInt8] = [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2]
  private static let texts = [
    ("windows-1251", "Привет"), ("koi8-r", "оПХБЕР"), ("latin-1", "Ïðèâåò"), ("iso-8859-2", "Ďđčâĺň"),
  ]

  /// An MP3 file whose title has no stated encoding.
  private func file(_ daemon: TestServer, _ name: String = "a.mp3") throws -> String {
    let plain = daemon.folder.file("plain-\(name)")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", try daemon.wave(1, frameCount: 4_800), "-id3v2_version", "0", plain,
    ])
    let tag = TagBytes.id3v2(3, TagBytes.frame(3, "TIT2", [0] + Self.bytes))
    return try daemon.folder.write(name, tag + Files.read(plain))
  }

  private func title(_ rows: [String]) -> String? {
    rows.first { $0.contains("identifier=id3/TIT2") }.flatMap { field("value", $0) }
  }

  @Test func charsetOfRequestsSelectsTheEncoding() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try file(daemon)
    // The encoding of `asset.open` applies until a later request changes it.
    for (number, (charset, text)) in Self.texts.enumerated() {
      #expect(try client.reply("asset.open \(path) charset=\(charset)") == "ok asset=\(number + 1)")
      #expect(title(try client.ask("asset.metadata \(number + 1)")) == text)
    }
    try client.reply("append \(path) wait=ready")
    for (charset, text) in Self.texts {
      #expect(title(try client.ask("asset.metadata 1 charset=\(charset)")) == text)
      #expect(title(try client.ask("asset.metadata 1")) == text)
      #expect(title(try client.ask("item.metadata 1 charset=\(charset)")) == text)
    }
    // Another asset of the same file keeps its encoding.
    #expect(title(try client.ask("asset.metadata 2")) == Self.texts[1].1)
  }

  @Test func optionOfTheClientSelectsTheEncoding() throws {
    let daemon = try InProcessServer()
    let path = try file(daemon)
    for (charset, text) in Self.texts {
      for arguments in [["tags", "--charset", charset, path], ["tags", "charset=\(charset)", path]] {
        let outcome = try daemon.playhead(arguments)
        let words = outcome.output.split { $0 == " " || $0 == "\n" }.map(String.init)
        #expect(outcome.status == 0 && words == [path, "title", text], "\(arguments): \(outcome)")
      }
    }
  }

  @Test func configurationSelectsTheEncoding() throws {
    let folder = try TemporaryDirectory("daemon")
    let configuration = folder.file("a.toml")
    func configure(_ charset: String) throws {
      try folder.write("a.toml", Array("[tags]\ncharset = \"\(charset)\"\n".utf8))
    }
    try configure(Self.texts[0].0)
    let daemon = try TestDaemon("--config", configuration, "--output", "null", folder: folder)
    let client = try daemon.connect()
    let path = try file(daemon)
    for (index, (charset, text)) in Self.texts.enumerated() {
      if index > 0 {
        try configure(charset)
        #expect(try client.reply("config.reload") == "ok changed=tags.charset restart=\"\"")
      }
      #expect(try client.reply("asset.open \(path)").hasPrefix("ok asset="))
      #expect(title(try client.ask("asset.metadata \(index + 1)")) == text, "\(charset)")
      #expect(try daemon.playhead("tags", path).output.contains(text), "\(charset)")
      // The encoding of a request has priority.
      let other = Self.texts[(index + 1) % Self.texts.count]
      #expect(try daemon.playhead("tags", "--charset", other.0, path).output.contains(other.1), "\(charset)")
    }
  }

  @Test func unknownEncodingIsAnErrorThatListsTheAcceptedOnes() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    let path = try file(daemon)
    try client.reply("append \(path) wait=ready")
    #expect(try client.reply("asset.open \(path)") == "ok asset=1")
    let message = "charset must be one of automatic, latin-1, gbk, "
    for (request, shown) in [
      ("asset.open \(path) charset=klingon", "klingon"), ("asset.metadata 1 charset=windows1251", "windows1251"),
      ("item.metadata 1 charset=UTF-8", "UTF-8"), ("asset.metadata 1 charset=", ""),
    ] {
      let reply = try client.reply(request)
      print(reply)
      #expect(reply.hasPrefix("error code=6002 name=bad-arguments ") && reply.contains(message), "\(reply)")
      #expect(reply.contains(" koi8-r, ") && reply.contains("(got '\(shown)')"), "\(reply)")
    }
    for arguments in [["tags", "--charset", "klingon", path], ["tags", "charset=klingon", path]] {
      let outcome = try daemon.playhead(arguments)
      #expect(outcome.status == 2 && outcome.output.isEmpty, "\(arguments): \(outcome)")
      #expect(outcome.errors.contains(message) && outcome.errors.contains("(got 'klingon')"), "\(outcome)")
    }
    let text = try daemon.folder.write("a.toml", Array("[tags]\ncharset = \"klingon\"\n".utf8))
    let outcome = try Program(Executables.playheadd, ["--check-config", text]).waitForEnd()
    #expect(outcome.status == 2 && outcome.errors.hasPrefix("\(text):2:11: tags.charset: "), "\(outcome)")
    #expect(outcome.errors.contains("\"automatic\" \"latin-1\" \"gbk\""), "\(outcome)")
    // A wrong request changes nothing.
    #expect(try client.ask("asset.metadata 1").last?.hasPrefix("ok asset=1 count=1 ") == true)
  }
}
