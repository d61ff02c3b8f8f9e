import MediaCore
import Playback
import WireProtocol

extension NamedPlayer {
  /// The id of an entry. An id in the request is not checked.
  ///
  /// - Throws: `no-such-item` if the queue or its history has no entry at the position.
  func itemID(_ reference: EntryReference) throws(MediaError) -> PlayerItem.ID {
    switch reference {
    case .id(let id): return UInt64(id)
    case .index(let index):
      if let item = player.onLoop({ $0.items(in: index..<index + 1).first }) { return item.id }
      let count = state.itemCount
      throw MediaError(
        .noSuchItem, count == 0 ? "the queue is empty" : "there is no entry #\(index + 1), only \(count)")
    case .history(let index):
      let history = player.onLoop { $0.history() }
      // The newest entry is the last one.
      if index < history.count { return history[history.count - 1 - index].id }
      throw MediaError(
        .noSuchItem,
        history.isEmpty
          ? "no entry was played before" : "only \(history.count) entries were played before (got -\(index + 1))")
    }
  }

  /// The id of an entry that is not required.
  ///
  /// - Throws: `no-such-item` if the queue or its history has no entry at the position.
  func itemID(ifGiven reference: EntryReference?) throws(MediaError) -> PlayerItem.ID? {
    guard let reference else { return nil }
    return try itemID(reference)
  }

  /// Replaces positions by ids.
  private func resolved(_ reference: EntryReference) throws(MediaError) -> EntryReference {
    .id(Int(clamping: try itemID(reference)))
  }

  /// Returns an edit of the queue with ids instead of positions, which are those in the present queue.
  ///
  /// - Throws: `no-such-item`.
  func resolved(_ edit: QueueCommand) throws(MediaError) -> QueueCommand {
    switch edit {
    case .insert(let paths, let position, let waits, let version, let precise, let network, let resumes):
      return .insert(
        paths, at: try resolved(position), waitUntilReady: waits, ifVersion: version, precise: precise,
        network: network, resumes: resumes)
    case .remove(let references, let version):
      var ids: [EntryReference] = []
      for reference in references { ids.append(try resolved(reference)) }
      return .remove(WireList(ids), ifVersion: version)
    case .move(let item, let position, let version):
      return .move(item: try resolved(item), to: try resolved(position), ifVersion: version)
    case .replace(let item, let path, let version, let precise, let network):
      return .replace(item: try resolved(item), path, ifVersion: version, precise: precise, network: network)
    case .load, .append, .clear, .list, .history, .next, .previous, .jump, .shuffle, .onFailure, .edit, .begin,
      .commit, .abort, .expanding, .changes, .export:
      return edit
    }
  }

  /// Returns the position with an id instead of a position relative to the current entry.
  ///
  /// - Throws: `no-such-item`.
  func resolved(_ position: QueueCommand.QueuePosition) throws(MediaError) -> QueueCommand.QueuePosition {
    switch position {
    case .after(let item): .after(item: try resolved(item))
    case .before(let item): .before(item: try resolved(item))
    case .next, .index: position
    }
  }
}

extension EntryReference {
  /// The id of a resolved reference.
  var resolvedID: PlayerItem.ID {
    guard case .id(let id) = self else { preconditionFailure("a position was not resolved") }
    return UInt64(id)
  }
}
