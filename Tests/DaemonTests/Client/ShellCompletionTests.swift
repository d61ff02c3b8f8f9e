import Testing

@testable import playhead

/// The completion of lines in the shell, without a daemon.
@Suite struct ShellCompletionTests {
  /// The line after Tab, and the listed candidates.
  private func completed(_ line: String, files: [String] = []) -> (line: String, listed: [String]) {
    let completion = ShellCompletion(
      Array(line.utf8),
      live: { live in
        switch live {
        case .entries(let player):
          player == nil ? [.init(text: "11", summary: "One"), .init(text: "12", summary: "Two")] : []
        case .players: [.init(text: "main", summary: "paused")]
        }
      }, files: { partial in files.filter { $0.hasPrefix(partial) } })
    var bytes = Array(line.utf8)
    if let replacement = completion.replacement {
      bytes.replaceSubrange(completion.start..., with: replacement)
    }
    return (String(decoding: bytes, as: UTF8.self), completion.candidates.map(\.text))
  }

  @Test func wordsAreCompleted() {
    for (line, result, listed) in [
      ("tog", "toggle ", []), ("volum", "volume ", []), ("@7 tog", "@7 toggle ", []),
      ("seek 10 fa", "seek 10 fast ", []),
      ("status pl", "status player=", []), ("status player=", "status player=main ", []), ("jump ", "jump ", nil),
      ("jump 1", "jump 1", ["11", "12"]), ("remove 11 12", "remove 11 12 ", []), ("mute t", "mute toggle ", []),
      // Only commands of the daemon, without the options of the command line.
      ("compl", "compl", []), ("seek -", "seek -", []), ("--he", "--he", []), ("vol 0 pl", "vol 0 player=", []),
      // Each pasted line is a command.
      ("pan 0\ntog", "pan 0\ntoggle ", []),
      ("nonsense ", "nonsense ", []), ("pan \"", "pan \"", []), ("pan \"pl", "pan \"pl", []),
      ("{\"jsonrpc\"", "{\"jsonrpc\"", []),
    ] as [(String, String, [String]?)] {
      let outcome = completed(line)
      #expect(outcome.line == result, "\(line.debugDescription)")
      if let listed { #expect(outcome.listed == listed, "\(line.debugDescription)") }
    }
    #expect(completed("").listed.contains("volume"))
    #expect(completed("jump ").listed.starts(with: ["11", "12"]))
  }

  @Test func pathsAreQuotedForTheProtocol() {
    let files = ["/m/A side.flac", "/m/A top.flac", "/m/b=c.wav", "/m/d/", "/m/e f/", "/m/g\"h.wav"]
    for (line, result) in [
      ("load /m/A", "load \"/m/A "), ("load \"/m/A s", "load \"/m/A side.flac\" "),
      ("load '/m/A s", "load \"/m/A side.flac\" "), ("load /m/A\\ s", "load \"/m/A side.flac\" "),
      ("load /m/b", "load \"/m/b=c.wav\" "), ("load /m/d", "load /m/d/"), ("load /m/e", "load \"/m/e f/"),
      ("load /m/g", "load \"/m/g\\\"h.wav\" "), ("load x /m/d", "load x /m/d/"), ("load /x", "load /x"),
      ("item.artwork 1 file=/m/A\\ s", "item.artwork 1 file=\"/m/A side.flac\" "),
    ] { #expect(completed(line, files: files).line == result, "\(line)") }
    #expect(completed("load /m/", files: files).listed == files)
    #expect(completed("load \"/m/A ", files: files).listed == Array(files.prefix(2)))
  }
}
