import Fuzzing
import MediaCore
import RealtimeAudio
import WireProtocol

// The server, fed with anything on a socket of its own: reader, connection, handlers and players behind it. It must neither trap nor
// hang; each request has exactly one final reply, a notification and a blank line none; and when a connection is gone, so are what it
// watched and waited for. What is expected is told from the same bytes by the reader of requests, which WireFuzz looks at.
//
// The last byte of an input says in which pieces it is sent, and whether the peer goes away without reading.

/// What a peer that sends these bytes gets.
struct Expectation {
  /// Final replies.
  var replyCount = 0
  /// Something is asked for that may never be.
  var mayWaitForEver = false
  /// So much time is to pass that it would take long.
  var takesLong = false

  init(_ bytes: [UInt8]) {
    var reader = RequestReader()
    var offset = 0
    while let incoming = reader.next(in: bytes.span, at: &offset) {
      switch incoming {
      case .request(let request):
        if request.address.expectsReply { replyCount += 1 }
        if take(request.command) { return }
      case .rejected(let rejection): if rejection.address.expectsReply { replyCount += 1 }
      case .batch(let members):
        var (expectsReply, ends) = (false, false)
        for member in members {
          switch member {
          case .request(let request):
            if request.address.expectsReply { expectsReply = true }
            if take(request.command) { ends = true }
          case .rejected(let rejection): if rejection.address.expectsReply { expectsReply = true }
          }
        }
        if expectsReply { replyCount += 1 }
        if ends { return }
      case .close: return
      }
    }
  }

  /// Notes what a command means for how long it takes; whether nothing behind it is taken.
  private mutating func take(_ command: Command) -> Bool {
    /// Virtual time that passes in a moment.
    let short = MediaTime(value: 5, timescale: 1)
    switch command {
    case .connection(.bye): return true
    case .watching(.wait(_, let timeout, _)): if timeout.map({ $0 > short }) ?? true { mayWaitForEver = true }
    case .watching(.events(let query)): if query.waits { mayWaitForEver = true }
    case .watching(.clockAdvance(let span)): if span > short { takesLong = true }
    case .players(.playAt), .players(.rateTogether): mayWaitForEver = true
    default: break
    }
    return false
  }
}

/// The server, a file that can be played, and the connection on which things are put in order.
final class Bench {
  let folder = makeScratchFolder()
  let server: FuzzedServer
  let keeper: Peer

  init() {
    // A tenth of a second, mono, 8 kHz.
    let samples = (0..<800).flatMap { [UInt8($0 & 255), UInt8(($0 * 7) & 63)] }
    write(Self.header(byteCount: samples.count) + samples, to: "\(folder)/tone.wav")
    do throws(MediaError) { server = try FuzzedServer(folder: folder) } catch {
      preconditionFailure("no server: \(error)")
    }
    keeper = Peer(path: server.path)
  }

  /// RIFF's header for 16-bit samples.
  private static func header(byteCount: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
    return Array("RIFF".utf8) + little(36 + byteCount, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
      + little(byteCount, 4)
  }

  /// The bytes with the file's path where they say `/tone.wav`.
  func resolved(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var result = Array(bytes)
    let name = Array("/tone.wav".utf8)
    let path = Array("\(folder)/tone.wav".utf8)
    var start = 0
    while let range = result[start...].firstRange(of: name) {
      result.replaceSubrange(range, with: path)
      start = range.lowerBound + path.count
    }
    return result
  }

  func check(_ input: UnsafeRawBufferPointer) {
    guard let control = input.last else { return }
    let bytes = resolved(input.dropLast())
    let expected = Expectation(bytes)
    guard !expected.takesLong else { return }
    do {
      let peer = Peer(path: server.path)
      peer.send(bytes, pieceByteCount: control < 64 ? Int(control) + 1 : .max)
      // Who goes away without reading, or waits for what never comes, gets what he gets.
      if control & 1 == 0, !expected.mayWaitForEver {
        peer.endInput()
        awaitEnd(of: peer)
        precondition(
          peer.replyCount == expected.replyCount, "\(expected.replyCount) requests, \(peer.replyCount) replies")
      } else {
        precondition(peer.replyCount <= expected.replyCount, "more replies than requests")
      }
    }
    putInOrder()
  }

  /// The peer has all of its answers, and the server closes. What waits for time gets some whenever nothing comes for a moment.
  private func awaitEnd(of peer: Peer) {
    var quietCount = 0
    while !peer.hasEnded {
      if peer.read(withinMilliseconds: 10) { continue }
      quietCount += 1
      // What takes no time may take long on a busy machine; what takes time has had enough of it.
      if quietCount < 500 {
        _ = keeper.ask("@advance clock.advance 0.1")
      } else {
        _ = peer.read(withinMilliseconds: -1)
      }
    }
  }

  /// Leaves nothing to the next input, and sees that nothing of the connection is left.
  private func putInOrder() {
    for line in keeper.ask("player.list") where line.hasPrefix("| ") {
      guard let name = line.split(separator: " ").first(where: { $0.hasPrefix("player=") })?.dropFirst(7) else {
        continue
      }
      _ = keeper.ask(name == "main" ? "clear" : "player.close \(name)")
    }
    _ = keeper.ask("pause")
    while keeper.ask("stats").last?.contains(" connections=1 ") != true {}
  }
}

let bench = Bench()
fuzz { bench.check($0) }
