import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct FilePathTests {
  @Test(arguments: [
    ("/a b", "/a b"), ("/", "/"), ("file:///a%20b", "/a b"), ("FILE:///x", "/x"), ("file://localhost/x", "/x"),
    ("file:///caf%C3%a9", "/café"), ("/file://x", "/file://x"), ("/100%", "/100%"), ("file:///a?b#c", "/a?b#c"),
  ])
  func absolutePathsAndFileURLsAreParsed(text: String, expected: String) throws {
    #expect(try FilePath(text: text).bytes == Array(expected.utf8))
  }

  @Test(arguments: [
    ("", MediaError.Code.badArguments), ("a", .badArguments), ("./a", .badArguments), ("a\0", .badArguments),
    ("/a\0", .badArguments), ("file:///a%00", .badArguments), ("file:///a%4", .badArguments),
    ("file:///%zz", .badArguments),
    ("file://host/x", .badArguments), ("file://", .badArguments), ("ftp://x/y.mp3", .unsupportedLocation),
    ("http://", .badArguments), ("http:///a", .badArguments),
    ("http://h/a b", .badArguments),
    ("://", .unsupportedLocation),
  ])
  func invalidPathsAndURLsAreRejected(text: String, code: MediaError.Code) throws {
    let error = try #require(throws: MediaError.self) { try FilePath(text: text) }
    #expect(error.code == code)
  }

  /// Otherwise a queue could retain gigabytes of paths that no file can have.
  @Test func pathLongerThanPATH_MAXIsRejected() throws {
    let longest = "/" + String(repeating: "a", count: 4_095)
    let escaped = String(repeating: "%61", count: 4_095)
    #expect(try FilePath(text: longest).bytes.count == 4_096)
    #expect(try FilePath(text: "file:///\(escaped)").bytes.count == 4_096)
    for text in [longest + "a", "file://\(longest)a", "file:///\(escaped)%61"] {
      let error = try #require(throws: MediaError.self) { try FilePath(text: text) }
      #expect(error.code == .badArguments && error.message == "a path must have at most 4096 bytes (got 4097)")
    }
    #expect(FilePath(bytes: Array(longest.utf8)) != nil && FilePath(bytes: Array("\(longest)a".utf8)) == nil)
  }

  /// The limit applies to every path parameter, in both forms.
  @Test func everyPathParameterRejectsAPathLongerThanPATH_MAX() throws {
    let path = "/" + String(repeating: "a", count: 4_096)
    let specs = CommandTable.all.flatMap { spec in spec.parameters.map { (spec, $0) } }
    let pathParameters = specs.filter { [.path, .localPath].contains($0.1.kind) }
    #expect(pathParameters.count > 10)
    for (spec, parameter) in pathParameters {
      let name = parameter.name.rawValue
      // Other parameters of the command may be missing, because the path is parsed first. Otherwise the error is a
      // different one.
      let value = parameter.position == .list ? "[\"\(path)\"]" : "\"\(path)\""
      let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(spec.name.rawValue)","params":{"\#(name)":\#(value)}}"#
      let error = try Lines.rejection(line).error.error
      #expect(
        error.code == .badArguments && error.message.contains("at most 4096 bytes"),
        "\(spec.name.rawValue) \(name): \(error)")
    }
  }

  @Test func pathThatIsNotUTF8IsWrittenAsAPercentEncodedURL() throws {
    let path = try #require(FilePath(bytes: Array("/m/caf".utf8) + [0xE9] + Array(" ~1.flac".utf8)))
    #expect(path.string == nil)
    #expect(path.text == "file:///m/caf%E9%20~1.flac")
    #expect(try FilePath(text: path.text) == path)
  }

  @Test func bytesMustBeAnAbsolutePathWithoutNUL() {
    #expect(FilePath(bytes: []) == nil)
    #expect(FilePath(bytes: Array("a".utf8)) == nil)
    #expect(FilePath(bytes: [UInt8(ascii: "/"), 0]) == nil)
  }
}
