// One peer's connection: bytes in, requests to the handlers, replies and events out. Everything happens on the control
// loop, in direct calls; there is no task and no hop between reading a request and having its reply in the buffer. What is
// written goes to the system once for each read, and once for each turn of the loop that brought events.
import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

/// One connection.
///
/// It takes a request when `ConnectionStateMachine` allows and the peer reads what it is sent; what it does not take stays in
/// the buffer, and when that holds anything the socket is not read.
final class Connection: ByteStream.Delegate, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop.
  /// Nanoseconds that a peer has to notice that the connection is over.
  private static let lingering: Int64 = 1_000_000_000
  /// The same for one that is told that it is too far behind.
  private static let patience: Int64 = 2_000_000_000
  /// For how many nanoseconds requests are taken at one go; then others have their turn.
  private static let turn: Int64 = 500_000
  /// How many requests are taken at one go however long they take, so that few that are sent together are run together.
  private static let turnRequestCount = 8

  let server: ServerContext
  /// Who is at the other end; nil until that is known, and when the connection is not served.
  private(set) var peer: Peer?
  private var isRefused = false
  private let stream: ByteStream

  // Input.
  private var reader: RequestReader
  private var input = PendingInput()
  private var machine: ConnectionStateMachine
  private var batch: Batch?
  private var isProcessing = false
  /// `bye` was said: what comes behind it is not taken.
  private var ignoresInput = false
  /// The waiting requests that are in flight.
  private var waiting: [WaitToken: WaitingRequest] = [:]

  // Output.
  private var output: OutputQueue
  private var isFlushScheduled = false
  private var isClosing = false
  /// Everything has been sent, and what the peer may still send is thrown away until it closes its side, too.
  private var isLingering = false
  /// Runs while the peer leaves more unread than its socket holds; and what the transport held when it was set.
  private var unread: (timer: any ControlTimer, byteCount: Int)?
  /// The form of what came last: the last word is said in it.
  private var form = WireForm.words

  /// The edits that are gathered between `queue.begin` and `queue.commit`.
  var gathering: QueueGathering?
  /// The files that it looks at.
  var assets = OpenAssets()
  /// What it has measured.
  var scans = RunningScans()
  /// What the connection watches.
  var subscriptions = Subscriptions()

  /// A connection over `stream`.
  init(server: ServerContext, stream: ByteStream) {
    self.server = server
    self.stream = stream
    reader = RequestReader(limits: server.limits)
    machine = ConnectionStateMachine(waitingRequestLimit: server.limits.waitingRequestCount)
    output = OutputQueue(limits: server.limits)
  }

  // MARK: - Life

  /// Begins. Who is refused is told so, and closed.
  func open(_ admission: Admission) {
    do throws(MediaError) { try stream.open(for: self) } catch {
      server.logger.warning("a connection cannot be served", metadata: ["error": "\(error)"])
      return stream.close()
    }
    switch admission {
    case .refused(let refusal):
      isRefused = true
      return close(saying: refusal)
    case .served(let peer): self.peer = peer
    }
    server.connections[ObjectIdentifier(self)] = self
    output.append { Greeting.encode(version: server.version, instance: server.log.instance, into: &$0) }
    flush()
  }

  func closed(_ failure: Int32?) {
    // A peer that goes away without reading its answers is nothing to be told about.
    if let failure { server.logger.debug("connection failed", metadata: ["errno": "\(failure)"]) }
    isClosing = true
    machine.close()
    let abandoned = waiting.values
    waiting = [:]
    for request in abandoned { request.abandon() }
    endUnreadTimer()
    subscriptions.removeAll()
    assets.closeAll()
    endGathering()
    server.connections[ObjectIdentifier(self)] = nil
    if isLingering { server.lingeringCount -= 1 }
    whenClosed?()
    whenClosed = nil
  }

  /// Tells the peer why, and closes once it has been sent.
  func close(saying error: MediaError) {
    guard !isClosing else { return }
    let form = form
    output.append { Event.closing(error).encode(form: form, into: &$0) }
    closeWhenSent()
  }

  /// What it may has changed, perhaps: what it waits for or watches and may not any more ends. Who may nothing any more is told so and
  /// closed.
  func reconsider() {
    guard let peer else { return }
    let rights = peer.socketRights.intersection(server.access.value.rights(of: peer.credentials))
    guard rights != peer.rights else { return }
    self.peer?.rights = rights
    if rights.isEmpty {
      let error = MediaError(.notAllowed, "user \(peer.userID) may not be connected any more")
      cancelWaiting(error)
      return close(saying: error)
    }
    if !rights.contains(.read) { subscriptions.removeAll() }
    for request in waiting.sorted(by: { $0.key < $1.key }).map(\.value) {
      do throws(MediaError) { try checkRights(request.request) } catch { request.fail(error) }
    }
  }

  /// Called once, when the connection is gone.
  var whenClosed: (() -> Void)?

  /// Closes at once.
  func abort() { stream.close() }

  private func closeWhenSent() {
    guard stream.isOpen, !isClosing else { return }
    isClosing = true
    machine.close()
    subscriptions.removeAll()
    stream.write(output.takeLast())
    if stream.unsentByteCount == 0 { linger() } else { startUnreadTimer() }
  }

  /// Ends the connection from this side and waits a moment for the other. Closing it while something is unread would be a
  /// reset for the peer, which may cost it what it has been sent.
  private func linger() {
    guard stream.isOpen, !isLingering else { return }
    endUnreadTimer()
    guard !stream.hasInputEnded, server.lingeringCount < ServerContext.lingeringLimit else { return abort() }
    isLingering = true
    server.lingeringCount += 1
    ignoresInput = true
    input = PendingInput()
    stream.endOutput()
    stream.inputIsWanted(true)
    abort(after: Self.lingering)
  }

  private func abort(after nanoseconds: Int64) {
    let loop = server.streams.loop
    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: nanoseconds)) { [weak self] in self?.abort() }
  }

  /// The peer is too far behind: what it has not been sent is dropped, and it has a moment to read why.
  private func closeOnOverflow(_ reason: String) {
    server.logger.info("closing a connection that does not read", metadata: ["bytes": "\(output.backlogByteCount)"])
    output.drop()
    close(saying: MediaError(.outputOverflow, reason))
    abort(after: Self.patience)
  }

  // MARK: - Input

  func received(_ bytes: UnsafeRawBufferPointer) {
    if ignoresInput { return }
    input.lend(bytes)
    process()
    input.keepRest()
  }

  func inputEnded() {
    if isLingering { return abort() }
    machine.inputEnded()
    process()
  }

  func wrote() {
    if isClosing { return linger() }
    endUnreadTimer()
    // With nothing to flush, what was measured before would count for ever.
    measureBacklog()
    process()
  }

  private var mayTakeRequest: Bool {
    machine.mayTakeRequest && !isClosing && !(batch == nil ? output.isFull : output.lacksRoomForBatch)
  }

  /// What is not wanted stays in the socket, and holds the peer up. What comes when all is over is thrown away.
  var wantsInput: Bool { isLingering || mayTakeRequest && input.isEmpty && batch == nil && !isRefused }

  var hasMoreToTake: Bool { mayTakeRequest && (!input.isEmpty || batch != nil) }

  var isTakingTurns: Bool { machine.isTakingTurns && !isClosing }

  /// Takes requests for as long as it may, and sees what is to be done then.
  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    var (count, isTurnOver) = (0, false)
    // One request alone is in nobody's way.
    var end: HostTime?
    while !isTurnOver, mayTakeRequest, takeNext() {
      count += 1
      let until = end ?? (input.isEmpty && batch == nil ? nil : HostTime.now.advanced(byNanoseconds: Self.turn))
      end = until
      if count >= Self.turnRequestCount, let until { isTurnOver = HostTime.now >= until }
    }
    isProcessing = false
    flush()
    if hasMoreToTake {
      // Others have their turn; or what was full has been sent.
      continueSoon()
    } else if machine.isAnswered, mayTakeRequest {
      closeWhenSent()
    }
    if wantsInput { stream.inputIsWanted(true) }
  }

  /// Takes one request, whole line or member of a batch; false when there is none.
  private func takeNext() -> Bool {
    if let batch {
      if let member = batch.nextMember() {
        take(member, in: batch)
        return true
      }
      self.batch = nil
    }
    switch input.take({ reader.next(in: $0, at: &$1) }) {
    case nil: return false
    case .request(let request): take(request, in: nil)
    case .rejected(let rejection):
      server.counters.requests += 1
      answer(rejection.reply, to: rejection.address, in: nil)
    case .batch(let members): batch = Batch(members)
    case .close(let error, let form):
      self.form = form
      close(saying: error)
    }
    return true
  }

  private func take(_ member: ParsedLine.BatchMember, in batch: Batch) {
    switch member {
    case .request(let request): take(request, in: batch)
    case .rejected(let rejection):
      server.counters.requests += 1
      answer(rejection.reply, to: rejection.address, in: batch)
    }
  }

  private func take(_ request: Request, in batch: Batch?) {
    server.counters.requests += 1
    form = request.address.form
    guard machine.accepts(request.address) else {
      let error = MediaError(.idInUse, "a request with this id is still waiting for its reply")
      return answer(Reply.error(error).completed(for: request.name), to: request.address, in: batch)
    }
    do throws(MediaError) {
      try checkRights(request)
      if let batch, request.address.expectsReply, batch.replies.byteCount > server.limits.batchReplyByteCount {
        throw MediaError(
          .batchTooLarge,
          "the replies of this batch take more than \(server.limits.batchReplyByteCount) bytes; this request was not run"
        )
      }
      if request.isWaiting || request.command.mayTakeTurns {
        let beginning = machine.begin(request.address, isInOrder: request.command.mayTakeTurns)
        guard case .began(let token) = beginning else { return }
        let waitingRequest = WaitingRequest(
          connection: self, token: token, request: request, batch: batch)
        waiting[token] = waitingRequest
        do throws(MediaError) {
          try begin(request.command, waitingRequest)
        } catch {
          waitingRequest.fail(error)
        }
      } else {
        if let reply = try run(request.command, for: request.address) {
          answer(reply.completed(for: request.name), to: request.address, in: batch)
        } else if batch == nil {
          output.append { Reply.encodeOK(to: request.address, into: &$0) }
        } else {
          answer(.ok, to: request.address, in: batch)
        }
        afterReply()
      }
    } catch {
      answer(Reply.error(error).completed(for: request.name), to: request.address, in: batch)
    }
  }

  /// Errors: `not-allowed` when this connection may not have it done.
  private func checkRights(_ request: Request) throws(MediaError) {
    let rights = peer?.rights ?? []
    guard rights != .all, !rights.isSuperset(of: request.neededRights) else { return }
    let missing = request.neededRights.subtracting(rights).names.joined(separator: " and ")
    throw MediaError(
      .notAllowed,
      "this needs the right to \(missing), and this connection may only \(rights.names.joined(separator: ", "))",
      operation: request.name.rawValue)
  }

  // MARK: - Handlers

  /// What a handler wants done once its reply is written.
  enum Afterwards {
    case nothing
    case close
    /// Sends events that belong behind the reply.
    case send(() -> Void)
  }

  /// Set by the handler of the request that is being run.
  var afterwards = Afterwards.nothing

  private func afterReply() {
    switch afterwards {
    case .nothing: return
    case .close:
      // As if the peer had sent no more: what is in flight, a batch perhaps, is answered before the end.
      ignoresInput = true
      input = PendingInput()
      machine.inputEnded()
    case .send(let body): body()
    }
    afterwards = .nothing
  }

  /// Runs a request that answers at once; nil is a plain ok.
  private func run(_ command: Command, for address: ReplyAddress) throws(MediaError) -> Reply? {
    switch command {
    case .connection(let command): return try run(command)
    case .playback(let command, let player):
      return try run(command, on: try server.registry.player(player))
    case .queue(let command, let player):
      return try run(command, on: try server.registry.player(player))
    case .item(let command, let player):
      return try run(command, on: try server.registry.player(player))
    case .asset(let command): return try run(command)
    case .watching(let command): return try run(command, form: address.form)
    case .players(let command): return try run(command)
    case .session(let command): return try run(command)
    case .state(let command): return try run(command)
    case .record(let command): return try run(command, form: address.form)
    }
  }

  /// Begins a request that answers later, or may.
  private func begin(_ command: Command, _ request: WaitingRequest) throws(MediaError) {
    switch command {
    case .playback(.seek(let seek), let player):
      try begin(seek, on: try server.registry.player(player), request)
    case .playback(.loop(let loop), let player):
      try begin(loop, on: try server.registry.player(player), request)
    case .playback(.step(let count), let player):
      try begin(step: count, on: try server.registry.player(player), request)
    case .playback(.preroll(let rate), let player):
      try beginPreroll(rate, on: try server.registry.player(player), request)
    case .playback(.chapter(let isNext), let player):
      try beginChapter(isNext: isNext, on: try server.registry.player(player), request)
    case .asset(.load(let id, let keys)): try beginLoading(id, Array(keys), request)
    case .asset(.metadata(let id, let query)): try beginMetadata(ofAsset: id, query, request)
    case .asset(.artwork(let id, let query)): try beginArtwork(ofAsset: id, query, request)
    case .item(.metadata(let id, let query), let player):
      try beginMetadata(ofItem: id, of: try server.registry.player(player), query, request)
    case .item(.artwork(let id, let query), let player):
      try beginArtwork(ofItem: id, of: try server.registry.player(player), query, request)
    case .asset(.scan(let scan)): try begin(scan, request)
    case .asset(.waveform(let waveform)): try begin(waveform, request)
    case .asset(.export(let export)): try begin(export, request)
    case .asset(.image(let image)): try begin(image, request)
    case .players(.playAt(let moment, let names)): try begin(moment, of: names, request)
    case .players(.rateTogether(let rate, let names)): try begin(rate: rate, of: names, request)
    case .state(let command): try begin(command, request)
    case .record(let command): try begin(command, request)
    case .connection(.reloadConfiguration): try beginReloading(request)
    case .queue(let command, let player):
      try begin(command, on: try server.registry.player(player), request)
    case .watching(.wait(let conditions, let timeout, let player)):
      try begin(conditions, timeout: timeout, on: try server.registry.player(player), request)
    case .watching(.events(let query)): try begin(query, request)
    case .watching(.at(let times, let item, let includesSeeks, let player)):
      try beginAt(
        times, item: item, includesSeeks: includesSeeks, on: try server.registry.player(player), request)
    case .watching(.clockAdvance(let duration)): try beginAdvance(by: duration, request)
    case .connection, .playback, .item, .asset, .watching, .players, .session:
      preconditionFailure(
        "a command that does not wait was begun as one that does: Command.isWaiting")
    }
  }

  // MARK: - Output

  private func answer(_ reply: Reply, to address: ReplyAddress, in batch: Batch?) {
    if case .error = reply.outcome { server.counters.errors += 1 }
    if let batch {
      guard batch.replies.add(reply, for: address) else { return }
      output.append { batch.replies.encode(into: &$0) }
    } else {
      output.append { reply.encode(to: address, into: &$0) }
    }
    if output.isOverLimit { checkBacklog() }
  }

  /// A waiting request has its answer.
  func finish(_ request: WaitingRequest, _ reply: Reply) {
    guard let address = machine.finish(request.token) else { return }
    waiting[request.token] = nil
    answer(reply.completed(for: request.request.name), to: address, in: request.batch)
    // Not from here: the handler that called may be in the midst of changing a player.
    if !isProcessing { continueSoon() }
  }

  /// What a request does in order is done: it only waits for something now.
  func letOthersPass(_ request: WaitingRequest) {
    machine.letOthersPass(request.token)
    if !isProcessing { continueSoon() }
  }

  /// Answers every waiting request with an error.
  func cancelWaiting(_ error: MediaError) {
    for request in waiting.sorted(by: { $0.key < $1.key }).map(\.value) { request.fail(error) }
  }

  /// Ends the waiting request of this id, which is answered so; false when none waits.
  func cancelWaiting(_ id: RequestID) -> Bool {
    guard let request = waiting.values.first(where: { $0.request.address.id == id }) else { return false }
    request.fail(MediaError(.cancelled, "ended by `cancel`"))
    return true
  }

  /// Sends an event, in the form of the request that asked for it; with its number in the log where it has one.
  func send(_ event: Event, form: WireForm, number: UInt64? = nil) {
    guard !isClosing else { return }
    // The stream may have sent some of it since.
    measureBacklog()
    server.counters.events += 1
    server.counters.dropped += UInt64(output.append(event, form: form, number: number))
    if !isProcessing { continueSoon() }
  }

  /// Events that are kept for an ended subscription are not sent any more.
  func forgetEvents(ofSubscription id: Int) { output.forget(subscription: id) }

  /// Takes further requests, and writes, at the end of this turn of the loop: once for all that it brought.
  private func continueSoon() {
    guard !isFlushScheduled, stream.isOpen else { return }
    isFlushScheduled = true
    server.streams.loop.execute { [self] in
      isFlushScheduled = false
      process()
    }
  }

  private func flush() {
    // What was left out comes behind what waited, once that has been sent.
    while !isClosing, !output.isEmpty, stream.unsentByteCount == 0 {
      output.transportByteCount = 0
      output.take { stream.write($0) }
    }
    guard !isClosing, stream.unsentByteCount > 0 else { return }
    measureBacklog()
    startUnreadTimer()
  }

  /// From now on the peer has to read something from time to time, or it is given up.
  private func startUnreadTimer() {
    guard unread == nil else { return }
    let end = server.loop.now.advanced(byNanoseconds: Int64(server.limits.unreadSeconds) * 1_000_000_000)
    let timer = server.loop.schedule(at: end) { [weak self] in self?.judgeReading() }
    unread = (timer, unreadByteCount)
  }

  private func endUnreadTimer() {
    unread?.timer.cancel()
    unread = nil
  }

  /// Nothing is written while the transport holds too much: has that not become less, nothing was read.
  private func judgeReading() {
    guard let before = unread?.byteCount else { return }
    unread = nil
    if unreadByteCount < before { return startUnreadTimer() }
    if isClosing { return abort() }
    closeOnOverflow("nothing was read for \(server.limits.unreadSeconds) seconds")
  }

  /// Bytes that the peer has not read: those that the stream keeps, and those in the socket, which lets go of them piece by
  /// piece long before it takes more.
  private var unreadByteCount: Int {
    measureBacklog()
    return stream.unreadByteCount
  }

  /// Finds out how much the stream still keeps.
  private func measureBacklog() { output.transportByteCount = stream.unsentByteCount }

  /// Closes on a peer that is too far behind.
  private func checkBacklog() {
    measureBacklog()
    if output.isOverLimit, !isClosing {
      closeOnOverflow("more than \(server.limits.outputByteCount) bytes were not read")
    }
  }

  /// A JSON-RPC batch that is being run.
  final class Batch {
    var replies: BatchReply
    private var members: RequestBatch.Iterator

    init(_ members: RequestBatch) {
      self.members = members.makeIterator()
      replies = BatchReply(memberCount: members.count)
    }

    func nextMember() -> ParsedLine.BatchMember? { members.next() }
  }
}

extension Command {
  /// Whether it may take several turns of the loop, though it waits for nothing, or before it waits. It is done in its
  /// order: with an id, too, it holds up the requests after it.
  fileprivate var mayTakeTurns: Bool {
    switch self {
    case .queue(.export, _): true
    case .queue(let command, _): command.isLarge
    case .watching(.at(let times, _, _, _)): times.count > BoundaryTimes.sliceLength
    default: false
    }
  }
}
