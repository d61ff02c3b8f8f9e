import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension SeekCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    try target.start(try arguments.seek()) { request.finish(with: $0) }
  }
}

extension SeekCancelCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.registry.player(arguments.player).player.onLoop { $0.cancelPendingSeeks() }
    return Reply()
  }
}

extension StepCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (count, target) = (arguments.count, try context.server.registry.player(arguments.player))
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.step(byCount: count) { request.finish(with: SeekReply.result($0)) }
    }
  }
}

extension NextChapterCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.seekToNextChapter { request.finish(with: SeekReply.result($0)) }
    }
  }
}

extension PreviousChapterCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.seekToPreviousChapter { request.finish(with: SeekReply.result($0)) }
    }
  }
}

extension NamedPlayer {
  /// Starts a seek. Calls `completion` once, on the control loop.
  ///
  /// - Throws: The error of a seek that cannot start. `completion` is then not called.
  func start(
    _ seek: SeekRequest, completion: @escaping @Sendable (Result<SeekReply, MediaError>) -> Void
  ) throws(MediaError) {
    let itemID = try itemID(ifGiven: seek.item)
    try player.tryOnLoop { player throws(MediaError) in
      let position: TimeExpression =
        switch seek.target {
        case .time(let expression): expression
        case .date(let date): .absolute(try player.time(ofDate: date))
        }
      try player.seek(
        to: position, toleranceBefore: seek.toleranceBefore, toleranceAfter: seek.toleranceAfter,
        mode: seek.isChase ? .chase : .replace, itemID: itemID
      ) { completion(SeekReply.result($0)) }
    }
  }
}

extension SeekReply {
  /// The reply of a seek.
  fileprivate static func result(_ result: SeekResult) -> Result<SeekReply, MediaError> {
    if result.unfinishedReason == .durationUnknown {
      return .failure(
        MediaError(
          .invalidTime, "the duration is unknown, so the target cannot be a part of it or its end", operation: "seek"))
    }
    return .success(
      SeekReply(
        finished: result.finished, item: result.itemID, time: result.time, requested: result.requested,
        before: result.toleranceBefore, after: result.toleranceAfter, exact: result.isExact, clamped: result.isClamped,
        microseconds: result.durationNanoseconds / 1_000, hostTime: result.hostTime, reason: reason(result)))
  }

  /// The reason why a seek did not finish, or why its position is not exact. Nil for an exact position.
  private static func reason(_ result: SeekResult) -> String? {
    if let reason = result.unfinishedReason { return reason.rawValue }
    if result.isExact { return nil }
    return result.positionDoubt?.rawValue ?? "tolerance"
  }
}
