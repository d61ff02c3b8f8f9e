import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Reuse of connections by later requests, and the thread that owns them.
@Suite(.timeLimit(.minutes(2))) struct ConnectionReuseTests {
  private static func read(_ url: String, options: HTTPOptions = HTTPOptions()) throws -> [UInt8] {
    let resource = HTTPResource(url: try HTTPURL(url), options: options)
    try resource.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, into: &outcome)
    return outcome.bytes
  }

  private static func resource(_ rig: HTTPRig, _ path: String, loop: HTTPLoop) throws -> HTTPResource {
    HTTPResource(
      url: try HTTPURL(rig.server.address + path), options: HTTPOptions(), log: NetworkLog(), clock: rig.clock,
      part: HTTPResource.Part(), loop: loop)
  }

  @Test func oneConnectionServesResourcesReadInSequence() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(200_000)
    try rig.server.write(bytes, to: "a")
    for _ in 0..<20 { #expect(try Self.read(rig.server.address + "/a") == bytes) }
    #expect(try Self.read(rig.server.address + "/a?redirect=3") == bytes)
    #expect(try rig.server.connections().count == 1)
  }

  /// With TLS 1.2: curl 7.88 with GnuTLS stores no sessions of TLS 1.3, because their tickets follow the handshake.
  @Test func parallelConnectionsResumeTheTLSSession() throws {
    let folder = try TemporaryDirectory("tls")
    let (certificate, key) = try HTTPServer.makeCertificate(in: folder)
    let server = try HTTPServer(certificate: certificate, key: key, newestTLS: "TLSv1_2")
    try server.write([1, 2, 3], to: "a")
    var options = HTTPOptions()
    options.certificateAuthorityFile = certificate
    var busy: [HTTPResource] = []
    for _ in 0..<5 {
      #expect(try Self.read(server.address + "/a", options: options) == [1, 2, 3])
      busy.append(HTTPResource(url: try HTTPURL(server.address + "/a?endless"), options: options))
      try busy.last?.open()
    }
    let connections = try server.connections()
    #expect(connections.count == 5 && connections.resumedCount == 4)
  }

  @Test func connectionIsNotReusedIfRulesDenyItsAddress() throws {
    let server = try HTTPServer()
    try server.write([1, 2, 3], to: "a")
    let url = "http://localhost:\(server.port)/a"
    #expect(try Self.read(url) == [1, 2, 3])
    var options = HTTPOptions()
    options.networkRules = try NetworkRules(allow: [], deny: ["127.0.0.0/8"])
    let denied = HTTPResource(url: try HTTPURL(url), options: options)
    expectError(.addressNotAllowed) { try denied.open() }
    #expect(try server.drain().filter { $0.hasPrefix("request ") }.count == 1)
  }

  /// Bytes after the announced length are not a response to the next request on the connection.
  @Test func bytesAfterAResponseAreNotReadAsTheNextResponse() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(300_000)
    try rig.server.write(bytes, to: "a")
    for _ in 0..<5 {
      #expect(try Self.read(rig.server.address + "/a?say=200000") == Array(bytes[..<200_000]))
      #expect(try Self.read(rig.server.address + "/a") == bytes)
    }
  }

  @Test func transfersOnOneThreadDoNotWaitForEachOther() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(300_000)
    try rig.server.write(bytes, to: "a")
    // While one server is silent and another transfer has a full window, other transfers continue.
    let silent = try rig.resource("/a?hold=never")
    try silent.start()
    try rig.server.wait("gate never")
    let unread = try rig.resource("/a?endless")
    try unread.open()
    for _ in 0..<5 { #expect(try rig.read("/a").bytes == bytes) }
  }

  @Test func httpThreadEndsWithItsConnectionsWhenIdle() throws {
    let rig = try HTTPRig()
    try rig.server.write([1, 2, 3], to: "a")
    let loop = HTTPLoop(idleMilliseconds: 0)
    for _ in 0..<3 {
      do {
        let resource = try Self.resource(rig, "/a", loop: loop)
        try resource.open()
        #expect(loop.sharedState.withState { $0.isRunning })
      }
      let hasEnded: Bool? = loop.sharedState.wait { $0.isRunning ? nil : true }
      #expect(hasEnded == true && loop.sharedState.withState { $0.multi == nil && $0.added.isEmpty })
    }
    #expect(try rig.server.connections().count == 3)
  }
}
