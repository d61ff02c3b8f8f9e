import Foundation
import Glibc
import PlayheadControlServer
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadDaemonConfiguration

/// The rules of the sandbox, and their enforcement by the kernel.
@Suite struct SandboxTests {
  // MARK: - Decisions

  private func plan(
    read: [String]? = nil, write: [String] = [], output: String? = nil, certificates: String? = nil,
    _ change: (inout SandboxProcess) -> Void = { _ in }
  ) throws -> SandboxPlan {
    var options = DaemonOptions()
    (options.readRoots, options.writeRoots, options.output) = (read, write, output)
    options.certificateAuthorityFile = certificates
    var process = SandboxProcess(executableFolder: "/prefix/bin")
    change(&process)
    return try SandboxPlan(options, in: process)
  }

  @Test func planAllowsOnlyRootsStateSocketsAndOutput() throws {
    let plan = try plan(read: ["/music"], write: ["/out"], output: "wav:take.wav", certificates: "/tls/own/ca.pem") {
      $0.currentFolder = "/takes"
      $0.stateFolder = "/state"
      $0.socketFile = SocketFile(requestedPath: "/run/p/control.sock")
      $0.configurationFile = "/config/p/p.toml"
      $0.loader = "/loader/ld.so"
      $0.loadedObjects = ["/libraries/a.so"]
      $0.environment = { ["HOME": "/user", "XDG_RUNTIME_DIR": "/run/user"][$0] }
      $0.resolve = { $0 == "/config/p/p.toml" ? "/elsewhere/p.toml" : $0 }
    }
    let rows: [(path: String, allowed: SandboxRights)] = [
      ("/music/a", .reading), ("/music", .reading), ("/musicians", []), ("/", []), ("/user", []),
      ("/out/a", .writing), ("/state/a", .savingState), ("/run/p/control.sock", .listening),
      ("/run/p/control.sock.lock", [.listening, .overwriting]), ("/run/p/watch.sock.lock", [.listening, .overwriting]),
      ("/takes/take.wav", .overwriting), ("/takes/other.wav", []), ("/tls/own/ca.pem", .readFile), ("/tls/x", []),
      ("/config/p/p.toml", .readFile), ("/elsewhere/p.toml", .readFile), ("/config/x", []),
      ("/prefix/bin/playhead-worker", [.reading, .execute]),
      ("/prefix/bin/other", .reading), ("/prefix/bin/../lib/playhead/x", .reading),
      ("/prefix/bin/../lib/playhead/playhead-worker", [.reading, .execute]),
      ("/loader/ld.so", [.reading, .execute]), ("/libraries/a.so", .reading),
      ("/usr/bin/true", .reading), ("/etc/resolv.conf", .reading), ("/dev/null", .overwriting), ("/dev/sda", []),
      ("/user/.config/pulse/cookie", .reading), ("/user/.ssh/id", []),
      ("/run/user/bus", [.readDirectory, .makeDirectory]),
      ("/tmp", []),
    ]
    for (path, allowed) in rows {
      for bit in 0..<16 {
        let right = SandboxRights(rawValue: 1 << bit)
        #expect(plan.allows(right, below: path) == allowed.contains(right), "\(path): \(bit)")
      }
    }
  }

  @Test func planWithoutReadRootsAllowsReadingEverythingAndNothingElse() throws {
    let plan = try plan()
    for path in ["/", "/user/music"] {
      #expect(plan.allows(.reading, below: path))
      for right in [SandboxRights.writeFile, .makeRegularFile, .removeFile, .truncate, .execute, .makeSocket] {
        #expect(!plan.allows(right, below: path))
      }
    }
    #expect(!plan.rules.contains { $0.path == "/usr" })
  }

