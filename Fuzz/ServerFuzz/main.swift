import Fuzzing
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWireProtocol

// Sends any bytes to the server on a separate socket. The test includes reader, connection, handlers and players. The
// server must neither trap nor hang. Each request has exactly one final reply; a notification and a blank line have
// none. After a connection has closed, its observers and pending requests must not exist any more. The reader of
// requests, which WireFuzz tests, computes the expectation from the same bytes.
//
// The last byte of an input determines the chunk size, and whether the peer disconnects without reading.

/// The expected result for a peer that sends these bytes.
struct Expectation {
  /// The number of final replies.
  var replyCount = 0
  /// Whether a request may wait indefinitely.
  var mayWaitIndefinitely = false
  /// Whether the requested virtual time takes long.
  var takesLong = false

  init(_ bytes: [UInt8]) {
    var reader = RequestReader()
    var offset = 0
    while let incoming = reader.next(in: bytes.span, at: &offset) {
      switch incoming {
      case .request(let request):
        if request.address.expectsReply { replyCount += 1 }
        if apply(request) { return }
      case .rejected(let rejection): if rejection.address.expectsReply { replyCount += 1 }
      case .batch(let members):
        var (expectsReply, ends) = (false, false)
        for member in members {
          switch member {
          case .request(let request):
            if request.address.expectsReply { expectsReply = true }
            if apply(request) { ends = true }
          case .rejected(let rejection): if rejection.address.expectsReply { expectsReply = true }
          }
        }
        if expectsReply { replyCount += 1 }
        if ends { return }
      case .close: return
      }
    }
  }

  /// Records how a command affects the duration. Returns whether commands after it are not read.
  private mutating func apply(_ request: Request) -> Bool {
    /// Virtual time that passes quickly.
    let short = MediaTime(value: 5, timescale: 1)
    let parsed = request.arguments
    switch request.name {
    case ByeCommand.name: return true
    case WaitCommand.name:
      let timeout = Arguments<WaitCommand>(parsed: parsed).timeout
      if timeout.map({ $0 > short }) ?? true { mayWaitIndefinitely = true }
    case EventsCommand.name: if Arguments<EventsCommand>(parsed: parsed).wait { mayWaitIndefinitely = true }
    case ClockAdvanceCommand.name:
      if Arguments<ClockAdvanceCommand>(parsed: parsed).duration > short { takesLong = true }
    case PlayAtCommand.name, RateTogetherCommand.name: mayWaitIndefinitely = true
    default: break
    }
    return false
  }
}

/// The server, a playable file, and the connection that cleans up after each input.
final class Bench {
  let folder = makeScratchFolder()
  let server: FuzzedServer
  let cleaner: Peer

  init() {
    // A tenth of a second, mono, 8 kHz.
    let samples = (0..<800).flatMap { [UInt8($0 & 255), UInt8(($0 * 7) & 63)] }
    write(Self.header(byteCount: samples.count) + samples, to: "\(folder)/tone.wav")
    do throws(MediaError) { server = try FuzzedServer(folder: folder) } catch {
      preconditionFailure("the server cannot be started: \(error)")
    }
    cleaner = Peer(path: server.path)
  }

  /// A RIFF header for 16-bit samples.
  private static func header(byteCount: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
    return Array("RIFF".utf8) + little(36 + byteCount, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
      + little(byteCount, 4)
  }

  /// The bytes with the file's path instead of `/tone.wav`.
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
      peer.send(bytes, chunkByteCount: control < 64 ? Int(control) + 1 : .max)
      // A peer that disconnects without reading, or waits indefinitely, has no expected replies.
      if control & 1 == 0, !expected.mayWaitIndefinitely {
        peer.endInput()
        awaitEnd(of: peer)
        precondition(
          peer.replyCount == expected.replyCount, "\(expected.replyCount) requests, \(peer.replyCount) replies")
      } else {
        precondition(peer.replyCount <= expected.replyCount, "more replies than requests")
      }
    }
    reset()
  }

  /// Waits until the peer has all replies and the server closes the connection. Advances virtual time when no data
  /// arrives for a moment.
  private func awaitEnd(of peer: Peer) {
    var quietCount = 0
    while !peer.hasEnded {
      if peer.read(withinMilliseconds: 10) { continue }
      quietCount += 1
      // Requests without virtual time may be slow on a busy machine; requests with virtual time have had enough by
      // then.
      if quietCount < 500 {
        _ = cleaner.sendAndWait("@advance clock.advance 0.1")
      } else {
        _ = peer.read(withinMilliseconds: -1)
      }
    }
  }

  /// Removes all state before the next input, and checks that no state of the connection remains.
  private func reset() {
    for line in cleaner.sendAndWait("player.list") where line.hasPrefix("| ") {
      guard let name = line.split(separator: " ").first(where: { $0.hasPrefix("player=") })?.dropFirst(7) else {
        continue
      }
      _ = cleaner.sendAndWait(name == "main" ? "clear" : "player.close \(name)")
    }
    _ = cleaner.sendAndWait("pause")
    while cleaner.sendAndWait("stats").last?.contains(" connections=1 ") != true {}
  }
}

let bench = Bench()
fuzz { bench.check($0) }
