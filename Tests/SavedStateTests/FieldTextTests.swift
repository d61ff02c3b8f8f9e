import Testing

@testable import SavedState

struct FieldTextTests {
  @Test func fieldsSurviveEncodingAndDecodingWithAnyValue() {
    let fields: StoredFields = [
      "plain": "a", "empty": "", "lines": "a\nb\r\nc", "percent": "100% %0A %", "equals": "a=b=c", "nul": "a\0b",
      "unicode": "Zoë \u{1F3B5} e\u{301}",
    ]
    #expect(FieldText.decode(FieldText.encode(fields)) == fields)
    #expect(FieldText.decode("") == [:])
  }

  @Test(arguments: ["noequals\n", "=value\n", "a=%\n", "a=%4\n", "a=%41\n"])
  func malformedFieldTextIsRejected(_ text: String) {
    #expect(FieldText.decode(text) == nil)
  }
}
