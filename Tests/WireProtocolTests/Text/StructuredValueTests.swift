import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// Ranges, changes and selections: their text form, their objects in JSON, and parameters that accept both.
@Suite struct StructuredValueTests {
  private static func range(_ start: String, _ end: String?) -> TimeRange {
    TimeRange(
      start: MediaTime(decimal: start) ?? .invalid,
      end: end.map { MediaTime(decimal: $0) ?? .invalid } ?? .positiveInfinity)
  }

  private static let values: [(FieldValue, words: String, json: String)] = [
    (.range(range("1.5", "3")), "1.5-3", #"{"start":1.5,"end":3}"#),
    (.range(range("0", nil)), "0-inf", #"{"start":0,"end":null}"#),
    (
      .ranges([range("0", "1"), range("2.25", nil)]), "0-1,2.25-inf",
      #"[{"start":0,"end":1},{"start":2.25,"end":null}]"#
    ),
    (.ranges([]), "\"\"", "[]"),
    (.change(.insert(item: 12, index: 3)), "insert:12:3", #"{"change":"insert","item":12,"index":3}"#),
    (
      .changes([.remove(item: 4, index: 0), .move(item: 5, from: 2, index: 1), .rotate(count: 2)]),
      "remove:4:0,move:5:2:1,rotate:2",
      #"[{"change":"remove","item":4,"index":0},{"change":"move","item":5,"from":2,"index":1},{"change":"rotate","count":2}]"#
    ),
    (
      .selection(TrackSelection(audible: .track(1), legible: TrackChoice.none)), "audible=1,legible=none",
      #"{"audible":1,"legible":null}"#
    ),
    (.selection(TrackSelection(legible: .automatic)), "legible=auto", #"{"legible":"auto"}"#),
    (.selection(TrackSelection()), "\"\"", "{}"),
  ]

  @Test func valuesAreTextInTheTextFormAndObjectsInJSON() {
    for (value, words, json) in Self.values {
      print("\(words)\t\(json)")
      #expect(Lines.text { value.appendWords(to: &$0) } == words)
      #expect(Lines.text { value.appendJSON(to: &$0) } == json)
    }
  }

  /// Requests whose parameter is a value of the text form, and the same in JSON.
  private static let parameters: [(words: String, method: String, params: String)] = [
    ("loop range=70-83.5", "loop", #"{"range":{"start":70,"end":83.5}}"#),
    ("loop range=70-83.5 count=2", "loop", #"{"range":{"end":"1:23.5","start":"70000ms"},"count":2}"#),
    ("loop range=1:10-3700000/44100", "loop", #"{"range":"70-3700000/44100"}"#),
    ("export /a file=/b.wav range=1-2", "export", #"{"paths":"/a","file":"/b.wav","range":{"start":1,"end":2}}"#),
    ("export /a file=/b.wav range=1-inf", "export", #"{"paths":"/a","file":"/b.wav","range":{"start":1e0}}"#),
    ("waveform /a range=0-inf", "waveform", #"{"path":"/a","range":{"start":0,"end":null}}"#),
    (
      "item.select 2 selection=audible=1,legible=none", "item.select",
      #"{"id":2,"selection":{"audible":1,"legible":null}}"#
    ),
    ("item.select selection=legible=de", "item.select", #"{"selection":{"legible":"de"}}"#),
    ("item.select selection=legible=auto", "item.select", #"{"selection":"legible=auto"}"#),
  ]

  @Test func parametersAcceptObjectsAndTexts() throws {
    for (words, method, params) in Self.parameters {
      print("\(words)\t\(params)")
      let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
      #expect(try Lines.arguments(line) == Lines.arguments(words), "\(line)")
    }
  }

  /// What a reply contains is accepted as a parameter.
  @Test func parametersAcceptTheValuesOfReplies() throws {
    for (value, words, json) in Self.values {
      let request: (method: String, name: String)
      switch value {
      case .structured(.range): request = (#"waveform","params":{"path":"/a","#, "range")
      case .structured(.selection(let selection)) where selection != TrackSelection():
        request = (#"item.select","params":{"#, "selection")
      default: continue
      }
      let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(request.method)"\#(request.name)":\#(json)}}"#
      let text = request.name == "range" ? "waveform /a range=\(words)" : "item.select selection=\(words)"
      print(line)
      #expect(try Lines.arguments(line) == Lines.arguments(text))
    }
  }

  private static let invalid: [(method: String, name: String, other: String, values: [String])] = [
    (
      "loop", "range", "",
      [
        "{}", #"{"end":2}"#, #"{"start":null,"end":2}"#, #"{"start":2,"end":1}"#, #"{"start":1,"end":1}"#,
        #"{"start":-1,"end":1}"#, #"{"start":true,"end":1}"#, #"{"start":[],"end":1}"#, #"{"start":{},"end":1}"#,
        #"{"start":1,"start":1,"end":2}"#, #"{"start":1,"end":2,"end":2}"#, #"{"start":1,"end":2,"more":3}"#,
        #"{"start":"x","end":2}"#, #"{"start":"+1","end":2}"#, #"{"start":1,"end":"inf"}"#, #"{"start":1,"end":1e400}"#,
        "1", "true", "[]", #"[{"start":1,"end":2}]"#, #""1""#, #""""#, #""-""#, #""1-""#, #""-2""#, #""2-1""#,
        #""1-2-3""#, #""1-end""#, #""inf-inf""#,
      ]
    ),
    (
      "item.select", "selection", "",
      [
        "{}", #"{"audio":1}"#, #"{"audible":true}"#, #"{"audible":-1}"#, #"{"audible":1.5}"#, #"{"audible":[1]}"#,
        #"{"audible":{}}"#, #"{"audible":"x"}"#, #"{"audible":1,"audible":1}"#, #"{"":1}"#, "1", "false", "[]",
        #""1""#, #""audible""#, #""audible=""#, #""audible=1,""#, #""audible=1,audible=2""#, #""""#,
      ]
    ),
  ]

  @Test func malformedValuesAreErrorsWithTheParameterTheValueAndTheAcceptedForm() throws {
    for (method, name, other, values) in Self.invalid {
      for value in values {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"\#(name)":\#(value)\#(other)}}"#
        let error = try Lines.rejection(line).error
        print("\(value)\t\(error.error.message)")
        #expect(error.error.code == .badArguments && error.jsonCode == WireError.invalidParams)
        #expect(error.error.message.hasPrefix("\(name) must be "), "\(error.error.message)")
        #expect(error.error.message.contains("(got "))
        if value.hasPrefix("{") { #expect(error.error.message.hasSuffix("(got '\(value)')"), "\(error.error.message)") }
      }
    }
  }

  @Test func aRangeExcludesTheParametersThatItReplaces() throws {
    for line in [
      "loop 1 2 range=3-4", "loop off range=3-4", "loop last range=3-4", "loop range=3-inf",
      "export /a file=/b.wav range=1-2 start=0", "waveform /a range=1-2 end=3",
      "item.select selection=audible=1 audio=2", "item.select selection=audible=1 subtitles=none",
    ] {
      let error = try Lines.rejection(line).error.error
      print("\(line)\t\(error.message)")
      #expect(error.code == .badArguments)
      #expect(error.message.hasPrefix("range ") || error.message.hasPrefix("selection "))
    }
  }
}
