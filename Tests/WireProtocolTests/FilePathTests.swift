import MediaCore
import Testing

@testable import WireProtocol

@Suite struct FilePathTests {
  @Test(arguments: [
    ("/a b", "/a b"), ("/", "/"), ("file:///a%20b", "/a b"), ("FILE:///x", "/x"), ("file://localhost/x", "/x"),
    ("file:///caf%C3%a9", "/café"), ("/file://x", "/file://x"), ("/100%", "/100%"), ("file:///a?b#c", "/a?b#c"),
  ])
  func textIsRead(text: String, expected: String) throws {
    #expect(try FilePath(text: text).bytes == Array(expected.utf8))
  }

  @Test(arguments: [
    ("", MediaError.Code.badArguments), ("a", .badArguments), ("./a", .badArguments), ("a\0", .badArguments),
    ("/a\0", .badArguments), ("file:///a%00", .badArguments), ("file:///a%4", .badArguments),
    ("file:///%zz", .badArguments),
    ("file://host/x", .badArguments), ("file://", .badArguments), ("ftp://x/y.mp3", .unsupportedPlace),
    ("http://", .badArguments), ("http:///a", .badArguments),
    ("http://h/a b", .badArguments),
    ("://", .unsupportedPlace),
  ])
  func badTextIsAnError(text: String, code: MediaError.Code) throws {
    let error = try #require(throws: MediaError.self) { try FilePath(text: text) }
    #expect(error.code == code)
  }

  @Test func whatIsNotUTF8IsAPercentEncodedURL() throws {
    let path = try #require(FilePath(bytes: Array("/m/caf".utf8) + [0xE9] + Array(" ~1.flac".utf8)))
    #expect(path.string == nil)
    #expect(path.text == "file:///m/caf%E9%20~1.flac")
    #expect(try FilePath(text: path.text) == path)
  }

  @Test func onlyAbsolutePathsWithoutNULAreOne() {
    #expect(FilePath(bytes: []) == nil)
    #expect(FilePath(bytes: Array("a".utf8)) == nil)
    #expect(FilePath(bytes: [UInt8(ascii: "/"), 0]) == nil)
  }
}
