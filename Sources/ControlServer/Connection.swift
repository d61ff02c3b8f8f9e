// One peer's connection: bytes in, requests to the handlers, replies and events out. Everything happens on the control
// loop, in direct calls; there is no task and no hop between reading a request and having its reply in the buffer. What is
// written goes to the system once for each read, and once for each turn of the loop that brought events.
import MediaCore
import NIOCore
import Playback
import WireProtocol

/// The channel handler of one connection.
///
/// It takes a request when `ConnectionStateMachine` allows and the peer reads what it is sent; what it does not take stays in
/// the buffer, and when that holds anything the socket is not read.
final class Connection: ChannelDuplexHandler, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop.
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// How long a peer has to notice that the connection is over.
  private static let lingering = TimeAmount.seconds(1)
  /// For how long requests are taken at one go; then others have their turn.
  private static let turn = TimeAmount.microseconds(500)
  /// How many requests are taken at one go however long they take, so that few that are sent together are run together.
  private static let turnRequestCount = 8

  let server: ServerContext
  private let refuse: (any Channel) -> MediaError?
  /// Why the connection is not served; nil when it is.
  private var refusal: MediaError?
  private var context: ChannelHandlerContext?

  // Input.
  private var reader: RequestReader
  private var input = ByteBuffer()
  private var machine: ConnectionStateMachine
  private var batch: Batch?
  private var isProcessing = false
  private var isReadHeldBack = false
  private var isTurnScheduled = false
  /// `bye` was said: what comes behind it is not taken.
  private var ignoresInput = false
  /// The waiting requests that are in flight.
  private var waiting: [WaitToken: WaitingRequest] = [:]

  // Output.
  private var output: OutputQueue
  private var writeBuffer = ByteBuffer()
  private var isFlushScheduled = false
  private var isClosing = false
  /// Everything has been sent, and what the peer may still send is thrown away until it closes its side, too.
  private var isLingering = false
  private var hasInputEnded = false
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

  /// A connection. `refuse` is asked once, when it becomes active, why it is not to be served: then it is told so and closed.
  init(server: ServerContext, refuse: @escaping (any Channel) -> MediaError?) {
    self.server = server
    self.refuse = refuse
    reader = RequestReader(limits: server.limits)
    machine = ConnectionStateMachine(waitingRequestLimit: server.limits.waitingRequestCount)
    output = OutputQueue(limits: server.limits)
  }

  /// The user at the other end; nil when the connection is gone.
  var peerUserID: UInt32? { context.flatMap { PeerCredentials.userID(of: $0.channel) } }

  // MARK: - Life

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    // Not before: of several that are accepted together each is to count for the next.
    refusal = refuse(context.channel)
    if let refusal { return close(saying: refusal) }
    server.connections[ObjectIdentifier(self)] = self
    output.append { Greeting.encode(version: server.version, into: &$0) }
    flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosing = true
    machine.close()
    let abandoned = waiting.values
    waiting = [:]
    for request in abandoned { request.abandon() }
    subscriptions.removeAll()
    assets.closeAll()
    endGathering()
    server.connections[ObjectIdentifier(self)] = nil
    if isLingering { server.lingeringCount -= 1 }
    self.context = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A peer that goes away without reading its answers is nothing to be told about.
    server.logger.debug("connection failed", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  /// Tells the peer why, and closes once it has been sent.
  func close(saying error: MediaError) {
    guard !isClosing else { return }
    let form = form
    output.append { Event.closing(error).encode(form: form, into: &$0) }
    closeWhenSent()
  }

  /// When the connection is gone; nil when it is already.
  var closed: EventLoopFuture<Void>? { context?.channel.closeFuture }

  /// Closes at once.
  func abort() { context?.close(promise: nil) }

  private func closeWhenSent() {
    guard let context, !isClosing else { return }
    isClosing = true
    machine.close()
    subscriptions.removeAll()
    let last = ByteBuffer(bytes: output.takeLast())
    context.writeAndFlush(wrapOutboundOut(last)).whenComplete { [self] _ in linger() }
  }

  /// Ends the connection from this side and waits a moment for the other. Closing it while something is unread would be a
  /// reset for the peer, which may cost it what it has been sent.
  private func linger() {
    guard let context, !isLingering else { return }
    guard !hasInputEnded, server.lingeringCount < ServerContext.lingeringLimit else { return abort() }
    isLingering = true
    server.lingeringCount += 1
    ignoresInput = true
    input = Self.empty
    context.close(mode: .output, promise: nil)
    context.eventLoop.scheduleTask(in: Self.lingering) { [weak self] in self?.abort() }
    if isReadHeldBack {
      isReadHeldBack = false
      context.read()
    }
  }

  /// The peer is too far behind: what it has not been sent is dropped, and it has a moment to read why.
  private func closeOnOverflow() {
    server.logger.info("closing a connection that does not read", metadata: ["bytes": "\(output.backlogByteCount)"])
    output.drop()
    close(saying: MediaError(.outputOverflow, "more than \(server.limits.outputByteCount) bytes were not read"))
    context?.eventLoop.scheduleTask(in: .seconds(2)) { [weak self] in self?.abort() }
  }

  // MARK: - Input

  func read(context: ChannelHandlerContext) {
    if wantsInput || isLingering { context.read() } else { isReadHeldBack = true }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if ignoresInput { return }
    if input.readableBytes == 0 { input = buffer } else { input.writeBuffer(&buffer) }
    process()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent {
      hasInputEnded = true
      if isLingering { return abort() }
      machine.inputEnded()
      process()
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    // With nothing to flush, what was measured before would count for ever.
    measureBacklog()
    flush()
    process()
  }

  private var mayTakeRequest: Bool { machine.mayTakeRequest && !isClosing && !output.isFull }

  private var wantsInput: Bool { mayTakeRequest && input.readableBytes == 0 && batch == nil && refusal == nil }

  /// Takes requests for as long as it may, and sees what is to be done then.
  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    let end = NIODeadline.now() + Self.turn
    var (count, isTurnOver) = (0, false)
    while !isTurnOver, mayTakeRequest, takeNext() {
      count += 1
      isTurnOver = count >= Self.turnRequestCount && NIODeadline.now() >= end
    }
    isProcessing = false
    if isTurnOver {
      continueLater(after: .microseconds(20))
    } else if machine.isAnswered, mayTakeRequest, !isClosing {
      closeWhenSent()
    }
    if isReadHeldBack, wantsInput {
      isReadHeldBack = false
      context?.read()
    }
    flush()
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
    var offset = 0
    let incoming = input.withUnsafeReadableBytes { reader.next(in: $0, at: &offset) }
    input.moveReaderIndex(forwardBy: offset)
    // What has been read is given back, so that the next read can use the same memory.
    if input.readableBytes == 0 { input = Self.empty }
    switch incoming {
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

  private static let empty = ByteBuffer()

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
      return answer(.error(error), to: request.address, in: batch)
    }
    do throws(MediaError) {
      if request.isWaiting || request.command.mayTakeTurns {
        let beginning = machine.begin(request.address, isInOrder: !request.isWaiting)
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
          answer(reply, to: request.address, in: batch)
        } else if batch == nil {
          output.append { Reply.encodeOK(to: request.address, into: &$0) }
        } else {
          answer(.ok, to: request.address, in: batch)
        }
        afterReply()
      }
    } catch {
      answer(.error(error), to: request.address, in: batch)
    }
  }

  /// Goes on taking requests in a later turn of the loop.
  private func continueLater(after delay: TimeAmount) {
    guard !isTurnScheduled, let context else { return }
    isTurnScheduled = true
    context.eventLoop.scheduleTask(in: delay) { [self] in
      isTurnScheduled = false
      process()
    }
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
      input = Self.empty
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
    case .asset(.load(let id, let keys)): try beginLoading(id, keys, request)
    case .asset(.metadata(let id, let query)): try beginMetadata(ofAsset: id, query, request)
    case .asset(.artwork(let id, let query)): try beginArtwork(ofAsset: id, query, request)
    case .item(.metadata(let id, let query), let player):
      try beginMetadata(ofItem: id, of: try server.registry.player(player), query, request)
    case .item(.artwork(let id, let query), let player):
      try beginArtwork(ofItem: id, of: try server.registry.player(player), query, request)
    case .asset(.scan(let scan)): try begin(scan, request)
    case .players(.playAt(let moment, let names)): try begin(moment, of: names, request)
    case .players(.rateTogether(let rate, let names)): try begin(rate: rate, of: names, request)
    case .queue(let command, let player):
      try begin(command, on: try server.registry.player(player), request)
    case .watching(.wait(let conditions, let timeout, let player)):
      try begin(conditions, timeout: timeout, on: try server.registry.player(player), request)
    case .watching(.clockAdvance(let duration)): try beginAdvance(by: duration, request)
    case .connection, .playback, .item, .asset, .watching, .players:
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
    answer(reply, to: address, in: request.batch)
    // Not from here: the handler that called may be in the midst of changing a player.
    if !isProcessing { continueSoon() }
  }

  /// Answers every waiting request with an error.
  func cancelWaiting(_ error: MediaError) {
    for request in waiting.sorted(by: { $0.key < $1.key }).map(\.value) { request.fail(error) }
  }

  /// Sends an event, in the form of the request that asked for it.
  func send(_ event: Event, form: WireForm) {
    guard !isClosing else { return }
    server.counters.events += 1
    server.counters.dropped += UInt64(output.append(event, form: form))
    if !isProcessing { continueSoon() }
  }

  /// Events that are kept for an ended subscription are not sent any more.
  func forgetEvents(ofSubscription id: Int) { output.forget(subscription: id) }

  /// Takes further requests, and writes, at the end of this turn of the loop: once for all that it brought.
  private func continueSoon() {
    guard !isFlushScheduled, let context else { return }
    isFlushScheduled = true
    context.eventLoop.execute { [self] in
      isFlushScheduled = false
      process()
    }
  }

  private func flush() {
    guard let context, !isClosing, !output.isEmpty, context.channel.isWritable else { return }
    output.transportByteCount = 0
    output.take { bytes in
      writeBuffer.clear(minimumCapacity: bytes.count)
      writeBuffer.writeBytes(bytes)
    }
    guard writeBuffer.readableBytes > 0 else { return }
    // A peer that has gone away ends the connection from within this call.
    context.writeAndFlush(wrapOutboundOut(writeBuffer), promise: nil)
    writeBuffer.moveReaderIndex(to: writeBuffer.writerIndex)
    if !isClosing, !context.channel.isWritable { measureBacklog() }
  }

  /// Finds out how much the transport still holds.
  private func measureBacklog() {
    output.transportByteCount =
      (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Closes on a peer that is too far behind.
  private func checkBacklog() {
    measureBacklog()
    if output.isOverLimit, !isClosing { closeOnOverflow() }
  }

  /// A JSON-RPC batch that is being run.
  final class Batch {
    var replies: BatchReply
    private var members: ArraySlice<ParsedLine.BatchMember>

    init(_ members: [ParsedLine.BatchMember]) {
      self.members = members[...]
      replies = BatchReply(memberCount: members.count)
    }

    func nextMember() -> ParsedLine.BatchMember? { members.popFirst() }
  }
}

extension Command {
  /// Whether it may take several turns of the loop, though it waits for nothing. It is answered in its order: with an id, too, it holds
  /// up what comes behind it.
  fileprivate var mayTakeTurns: Bool { if case .queue(.export, _) = self { true } else { false } }
}
