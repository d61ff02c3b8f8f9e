import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// The pure parts: titles, headers, addresses, delays, the window.
@Suite struct NetworkParsingTests {
  private static func parse(_ bytes: [UInt8], interval: Int, cuts: [Int]) -> (audio: [UInt8], titles: [ICYMetadata]) {
    var parser = ICYParser(interval: interval)
    var audio: [UInt8] = []
    var titles: [ICYMetadata] = []
    var start = 0
    for end in cuts + [bytes.count] {
      bytes[start..<end].withUnsafeBytes { chunk in
        parser.parse(chunk, audio: { audio += Array($0) }, title: { titles.append($0) })
      }
      start = end
    }
    return (audio, titles)
  }

  private static func block(_ text: [UInt8]) -> [UInt8] {
    let padded = text + [UInt8](repeating: 0, count: (16 - text.count % 16) % 16)
    return [UInt8(padded.count / 16)] + padded
  }

  @Test func audioAndTitlesAreSeparatedForEverySplitOfTheStream() {
    let audio = HTTPRig.pattern(1_000)
    var stream: [UInt8] = []
    for (index, start) in stride(from: 0, to: 1_000, by: 100).enumerated() {
      stream += audio[start..<start + 100] + Self.block(index % 3 == 1 ? [] : Array("StreamTitle='T\(index)';".utf8))
    }
    let whole = Self.parse(stream, interval: 100, cuts: [])
    #expect(whole.audio == audio)
    #expect(whole.titles.map(\.title) == ["T0", "T2", "T3", "T5", "T6", "T8", "T9"])
    for cut in stream.indices {
      let parts = Self.parse(stream, interval: 100, cuts: [cut])
      #expect(parts.audio == audio && parts.titles == whole.titles, "cut at \(cut)")
      // A truncated stream gives the audio up to the truncation.
      let truncated = Self.parse(Array(stream[..<cut]), interval: 100, cuts: [])
      #expect(audio.starts(with: truncated.audio), "ends at \(cut)")
    }
  }

  @Test(
    arguments: [
      ("StreamTitle='a';", "a", nil), ("StreamTitle='';", "", nil), ("StreamTitle='it's';", "it's", nil),
      ("StreamTitle='a';StreamUrl='u';", "a", "u"), ("StreamTitle='a; b';StreamUrl='';", "a; b", nil),
      ("StreamTitle='x';y';StreamUrl='u'", "x';y", "u"), ("streamtitle='lower';", "lower", nil),
      ("StreamTitle='cut", "cut", nil), ("StreamTitle='cut;", "cut", nil), ("StreamTitle='a'", "a", nil),
      ("StreamUrl='u';StreamTitle='b';", "b", "u"), ("StreamTitle='tab\there';", "tab here", nil),
      ("StreamTitle='Gr\u{FC}n';", "Grün", nil),
    ] as [(String, String, String?)])
  func streamTitlesAndURLsAreParsed(text: String, title: String, url: String?) throws {
    let metadata = try #require(ICYMetadata(Array(text.utf8) + [0, 0, 0]))
    #expect(metadata.title == title && metadata.url == url)
  }

  @Test func nonUTF8TitlesAreLatin1AndInvalidMetadataIsNil() {
    #expect(ICYMetadata(Array("StreamTitle='Gr".utf8) + [0xFC] + Array("n';".utf8))?.title == "Grün")
    for text in ["", "StreamTitle", "StreamTitle=", "Title='a'", "'", "StreamUrl='u';"] {
      #expect(ICYMetadata(Array(text.utf8)) == nil, "\(text)")
    }
  }

  private static func head(_ lines: [String]) -> ResponseHead {
    var head = ResponseHead()
    for line in lines { Array("\(line)\r\n".utf8).withUnsafeBytes { head.parse(line: $0) } }
    return head
  }

