import Testing

@testable import PlayheadNetworkIO

/// The fields with which a station describes itself in its response header.
@Suite struct StationFieldTests {
  private func fields(_ lines: [String]) -> [StationField] {
    var head = ResponseHead()
    for line in ["ICY 200 OK"] + lines + [""] { Array((line + "\r\n").utf8).withUnsafeBytes { head.parse(line: $0) } }
    return StationField.fields(of: head)
  }

  @Test func fieldsAreNamedAndOrderedByKind() {
    let found = fields([
      "ice-audio-info: bitrate=128", "icy-notice1: Hello", "icy-br: 128", "icy-url: http://x/", "Icy-Name: R\u{E4}dio",
      "icy-genre: Jazz", "icy-pub: 1", "icy-description: All day", "icy-metaint: 16000", "Server: none", "icy-empty:",
    ])
    #expect(found.map(\.name) == ["name", "genre", "description", "url", "br", "pub", "audio-info", "notice1"])
    #expect(found.map(\.value).prefix(3) == ["R\u{E4}dio", "Jazz", "All day"])
    #expect(fields(["icy-name: a", "icy-name: b"]).map(\.value) == ["a"])
    #expect(fields(["icy-audio-info: b", "ice-audio-info: a"]).map(\.value) == ["b"])
  }

  @Test func responseWithoutICYFieldsHasNoStationFields() {
    #expect(fields(["Content-Type: audio/mpeg", "ice-audio-info: bitrate=128"]) == [])
  }

  @Test func numberAndLengthOfFieldsAreLimited() {
    let many = (0..<100).map { "icy-x\($0): y" }
    #expect(fields(many).count == StationField.maximumCount)
    let long = String(repeating: "a", count: StationField.maximumByteCount)
    #expect(fields(["icy-name: \(long)", "icy-genre: g"]).map(\.name) == ["genre"])
  }
}
