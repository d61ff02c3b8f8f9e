import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// Full disks, and the space that `roots.min-free` reserves. Each disk is a small tmpfs, which needs root.
@Suite(.serialized, .timeLimit(.minutes(4)), .enabled(if: geteuid() == 0)) struct DiskSpaceTests {
  /// A file system that is mounted during the lifetime of the object.
  private final class Disk {
    private let folder: TemporaryDirectory
    let path: String

    init(_ options: String) throws {
      folder = try TemporaryDirectory("disk")
      path = folder.file("disk")
      try #require(mkdir(path, 0o700) == 0)
      try #require(mount("none", path, "tmpfs", 0, "mode=700,\(options)") == 0, "a tmpfs needs root")
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    func grow() throws {
      try #require(mount("none", path, "tmpfs", UInt(MS_REMOUNT), "size=20m,nr_inodes=1000") == 0)
    }

    /// Writes a file that fills the disk.
    func fill() throws {
      let file = open("\(path)/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      try #require(file >= 0)
      defer { close(file) }
      let bytes = [UInt8](repeating: 1, count: 1_024)
      while write(file, bytes, bytes.count) > 0 {}
    }

    func empty() throws { try #require(unlink("\(path)/filler") == 0) }

    /// The names of the files.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    var freeByteCount: Int {
      var status = statvfs()
      return statvfs(path, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : 0
    }
  }

  // MARK: - Saved state

  private static func start(_ disk: Disk, _ folder: TemporaryDirectory, _ options: String...) throws -> TestDaemon {
    try TestDaemon(
      ["--clock", "virtual", "--output", "null", "--state", "\(disk.path)/state"] + options, folder: folder)
  }

  /// Loads a file, and plays it for half a second.
  private static func play(_ daemon: TestDaemon, _ client: WireClient) throws {
    let path = try daemon.wave(1, frameCount: 48_000)
    #expect(try client.reply("load \(path) wait=ready").hasPrefix("ok items="))
    for request in ["play", "clock.advance 0.5", "pause"] {
      #expect(try client.reply(request).hasPrefix("ok"), "\(request)")
    }
    #expect(field("time", try client.reply("status")) == "0.5")
  }

  /// A state folder that cannot be created, a lock file that has no space, and databases that have no space.
  @Test(arguments: ["nr_inodes=1", "size=4k", "size=8k", "size=16k", "size=40k"])
  func daemonStartedOnAFullDiskPlaysAndSavesWhenThereIsSpace(_ options: String) throws {
    let (disk, folder) = (try Disk(options), try TemporaryDirectory("daemon"))
    // The sandbox cannot allow a folder that is created later.
    let first = try options.hasPrefix("nr") ? Self.start(disk, folder, "--no-landlock") : Self.start(disk, folder)
    let client = try first.connect()
    let state = try client.reply("state")
    print("disk | start with \(options) | \(state)")
    #expect(field("saving", state) == "false" && field("code", state) == "2115", "\(state)")
    #expect(field("error", state) == "state-disk-full", "\(state)")
    try Self.play(first, client)
    for request in ["state.save", "queue.save a", "queue.saved", "bookmark.add name=b"] {
      let reply = try client.reply(request)
      #expect(reply.hasPrefix("error code=2115 name=state-disk-full "), "\(request): \(reply)")
    }
    try disk.grow()
    let saved = try client.reply("state.save")
    #expect(saved.hasPrefix("ok writes="), "\(saved)")
    let after = try client.reply("state")
    #expect(field("saving", after) == "true" && field("error", after) == nil, "\(after)")
    #expect(try client.reply("queue.save a").hasPrefix("ok name=a count=1"))
    first.process.signal(SIGKILL)
    _ = try first.process.waitForEnd()

    let again = try Self.start(disk, folder).connect()
    let status = try again.reply("status")
    #expect(field("item", status) == "1" && field("time", status) == "0.5", "\(status)")
    #expect(try again.reply("queue.saved") == "ok count=1")
  }

  /// With the sandbox, a state folder that could not be created is accessible after the next start.
  @Test func stateFolderThatCannotBeCreatedIsReported() throws {
    let (disk, folder) = (try Disk("nr_inodes=1"), try TemporaryDirectory("daemon"))
    let first = try Self.start(disk, folder)
    let client = try first.connect()
    let state = try client.reply("state")
    print("disk | start without an inode, in the sandbox | \(state)")
    #expect(field("saving", state) == "false" && field("error", state) == "state-disk-full", "\(state)")
    try Self.play(first, client)
    try disk.grow()
    let saved = try client.reply("state.save")
    print("disk | afterwards with space | \(saved)")
    #expect(
      saved.hasPrefix("error code=2110 name=state-unavailable ") && saved.contains("Permission denied"), "\(saved)")
    try Self.play(first, client)
    #expect(try first.stop().status == 0)
    let second = try Self.start(disk, folder)
    #expect(try second.connect().reply("state.save").hasPrefix("ok writes="))
  }

  /// The disk is full at the start of a daemon whose state was saved before.
  @Test func savedStateSurvivesAStartOnAFullDisk() throws {
    let (disk, folder) = (try Disk("size=10m"), try TemporaryDirectory("daemon"))
    let first = try Self.start(disk, folder)
    try Self.play(first, try first.connect())
    #expect(try first.stop().status == 0)
    try disk.fill()
    let second = try Self.start(disk, folder)
    let client = try second.connect()
    let state = try client.reply("state")
    let isRead = field("saving", state) == "true"
    print("disk | start on a full disk with a saved state | \(state)")
    #expect(isRead || field("error", state) == "state-disk-full", "\(state)")
    let status = try client.reply("status")
    #expect(!isRead || field("item", status) == "1" && field("time", status) == "0.5", "\(status)")
    // New entries have new ids in both cases.
    let added = try client.reply("append /none")
    #expect(added.hasPrefix("ok items=2 "), "\(added)")
    try disk.empty()
    let saved = try client.reply("state.save")
    #expect(saved.hasPrefix("ok writes="), "\(saved)")
    #expect(try second.stop().status == 0)
    let rows = try Self.start(disk, folder).connect().ask("list").dropLast()
    #expect(rows.compactMap { field("item", $0) } == (isRead ? ["1", "2"] : ["2"]), "\(rows)")
  }

  /// The disk becomes full while the daemon runs.
  @Test func changesAreRetainedWhileTheDiskIsFull() throws {
    let (disk, folder) = (try Disk("size=2m"), try TemporaryDirectory("daemon"))
    let first = try Self.start(disk, folder)
    let client = try first.connect()
    try Self.play(first, client)
    #expect(try client.reply("state.save").hasPrefix("ok writes="))
    try disk.fill()
    // SQLite's files have some free pages: changes until a write fails.
    var (reply, count) = ("ok", 0)
    while reply.hasPrefix("ok"), count < 200 {
      count += 1
      try client.reply("append /none/\(count)/\(String(repeating: "x", count: 4_000))")
      reply = try client.reply("state.save")
    }
    print("disk | full after \(count) entries | \(reply)")
    #expect(reply.hasPrefix("error code=2115 name=state-disk-full "), "\(reply)")
    #expect(field("error", try client.reply("state")) == "state-disk-full")
    #expect(try client.reply("seek 0.25").hasPrefix("ok finished=true "))
    try disk.empty()
    #expect(try client.reply("state.save").hasPrefix("ok writes="))
    #expect(field("error", try client.reply("state")) == nil)
    first.process.signal(SIGKILL)
    _ = try first.process.waitForEnd()
    let status = try Self.start(disk, folder).connect().reply("status")
    #expect(field("count", status) == "\(count + 1)" && field("time", status) == "0.25", "\(status)")
  }

  // MARK: - Recordings

  /// A daemon, and a silent source of 3 MB per second.
  private struct Recorder {
    let server: PulseServer
    let daemon: TestDaemon
    let client: WireClient

    init(_ disk: Disk, configuration: String = "") throws {
      let folder = try TemporaryDirectory("daemon")
      server = try PulseServer()
      try server.control("load-module", "module-null-sink", "sink_name=wide", "rate=192000", "channels=8")
      let path = try Self.configure(folder, disk, configuration)
      daemon = try TestDaemon(
        "--output", "null", "--pulse-server", server.address, "--config", path, folder: folder)
      client = try daemon.connect()
    }

    /// Writes the configuration. Returns its path.
    @discardableResult
    private static func configure(_ folder: TemporaryDirectory, _ disk: Disk, _ text: String) throws -> String {
      try folder.write("a.toml", Array("[roots]\nwrite = [\"\(disk.path)\"]\n\(text)".utf8))
    }

    func configure(_ disk: Disk, _ text: String) throws { try Self.configure(daemon.folder, disk, text) }

    /// Records until the recording ends by itself. Returns the reply to `record.stop`.
    func record(_ file: String) throws -> String {
      let prepared = try client.reply("record.prepare \(file) source=wide.monitor")
      try #require(prepared.hasPrefix("ok recorder="), "\(prepared)")
      try client.send("record.watch", "record.start")
      var line = ""
      while !(line.hasPrefix("* recording ") && field("state", line) == "stopped") {
        line = try #require(try client.line())
        try #require(!line.hasPrefix("error "), "\(line)")
      }
      return try client.reply("record.stop")
    }
  }

  /// The number of frames of a file with 8 channels. An invalid file is an error.
  private static func frameCount(_ path: String) throws -> Int {
    let pcm = try TemporaryDirectory("pcm")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-xerror", "-i", path, "-f", "s16le", pcm.file("a.pcm")])
    return try Files.read(pcm.file("a.pcm")).count / 16
  }

  /// Compares the reply to `record.stop` with the file.
  private static func check(_ reply: String, _ file: String) throws {
    #expect(reply.hasPrefix("ok recorder=") && field("fault", reply) == "write-failed", "\(reply)")
    #expect(field("file", reply) == file, "\(reply)")
    #expect(field("size", reply) == "\(try Files.read(file).count)", "\(reply)")
    let frameCount = try Self.frameCount(file)
    let duration = try #require(field("duration", reply).flatMap { Double($0) }, "\(reply)")
    #expect(abs(duration * 192_000 - Double(frameCount)) < 1 && frameCount > 10_000, "\(reply): \(frameCount) frames")
  }

  @Test(arguments: ["wav", "caf"]) func recordingOnAFullDiskKeepsTheRecordedPart(_ ending: String) throws {
    let disk = try Disk("size=640k")
    let recorder = try Recorder(disk)
    let file = "\(disk.path)/a.\(ending)"
    let reply = try recorder.record(file)
    print("disk | full during a recording | \(reply)")
    try Self.check(reply, file)
    #expect(reply.contains("No space left on device"), "\(reply)")
    #expect(try disk.names() == ["a.\(ending)"])
    // The daemon continues, and records again when there is space.
    #expect(try recorder.client.reply("ping").hasPrefix("ok now="))
    try disk.grow()
    let next = try recorder.client.reply("record.prepare \(disk.path)/b.wav source=wide.monitor")
    #expect(next.hasPrefix("ok recorder=2 "), "\(next)")
    #expect(try recorder.client.reply("record.start").hasPrefix("ok"))
    let stopped = try recorder.client.reply("record.stop")
    #expect(stopped.hasPrefix("ok recorder=2 ") && field("fault", stopped) == nil, "\(stopped)")
  }

  /// The client has opened the file (`record -o`).
  @Test(arguments: ["wav", "caf"]) func recordingOfTheClientOnAFullDiskKeepsTheRecordedPart(_ ending: String) throws {
    let disk = try Disk("size=640k")
    let recorder = try Recorder(disk)
    let file = "\(disk.path)/a.\(ending)"
    let result = try recorder.daemon.playhead("record", "-o", file, "--source", "wide.monitor", "--duration", "3600")
    print("disk | full during a recording of the client | \(result)")
    #expect(result.status == 1 && result.output.hasPrefix("\(file): 0:0"), "\(result)")
    #expect(result.errors.contains("the file cannot be written: No space left on device"), "\(result)")
    #expect(try Self.frameCount(file) > 10_000)
    #expect(try disk.names() == ["a.\(ending)"])
  }

  @Test func recordingLeavesTheReservedSpaceFree() throws {
    let disk = try Disk("size=2m")
    let recorder = try Recorder(disk, configuration: "min-free = 1048576\n")
    let file = "\(disk.path)/a.wav"
    let reply = try recorder.record(file)
    print("disk | min-free during a recording | \(disk.freeByteCount) bytes are free | \(reply)")
    try Self.check(reply, file)
    #expect(reply.contains("reserved") && disk.freeByteCount >= 1_048_576, "\(reply)")
    // Less than the limit is free: no recording begins.
    try recorder.configure(disk, "min-free = 2097152\n")
    #expect(try recorder.client.reply("config.reload").hasPrefix("ok changed=roots.min-free"))
    let rejected = try recorder.client.reply("record.prepare \(disk.path)/b.wav source=wide.monitor")
    #expect(rejected.hasPrefix("error code=2006 name=write-failed ") && rejected.contains("reserved"), "\(rejected)")
    #expect(try disk.names() == ["a.wav"])
  }

  // MARK: - Other files

  /// Every command that writes a file, with less free space than the limit, and then without a limit.
  @Test(arguments: ["none", "opening"]) func commandsLeaveTheReservedSpaceFree(isolation: String) throws {
    let (disk, folder) = (try Disk("size=2m"), try TemporaryDirectory("daemon"))
    func configuration(minFree: Int) -> [UInt8] {
      Array("[roots]\nwrite = [\"\(disk.path)\"]\nmin-free = \(minFree)\n".utf8)
    }
    let path = try folder.write("a.toml", configuration(minFree: 4 << 20))
    let daemon = try TestDaemon("--clock", "virtual", "--config", path, "--isolate", isolation, folder: folder)
    let client = try daemon.connect()
    let (audio, film, song) = (try daemon.wave(1, frameCount: 4_800), folder.file("film.mp4"), folder.file("song.flac"))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-c:v", "libx264",
      "-pix_fmt", "yuv420p", film,
    ])
    let cover = folder.file("cover.png")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=red:size=32x32", "-frames:v", "1", cover,
    ])
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-i", cover, "-map", "0", "-map", "1",
      "-c:v", "copy", "-disposition:v", "attached_pic", song,
    ])
    #expect(try client.reply("load \(song) wait=ready").hasPrefix("ok items=1"))
    #expect(try client.reply("asset.open \(song)") == "ok asset=1")
    let rows: [(request: String, names: [String])] = [
      ("export \(audio) file=\(disk.path)/a.wav", ["a.wav"]),
      ("export \(audio) file=\(disk.path)/a.flac", ["a.flac"]),
      ("export \(song) file=\(disk.path)/a.m4a codec=aac", ["a.m4a"]),
      ("image \(film) 0.5 file=\(disk.path)/b.png", ["b.png"]),
      ("image \(film) 0.5 file=\(disk.path)/b.jpg", ["b.jpg"]),
      ("image \(film) 0 0.5 file=\(disk.path)/c%d.png", ["c1.png", "c2.png"]),
      ("image \(film) file=\(disk.path)/d.png sheet=2x2", ["d.png"]),
      ("item.artwork 1 index=0 file=\(disk.path)/e.png", ["e.png"]),
      ("asset.artwork 1 index=0 file=\(disk.path)/f.png", ["f.png"]),
      ("waveform \(audio) file=\(disk.path)/g.png", ["g.png"]),
      ("waveform \(audio) file=\(disk.path)/g.dat samples-per-bin=100", ["g.dat"]),
      ("waveform \(audio) file=\(disk.path)/g.json samples-per-bin=100", ["g.json"]),
    ]
    for row in rows {
      let reply = try client.reply(row.request)
      print("disk | min-free, isolation \(isolation) | \(row.request.replacing(disk.path, with: "DISK")) | \(reply)")
      #expect(reply.contains("code=2006 name=write-failed ") && reply.contains("reserved"), "\(row.request): \(reply)")
      #expect(try disk.names().isEmpty, "\(row.request)")
    }
    try folder.write("a.toml", configuration(minFree: 0))
    #expect(try client.reply("config.reload").hasPrefix("ok changed=roots.min-free"))
    for row in rows {
      let reply = try client.reply(row.request)
      #expect(reply.hasPrefix("ok "), "\(row.request): \(reply)")
      #expect(try Set(disk.names()).isSuperset(of: row.names), "\(row.request)")
    }
  }
}