  @Test func valuesOutsideThePlanNeedARestart() throws {
    let plan = try plan(read: ["/music", "/more"], write: ["/out"], certificates: "/tls/ca.pem")
    let rows: [(read: [String]?, write: [String], certificates: String?, deferred: [String])] = [
      (["/music", "/more"], ["/out"], "/tls/ca.pem", []), (["/music/sub"], [], nil, []), ([], ["/out/sub"], nil, []),
      (["/music/"], ["/out/."], "/tls/other.pem", []), (nil, [], nil, ["roots.read"]), (["/"], [], nil, ["roots.read"]),
      (["/music", "/musicians"], [], nil, ["roots.read"]), ([], ["/music"], nil, ["roots.write"]),
      ([], [], "/private/ca.pem", ["network.ca-file"]), ([], [], "/etc/ssl/ca.pem", []),
      (["/x"], ["/x"], "/x", ["roots.read", "roots.write", "network.ca-file"]),
    ]
    for (read, write, certificates, deferred) in rows {
      var options = DaemonOptions()
      (options.readRoots, options.writeRoots) = (read, write)
      options.certificateAuthorityFile = certificates
      #expect(plan.optionsForNextStart(options) == deferred)
    }
    let everywhere = try self.plan()
    var options = DaemonOptions()
    options.readRoots = ["/any"]
    #expect(everywhere.optionsForNextStart(options).isEmpty)
    options.readRoots = nil
    #expect(everywhere.optionsForNextStart(options).isEmpty)
  }

  // MARK: - Enforcement

