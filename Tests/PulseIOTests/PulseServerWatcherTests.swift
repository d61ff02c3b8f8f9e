import Glibc
import MediaCore
import PulseIO
import RealtimeAudio
import RigSupport
import Testing

@Suite("PulseServerWatcher", .serialized)
struct PulseServerWatcherTests {
  /// Counts the calls of a watcher.
  private let calls = WakeSignal(0)

  private func watch(_ server: String, sinkName: String? = nil) throws -> PulseServerWatcher {
    try PulseServerWatcher(server: server, sinkName: sinkName) { [calls] in calls.update { $0 += 1 }
    }
  }

  private func waitForCall() -> Bool {
    calls.wait(until: HostTime.now.advanced(byNanoseconds: 30_000_000_000)) { $0 > 0 ? true : nil }
      ?? false
  }

  @Test("calls at once when the server is there")
  func callsForARunningServer() throws {
    let server = try PulseServer()
    let watcher = try watch(server.address)
    #expect(waitForCall())
    watcher.cancel()
    #expect(calls.withState { $0 } == 1)
  }

  @Test("calls when the server comes up in a folder that did not exist")
  func callsForANewServer() throws {
    let parent = try TemporaryDirectory()
    let folder = parent.file("a/b")
    let watcher = try watch("unix:\(folder)/pulse.sock")
    #expect(calls.withState { $0 } == 0)
    #expect(mkdir(parent.file("a"), 0o700) == 0)
    #expect(mkdir(folder, 0o700) == 0)
    let server = try PulseServer(directory: folder)
    #expect(waitForCall())
    watcher.cancel()
    server.stop()
  }

  @Test("calls when a new server replaces the socket that a dead one left")
  func callsAfterARestart() throws {
    let folder = try TemporaryDirectory()
    let first = try PulseServer(directory: folder.path)
    first.kill()
    #expect(access(folder.file("pulse.sock"), F_OK) == 0)
    let watcher = try watch(first.address)
    let second = try PulseServer(directory: folder.path)
    #expect(waitForCall())
    watcher.cancel()
    first.stop()
    second.stop()
  }

  @Test("waits for the device when the server does not have it yet")
  func callsForTheDevice() throws {
    let server = try PulseServer()
    let watcher = try watch(server.address, sinkName: "late")
    // Whether the watcher has looked before or looks after this makes no difference to what it has to say.
    try server.control("load-module", "module-null-sink", "sink_name=other")
    #expect(calls.withState { $0 } == 0)
    try server.control("load-module", "module-null-sink", "sink_name=late")
    #expect(waitForCall())
    watcher.cancel()
    #expect(calls.withState { $0 } == 1)
  }

  @Test("never calls after it was cancelled")
  func isSilentAfterCancel() throws {
    let folder = try TemporaryDirectory()
    let watcher = try watch("unix:\(folder.file("pulse.sock"))")
    watcher.cancel()
    watcher.cancel()
    let server = try PulseServer(directory: folder.path)
    server.stop()
    #expect(calls.withState { $0 } == 0)
  }

  @Test("a server that is not on a Unix socket cannot be watched")
  func refusesOtherServers() {
    let error = #expect(throws: MediaError.self) { try watch("tcp:localhost:4713") }
    #expect(error?.code == .outputUnavailable)
  }
}
