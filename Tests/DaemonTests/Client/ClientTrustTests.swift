import DaemonTesting
import Glibc
import RigSupport
import Testing

/// The client connected to programs of other users, and to programs that are not daemons.
@Suite(.serialized) struct ClientTrustTests {
  /// Another user's program that listens at the daemon's socket, writes all received bytes to a file, and replies to
  /// each connection with a greeting and `ok`.
  private final class Impostor {
    let folder: TemporaryDirectory
    var socket: String { folder.file("a.sock") }
    private let programs: [Program]

    init(userID: UInt32, script: String = #"printf '* hello playhead=x\nok path=/x\n'; cat >> received"#) throws {
      let folder = try TemporaryDirectory("impostor")
      chmod(folder.path, 0o777)
      self.folder = folder
      try folder.write("answer", Array("#!/bin/sh\n\(script)\n".utf8))
      chmod(folder.file("answer"), 0o755)
      // The socket for descriptors has the type SOCK_SEQPACKET (5).
      programs = try ["a.sock,mode=0666,fork", "a-handoff.sock,mode=0666,socktype=5,fork"].map { address in
        try Program(
          "setpriv",
          [
            "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups", "socat", "UNIX-LISTEN:\(address)",
            "EXEC:./answer",
          ], folder: folder.path)
      }
      // socat sets the mode after it has created the socket.
      for name in ["a.sock", "a-handoff.sock"] {
        while (Files.mode(folder.file(name)) ?? 0) & 0o777 != 0o666 { sched_yield() }
      }
    }

    deinit { for program in programs { program.signal(SIGTERM) } }

    var received: String {
      (try? Files.read(folder.file("received"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }

  private func playhead(_ impostor: Impostor, _ words: [String], trusting userID: UInt32? = nil) throws
    -> Program.Outcome
  {
    try Program(
      "setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", Executables.playhead, "--raw", "--socket", impostor.socket,
      ] + words, environment: ["PLAYHEAD_DAEMON_UID": userID.map { "\($0)" }]
    ).waitForEnd()
  }

  private static let secrets = [
    ["load", "http://127.0.0.1/a", "header=Authorization: Bearer T"], ["load", "http://user:word@127.0.0.1/a"],
    ["load", "-"],
  ]

  /// Only root can start programs of two other users.
  @Test(.enabled(if: geteuid() == 0), arguments: secrets)
  func openFilesAndSecretsAreNotSentToAnotherUsersDaemon(_ words: [String]) throws {
    let impostor = try Impostor(userID: 65_533)
    let rejected = try playhead(impostor, words)
    #expect(rejected.status == 3 && rejected.errors.contains("runs as user 65533"), "\(rejected)")
    #expect(rejected.errors.contains("PLAYHEAD_DAEMON_UID=65533"))
    #expect(impostor.received == "")
    #expect(try playhead(impostor, words, trusting: 65_533).status == 0)
  }

  /// The client's commands have other ways to send data.
  @Test(
    .enabled(if: geteuid() == 0),
    arguments: [
      ["info", "http://127.0.0.1/a", "header=A: b"], ["add", "http://user:word@127.0.0.1/a"],
      ["scan", "http://user:word@127.0.0.1/a"], ["image", "http://user:word@127.0.0.1/a", "1", "file=/x.png"],
    ])
  func clientCommandsSendNoSecretsToAnotherUsersDaemon(_ words: [String]) throws {
    let impostor = try Impostor(userID: 65_533)
    let rejected = try playhead(impostor, words)
    #expect(rejected.status == 3 && rejected.errors.contains("runs as user 65533"), "\(rejected)")
    #expect(!impostor.received.contains("word") && !impostor.received.contains("A: b"))
  }

  @Test(.enabled(if: geteuid() == 0)) func requestsWithoutSecretsAreSentToAnotherUsersDaemon() throws {
    let impostor = try Impostor(userID: 65_533)
    #expect(try playhead(impostor, ["load", "http://127.0.0.1/a@b"]).status == 0)
    // The same user needs no permission.
    let sameUser = try Impostor(userID: 65_534)
    for words in Self.secrets { #expect(try playhead(sameUser, words).status == 0, "\(words)") }
  }

  @Test(.enabled(if: geteuid() == 0)) func endlessLineIsAnErrorInBoundedMemory() throws {
    let impostor = try Impostor(userID: 65_534, script: #"head -c 80000000 /dev/zero | tr '\0' a; cat >> received"#)
    let outcome = try playhead(impostor, ["ping"])
    #expect(outcome.status == 3 && outcome.errors.contains("a line of more than 67108864 bytes"), "\(outcome)")
  }
}
