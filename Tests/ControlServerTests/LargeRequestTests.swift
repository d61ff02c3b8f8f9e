import Glibc
import Logging
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

/// Large requests use several turns of the control loop, and requests of other connections run between them. The tests
/// count turns, because no clock is involved.
@Suite struct LargeRequestTests {
  private static let pathCount = 2_500
  private static let append = "append" + String(repeating: " /nonexistent", count: pathCount)

  /// A server on a separate loop, with an output that never opens.
  private final class ServerFixture: @unchecked Sendable {
    let loop = ThreadControlLoop(name: "large-requests")
    let server: ServerContext

    init() {
      let loop = loop
      server = loop.perform {
        let virtual = VirtualControlLoop(base: loop)
        let engine = PlaybackEngine(
          loop: virtual,
          output: OutputConfiguration(makeSink: {
            VirtualSink(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), now: { virtual.now })
          }))
        return ServerContext(
          version: "test", policy: ServerPolicy(), engine: engine, loop: loop, logger: Logger(label: "test"))
      }
    }

    var player: NamedPlayer { server.registry.players[0] }
    var itemCount: Int { player.state.itemCount }

    /// Runs `body` on the loop, then `turn` once per turn, until it returns true or 20,000 turns have passed.
    func run(_ body: @escaping () -> Void, untilTurn turn: @escaping (Int) -> Bool) {
      let isDone = ConditionMutex(false)
      let box = Box(turn)
      @Sendable func runTurn(_ number: Int) {
        if number == 20_000 || box.turn(number) { return isDone.update { $0 = true } }
        loop.execute { runTurn(number + 1) }
      }
      loop.perform { [loop] in
        body()
        loop.execute { runTurn(0) }
      }
      _ = isDone.wait { $0 ? true : nil }
    }