  /// Runs a closure on a separate thread: Landlock restricts the thread that enters it, and the threads and processes
  /// that it starts.
  private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Thread {
      let value = Result(catching: body)
      result.withLock { $0 = value }
      ended.signal()
    }.start()
    ended.wait()
    return try #require(result.withLock { $0 }).get()
  }

  /// Opens a file. Returns 0 or `errno`.
  private static func open(_ path: String, _ flags: Int32) -> Int32 {
    let file = Glibc.open(path, flags | O_CLOEXEC, 0o644)
    if file >= 0 { close(file) }
    return file >= 0 ? 0 : errno
  }

  /// Runs a program. Returns 0 or the error of posix_spawn(3).
  private static func run(_ path: String) -> Int32 {
    var (process, arguments): (pid_t, [UnsafeMutablePointer<CChar>?]) = (0, [strdup(path), nil])
    defer { free(arguments[0]) }
    let status = posix_spawn(&process, path, nil, nil, &arguments, nil)
    if status == 0 { waitpid(process, nil, 0) }
    return status
  }

  @Test func kernelDeniesEverythingOutsideThePlan() throws {
    // The rules allow /dev/shm, which may be the folder of temporary files.
    let folder = try TemporaryDirectory("sandbox", in: "/tmp")
    for name in ["read", "write", "state", "socket", "bin", "out"] {
      try #require(mkdir(folder.file(name), 0o755) == 0)
    }
    for name in ["read/a", "write/a", "state/a", "out/a", "out/take.wav"] {
      try #require(FileManager.default.createFile(atPath: folder.file(name), contents: Data([1])))
    }
    try #require(symlink(folder.file("out/a"), folder.file("read/link")) == 0)
    for name in ["bin/playhead-worker", "bin/other"] { try ChildProcess.run(["cp", "/bin/true", folder.file(name)]) }
    var options = DaemonOptions()
    options.readRoots = [folder.file("read"), folder.file("missing")]
    options.writeRoots = [folder.file("write")]
    options.output = "wav:\(folder.file("out/take.wav"))"
    var process = try SandboxProcess.current(configurationFile: nil)
    process.executableFolder = folder.file("bin")
    process.stateFolder = folder.file("state")
    process.socketFile = SocketFile(requestedPath: folder.file("socket/s"))
    // Without this variable the rules permit libpulse to list /tmp, which contains the folder of this test.
    let runtime = folder.file("runtime")
    process.environment = { $0 == "XDG_RUNTIME_DIR" ? runtime : nil }
    let plan = try SandboxPlan(options, in: process)
    let path = folder.path
    let (sandbox, results) = try onThread {
      let sandbox = try Sandbox.enter(plan)
      let create = O_WRONLY | O_CREAT | O_EXCL
      let results: [(String, Int32, Int32)] = [
        ("read in a read root", Self.open("\(path)/read/a", O_RDONLY), 0),
        ("list a read root", Self.open("\(path)/read", O_RDONLY | O_DIRECTORY), 0),
        ("write in a read root", Self.open("\(path)/read/a", O_WRONLY), EACCES),
        ("create in a read root", Self.open("\(path)/read/b", create), EACCES),
        ("follow a link out of a read root", Self.open("\(path)/read/link", O_RDONLY), EACCES),
        ("leave a read root", Self.open("\(path)/read/../out/a", O_RDONLY), EACCES),
        ("read outside", Self.open("\(path)/out/a", O_RDONLY), EACCES),
        ("list outside", Self.open("\(path)/out", O_RDONLY | O_DIRECTORY), EACCES),
        ("write outside", Self.open("\(path)/out/a", O_WRONLY), EACCES),
        ("truncate outside", truncate("\(path)/out/a", 0) == 0 ? 0 : errno, EACCES),
        ("remove outside", unlink("\(path)/out/a") == 0 ? 0 : errno, EACCES),
        ("link into a root", link("\(path)/out/a", "\(path)/write/l") == 0 ? 0 : errno, EXDEV),
        ("overwrite the output", Self.open("\(path)/out/take.wav", O_WRONLY | O_CREAT | O_TRUNC), 0),
        ("write in a write root", Self.open("\(path)/write/a", O_RDWR | O_TRUNC), 0),
        ("create in a write root", Self.open("\(path)/write/b", create), 0),
        ("rename in a write root", rename("\(path)/write/b", "\(path)/write/c") == 0 ? 0 : errno, 0),
        ("make a folder in a write root", mkdir("\(path)/write/d", 0o700) == 0 ? 0 : errno, EACCES),
        ("make a folder in the state", mkdir("\(path)/state/d", 0o700) == 0 ? 0 : errno, 0),
        ("make a link in the state", symlink("x", "\(path)/state/l") == 0 ? 0 : errno, 0),
        ("make a socket", mknod("\(path)/socket/s", S_IFSOCK | 0o600, 0) == 0 ? 0 : errno, 0),
        ("make a socket elsewhere", mknod("\(path)/write/s", S_IFSOCK | 0o600, 0) == 0 ? 0 : errno, EACCES),
        ("execute the worker", Self.run("\(path)/bin/playhead-worker"), 0),
        ("execute another program", Self.run("\(path)/bin/other"), EACCES),
        ("execute a program of the system", Self.run("/bin/true"), EACCES),
        ("write /dev/null", Self.open("/dev/null", O_RDWR), 0),
        ("open a missing file", Self.open("\(path)/out/missing", O_RDONLY), ENOENT),
      ]
      return (sandbox, results)
    }
    for (name, result, expected) in results { #expect(result == expected, "\(name)") }
    let version = sandbox.status.landlockVersion
    #expect(sandbox.status == SandboxStatus(hasNoNewPrivileges: true, landlock: .active, landlockVersion: version))
    #expect(version > 0)
    #expect(sandbox.missingPaths == [.init(path: folder.file("missing"), reason: "No such file or directory")])
    // A root that was missing has no rule, so that its use requires a restart.
    #expect(try #require(sandbox.plan).optionsForNextStart(options) == ["roots.read"])
    // Another thread is not restricted.
    #expect(Self.open("\(path)/out/a", O_RDONLY) == 0)
  }

  @Test func withoutLandlockOnlyPrivilegesAreRestricted() throws {
    let folder = try TemporaryDirectory("sandbox", in: "/tmp")
    let file = folder.file("a")
    let (status, opened, privileges) = try onThread {
      let sandbox = try Sandbox.enter(nil)
      let privileges = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
      return (sandbox.status, Self.open(file, O_WRONLY | O_CREAT), privileges)
    }
    #expect(status == SandboxStatus(hasNoNewPrivileges: true, landlock: .off, landlockVersion: 0))
    #expect(opened == 0 && privileges.contains("NoNewPrivs:\t1"))
  }
}
