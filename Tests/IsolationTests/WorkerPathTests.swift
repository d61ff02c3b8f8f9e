import CPlayheadSandbox
import CSystemCalls
import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadIsolation

/// System calls with a path: a worker cannot open, inspect or change a file, and cannot reach a socket.
@Suite struct WorkerPathTests {
  /// The functions of `worker-for-tests`.
  private static let (makePathCall, sendToPath) = (13, 14)

  /// Has the fields of `PathCall`.
  private struct PathCall: Codable {
    var index: Int
    var path: String
  }

  private enum Outcome: Equatable {
    /// The worker continues. 0 if the call succeeded.
    case returned(errorNumber: Int32)
    case killed(signal: String?)
  }

  /// The names of all calls, with their indexes.
  private static let calls: [(index: Int, name: String)] = {
    var calls: [(Int, String)] = []
    while let name = path_call_name(Int32(calls.count)) { calls.append((calls.count, String(cString: name))) }
    return calls
  }()

  /// The calls that fail with EACCES.
  private static let denied: Set<String> = {
    var names: Set<String> = []
    while let name = sandbox_denied_path_call(Int32(names.count)) { names.insert(String(cString: name)) }
    return names
  }()

  /// The name of the system call without its form.
  private static func systemCall(_ name: String) -> String { String(name.prefix { $0 != "," }) }

  private static func outcome(of index: Int, _ path: String, in pool: WorkerPool) throws -> Outcome {
    let lease = try pool.lease()
    do throws(MediaError) {
      let number = try lease.run(makePathCall, PathCall(index: index, path: path), as: Int.self)
      // The worker still performs tasks.
      #expect(try lease.run(WorkerTests.Function.echo.rawValue, index, as: Int.self) == index)
      return .returned(errorNumber: Int32(number))
    } catch {
      #expect(error.code == .damagedFile)
      return .killed(signal: error.underlying)
    }
  }

  @Test func everySystemCallWithAPathIsDenied() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a")
    let stream = try #require(fopen(path, "w"))
    fclose(stream)
    let pool = try WorkerTests.pool()
    var killedCount = 0
    for (index, name) in Self.calls {
      let outcome = try Self.outcome(of: index, path, in: pool)
      print("worker path | \(name) | \(outcome)")
      if Self.denied.contains(Self.systemCall(name)) {
        #expect(outcome == .returned(errorNumber: EACCES), "\(name)")
        // The same call of this process reaches the file.
        #expect(path_call_make(Int32(index), path) != EACCES, "\(name)")
      } else {
        #expect(outcome == .killed(signal: "SIGSYS"), "\(name)")
        killedCount += 1
      }
    }
    #expect(pool.statistics.crashCount == killedCount && killedCount > 40)
    #expect(Self.denied.isSubset(of: Self.calls.map { Self.systemCall($0.name) }), "every denied call is made")
    // No call of a worker had an effect.
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1)
    #expect(stat(path + ".new", &status) != 0)
  }

  /// A worker may send messages on its own socket. The address of another socket changes nothing.
  @Test func messageWithAnAddressArrivesAtTheWorkersOwnSocketOnly() throws {
    let folder = try TemporaryDirectory()
    let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(other) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder.file("socket").utf8) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(other, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    let process = try WorkerProcess(program: try WorkerTests.pool().program)
    let task = WorkerTask(function: Self.sendToPath, parameters: MessageEncoder.bytes(of: folder.file("socket")))
    #expect(process.socket.send(MessageKind.task.message(task)))
    #expect(process.socket.receive() == [MessageKind.report.rawValue])
    #expect(process.socket.receive() == [MessageKind.result.rawValue] + MessageEncoder.bytes(of: true))
    var byte: UInt8 = 0
    #expect(recv(other, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN)
  }

  /// The sentence after the table of docs/protocol/safety.md.
  @Test func documentNamesEveryCallThatFailsWithoutEndingTheWorker() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try WorkerTests.text("\(root)/docs/protocol/safety.md")
    let begin = try #require(document.firstRange(of: "Calls that open or inspect a path"))
    let end = try #require(document[begin.upperBound...].firstRange(of: "fail with `EACCES`"))
    let named = document[begin.upperBound..<end.lowerBound].split(separator: "`").filter { word in
      word.allSatisfy { $0.isLowercase || $0.isNumber }
    }
    // Calls that exist on x86-64, and not on arm64.
    let olderCalls: Set = ["open", "access", "readlink", "stat", "lstat"]
    #expect(Set(named.map(String.init)) == Self.denied.union(olderCalls))
  }
}
