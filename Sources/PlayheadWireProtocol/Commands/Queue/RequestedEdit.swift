import PlayheadMediaCore

/// An edit of the queue: a command of its own, or a part of `queue.edit`.
package enum RequestedEdit: Sendable, Hashable {
  /// Replaces the queue.
  case load(NewEntries)
  /// Appends entries to the queue.
  case append(NewEntries)
  /// Inserts entries at a position.
  case insert(NewEntries, at: RequestedPosition)
  /// Removes entries. At least one.
  case remove(WireList<EntryReference>)
  case move(EntryReference, to: RequestedPosition)
  /// Replaces an entry by exactly one new entry.
  case replace(EntryReference, by: NewEntries)
  /// Removes all entries.
  case clear

  /// New entries of the queue, with their options.
  package struct NewEntries: Sendable, Hashable {
    /// The locations. At least one in a request.
    package var paths: WireList<FilePath>
    /// Whether the exact durations are determined.
    package var isPrecise: Bool
    package var network: NetworkOptions
    /// Whether the entries start at their last position. Nil: as configured in the daemon.
    package var resumes: Bool?
    /// The title of the only entry. Nil: that of its tags.
    package var title: String?

    package init(
      _ paths: WireList<FilePath>, isPrecise: Bool = false, network: NetworkOptions = NetworkOptions(),
      resumes: Bool? = nil, title: String? = nil
    ) {
      (self.paths, self.isPrecise, self.network) = (paths, isPrecise, network)
      (self.resumes, self.title) = (resumes, title)
    }
  }

  /// The new entries. Nil for an edit that adds none.
  package var newEntries: NewEntries? {
    switch self {
    case .load(let entries), .append(let entries), .insert(let entries, _), .replace(_, let entries): entries
    case .remove, .move, .clear: nil
    }
  }

  /// Whether the edit first removes all entries.
  package var emptiesQueue: Bool {
    switch self {
    case .load, .clear: true
    case .append, .insert, .remove, .move, .replace: false
    }
  }
}

extension RequestedEdit: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> RequestedEdit {
    var parser = RequestParser()
    do throws(MediaError) { return try parser.edit(bytes) } catch {
      preconditionFailure("an edit that was accepted cannot be parsed again: \(error)")
    }
  }
}