    private struct Box: @unchecked Sendable {
      let turn: (Int) -> Bool
      init(_ turn: @escaping (Int) -> Bool) { self.turn = turn }
    }
  }

  /// A connection, and the other end of its socket.
  private final class Client: @unchecked Sendable {
    let connection: Connection
    private var descriptor: Int32

    /// Must be called on the loop.
    init(_ fixture: ServerFixture) throws {
      var descriptors: [Int32] = [0, 0]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
      descriptor = descriptors[0]
      _ = fcntl(descriptors[1], F_SETFL, O_NONBLOCK)
      let stream = ByteStream(descriptor: descriptors[1], loop: fixture.loop, buffer: fixture.server.transport.buffer)
      let credentials = try #require(stream.peer)
      connection = Connection(server: fixture.server, stream: stream)
      connection.open(.served(Peer(credentials: credentials, maximumRights: .all, rights: .all)))
      _ = replies
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Passes text to the connection as received bytes.
    func deliver(_ text: String) { Array(text.utf8).withUnsafeBytes { connection.received($0) } }

    /// Sends text and closes the socket without reading.
    func sendAndClose(_ text: String) {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count <= 0 { break }
        rest = rest.dropFirst(count)
      }
      close(descriptor)
      descriptor = -1
    }

    /// The lines received since the last call.
    var replies: [String] {
      var bytes = [UInt8](repeating: 0, count: 1 << 20)
      let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  @Test func otherConnectionsAreServedDuringALargeAppend() throws {
    let fixture = ServerFixture()
    let (client, other) = try fixture.loop.perform { Result { (try Client(fixture), try Client(fixture)) } }.get()
    var counts: [Int] = []
    var repliesMeanwhile = 0
    fixture.run {
      client.deliver(Self.append + "\n")
    } untilTurn: { _ in
      counts.append(fixture.itemCount)
      if fixture.itemCount == 0 {
        other.deliver("ping\n")
        if other.replies.first?.hasPrefix("ok now=") == true { repliesMeanwhile += 1 }
      }
      return fixture.itemCount > 0
    }
    let count = Self.pathCount
    #expect(Set(counts) == [0, count], "all at once or none")
    #expect(counts.count > count / EditPreparation.sliceLength)
    #expect(repliesMeanwhile == counts.count - 1)
    let reply = client.replies
    fixture.run {
    } untilTurn: {
      $0 == 3
    }
    let all = (reply + client.replies).joined()
    #expect(all.hasPrefix("ok items=1,2,3,") && all.hasSuffix(",\(count) version=1"))
  }

  @Test func laterRequestsRunAfterALargeRequest() throws {
    let fixture = ServerFixture()
    let client = try fixture.loop.perform { Result { try Client(fixture) } }.get()
    var replies: [String] = []
    fixture.run {
      client.deliver("@1 \(Self.append)\n@2 clear\n@3 append /x wait=ready\n@4 ping\n")
    } untilTurn: { _ in
      replies += client.replies
      return replies.contains { $0.hasPrefix("@4 ok") }
    }
    let names = replies.map { $0.prefix { $0 != " " } }
    #expect(names == ["@1", "@2", "@3", "@4"] || names == ["@1", "@2", "@4"] || names == ["@1", "@2", "@4", "@3"])
    #expect(replies.count > 1 && replies[1] == "@2 ok version=2")
    fixture.loop.perform { #expect(fixture.itemCount == 1) }
  }

  /// Later requests wait until the entries are in the queue, not until they are ready.
  @Test func largeWaitingAppendIsAppliedBeforeTheNextRequest() throws {
    let fixture = ServerFixture()
    let client = try fixture.loop.perform { Result { try Client(fixture) } }.get()
    var replies: [String] = []
    fixture.run {
      client.deliver("@1 \(Self.append) wait=ready\n@2 append /y\n@3 ping\n")
    } untilTurn: { _ in
      replies += client.replies
      return replies.contains { $0.hasPrefix("@3 ok") }
    }
    #expect(replies.contains("@2 ok items=\(Self.pathCount + 1) version=2"))
  }

  @Test func editsOfATransactionRunInSlicesAndCommitAtOnce() throws {
    let fixture = ServerFixture()
    let client = try fixture.loop.perform { Result { try Client(fixture) } }.get()
    var (replies, counts) = ([String](), [Int]())
    let text = "queue.begin\n\(Self.append)\n\(Self.append)\nqueue.commit\n"
    fixture.run {
      client.deliver(text)
    } untilTurn: { _ in
      replies += client.replies
      counts.append(fixture.itemCount)
      return replies.count == 4
    }
    #expect(replies.prefix(3) == ["ok version=0", "ok pending=1", "ok pending=2"])
    #expect(replies.last?.hasSuffix("version=1") == true)
    #expect(counts.count > 2 * Self.pathCount / EditPreparation.sliceLength)
    #expect(Set(counts) == [0, 2 * Self.pathCount])
  }

  /// All requests of a client that disconnects are carried out, in order.
  @Test func requestsOfADisconnectedClientAreCarriedOut() throws {
    let fixture = ServerFixture()
    let client = try fixture.loop.perform { Result { try Client(fixture) } }.get()
    fixture.run {
      client.sendAndClose("\(Self.append)\nappend /last\n")
    } untilTurn: { _ in
      fixture.itemCount == Self.pathCount + 1
    }
    fixture.loop.perform {
      #expect(fixture.itemCount == Self.pathCount + 1)
      #expect(fixture.player.state.queueVersion == 2)
    }
  }

  @Test func editWithAnOldVersionIsRejectedAsAWhole() throws {
    let fixture = ServerFixture()
    let client = try fixture.loop.perform { Result { try Client(fixture) } }.get()
    var replies: [String] = []
    let append = Self.append
    fixture.run {
      client.deliver("\(append) if-version=0\n\(append) if-version=0\nappend /x\n")
    } untilTurn: { _ in
      replies += client.replies
      return replies.contains { $0.hasSuffix("version=2") }
    }
    #expect(replies.contains { $0.contains("name=version-mismatch") })
    // The ids of entries that no client has received are reused.
    #expect(replies.last == "ok items=\(Self.pathCount + 1) version=2")
    fixture.loop.perform { #expect(fixture.itemCount == Self.pathCount + 1) }
  }

  @Test func manyBoundaryTimesAreSortedInSlices() throws {
    let fixture = ServerFixture()
    let (client, other) = try fixture.loop.perform { Result { (try Client(fixture), try Client(fixture)) } }.get()
    var (replies, repliesMeanwhile) = ([String](), 0)
    let times = (0..<8_000).map { " \($0 * 7_919 % 8_000)" }.joined()
    fixture.run {
      client.deliver("at\(times)\nping\n")
    } untilTurn: { _ in
      replies += client.replies
      if replies.isEmpty {
        other.deliver("ping\n")
        if other.replies.first?.hasPrefix("ok now=") == true { repliesMeanwhile += 1 }
      }
      return replies.count == 2
    }
    #expect(replies[0] == "ok id=1" && replies[1].hasPrefix("ok now="), "\(replies)")
    #expect(repliesMeanwhile > 8_000 / BoundaryTimes.sliceLength)
  }
}
