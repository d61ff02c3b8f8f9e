import CPlayheadCurl
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Runs every HTTP transfer of the process on one thread, with one `curl_multi` handle.
///
/// A transfer reuses an idle connection to its server, and the TLS sessions of earlier connections.
///
/// The thread starts with the first transfer. It sleeps in `curl_multi_poll` until a connection, a timeout or a reader
/// needs it. After `idleMilliseconds` without a transfer it closes the idle connections and ends.
///
/// Threading: any thread.
final class HTTPLoop: Sendable {
  /// The loop of all resources. Tests can pass another loop.
  static let shared = HTTPLoop()

  /// Identifies a transfer of a loop; never reused.
  typealias TransferID = Int

  /// The number of connections that are kept open for later requests.
  static let idleConnectionCount = 16

  struct State {
    /// Added transfers that the thread has not started yet.
    var added: [(id: TransferID, makeTransfer: @Sendable () -> HTTPTransfer)] = []
    /// Transfers whose readers changed the shared state.
    var woken: Set<TransferID> = []
    var nextID: TransferID = 1
    var isRunning = false
    /// The thread's `curl_multi` handle while it can be woken.
    var multi: UnsafeMutableRawPointer?
  }

  let sharedState = ConditionMutex(State())
  private let idleMilliseconds: Int32

  /// - Parameter idleMilliseconds: the time without a transfer after which the thread ends.
  init(idleMilliseconds: Int32 = 60_000) { self.idleMilliseconds = idleMilliseconds }

  /// Adds a transfer.
  ///
  /// - Parameter makeTransfer: creates the transfer, on the loop's thread.
  func add(_ makeTransfer: @escaping @Sendable () -> HTTPTransfer) -> TransferID {
    sharedState.update { state in
      let id = state.nextID
      state.nextID += 1
      state.added.append((id, makeTransfer))
      Self.wakeThread(state)
      if !state.isRunning {
        state.isRunning = true
        NamedThread.detached(name: "http") { self.run() }
      }
      return id
    }
  }

  /// Makes a transfer inspect the state that it shares with its reader.
  func wake(_ id: TransferID) {
    sharedState.withState { state in
      if state.woken.insert(id).inserted { Self.wakeThread(state) }
    }
  }

  /// Makes all transfers check their deadlines.
  func wake() { sharedState.withState { Self.wakeThread($0) } }

  private static func wakeThread(_ state: State) {
    if let multi = state.multi { _ = curl_multi_wakeup(multi) }
  }

  // MARK: - Thread

  private func run() {
    do throws(HTTPFailure) { run(try CurlSession()) } catch {
      repeat {
        for (_, makeTransfer) in drainChanges().added { makeTransfer().fail(error) }
      } while !endIfIdle()
    }
  }

  private func run(_ session: CurlSession) {
    sharedState.withState { $0.multi = session.multi }
    var transfers: [TransferID: HTTPTransfer] = [:]
    repeat {
      let (added, woken) = drainChanges()
      for (id, makeTransfer) in added {
        let transfer = makeTransfer()
        transfers[id] = transfer
        if !transfer.handleReaderRequests(in: session) { transfers[id] = nil }
      }
      for id in woken where transfers[id]?.handleReaderRequests(in: session) == false { transfers[id] = nil }
      session.perform()
      for transfer in transfers.values { transfer.checkDeadline() }
      session.poll(milliseconds: transfers.values.map(\.sleepMilliseconds).min() ?? idleMilliseconds)
    } while !transfers.isEmpty || !endIfIdle()
  }

  private func drainChanges() -> (
    added: [(id: TransferID, makeTransfer: @Sendable () -> HTTPTransfer)], woken: Set<TransferID>
  ) {
    sharedState.withState { state in
      defer { (state.added, state.woken) = ([], []) }
      return (state.added, state.woken)
    }
  }

  /// Ends the thread, unless a new transfer was added.
  private func endIfIdle() -> Bool {
    sharedState.update { state in
      guard state.added.isEmpty else { return false }
      state.isRunning = false
      state.multi = nil
      return true
    }
  }
}
