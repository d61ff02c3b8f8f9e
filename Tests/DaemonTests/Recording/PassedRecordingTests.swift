import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Recordings to files that the client has opened (`record -o`, `record.prepare fd:TOKEN`), from the silent monitor of
/// a private PulseAudio. The daemon may write nowhere.
@Suite(.serialized) struct PassedRecordingTests {
  private let server: PulseServer
  private let daemon: TestDaemon
  private let client: WireClient
  /// The folder of the recordings.
  private let folder: TemporaryDirectory

  init() throws {
    server = try PulseServer()
    daemon = try TestDaemon("--output", "null", "--pulse-server", server.address)
    client = try daemon.connect()
    folder = try TemporaryDirectory("recordings")
  }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

  /// The number of frames of a stereo recording. An invalid file is an error.
  private func frameCount(_ path: String) throws -> Int {
    let pcm = try TemporaryDirectory("pcm")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-xerror", "-i", path, "-f", "s16le", pcm.file("a.pcm")])
    return try Files.read(pcm.file("a.pcm")).count / 4
  }

  /// Opens a new file, and locks it. Returns the descriptor.
  private func create(_ name: String, _ flags: Int32 = O_RDWR) throws -> Int32 {
    let descriptor = open(folder.file(name), flags | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor
  }

  /// Passes a descriptor to the daemon, and closes it. Returns the token.
  private func pass(_ descriptor: Int32) throws -> String {
    defer { close(descriptor) }
    return try daemon.passDescriptor(descriptor)
  }

  /// Whether a process has the file locked.
  private func isLocked(_ name: String) throws -> Bool {
    let descriptor = open(folder.file(name), O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }

  private func record(_ arguments: String...) throws -> Program.Outcome {
    let result = try daemon.playhead(["record"] + arguments, folder: folder.path)
    print("record \(arguments): \(result)")
    return result
  }

  @Test func clientRecordsIntoItsFolders() throws {
    for name in ["one.wav", "two.flac", "three.m4a", "four.opus", "five.caf"] {
      let path = folder.file(name)
      let result = try record("-o", name, "--duration", "0.5")
      #expect(result.status == 0 && result.errors == "", "\(result)")
      #expect(result.output.hasPrefix("\(path): 0:00.500, "), "\(result)")
      let frameCount = try frameCount(path)
      #expect((24_000..<26_048).contains(frameCount), "\(name): \(frameCount) frames")
      let before = try Files.read(path)
      let again = try record("-o", name, "--duration", "0.25")
      #expect(again.status == 1 && again.errors.contains("already exists; --replace replaces it"), "\(again)")
      let isUnchanged = try Files.read(path) == before
      #expect(isUnchanged, "\(name)")
    }
    let replaced = try record("--duration", "0.25", "--replace", "-o", folder.file("one.wav"))
    #expect(replaced.status == 0 && replaced.output.hasPrefix("\(folder.file("one.wav")): 0:00.250, "), "\(replaced)")
    #expect(try frameCount(folder.file("one.wav")) == 12_000)
    let named = try record("-o", "a = b", "--container", "wav", "--format", "ulaw", "--duration", "0.25")
    #expect(named.status == 0 && named.output.hasPrefix("\(folder.file("a = b")): 0:00.250, "), "\(named)")
    #expect(try names() == ["a = b", "five.caf", "four.opus", "one.wav", "three.m4a", "two.flac"])
  }

  /// The daemon has no folder for the file, so the client opens it.
  @Test func recordsToAFileWithoutRoots() throws {
    let result = try record("plain.wav", "--duration", "0.5", "--bits", "24")
    #expect(result.status == 0 && result.errors == "", "\(result)")
    #expect(result.output.hasPrefix("\(folder.file("plain.wav")): 0:00.500, "), "\(result)")
    let again = try record("--duration", "0.25", "--", "plain.wav")
    #expect(again.status == 1 && again.errors.contains("already exists; --replace replaces it"), "\(again)")
    let replaced = try record("--replace", "--duration", "0.25", "plain.wav")
    #expect(replaced.status == 0, "\(replaced)")
    #expect(try frameCount(folder.file("plain.wav")) == 12_000)
    #expect(try names() == ["plain.wav"])
  }

  @Test func invalidFilesOfTheClientLeaveNoFile() throws {
    let lock = try create("busy.wav.recording")
    defer { close(lock) }
    let rows: [(arguments: [String], status: Int32, error: String)] = [
      (["-o", "a.txt"], 2, "extension"), (["-o", "a"], 2, "extension"), (["-o"], 2, "-o needs a path"),
      (["-o", "-"], 2, "standard output"), (["-o", "a.wav", "-o", "b.wav"], 2, "only once"),
      (["-o", "a.wav", "b.wav"], 2, "unexpected word"), (["-o", "a.wav", "--", "b.wav"], 2, "no file name"),
      (["-o", "http://localhost/a.wav"], 2, "must be an absolute path"), (["-o", "a.wav", "--bits", "7"], 2, "bits"),
      (["-o", "fd:00000000000000000000000000000000"], 2, "-o needs the path of a file"),
      (["-o", "none/a.wav"], 1, "cannot be written"),
      (["-o", "a.wav", "--format", "aac"], 1, "aac needs the container"),
      (["-o", "a.flac", "--channels", "9"], 1, "8 channels"), (["-o", "a.wav", "--source", "nowhere"], 1, "source"),
      (["-o", "busy.wav"], 1, "is already being written"),
    ]
    for (arguments, status, error) in rows {
      let result = try daemon.playhead(["record", "--duration", "0.1"] + arguments, folder: folder.path)
      print("record \(arguments): \(result)")
      let isExpected = result.status == status && result.errors.contains(error) && result.output == ""
      #expect(isExpected, "\(arguments): \(result)")
    }
    // No daemon is reachable.
    try ChildProcess.run([
      "sh", "-c", "\"$1\" --socket \"$0/none.sock\" record -o \"$0/a.wav\"; test $? = 3", folder.path,
      Executables.playhead,
    ])
    #expect(try names() == ["busy.wav.recording"])
  }

  @Test func descriptorIsRecordedInPlaceAndClosed() throws {
    let token = try pass(create("a.flac"))
    #expect(
      try client.reply("record.prepare \(token) container=flac")
        == "ok recorder=1 file=\(token) source=pulse:rig.monitor format=flac sampleRate=48000 channels=2")
    #expect(try client.reply("record.prepare \(token) container=flac").contains("name=no-such-descriptor"))
    #expect(try client.reply("record.start duration=0.25").hasPrefix("ok"))
    #expect(try isLocked("a.flac"))
    try client.send("record.watch 1")
    while let line = try client.line(), field("state", line) != "stopped" {}
    let reply = try client.reply("record.stop 1")
    #expect(reply.hasPrefix("ok recorder=1 file=\(token) duration=0.25 size="), "\(reply)")
    #expect(try field("size", reply) == "\(Files.read(folder.file("a.flac")).count)", "\(reply)")
    #expect(try frameCount(folder.file("a.flac")) == 12_000)
    // The daemon has closed the file. Only the client can delete it.
    #expect(try !isLocked("a.flac"))
    let deleted = try client.reply("record.delete 1")
    #expect(deleted.contains("name=invalid-state"), "\(deleted)")
    #expect(try client.ask("record.list")[0].hasPrefix("| recorder=1 state=stopped file=\(token) time=0"))
    #expect(try names() == ["a.flac"])
  }

  @Test func unsuitableDescriptorsAreRejected() throws {
    let filled = try create("filled.wav")
    try #require(write(filled, "mine", 4) == 4)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[1]) }
    let rows: [(String, Int32)] = [
      ("a file with contents", filled), ("only readable", try create("b.wav", O_RDONLY)),
      ("appending", try create("c.wav", O_RDWR | O_APPEND)), ("a pipe", ends[0]),
    ]
    for (name, descriptor) in rows {
      let reply = try client.reply("record.prepare \(try pass(descriptor)) container=wav")
      print("passed recording: \(name): \(reply)")
      #expect(reply.contains("name=write-failed"), "\(name): \(reply)")
    }
    #expect(try Files.read(folder.file("filled.wav")) == Array("mine".utf8))
    let token = try pass(create("d.wav"))
    for request in ["", "container=mp3", "container=wav replace", "format=pcm"] {
      let reply = try client.reply("record.prepare \(token) \(request)")
      #expect(reply.contains("name=bad-arguments"), "\(request): \(reply)")
    }
    // An invalid request does not use the descriptor, and a failed command does.
    let failed = try client.reply("record.prepare \(token) container=wav format=aac")
    #expect(failed.contains("name=invalid-argument"), "\(failed)")
    #expect(try client.reply("record.prepare \(token) container=wav").contains("name=no-such-descriptor"))
    #expect(try Files.read(folder.file("d.wav")).isEmpty)
    #expect(try client.reply("record.list") == "ok count=0")
  }

  private func terminal(_ name: String) throws -> TerminalProgram {
    try TerminalProgram(
      Executables.playhead, ["--socket", daemon.socket, "record", "-o", folder.file(name)],
      environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"], columnCount: 200)
  }

  @Test(arguments: ["a.wav", "a.flac", "a.m4a", "a.ogg"]) func clientRepairsTheFileOfAKilledDaemon(
    _ name: String
  ) throws {
    let recording = try terminal(name)
    try recording.wait(for: "REC  0:03")
    daemon.process.signal(SIGKILL)
    _ = try daemon.process.waitForEnd()
    try recording.wait(for: "the part that was recorded is in \(folder.file(name))")
    #expect(try recording.waitForEnd() == 3)
    let frameCount = try frameCount(folder.file(name))
    print("passed recording: \(name) after SIGKILL: \(frameCount) frames")
    #expect(frameCount > 48_000)
    #expect(try names() == [name])
  }

  @Test func stoppedDaemonLeavesACompleteFile() throws {
    let recording = try terminal("a.m4a")
    try recording.wait(for: "REC  0:00.5")
    try daemon.stop()
    try recording.wait(for: "the part that was recorded is in \(folder.file("a.m4a"))")
    #expect(try recording.waitForEnd() == 3)
    #expect(try frameCount(folder.file("a.m4a")) >= 24_000)
    #expect(try names() == ["a.m4a"])
  }

  /// The name is free, so that the repaired file gets it. The new recording must not replace that file.
  @Test func replacingKeepsTheRepairedRecording() throws {
    let first = try record("-o", "a.wav", "--duration", "0.5")
    try #require(first.status == 0, "\(first)")
    let frameCount = try frameCount(folder.file("a.wav"))
    try FileManager.default.moveItem(atPath: folder.file("a.wav"), toPath: folder.file("a.wav.recording"))
    let second = try record("-o", "a.wav", "--duration", "0.25", "--replace")
    #expect(second.status == 1 && second.errors.contains("repaired: \(folder.file("a.wav"))"), "\(second)")
    #expect(second.errors.contains("\(folder.file("a.wav")) is the repaired recording"), "\(second)")
    #expect(try self.frameCount(folder.file("a.wav")) == frameCount)
    #expect(try names() == ["a.wav"])
    let third = try record("-o", "a.wav", "--duration", "0.25", "--replace")
    #expect(third.status == 0, "\(third)")
    #expect(try self.frameCount(folder.file("a.wav")) == 12_000)
    #expect(try names() == ["a.wav"])
  }

  /// The recording continues. The next recording of the same name gives the file its name.
  @Test(arguments: ["a.wav", "a.caf", "a.flac", "a.m4a", "a.ogg"]) func recordingOfAKilledClientContinues(
    _ name: String
  ) throws {
    let recording = try terminal(name)
    try recording.wait(for: "REC  0:0")
    recording.signal(SIGKILL)
    _ = try recording.waitForEnd()
    try client.send("record.watch rate=20")
    var time = 0.0
    while time < 1, let line = try client.line() { time = field("time", line).flatMap { Double($0) } ?? time }
    #expect(try record("-o", name).errors.contains("is already being written"))
    let reply = try client.reply("record.stop")
    let duration = try #require(field("duration", reply).flatMap { Double($0) }, "\(reply)")
    #expect(duration >= 1 && field("fault", reply) == nil, "\(reply)")
    #expect(try names() == ["\(name).recording"])
    let next = try record("-o", name)
    #expect(next.status == 1 && next.errors.contains("repaired: \(folder.file(name))"), "\(next)")
    let frameCount = try frameCount(folder.file(name))
    #expect(abs(Double(frameCount) - duration * 48_000) < 2_048, "\(name): \(frameCount) frames, \(duration) s")
    #expect(try names() == [name])
  }
}
