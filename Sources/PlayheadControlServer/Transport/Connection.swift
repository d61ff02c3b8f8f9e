// The connection of one peer. It passes requests to the handlers, and sends replies and events. All steps are direct
// calls on the control loop, without tasks or thread hops between reading a request and buffering its reply. The
// connection writes its output once after each read, and once after each loop iteration with events.
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// One connection.
///
/// It processes a request when `ConnectionStateMachine` allows it and the peer reads its output. Unprocessed bytes stay
/// in `input`. While `input` is not empty, the connection does not read from the socket.
final class Connection: ByteStream.Delegate, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop.
  /// The time in nanoseconds for the peer to close the connection after the end of the output.
  private static let lingerNanoseconds: Int64 = 1_000_000_000
  /// The same time for a connection that is closed because the peer did not read.
  private static let overflowGraceNanoseconds: Int64 = 2_000_000_000
  /// The maximum time in nanoseconds for the requests of one connection in one loop iteration.
  private static let turnNanoseconds: Int64 = 500_000
  /// The number of requests that one loop iteration may process regardless of time, so that a few requests sent
  /// together run together.
  private static let turnRequestCount = 8

  let server: ServerContext
  let client: Client
  private var isRefused = false
  private let stream: ByteStream

  // Input.
  private var reader: RequestReader
  private var input = PendingInput()
  private var machine: ConnectionStateMachine
  private var batch: Batch?
  private var isProcessing = false
  /// Whether input is ignored, for example after `bye`.
  private var ignoresInput = false
  /// The waiting requests, by token.
  private var waitingRequests: [WaitToken: AnyWaitingRequest] = [:]

  // Output.
  private var output: OutputQueue
  private var isFlushScheduled = false
  private var isClosing = false
  /// Whether all output was sent, and the connection discards input until the peer closes it.
  private var isLingering = false
  /// The timer that runs while output is unread, and the number of unread bytes at its start.
  private var unread: (timer: any ControlTimer, byteCount: Int)?
  /// The form of the last request, which the closing event also has.
  private var form = WireForm.words

  /// Creates a connection over `stream`.
  init(server: ServerContext, stream: ByteStream) {
    self.server = server
    self.stream = stream
    client = Client(server: server)
    reader = RequestReader(limits: server.limits)
    machine = ConnectionStateMachine(waitingRequestLimit: server.limits.waitingRequestCount)
    output = OutputQueue(limits: server.limits)
    client.connection = self
  }

  // MARK: - Lifecycle

  /// Starts the connection. A refused peer gets the reason, and the connection is closed.
  func open(_ admission: Admission) {
    do throws(MediaError) { try stream.open(for: self) } catch {
      server.logger.warning("a connection cannot be served", metadata: ["error": "\(error)"])
      return stream.close()
    }
    switch admission {
    case .refused(let refusal):
      isRefused = true
      return close(reason: refusal)
    case .served(let peer): client.begin(with: peer)
    }
    server.connections[ObjectIdentifier(self)] = self
    output.append { Greeting.encode(version: server.version, instance: server.log.instance, into: &$0) }
    flush()
  }

  func closed(_ failure: Int32?) {
    // Only a debug message, because a peer may disconnect without reading its replies.
    if let failure { server.logger.debug("connection failed", metadata: ["errno": "\(failure)"]) }
    isClosing = true
    machine.close()
    let abandoned = waitingRequests.values
    waitingRequests = [:]
    for request in abandoned { request.abandon() }
    endUnreadTimer()
    client.end()
    server.connections[ObjectIdentifier(self)] = nil
    if isLingering { server.lingeringCount -= 1 }
    onClose?()
    onClose = nil
  }

  /// Sends the reason to the peer, and closes after it is sent.
  func close(reason error: MediaError) {
    guard !isClosing else { return }
    let form = form
    output.append { ClosingEvent(error).encode(form: form, into: &$0) }
    closeWhenSent()
  }

  /// Called once, after the connection is closed.
  var onClose: (() -> Void)?

  /// Closes immediately.
  func abort() { stream.close() }

  private func closeWhenSent() {
    guard stream.isOpen, !isClosing else { return }
    isClosing = true
    machine.close()
    client.subscriptions.endAll()
    stream.write(output.removeRemaining())
    if stream.unsentByteCount == 0 { linger() } else { startUnreadTimer() }
  }

  /// Ends the output, and waits up to one second for the peer to close the connection. Closes immediately if the peer
  /// has ended its output, or if too many connections wait. Closing with unread input would reset the connection, and
  /// the peer could lose output.
  private func linger() {
    guard stream.isOpen, !isLingering else { return }
    endUnreadTimer()
    guard !stream.hasInputEnded, server.lingeringCount < ServerContext.lingeringLimit else { return abort() }
    isLingering = true
    server.lingeringCount += 1
    ignoresInput = true
    input = PendingInput()
    stream.endOutput()
    stream.setReading(true)
    abort(after: Self.lingerNanoseconds)
  }

  private func abort(after nanoseconds: Int64) {
    let loop = server.transport.loop
    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: nanoseconds)) { [weak self] in self?.abort() }
  }

  /// Drops the unsent output of a peer that does not read, and gives it a moment to read the reason.
  private func closeOnOverflow(_ reason: String) {
    server.logger.info("closing a connection that does not read", metadata: ["bytes": "\(output.backlogByteCount)"])
    output.discardAll()
    close(reason: MediaError(.outputOverflow, reason))
    abort(after: Self.overflowGraceNanoseconds)
  }

  // MARK: - Input

  func received(_ bytes: UnsafeRawBufferPointer) {
    if ignoresInput { return }
    input.borrow(bytes)
    process()
    input.copyUnprocessed()
  }

  func inputEnded() {
    if isLingering { return abort() }
    machine.inputEnded()
    process()
  }

  func outputDrained() {
    if isClosing { return linger() }
    endUnreadTimer()
    // Measured here, because `flush` does not measure without pending output.
    measureBacklog()
    process()
  }

  private var mayProcessRequest: Bool {
    machine.mayProcessRequest && !isClosing && !(batch == nil ? output.isHalfFull : output.lacksSpaceForBatch)
  }

  /// Whether the socket is read. Unread input stays in the socket and applies back-pressure. While lingering, the
  /// connection reads and discards input.
  var wantsInput: Bool { isLingering || mayProcessRequest && input.isEmpty && batch == nil && !isRefused }

  var hasUnprocessedInput: Bool { mayProcessRequest && (!input.isEmpty || batch != nil) }

  var isRunningInSlices: Bool { machine.isRunningInSlices && !isClosing }

  /// Processes requests as long as allowed, then continues later or closes if necessary.
  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    var (count, isTurnOver) = (0, false)
    // The end of the turn. Nil while only one request was pending, for which the clock is not read.
    var turnEnd: HostTime?
    while !isTurnOver, mayProcessRequest, processNextRequest() {
      count += 1
      let isLast = input.isEmpty && batch == nil
      let until = turnEnd ?? (isLast ? nil : HostTime.now.advanced(byNanoseconds: Self.turnNanoseconds))
      turnEnd = until
      if count >= Self.turnRequestCount, let until { isTurnOver = HostTime.now >= until }
    }
    isProcessing = false
    flush()
    if hasUnprocessedInput {
      // Continues in the next loop iteration, after the other connections.
      continueSoon()
    } else if machine.isComplete, mayProcessRequest {
      closeWhenSent()
    }
    if wantsInput { stream.setReading(true) }
  }

  /// Processes one request: a line or a member of a batch. Returns false if there is none.
  private func processNextRequest() -> Bool {
    if let batch {
      if let member = batch.nextMember() {
        process(member, in: batch)
        return true
      }
      self.batch = nil
    }
    switch input.read({ reader.next(in: $0, at: &$1) }) {
    case nil: return false
    case .request(let request): process(request, in: nil)
    case .rejected(let rejection):
      server.counters.requests += 1
      sendReply(rejection.reply, to: rejection.address, in: nil)
    case .batch(let members): batch = Batch(members)
    case .close(let error, let form):
      self.form = form
      close(reason: error)
    }
    return true
  }

  private func process(_ member: ParsedLine.BatchMember, in batch: Batch) {
    switch member {
    case .request(let request): process(request, in: batch)
    case .rejected(let rejection):
      server.counters.requests += 1
      sendReply(rejection.reply, to: rejection.address, in: batch)
    }
  }

  private func process(_ request: Request, in batch: Batch?) {
    server.counters.requests += 1
    form = request.address.form
    guard machine.accepts(request.address) else {
      let error = MediaError(.idInUse, "a request with this id is still waiting for its reply")
      return sendReply(Reply.error(error).completed(for: request.spec), to: request.address, in: batch)
    }
    do throws(MediaError) {
      try client.checkRights(request)
      if let batch, request.address.expectsReply, batch.replies.byteCount > server.limits.batchReplyByteCount {
        throw MediaError(
          .batchTooLarge,
          "the replies of this batch exceed \(server.limits.batchReplyByteCount) bytes; this request was not run"
        )
      }
      let runsInSlices = mayRunInSlices(request)
      if request.isWaiting || runsInSlices {
        let startResult = machine.start(request.address, runsInSlices: runsInSlices)
        guard case .started(let token) = startResult else { return }
        let waitingRequest = AnyWaitingRequest(
          connection: self, token: token, request: request, batch: batch)
        waitingRequests[token] = waitingRequest
        do throws(MediaError) {
          try start(waitingRequest)
        } catch {
          waitingRequest.fail(error)
        }
      } else {
        if let reply = try run(request) {
          sendReply(reply.completed(for: request.spec), to: request.address, in: batch)
        } else if batch == nil {
          output.append { Reply.encodeOK(to: request.address, into: &$0) }
        } else {
          sendReply(.ok, to: request.address, in: batch)
        }
        runPostReplyAction()
      }
    } catch {
      sendReply(Reply.error(error).completed(for: request.spec), to: request.address, in: batch)
    }
  }

  // MARK: - Handlers

  /// The action after the reply to a request is added to the output.
  enum PostReplyAction {
    case nothing
    case close
    /// Sends events that must come after the reply.
    case send(() -> Void)
  }

  /// Set by the handler of the current request.
  var postReplyAction = PostReplyAction.nothing

  private func runPostReplyAction() {
    switch postReplyAction {
    case .nothing: return
    case .close:
      // Handled like the end of the peer's output, so that waiting requests and batches are completed first.
      ignoresInput = true
      input = PendingInput()
      machine.inputEnded()
    case .send(let body): body()
    }
    postReplyAction = .nothing
  }

  /// Runs a request that replies immediately. Nil means `ok` without fields.
  private func run(_ request: Request) throws(MediaError) -> Reply? {
    try server.handlers[request.commandIndex].run(request.arguments, context(of: request))
  }

  /// Starts a request whose reply may come later.
  private func start(_ waitingRequest: AnyWaitingRequest) throws(MediaError) {
    let request = waitingRequest.request
    try server.handlers[request.commandIndex].start(request.arguments, context(of: request), waitingRequest)
  }

  /// Whether a command runs in slices (``ConnectionStateMachine``), because its arguments or the queue are large.
  private func mayRunInSlices(_ request: Request) -> Bool {
    server.handlers[request.commandIndex].isLarge?(request.arguments, context(of: request)) ?? false
  }

  private func context(of request: Request) -> RequestContext {
    RequestContext(connection: self, form: request.address.form)
  }

  // MARK: - Output

  /// Adds a reply to the output, or to the replies of its batch. The last reply of a batch adds the whole batch. Closes
  /// the connection if the peer has too much unread output.
  private func sendReply(_ reply: Reply, to address: ReplyAddress, in batch: Batch?) {
    if case .error = reply.outcome { server.counters.errors += 1 }
    if let batch {
      guard batch.replies.add(reply, for: address) else { return }
      output.append { batch.replies.encode(into: &$0) }
    } else {
      output.append { reply.encode(to: address, into: &$0) }
    }
    if output.isOverLimit { checkBacklog() }
  }

  /// Sends the reply of a waiting request, and continues with later requests.
  func finish(_ request: AnyWaitingRequest, _ reply: Reply) {
    guard let address = machine.finish(request.token) else { return }
    waitingRequests[request.token] = nil
    sendReply(reply.completed(for: request.request.spec), to: address, in: request.batch)
    // Not immediately, because the calling handler may be changing a player.
    if !isProcessing { continueSoon() }
  }

  /// Marks the ordered part of a request as done.
  func allowLaterRequests(after request: AnyWaitingRequest) {
    machine.allowLaterRequests(after: request.token)
    if !isProcessing { continueSoon() }
  }

  /// Completes every waiting request with an error.
  func cancelWaiting(_ error: MediaError) {
    for request in waitingRequests.sorted(by: { $0.key < $1.key }).map(\.value) { request.fail(error) }
  }

  /// Completes the waiting requests that the client no longer has the rights for with an error.
  func checkWaitingRequests() {
    for request in waitingRequests.sorted(by: { $0.key < $1.key }).map(\.value) {
      do throws(MediaError) { try client.checkRights(request.request) } catch { request.fail(error) }
    }
  }

  /// Cancels the waiting request with this id. Returns false if there is none.
  func cancelWaiting(_ id: RequestID) -> Bool {
    guard let request = waitingRequests.values.first(where: { $0.request.address.id == id }) else { return false }
    request.fail(MediaError(.cancelled, "ended by `cancel`"))
    return true
  }

  /// Sends an event at the end of this loop iteration. If the peer reads slowly, the event may be retained or dropped.
  ///
  /// - Parameters:
  ///   - form: The form of the request that subscribed.
  ///   - number: The sequence number in the event log, if any.
  func send(_ event: some Event, form: WireForm, number: UInt64? = nil) {
    guard !isClosing else { return }
    // The stream may have sent bytes since the last measurement.
    measureBacklog()
    server.counters.events += 1
    server.counters.dropped += UInt64(output.append(event, form: form, number: number))
    if !isProcessing { continueSoon() }
  }

  /// Drops the retained changes of an ended subscription.
  func dropChanges(ofSubscription id: Int) { output.dropChanges(ofSubscription: id) }

  /// Processes requests and writes output at the end of this loop iteration, once for all of its events.
  private func continueSoon() {
    guard !isFlushScheduled, stream.isOpen else { return }
    isFlushScheduled = true
    server.transport.loop.execute { [self] in
      isFlushScheduled = false
      process()
    }
  }

  private func flush() {
    // Dropped events are reported after the pending output is sent.
    while !isClosing, !output.isEmpty, stream.unsentByteCount == 0 {
      output.transportByteCount = 0
      output.drain { stream.write($0) }
    }
    guard !isClosing, stream.unsentByteCount > 0 else { return }
    measureBacklog()
    startUnreadTimer()
  }

  /// Starts the timer that closes the connection if the peer does not read.
  private func startUnreadTimer() {
    guard unread == nil else { return }
    let end = server.loop.now.advanced(byNanoseconds: Int64(server.limits.unreadSeconds) * 1_000_000_000)
    let timer = server.loop.schedule(at: end) { [weak self] in self?.checkReading() }
    unread = (timer, unreadByteCount)
  }

  private func endUnreadTimer() {
    unread?.timer.cancel()
    unread = nil
  }

  /// Closes the connection if the number of unread bytes has not decreased since the timer started. While bytes are
  /// unsent, none are added, so an unchanged number means that the peer has read nothing.
  private func checkReading() {
    guard let before = unread?.byteCount else { return }
    unread = nil
    if unreadByteCount < before { return startUnreadTimer() }
    if isClosing { return abort() }
    closeOnOverflow("nothing was read for \(server.limits.unreadSeconds) seconds")
  }

  /// The number of bytes in the stream and in the socket that the peer has not read. The socket is included, because
  /// its number decreases with every read, long before the socket accepts more bytes.
  private var unreadByteCount: Int {
    measureBacklog()
    return stream.unreadByteCount
  }

  /// Measures the bytes that the stream has not sent.
  private func measureBacklog() { output.transportByteCount = stream.unsentByteCount }

  /// Closes the connection if the peer has too much unread output.
  private func checkBacklog() {
    measureBacklog()
    if output.isOverLimit, !isClosing {
      closeOnOverflow("more than \(server.limits.outputByteCount) bytes were not read")
    }
  }

  /// A JSON-RPC batch that is being processed.
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
