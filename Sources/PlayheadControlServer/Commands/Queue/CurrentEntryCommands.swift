import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension CurrentEntryReply {
  fileprivate init(_ target: NamedPlayer) {
    let state = target.state
    self.init(item: state.currentItemID, version: state.queueVersion)
  }
}

extension NextCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    guard target.state.currentItemID != nil else {
      throw MediaError(.noCurrentItem, "there is no current item", operation: "next")
    }
    target.player.onLoop { $0.advanceToNextItem() }
    return Reply(target)
  }
}

extension PreviousCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    let limit = arguments.restartAfter
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.goToPreviousItem(restartingAfter: limit)
    }
    return Reply(target)
  }
}

extension JumpCommand: SlicedHandler {
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    context.client.isQueueLong(of: arguments.player)
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    try context.client.checkVersion(arguments.ifVersion, of: target)
    return try jump(to: arguments.target, on: target)
  }

  /// Jumps in a long queue. Another thread computes the queue if the jump passes many entries.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    let client = context.client
    try client.checkVersion(arguments.ifVersion, of: target)
    let index: Int?
    switch arguments.target {
    case .index(let position), .entry(.index(let position)): index = position
    case .entry(let entry):
      let id = try target.itemID(entry)
      index = target.player.onLoop { $0.index(of: id) }
    }
    guard let index, index > Client.longQueueLength,
      let item = target.player.onLoop({ $0.items(in: index..<index + 1).first })
    else { return request.finish(try jump(to: arguments.target, on: target)) }
    client.perform(.jump(to: item.id), ifVersion: arguments.ifVersion, on: target) { result in
      request.finish(with: result) { Reply(target) }
    }
  }

  private static func jump(to jumpTarget: Target, on target: NamedPlayer) throws(MediaError) -> Reply {
    switch jumpTarget {
    case .entry(let entry):
      let id = try target.itemID(entry)
      try target.player.tryOnLoop { player throws(MediaError) in try player.jump(to: id) }
    case .index(let index):
      try target.player.tryOnLoop { player throws(MediaError) in try player.jump(toIndex: index) }
    }
    return Reply(target)
  }
}