  @Test func validHeadersAreParsedAndInvalidOnesIgnored() {
    let head = Self.head([
      "HTTP/1.1 302 Found", "Location: /b", "", "HTTP/1.1 206 Partial Content", "Content-Type: Audio/MPEG; x=y",
      "Content-Range: bytes 5-9/10", "content-length: 5", "Retry-After: 3", "ETag: \"x\"", "Accept-Ranges: bytes",
      "Content-Length: 7", "no colon here", "",
    ])
    #expect(head.status == 206 && head.isComplete && head.fields["location"] == nil)
    #expect(head.contentRange == .init(bytes: 5...9, total: 10))
    #expect(head.contentLength == 5 && head.retryAfter == .seconds(3) && head.mediaType == "audio/mpeg")
    #expect(head.strongETag == "\"x\"" && head.acceptsRanges && !head.isStation)
    for text in [
      "5-9/10", "bytes 9-5/10", "bytes 5-10/10", "bytes a-9/10", "bytes 5-9", "bytes -1-9/10", "bytes 5-9/x",
      "bytes 0-9999999999999999999/*", "bytes /",
    ] {
      #expect(ResponseHead.range(text) == nil, "\(text)")
    }
    #expect(ResponseHead.range("bytes */10") == .init(bytes: nil, total: 10))
    #expect(ResponseHead.range("bytes 0-9/*") == .init(bytes: 0...9, total: nil))
    #expect(Self.head(["HTTP/1.1 200 OK", "Content-Length: -1", "icy-metaint: 99999999999"]).contentLength == nil)
    #expect(Self.head(["ICY 200 OK", "icy-name:x", ""]).status == 200)
    #expect(Self.head(["HTTP/2"]).status == 0)
  }

  @Test func urlsAreParsedAndReportedWithoutCredentials() throws {
    #expect(try HTTPURL("http://h/a%20b?x#y").redacted == "http://h/a%20b?x#y")
    #expect(try HTTPURL("HTTPS://u:p@h:1/a@b").redacted == "HTTPS://h:1/a@b")
    #expect(try HTTPURL("http://h/x/y.mp3?z=a/b").lastPathComponent == "y.mp3")
    #expect(try HTTPURL("http://h").lastPathComponent == "")
    // Combining marks after delimiters: parsing works on bytes, not on characters.
    #expect(
      try HTTPURL("http://u:p@\u{301}h/a/\u{7EF}b.mp3?\u{301}x").redacted == "http://\u{301}h/a/\u{7EF}b.mp3?\u{301}x")
    #expect(try HTTPURL("http://u:p@h/a/\u{7EF}b.mp3?\u{301}x").lastPathComponent == "\u{7EF}b.mp3")
    #expect(try HTTPURL("http://a#\u{7EF}@@").redacted == "http://a#\u{7EF}@@")
    for text in [
      "http:", "http://", "http:///a", "http://:80/", "http://u@/", "http://h/a b", "http://h/\n", "http://h/\u{7F}",
    ] {
      expectError(.invalidArgument, "\(text)") { try HTTPURL(text) }
    }
    for text in ["file:///a", "ftp://h/a", "httpx://h", "", "/a", "rtsp://h"] {
      expectError(.unsupportedLocation, "\(text)") { try HTTPURL(text) }
    }
    expectError(.invalidArgument) { try HTTPURL("http://h/" + String(repeating: "a", count: 9_000)) }
  }

  @Test func retryDelaysGrowToALimitAndRetryAfterIsClamped() {
    var policy = RetryPolicy(HTTPOptions())
    #expect(
      (0..<7).map { _ in policy.nextDelay(retryAfter: nil) } == [
        .seconds(0.5), .seconds(1), .seconds(2), .seconds(4), .seconds(8), nil, nil,
      ])
    policy.reset()
    #expect(policy.nextDelay(retryAfter: .seconds(5)) == .seconds(5))
    #expect(policy.nextDelay(retryAfter: .seconds(500)) == .seconds(30))
    #expect(policy.nextDelay(retryAfter: .zero) == .seconds(2))
  }

  @Test func windowKeepsTheBytesAroundTheReadPosition() {
    let bytes = HTTPRig.pattern(10_000)
    let window = ByteWindow(retainedByteCount: 100, aheadByteCount: 300)
    window.restart(at: 0)
    var (written, next) = (0, 0)
    var step = 1
    while next < bytes.count {
      let end = min(bytes.count, written + step % 350 + 1)
      written += bytes[written..<end].withUnsafeBytes { window.append($0) }
      #expect(window.byteCount <= 400 && window.aheadByteCount <= 300)
      var buffer = [UInt8](repeating: 0, count: step % 200 + 1)
      let count = buffer.withUnsafeMutableBytes { window.read(into: $0, at: Int64(next)) }
      #expect(Array(buffer[..<count]) == Array(bytes[next..<next + count]))
      next += count
      let first = max(Int(window.start), next - 100)
      var bytesBefore = [UInt8](repeating: 0, count: next - first)
      if !bytesBefore.isEmpty {
        #expect(bytesBefore.withUnsafeMutableBytes { window.read(into: $0, at: Int64(first)) } == next - first)
        #expect(bytesBefore == Array(bytes[first..<next]))
      }
      step = step &* 31 % 997 + 1
    }
    #expect(window.start >= Int64(bytes.count - 400))
  }
}
