import PlayheadMediaCore

/// A request that edits the queue of one player.
package struct QueueEditRequest: Sendable, Hashable {
  /// The requested edits.
  package enum Edits: Sendable, Hashable {
    case one(RequestedEdit)
    /// All of these edits or none. At least one.
    case several(WireList<RequestedEdit>)
  }

  package var edits: Edits
  package var player: String
  /// The version that the queue must have. Nil: any.
  package var ifVersion: Int?
  /// Whether the reply comes when the new entries are ready, or with the error of the first that fails.
  package var waitsUntilReady: Bool
  /// The paths that are playlists, whose entries replace them.
  package var playlists: PlaylistSelection

  package init(
    _ edits: Edits, player: String, ifVersion: Int?, waitsUntilReady: Bool = false,
    playlists: PlaylistSelection = .none
  ) {
    (self.edits, self.player, self.ifVersion) = (edits, player, ifVersion)
    (self.waitsUntilReady, self.playlists) = (waitsUntilReady, playlists)
  }
}

/// A command that edits the queue: alone, within `queue.edit`, or between `queue.begin` and `queue.commit`.
package protocol QueueEditingCommand: Command where Reply: QueueEditReply {
  /// The edits of a request, with its options.
  static func request(_ arguments: Arguments<Self>) -> QueueEditRequest
}

/// A command that can be a part of `queue.edit`.
package protocol SingleEditCommand: QueueEditingCommand {
  /// The edit of a checked request.
  static func edit(_ arguments: Arguments<Self>) -> RequestedEdit
}

/// The paths of a request that are playlists.
package enum PlaylistSelection: Sendable, Hashable {
  case none
  /// Those with the file name extension of a playlist.
  case named
  /// All except passed descriptors, because the request declares them as playlists.
  case all
}

extension WireList<FilePath> {
  /// The paths that are playlists, in their order.
  package func playlists(_ selection: PlaylistSelection) -> WireList<FilePath> {
    switch selection {
    case .none: []
    case .named: filter(bytes: FilePath.isNamedAsPlaylist)
    case .all: filter(bytes: FilePath.isFileOrAddress)
    }
  }
}

/// The player whose queue a command edits, and the version that the queue must have.
package struct PlayerVersionParameters: ParameterList {
  package let ifVersion: Parameter<Int?>
  package let player: Parameter<String>

  package init(_ list: inout ParameterListBuilder) {
    ifVersion = list.ifVersion()
    player = list.player()
  }
}
