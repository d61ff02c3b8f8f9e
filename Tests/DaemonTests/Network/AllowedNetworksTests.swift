import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The servers that the daemon may reach: `network.allow`, `network.deny` and the addresses that are denied by default.
@Suite(.timeLimit(.minutes(3))) struct AllowedNetworksTests {
  private static let denied = "error code=2055 name=address-not-allowed "

  private func serve() throws -> HTTPServer {
    let server = try HTTPServer()
    try TimeCode.writeWAV(path: server.files.file("1.wav"), file: 1, frameCount: 4_800)
    return server
  }

  private func requests(_ server: HTTPServer) throws -> [String] {
    try server.drain().filter { $0.hasPrefix("request ") }
  }

  /// Link-local addresses include those of cloud metadata services. A connection would fail with another error, or not
  /// before its timeout.
  @Test func metadataAddressesAreDeniedByDefault() throws {
    let server = try serve()
    let client = try InProcessServer.recording().connect()
    let hosts = [
      "169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
      "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]", "[64:ff9b::169.254.169.254]",
      "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[2002:a9fe:a9fe::1]", "[fd00:ec2::254]", "[fe80::1]",
      "[fe80::a9fe:a9fe]", "%31%36%39.254.169.254",
    ]
    for host in hosts {
      let address = "http://\(host)/latest/meta-data"
      try server.write(Array("#EXTM3U\n\(address)\n".utf8), to: "list.m3u")
      try server.write(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(address)\n".utf8), to: "master.m3u8")
      for (way, path) in [
        ("address", address), ("address with a user", "http://me:pw@\(host)/"),
        ("redirect", "\(server.address)/1.wav?redirect=1&to=\(address)"),
        ("second redirect", "\(server.address)/1.wav?redirect=1&to=/1.wav%3Fredirect=1%26to=\(address)"),
        ("playlist", "\(server.address)/list.m3u"), ("HLS playlist", "\(server.address)/master.m3u8"),
      ] {
        let reply = try client.reply("load \(path) timeout=5 wait=ready")
        print("networks | default | \(host) | \(way) | \(reply.prefix(45))")
        #expect(reply.hasPrefix(Self.denied), "\(host), \(way): \(reply)")
      }
    }
    #expect(try client.reply("load \(server.address)/1.wav wait=ready").hasPrefix("ok "))
  }

  /// Every command that reads from a server.
  @Test func deniedServerIsRejectedByEveryCommand() throws {
    let server = try serve()
    try server.write(Array("#EXTM3U\n1.wav\n".utf8), to: "list.m3u")
    let folder = try TemporaryDirectory("daemon")
    let daemon = try TestDaemon(
      "--clock", "virtual", "--output", "null", "--write-root", folder.path, "--deny-network", "127.0.0.0/8",
      folder: folder)
    let client = try daemon.connect()
    try client.reply("asset.open \(server.address)/1.wav")
    let (address, list) = ("\(server.address)/1.wav", "\(server.address)/list.m3u")
    for request in [
      "load \(address) wait=ready", "append \(address) wait=ready", "insert \(address) wait=ready", "load \(list)",
      "load \(address) header=\"X-Api-Key: k\" header-for=any wait=ready", "asset.load 1 duration", "asset.metadata 1",
      "asset.artwork 1", "image \(address) 0 file=\(folder.file("a.png"))", "waveform \(address)",
      "export \(address) file=\(folder.file("a.wav"))",
    ] {
      let reply = try client.reply(request)
      print("networks | denied | \(request.prefix { $0 != " " }) | \(reply.prefix(45))")
      #expect(reply.hasPrefix(Self.denied), "\(request): \(reply)")
    }
    let scan = try client.ask("scan \(address)")
    #expect(scan.contains { $0.contains(" error=address-not-allowed ") }, "\(scan)")
    #expect(try requests(server).isEmpty)
  }

  /// The options on the command line and in the configuration. `load` is accepted or denied by each.
  @Test func allowedAndDeniedNetworksSelectTheServers() throws {
    let server = try serve()
    let rows: [(arguments: [String], configuration: String, host: String, isAllowed: Bool)] = [
      ([], "", "127.0.0.1", true),
      (["--allow-network", "127.0.0.0/8"], "", "127.0.0.1", true),
      (["--allow-network", "10.0.0.0/8"], "", "127.0.0.1", false),
      (["--allow-network", "10.0.0.0/8", "--allow-network", "127.0.0.1"], "", "127.0.0.1", true),
      (["--allow-network", "127.0.0.1"], "", "localhost", true),
      (["--allow-network", "localhost"], "", "localhost", true),
      (["--allow-network", "localhost"], "", "127.0.0.1", false),
      (["--deny-network", "10.0.0.0/8"], "", "127.0.0.1", true),
      (["--deny-network", "127.0.0.0/8"], "", "127.0.0.1", false),
      (["--deny-network", "127.0.0.0/8", "--deny-network", "::1"], "", "localhost", false),
      (["--deny-network", "localhost"], "", "localhost", false),
      (["--allow-network", "127.0.0.1", "--deny-network", "127.0.0.0/8"], "", "127.0.0.1", false),
      ([], "allow = [\"127.0.0.0/8\"]", "127.0.0.1", true),
      ([], "allow = [\"10.0.0.0/8\"]", "127.0.0.1", false),
      ([], "deny = [\"127.0.0.0/8\"]", "127.0.0.1", false),
      ([], "allow = [\"127.0.0.1\"]\ndeny = [\"127.0.0.0/8\"]", "127.0.0.1", false),
      ([], "allowed = false\nallow = [\"127.0.0.1\"]", "127.0.0.1", false),
    ]
    for row in rows {
      let folder = try TemporaryDirectory("daemon")
      let path = try folder.write("a.toml", Array("[network]\n\(row.configuration)\n".utf8))
      let daemon = try TestDaemon(
        ["--clock", "virtual", "--output", "null", "--config", path] + row.arguments, folder: folder)
      let reply = try daemon.connect().reply("load http://\(row.host):\(server.port)/1.wav wait=ready")
      let options = row.arguments.joined(separator: " ") + row.configuration.replacing("\n", with: " ")
      print("networks | \(options.isEmpty ? "default" : options) | \(row.host) | \(reply.prefix(45))")
      let error = row.configuration.hasPrefix("allowed") ? "error code=2030 name=network-not-allowed " : Self.denied
      #expect(reply.hasPrefix(row.isAllowed ? "ok " : error), "\(options), \(row.host): \(reply)")
      #expect(try requests(server).isEmpty == !row.isAllowed, "\(options), \(row.host)")
    }
  }

  /// The rules of the present configuration apply, not those with which the entries were saved.
  @Test func restoredEntriesAndReloadsFollowTheConfiguration() throws {
    let server = try serve()
    let folder = try TemporaryDirectory("state")
    let path = try folder.write("a.toml", Array("[network]\nallow = []\n".utf8))
    func start() throws -> TestDaemon {
      try TestDaemon(
        "--clock", "virtual", "--output", "null", "--state", folder.file("state"), "--config", path, folder: folder)
    }
    let first = try start()
    #expect(try first.connect().reply("load \(server.address)/1.wav wait=ready").hasPrefix("ok "))
    #expect(try first.stop().status == 0)
    _ = try server.drain()
    try folder.write("a.toml", Array("[network]\nallow = [\"10.0.0.0/8\"]\n".utf8))
    let second = try start()
    let client = try second.connect()
    let restored = try client.reply("wait ready timeout=20")
    #expect(restored.hasPrefix(Self.denied), "\(restored)")
    #expect(try requests(server).isEmpty)
    try folder.write("a.toml", Array("[network]\nallow = [\"127.0.0.0/8\"]\n".utf8))
    #expect(try client.reply("config.reload").hasPrefix("ok changed=network.allow"))
    #expect(try client.reply("load \(server.address)/1.wav wait=ready").hasPrefix("ok "))
    try folder.write("a.toml", Array("[network]\ndeny = [\"127.0.0.0/8\"]\n".utf8))
    #expect(try client.reply("config.reload").hasPrefix("ok changed="))
    let denied = try client.reply("load \(server.address)/1.wav wait=ready")
    #expect(denied.hasPrefix(Self.denied), "\(denied)")
  }
}
