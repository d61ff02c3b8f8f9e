import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Stations: endless streams with titles.
@Suite struct StationTests {
  private static func hex(_ text: String) -> String {
    text.utf8.map { byte in
      let digits = Array("0123456789abcdef")
      return "\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }.joined()
  }

  @Test func titlesAreRemovedFromTheAudioAndKeepTheirByteOffset() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(100_000)
    try rig.server.write(bytes, to: "radio")
    let titles = ["StreamTitle='One';", "StreamTitle='It's two';StreamUrl='http://x/';"].map {
      "&title=\(Self.hex($0))"
    }
    let log = NetworkLog()
    let resource = try rig.resource("/radio?icy=10000\(titles.joined())&gate=end&at=80000", log: log)
    try resource.open()
    #expect(resource.byteCount == nil)
    #expect(!resource.isSeekable)
    #expect(log.station?.name == "Test Radio")
    #expect(log.station?.bitrate == 128)
    #expect(log.accessEvents.first?.indicatedBitrate == 128_000)
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, limit: 70_000, into: &outcome)
    #expect(outcome.bytes == Array(bytes.prefix(70_000)))
    #expect(resource.popTitles(before: 10_000) == [])
    #expect(resource.popTitles(before: 10_001) == [StreamTitle(offset: 10_000, title: "One")])
    #expect(
      resource.popTitles(before: .max) == [StreamTitle(offset: 20_000, title: "It's two", url: "http://x/")])
    #expect(log.accessEvents.first?.playbackType == "live")
  }

  @Test func accessLogHasOneRowPerConnection() throws {
    let rig = try HTTPRig()
    try rig.server.write(HTTPRig.pattern(100_000), to: "a")
    try rig.server.write(HTTPRig.pattern(2_000), to: "b")
    let log = NetworkLog()
    let reportedURIs = ConditionMutex<[String]>([])
    log.observe(key: 1) { entry in
      if case .access(let event) = entry { reportedURIs.update { $0.append(event.uri) } }
    }
    let (first, second) = (try rig.resource("/a?gate=stop&at=40000", log: log), try rig.resource("/b", log: log))
    var outcome = HTTPRig.Outcome()
    try first.open()
    try HTTPRig.read(first, from: 0, limit: 40_000, into: &outcome)
    try rig.server.wait("gate stop")
    try second.open()
    try HTTPRig.read(second, from: 0, into: &outcome)
    rig.server.open(gate: "stop")
    try HTTPRig.read(first, from: 40_000, into: &outcome)
    first.markPlayed()
    log.recordStall()
    log.recordStallEnd(nanoseconds: 5)
    let rows = log.accessEvents
    #expect(rows.map(\.numberOfBytesTransferred) == [100_000, 2_000])
    #expect(rows.map(\.numberOfMediaRequests) == [1, 1])
    #expect(rows.map(\.numberOfStalls) == [1, 0])
    #expect(rows.map(\.stallNanoseconds) == [5, 0])
    // The loading thread reports a session, possibly slightly after the bytes are available.
    let uris: [String]? = reportedURIs.wait { $0.count >= 2 ? $0 : nil }
    #expect(uris == ["\(rig.server.address)/a?gate=stop&at=40000", "\(rig.server.address)/b"])
  }

  @Test func stationIsReconnectedAtItsLivePositionAfterADisconnect() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(50_000)
    try rig.server.write(bytes, to: "radio")
    let resource = try rig.resource("/radio?icy=8192&gate=more&at=200000")
    try resource.open()
    var outcome = HTTPRig.Outcome()
    // Each connection delivers the stream from its start.
    try HTTPRig.read(resource, from: 0, limit: 120_000, into: &outcome)
    #expect(outcome.bytes == Array((bytes + bytes + bytes).prefix(120_000)))
    let requests = try rig.server.drain().filter { $0.hasPrefix("request") }
    #expect(requests.prefix(3).dropFirst().allSatisfy { $0.hasSuffix(" -") }, "\(requests)")
    #expect(rig.clock.retryDelayMilliseconds.prefix(2) == [500, 500])
  }
}
