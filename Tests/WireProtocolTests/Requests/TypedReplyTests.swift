import MediaCore
import Testing

@testable import WireProtocol

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
        Field(nullable: .timeout) { $0.timeout }, Field(optional: .mode) { $0.mode },
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

  @Test func replyWithoutFieldsIsOK() {
    #expect(Self.line(NoFields()) == "ok\n")
    #expect(Reply(NoFields()) == .ok)
  }
}
