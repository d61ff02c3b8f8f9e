import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension ShuffleCommand: SlicedHandler {
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    arguments.change != nil && context.client.isQueueLong(of: arguments.player)
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    switch operation(arguments, target) {
    case .shuffle(let seed): target.player.onLoop { _ = $0.shuffle(seed: seed) }
    case .endShuffle: target.player.onLoop { $0.endShuffle() }
    default: break
    }
    return Reply(target)
  }

  /// Shuffles a long queue, or restores its order, on another thread.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    guard let operation = operation(arguments, target) else { return request.finish(Reply(target)) }
    context.client.perform(operation, ifVersion: arguments.ifVersion, on: target) { result in
      request.finish(with: result) { Reply(target) }
    }
  }

  /// The operation that changes the shuffling. Nil: none is needed.
  private static func operation(_ arguments: Arguments<Self>, _ target: NamedPlayer) -> QueueOperation? {
    let isShuffled = target.state.shuffleSeed != nil
    switch arguments.change {
    case nil: return nil
    case .off: return isShuffled ? .endShuffle : nil
    case .toggle where isShuffled: return .endShuffle
    case .on, .toggle: return .shuffle(seed: arguments.seed.map { UInt64($0) } ?? QueuePlayer.randomShuffleSeed())
    }
  }
}

extension ShuffleCommand.Reply {
  fileprivate init(_ target: NamedPlayer) {
    let state = target.state
    self.init(seed: state.shuffleSeed, version: state.queueVersion)
  }
}
