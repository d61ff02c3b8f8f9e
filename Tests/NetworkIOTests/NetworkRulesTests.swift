import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// The servers that may be reached.
@Suite(.timeLimit(.minutes(2))) struct NetworkRulesTests {
  private func allows(_ rules: NetworkRules, _ address: String, host: String = "h.example") throws -> Bool {
    rules.allows(try #require(IPAddress(host: address)), host: host)
  }

  @Test func metadataServiceAddressesAreDeniedByDefault() throws {
    let rules = NetworkRules()
    for address in [
      "169.254.169.254", "169.254.0.0", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::",
      "::169.254.169.254", "fe80::1", "febf::1", "fd00:ec2::254",
    ] {
      #expect(try !allows(rules, address), "\(address)")
    }
    for address in ["127.0.0.1", "10.0.0.1", "169.253.0.1", "::1", "fec0::1", "fd00:ec2::255", "2001:db8::1"] {
      #expect(try allows(rules, address), "\(address)")
    }
    // Neither a larger network nor a host name allows them; a network within them does.
    for entry in ["0.0.0.0/0", "h.example", "169.0.0.0/8"] {
      #expect(try !allows(NetworkRules(allow: [entry], deny: []), "169.254.169.254"), "\(entry)")
    }
    let narrow = try NetworkRules(allow: ["169.254.7.0/24"], deny: [])
    #expect(try allows(narrow, "169.254.7.9") && !allows(narrow, "169.254.8.9") && !allows(narrow, "10.0.0.1"))
  }

  @Test func denyRulesOverrideAllowRules() throws {
    let rules = try NetworkRules(
      allow: ["10.0.0.0/8", "fd00::/8", "radio.example", ".music.example"], deny: ["10.1.0.0/16", "bad.music.example"])
    #expect(try allows(rules, "10.0.0.1") && allows(rules, "::ffff:10.0.0.1") && allows(rules, "fd12::1"))
    #expect(try !allows(rules, "10.1.2.3") && !allows(rules, "::ffff:10.1.2.3") && !allows(rules, "192.0.2.1"))
    #expect(
      try allows(rules, "192.0.2.1", host: "radio.example") && allows(rules, "192.0.2.1", host: "a.music.example"))
    #expect(try !allows(rules, "192.0.2.1", host: "a.radio.example"))
    #expect(try !allows(rules, "192.0.2.1", host: "evilmusic.example"))
    #expect(
      try !allows(rules, "10.0.0.1", host: "bad.music.example") && !allows(rules, "10.1.0.1", host: "radio.example"))
  }

  @Test func hostsAreComparedInCanonicalForm() throws {
    let rules = try NetworkRules(allow: [], deny: ["127.0.0.0/8", "::1", "bad.example"])
    for address in [
      "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/",
      "http://[::ffff:127.0.0.1]/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://0.0.0.0/", "http://[::]/",
      "http://%31%32%37.0.0.1/", "http://BAD.example/", "http://bad.example./", "http://b%61d.example:8080/",
      "http://u:p@bad.example/", "http://b\u{FF41}d.example/",
    ] {
      #expect(try !rules.allows(host: HTTPURL(address).host), "\(address)")
    }
    for address in ["http://128.0.0.1/", "http://good.example/", "http://bad.example.good/", "http://[::2]/"] {
      #expect(try rules.allows(host: HTTPURL(address).host), "\(address)")
    }
    // If only names are allowed, other names are rejected before name resolution.
    let names = try NetworkRules(allow: ["radio.example"], deny: [])
    #expect(
      names.allows(host: "radio.example") && !names.allows(host: "other.example") && !names.allows(host: "10.0.0.1"))
  }

  @Test func invalidRulesAreRejected() throws {
    for text in [
      "", ".", "10.0.0.0/33", "10.0.0.1/8", "10.0.0", "300.0.0.1", "fd00::/129", "fd00::1/8", "10.0.0.0/", "a b",
      "a..b",
      "http://a/", "*.example", "b\u{E4}d.example", "1.2.3.4.5", "10.0.0.0/8/8", "10.0.0.0/+8",
    ] {
      expectError(.invalidArgument, "\(text)") { try NetworkRules(allow: [text], deny: []) }
      expectError(.invalidArgument, "\(text)") { try NetworkRules(allow: [], deny: [text]) }
    }
    let many = Array(repeating: "10.0.0.0/8", count: NetworkRules.maximumEntryCount + 1)
    expectError(.invalidArgument) { try NetworkRules(allow: many, deny: []) }
    _ = try NetworkRules(allow: Array(many.dropLast()), deny: [])
  }

  /// The rules apply to the connection's address, however it was resolved. The error does not reveal whether a port is
  /// open.
  @Test func deniedAddressesAreNotConnectedTo() throws {
    let (rig, stopped) = (try HTTPRig(), try HTTPServer())
    stopped.stop()
    try rig.server.write([1, 2, 3], to: "a")
    let port = rig.server.port
    var options = HTTPOptions()
    options.networkRules = try NetworkRules(allow: [], deny: ["127.0.0.0/8", "::1"])
    var messages: Set<String> = []
    for authority in [
      "127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "2130706433:\(port)",
      "[::ffff:127.0.0.1]:\(port)",
      "127.0.0.1:\(stopped.port)", "localhost:\(stopped.port)", "[::1]:\(stopped.port)",
    ] {
      let log = NetworkLog()
      let resource = HTTPResource(
        url: try HTTPURL("http://\(authority)/a"), options: options, log: log, clock: rig.clock)
      let error = expectError(.addressNotAllowed, "\(authority)") { try resource.open() }
      #expect(error?.underlying == nil && log.errorEvents.allSatisfy { $0.serverAddress.isEmpty })
      if let message = error?.message { messages.insert(message.replacing(authority, with: "AUTHORITY")) }
    }
    #expect(messages.count == 1)
    #expect(try rig.server.drain().isEmpty)
    let allowed = try rig.read("/a", options: HTTPOptions())
    #expect(allowed.bytes == [1, 2, 3])
  }

  @Test func redirectsToDeniedAddressesAreNotFollowed() throws {
    let (rig, other) = (try HTTPRig(), try HTTPServer())
    try other.write([1], to: "a")
    var options = HTTPOptions()
    options.networkRules = try NetworkRules(allow: [], deny: ["localhost", "127.0.0.2"])
    for location in ["http://localhost:\(other.port)/a", "http://127.0.0.2:\(other.port)/a"] {
      let outcome = try rig.read("/a?redirect=1&to=\(location)", options: options)
      #expect(outcome.error?.code == .addressNotAllowed, "\(location)")
    }
    #expect(try rig.read("/a?redirect=1&to=http://169.254.169.254/").error?.code == .addressNotAllowed)
    #expect(try other.drain().isEmpty)
    #expect(try rig.read("/a?redirect=1&to=\(other.address)/a", options: options).bytes == [1])
  }

  @Test func aListOfAllowedNetworksDeniesAllOthers() throws {
    let rig = try HTTPRig()
    try rig.server.write([1], to: "a")
    var options = HTTPOptions()
    options.networkRules = try NetworkRules(allow: ["127.0.0.0/8"], deny: [])
    #expect(try rig.read("/a", options: options).bytes == [1])
    options.networkRules = try NetworkRules(allow: ["10.0.0.0/8"], deny: [])
    #expect(try rig.read("/a", options: options).error?.code == .addressNotAllowed)
  }
}
