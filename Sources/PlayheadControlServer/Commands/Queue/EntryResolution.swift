import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

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
        .noSuchItem, count == 0 ? "the queue is empty" : "the queue has only \(count) entries (got #\(index + 1))")
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
  private func resolved(_ reference: EntryReference, _ version: UInt64) throws(MediaError) -> EntryReference {
    if case .id = reference { return reference }
    guard state.queueVersion == version else {
      throw MediaError(.versionMismatch, "the queue changed while the edit was prepared")
    }
    return .id(Int(clamping: try itemID(reference)))
  }

  /// Returns an edit of the queue with ids instead of positions.
  ///
  /// - Parameter version: The version of the queue that the positions refer to.
  /// - Throws: `no-such-item`, or `version-mismatch` if the edit has positions and the queue has another version.
  func resolved(_ edit: RequestedEdit, _ version: UInt64) throws(MediaError) -> RequestedEdit {
    switch edit {
    case .insert(let new, let position): return .insert(new, at: try resolved(position, version))
    case .remove(let references):
      var ids: [EntryReference] = []
      for reference in references { ids.append(try resolved(reference, version)) }
      return .remove(WireList(ids))
    case .move(let entry, let position):
      return .move(try resolved(entry, version), to: try resolved(position, version))
    case .replace(let entry, let new): return .replace(try resolved(entry, version), by: new)
    case .load, .append, .clear: return edit
    }
  }

  /// Returns the position with an id instead of a position relative to the current entry.
  ///
  /// - Throws: As for an edit.
  func resolved(_ position: RequestedPosition, _ version: UInt64) throws(MediaError) -> RequestedPosition {
    switch position {
    case .after(let item): .after(item: try resolved(item, version))
    case .before(let item): .before(item: try resolved(item, version))
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
