import DaemonTesting
import PlayheadMediaCore
import RigSupport
import Testing

/// The reply to a seek whose position is not proven: `exact=false`, with the reason.
@Suite struct SeekDoubtTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var doubt: PositionDoubt
    var name: String
    var options: [String]
    var edit: String?
    /// Whether a server delivers the file. Without a server, the same seeks are exact.
    var isRemote = true
    var seconds = 6
    var doubtfulTargets = ["1.5", "3.1", "4.9"]
    /// Targets of exact seeks in the local file.
    var exactTargets = ["1.5", "3.1", "4.9"]
    var testDescription: String { "\(doubt.rawValue) \(name)" }
  }

  private static let aac = ["-c:a", "aac", "-aac_pns", "0"]

  static let rows = [
    Row(doubt: .estimated, name: "a.mp3", options: ["-c:a", "libmp3lame", "-write_xing", "0"]),
    Row(doubt: .estimated, name: "a.mka", options: aac),
    Row(doubt: .irregularTimestamps, name: "a.m4a", options: aac, edit: "mp4_jitter(data, 300, 1)"),
    Row(doubt: .coarseTimestamps, name: "a.mka", options: ["-c:a", "truehd", "-strict", "-2", "-ar", "48000"]),
    // G.726 predicts from all earlier audio. A seek decodes at most 15 minutes.
    Row(
      doubt: .decoderState, name: "a.wav", options: ["-c:a", "g726", "-ar", "8000", "-ac", "1"], isRemote: false,
      seconds: 1_000, doubtfulTargets: ["900.1", "950", "999"], exactTargets: ["1", "500", "899.9"]),
    // 3 s of 6 s are before the missing packets.
    Row(
      doubt: .damage, name: "a.ts", options: ["-c:a", "ac3"], edit: "remove_range(data, 0.5, 1880)", isRemote: false,
      doubtfulTargets: ["3.2", "4.5", "5"], exactTargets: ["0.4", "1.5", "2.1"]),
    // The decoder conceals the damage: it reports no error, and marks the frame.
    Row(
      doubt: .damage, name: "concealed.ts", options: ["-c:a", "ac3"], edit: "flip_bits(data, 50, 3, 2000)",
      isRemote: false, doubtfulTargets: ["5", "0.5006", "3.77"], exactTargets: ["0"]),
  ]

  @Test func everyReasonOfAFileHasARow() {
    #expect(Set(Self.rows.map(\.doubt)) == Set(PositionDoubt.allCases))
  }

  @Test(arguments: rows) func replyHasTheReason(_ row: Row) throws {
    let server = try HTTPServer()
    let path = server.files.file(row.name)
    let audio = "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):s=44100:d=6"
    let source = row.seconds > 6 ? "sine=r=8000:d=\(row.seconds)" : audio
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", source] + row.options + [path])
    if let edit = row.edit { try MediaPatch.apply(edit, to: path) }
    let daemon = try InProcessServer()
    let client = try daemon.connect()

    try client.reply("load \(row.isRemote ? "\(server.address)/\(row.name)" : path) wait=ready")
    for target in row.doubtfulTargets {
      let reply = try client.reply("seek \(target)")
      print(reply)
      #expect(field("finished", reply) == "true" && field("exact", reply) == "false", "\(reply)")
      #expect(field("reason", reply) == row.doubt.rawValue, "\(reply)")
    }
    let target = row.doubtfulTargets[0]
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":"\#(target)"}}"#)
    let json = try client.line() ?? ""
    #expect(json.contains(#""exact":false"#) && json.contains(#""reason":"\#(row.doubt.rawValue)""#), "\(json)")

    try client.ask("load \(path) wait=ready")
    for target in row.exactTargets {
      let reply = try client.reply("seek \(target)")
      print(reply)
      #expect(field("exact", reply) == "true" && field("reason", reply) == nil, "\(reply)")
    }
  }
}
