import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension QueueChangesCommand: ImmediateHandler {
  /// The maximum number of reply bytes for one byte of text: JSON escapes a control character as `\u001f`.
  private static let bytesPerTextByte = 6

  /// Returns the changes of a queue after a version. The reply has none, and the client must list the queue, if the
  /// changes are not available, belong to another instance, or are too many for a reply.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let server = context.server
    let target = try server.registry.player(arguments.player)
    let wholeReply = Reply(version: target.state.queueVersion, changes: nil)
    let (instance, since) = (arguments.instance, UInt64(arguments.since))
    guard instance == nil || instance == server.log.instance,
      let changes = target.player.onLoop({ $0.queueChanges(since: since) }), changes.count <= server.limits.listCount
    else { return wholeReply }
    var byteCount = 0
    var rows: [Row] = []
    rows.reserveCapacity(changes.count)
    for change in changes {
      switch change.step {
      case .inserted(let id, let index):
        let item = target.player.onLoop { $0.item(id) }
        rows.append(Row(version: change.version, .insert(item: id, index: index, path: item.map(\.wireLocation))))
        byteCount += (item?.wirePathByteCount ?? 0) * bytesPerTextByte
      case .removed(let id, let index):
        rows.append(Row(version: change.version, .remove(item: id, index: index)))
      case .moved(let id, let from, let to):
        rows.append(Row(version: change.version, .move(item: id, from: from, to: to)))
      case .rotated(let count): rows.append(Row(version: change.version, .rotate(count: count)))
      }
      guard byteCount < server.limits.outputByteCount / 2 else { return wholeReply }
    }
    return Reply(version: target.state.queueVersion, changes: rows)
  }
}
