import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct TypedReplyTests {
  private struct Row: ReplyFields {
    var isActive: Bool
    static let fields: [Field<Self>] = [Field(.isActive) { $0.isActive }]
  }

  private struct Sample: ReplyFields {
    var row: Row
    var timeout: MediaTime?
    var mode: String?

    static let fields: [Field<Self>] =
      Row.fields.map { $0.within { $0.row } } + [
        Field(nullable: .timeout) { $0.timeout }, Field(optional: .modeOfReplayGain) { $0.mode },
      ]
  }

  private static func line(_ reply: some ReplyFields, _ form: WireForm = .words) -> String {
    let address = ReplyAddress(form: form, id: form == .words ? .none : .jsonNumber("1"))
    return Lines.text { Reply(reply).encode(to: address, into: &$0) }
  }

  @Test func fieldsWithoutAValueAreNoneOrAbsent() {
    let empty = Sample(row: Row(isActive: true), timeout: nil, mode: nil)
    #expect(Self.line(empty) == "ok isActive=true timeout=none\n")
    #expect(Self.line(empty, .json) == #"{"jsonrpc":"2.0","id":1,"result":{"isActive":true,"timeout":null}}"# + "\n")
    let full = Sample(row: Row(isActive: false), timeout: MediaTime(value: 3, timescale: 2), mode: "two words")
    #expect(Self.line(full) == "ok isActive=false timeout=1.5 mode=\"two words\"\n")
    #expect(Sample.fields.map(\.spec.notation) == ["isActive", "timeout?", "[mode]"])
  }

  @Test func replyForAllPlayersEndsWithTheirNames() {
    var reply = VolumeCommand.Reply(volume: 0.5)
    #expect(Self.line(reply) == "ok volume=0.5\n")
    reply.players = ["main", "b"]
    #expect(Self.line(reply) == "ok volume=0.5 players=main,b\n")
  }

  @Test func replyForOnePlayerWithoutOtherFieldsIsEmpty() throws {
    #expect(PlayCommand.Reply().isEmpty && FadeCommand.Reply().isEmpty && AffectedPlayersReply().isEmpty)
    #expect(Self.line(AffectedPlayersReply()) == "ok\n")
    #expect(!AffectedPlayersReply(players: ["main"]).isEmpty && !FadeCommand.Reply(isFinished: true).isEmpty)
    let range = PlayCommand.Reply(played: (item: 1, time: MediaTime(value: 5, timescale: 2)))
    #expect(!range.isEmpty && Self.line(range) == "ok item=1 time=2.5 pts=5/2\n")
  }

  @Test func statusHasItsValuesInTheOrderOfTheExample() {
    let reply = StatusCommand.Reply(
      player: "main", timeControlStatus: "playing", reasonForWaitingToPlay: nil, rate: 1, defaultRate: 1,
      position: .init(
        time: MediaTime(value: 540_225, timescale: 44_100), hostTime: HostTime(nanoseconds: 5_012_250_000_000),
        timebaseRate: 1),
      queue: .init(count: 2, version: 2, shuffleSeed: nil),
      item: .init(
        id: 1, status: "readyToPlay", error: nil, duration: MediaTime(value: 1_832, timescale: 10),
        providesPreciseDuration: true, loop: nil, chapter: .init(number: 2, title: "Fugue"), title: nil, artist: nil,
        album: nil, streamTitle: nil, streamURL: nil),
      settings: .init(
        volume: 1, isFading: false, isMuted: false, pan: 0, actionAtItemEnd: "advance", repeatMode: "off",
        onFailure: .skip, automaticallyWaits: true, pitchAlgorithm: .timeDomain, replayGainMode: "off",
        crossfade: nil))
    #expect("< " + Self.line(reply) == (StatusCommand.definition.spec.example.last ?? "") + "\n")
  }

  @Test func replyWithoutFieldsIsOK() {
    #expect(Self.line(NoFields()) == "ok\n")
    #expect(Reply(NoFields()) == .ok)
  }
}
