import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct PlainArgumentTests {
  private func value(_ text: String, _ kind: ParameterSpec.Kind) -> ArgumentValue? {
    guard ArgumentReader.isPlain(Array(text.utf8)[...], kind) else { return nil }
    return ArgumentReader.validated(Array(text.utf8)[...], kind)
  }

  /// Parsing a plain value does not trap, and gives that value.
  @Test func plainTimesAndIDsAreParsedToTheirValues() {
    for text in ["0", "1", "90", "95.25", "0.5", "999999999", "999999999.999999", "10.0", "0.000001"] {
      guard case .time(let time)? = value(text, .time) else {
        Issue.record("\(text) is a plain time")
        continue
      }
      #expect(abs(time.seconds - (Double(text) ?? -1)) < 1e-9)
    }
    for text in ["1", "42", "999999999"] {
      guard case .entry(.id(let id))? = value(text, .entry) else {
        Issue.record("\(text) is a plain id")
        continue
      }
      #expect("\(id)" == text)
    }
  }

  @Test func textThatNeedsTheFullParserIsNotPlain() {
    for text in [
      "", "-1", "+1", "1.", ".5", "00", "01", "1e3", "1:30", "1/2", "1 ", "1.2.3", "2s", "9999999999", "1.1234567",
    ] {
      #expect(!ArgumentReader.isPlain(Array(text.utf8)[...], .time), "\(text)")
    }
    for text in ["", "0", "01", "-1", "1.5", "1.", "9999999999", "a"] {
      #expect(!ArgumentReader.isPlain(Array(text.utf8)[...], .entry), "\(text)")
    }
    #expect(!ArgumentReader.isPlain([UInt8(ascii: "1")], .path))
  }
}
