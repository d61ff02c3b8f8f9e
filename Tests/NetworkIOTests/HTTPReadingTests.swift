import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Offsets, memory, timeouts and cancellation.
@Suite struct HTTPReadingTests {
  @Test func readsReturnTheBytesAtAnyOffset() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(9_000_000)
    try rig.server.write(bytes, to: "a")
    let log = NetworkLog()
    let resource = try rig.resource("/a", log: log)
    try resource.open()
    #expect(resource.byteCount == 9_000_000)
    #expect(resource.isSeekable)
    #expect(resource.mediaType == "audio/flac")
    for (offset, count) in [
      (0, 1_000), (8_999_000, 1_000), (4_000_000, 70_000), (3_999_000, 10), (0, 10), (4_100_000, 9),
    ] {
      var outcome = HTTPRig.Outcome()
      try HTTPRig.read(resource, from: Int64(offset), limit: count, into: &outcome)
      #expect(outcome.bytes == Array(bytes[offset..<offset + count]), "at \(offset)")
    }
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 9_000_000, into: &outcome)
    try HTTPRig.read(resource, from: .max, into: &outcome)
    #expect(outcome.bytes.isEmpty)
    let requests = try rig.server.drain().filter { $0.hasPrefix("request") }
    print(requests.joined(separator: "\n"))
    // The start, the end, the middle, slightly backward, and the start again.
    #expect(requests.count <= 7)
    #expect(log.accessEvents.first?.numberOfMediaRequests == requests.count)
  }

  @Test func bufferedBytesAreLimitedToTheWindowForLongResources() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(8_000_000)
    try rig.server.write(bytes, to: "a")
    let resource = try rig.resource("/a")
    try resource.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, into: &outcome)
    print("8,000,000 bytes read with at most \(outcome.maximumBufferedCount) buffered")
    #expect(outcome.bytes == bytes)
    #expect(outcome.maximumBufferedCount <= HTTPOptions.aheadByteCount + HTTPOptions.retainedByteCount)
    #expect(try rig.server.drain().filter { $0.hasPrefix("request") }.count == 1)
    // Bytes that were just read are still in the window.
    var reread = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 8_000_000 - 900_000, limit: 1_000, into: &reread)
    #expect(reread.bytes == Array(bytes[7_100_000..<7_101_000]))
    #expect(try rig.server.drain().isEmpty)
  }

  @Test func seeksWithoutRangeSupportSkipBytesWithinALimit() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(7_000_000)
    try rig.server.write(bytes, to: "a")
    let resource = try rig.resource("/a?plain")
    try resource.open()
    #expect(resource.isSeekable)
    for offset in [0, 6_900_000, 100, 3_000_000] {
      var outcome = HTTPRig.Outcome()
      try HTTPRig.read(resource, from: Int64(offset), limit: 1_000, into: &outcome)
      #expect(outcome.bytes == Array(bytes[offset..<offset + 1_000]), "at \(offset)")
    }
    let long = try rig.resource("/a?plain&say=20000000")
    try long.open()
    #expect(!long.isSeekable)
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(long, from: 0, limit: 6_900_000, into: &outcome)
    expectError(.rangesNotSupported) { try HTTPRig.read(long, from: 0, limit: 7_000_000, into: &outcome) }
  }

  @Test func openingTimesOutIfTheServerNeverReplies() throws {
    let rig = try HTTPRig()
    try rig.server.write([1], to: "a")
    let resource = try rig.resource("/a?hold=never")
    let opening = Thread { try resource.open() }
    try rig.server.wait("gate never")
    rig.clock.advance(seconds: 14)
    #expect(!opening.hasEnded)
    rig.clock.advance(seconds: 2)
    let error = #expect(throws: MediaError.self) { try opening.join() }
    print("never answers: \(error.map { "\($0)" } ?? "no error")")
    #expect(error?.code == .networkTimedOut)
  }

  @Test func missingBytesAreRequestedAgainWhenTheServerStopsSending() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(100_000)
    try rig.server.write(bytes, to: "a")
    let resource = try rig.resource("/a?gate=stop&at=40000")
    try resource.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, limit: 40_000, into: &outcome)
    try rig.server.wait("gate stop")
    rig.clock.advance(seconds: 16)
    // The second request is for the missing bytes. The server reports the first request before it.
    try rig.server.wait("request GET /a?gate=stop&at=40000 bytes=0-")
    try rig.server.wait("request GET /a?gate=stop&at=40000 bytes=40000-")
    rig.server.open(gate: "stop")
    try HTTPRig.read(resource, from: 40_000, into: &outcome)
    #expect(outcome.bytes == bytes)
    #expect(rig.clock.retryDelayMilliseconds == [500])
  }

  @Test func waitingReadIsCancelledAtOnceFromAnotherThread() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(100_000)
    try rig.server.write(bytes, to: "a")
    let silent = try rig.resource("/a?hold=never")
    let opening = Thread { try silent.open() }
    try rig.server.wait("gate never")
    silent.cancel()
    expectError(.cancelled) { try opening.join() }

    let resource = try rig.resource("/a?gate=stop&at=40000")
    try resource.open()
    try rig.server.wait("gate stop")
    let reading = Thread {
      var outcome = HTTPRig.Outcome()
      try HTTPRig.read(resource, from: 0, into: &outcome)
    }
    resource.cancel()
    expectError(.cancelled) { try reading.join() }
    resource.resume()
    rig.server.open(gate: "stop")
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, into: &outcome)
    #expect(outcome.bytes == bytes)
  }

  @Test func requestsContainTheSetHeadersAndNoOthers() throws {
    let rig = try HTTPRig()
    try rig.server.write([1, 2, 3], to: "a")
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Test", value: "one two"), .init(name: "Authorization", value: "Bearer x")]
    options.userAgent = "Test/1"
    #expect(try rig.read("/a", options: options).bytes == [1, 2, 3])
    let headers = try rig.server.drain().filter { $0.hasPrefix("header") }
    #expect(
      headers == [
        "header User-Agent: Test/1", "header Icy-MetaData: 1", "header X-Test: one two",
        "header Authorization: Bearer x",
      ])
    #expect(try rig.read("/a").bytes == [1, 2, 3])
    #expect(
      try rig.server.drain().filter { $0.hasPrefix("header") }
        == ["header User-Agent: Playhead/\(ProductVersion.text)", "header Icy-MetaData: 1"])
    for (name, value) in [
      ("X Test", "a"), ("X", "a\r\nY: b"), ("", "a"), ("Range", "bytes=0-"),
      ("X", String(repeating: "a", count: 20_000)),
    ] {
      options.headers = [.init(name: name, value: value)]
      #expect(try rig.read("/a", options: options).error?.code == .invalidArgument, "\(name)")
    }
    #expect(try rig.server.drain().isEmpty)
  }

  @Test func credentialsAreSentButNeverReported() throws {
    let rig = try HTTPRig()
    let log = NetworkLog()
    let url = try HTTPURL("http://user:secret@127.0.0.1:\(rig.server.port)/none?x=1")
    let resource = HTTPResource(url: url, log: log, clock: rig.clock)
    let error = expectError(.httpNotFound) { try resource.open() }
    #expect(try rig.server.drain().contains("header Authorization: Basic dXNlcjpzZWNyZXQ="))
    let reported = "\(error.map { "\($0)" } ?? "")\(log.accessEvents)\(log.errorEvents)"
    #expect(!reported.contains("secret") && reported.contains("http://127.0.0.1:\(rig.server.port)/none?x=1"))
  }

  @Test func accessLogRecordsTransferRetryAndError() throws {
    let rig = try HTTPRig()
    try rig.server.write(HTTPRig.pattern(300_000), to: "a")
    let outcome = try rig.read("/a?cut=100000&times=1")
    let event = try #require(outcome.log.accessEvents.first)
    print(event)
    #expect(event.uri == rig.server.address + "/a?cut=100000&times=1")
    #expect(event.serverAddress == "127.0.0.1")
    #expect(event.numberOfBytesTransferred == 300_000)
    #expect(event.numberOfMediaRequests == 2)
    #expect(event.numberOfReconnects == 1)
    #expect(event.playbackType == "file")
    #expect(event.startupNanoseconds != nil)
    let error = try #require(outcome.log.errorEvents.first)
    #expect(error.error.code == .connectionLost && error.isRetried && error.serverAddress == "127.0.0.1")
  }
}

/// Runs a body on a separate thread and can wait for its end.
private final class Thread: Sendable {
  private let result = ConditionMutex<Result<Void, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    let result = result
    NamedThread.detached(name: "test") {
      let outcome = Result { try body() }
      result.update { $0 = outcome }
    }
  }

  var hasEnded: Bool { result.withState { $0 != nil } }

  func join() throws {
    let outcome: Result<Void, any Error>? = result.wait(until: HostTime.now.advanced(byNanoseconds: 60_000_000_000)) {
      $0
    }
    guard let outcome else { throw RigError.timedOut("a thread to end") }
    try outcome.get()
  }
}
