import PlayheadMediaCore

/// The condition for the reply to an edit. Without it, the reply comes when the queue is edited.
package enum EditCondition: String, Sendable, Hashable, CaseIterable {
  /// All new entries are ready.
  case ready
}

/// The parameters that `load`, `append` and `insert` have in common, after the paths and the position.
package struct NewEntryParameters: Sendable {
  let wait: Parameter<EditCondition?>
  let precise: Parameter<Bool>
  let resume: Parameter<Bool?>
  let title: Parameter<String?>
  let list: Parameter<Bool?>
  let ifVersion: Parameter<Int?>
  let player: Parameter<String>
  let network: Parameter<NetworkOptions>

  init(_ list: inout ParameterListBuilder) {
    wait = list.editCondition()
    precise = list.precise()
    resume = list.option(
      "resume", .boolean, "true|false",
      "whether the entries start where playback ended last (*Bookmarks*); default: the daemon's option `state.resume`")
    title = list.option(
      .title, .text(maximumByteCount: 1_024), "TEXT",
      "the title of the entry, for one path only; it replaces that of the tags")
    self.list = list.option(
      .list, .booleanWord, "true|false",
      "whether the paths are playlists; default: those that end in .m3u, .m3u8 (files only; an .m3u8 URL is an HLS"
        + " stream), .pls, .xspf or .cue")
    ifVersion = list.ifVersion()
    player = list.player()
    network = list.network()
  }
}

/// The parameters of a command that adds entries.
package protocol NewEntriesParameterList: ParameterList {
  var paths: Parameter<WireList<FilePath>> { get }
  var entries: NewEntryParameters { get }
}

/// A command that adds entries. It waits for playlists to be read, and with `wait=ready` for the entries.
package protocol NewEntriesCommand: SometimesWaitingCommand, SingleEditCommand
where Parameters: NewEntriesParameterList {}

extension NewEntriesCommand {
  package static var waiting: CommandSpec.Waiting { .untilReady }

  package static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.waits(definition.parameters.entries) }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    try arguments.checkNewEntries(arguments.paths, definition.parameters.entries)
  }

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    arguments.request(edit(arguments), definition.parameters.entries)
  }
}

extension ParameterListBuilder {
  /// Adds the locations of new entries.
  mutating func newPaths() -> Parameter<WireList<FilePath>> {
    list(
      .paths, .path, "PATH",
      "absolute paths, `file://` URLs (percent-encoded, for paths that are not UTF-8), `http://` and `https://` URLs, or"
        + " `fd:TOKEN` (*Open files*)")
  }

  mutating func editCondition() -> Parameter<EditCondition?> {
    option(
      .wait, .word, "ready",
      "reply when all entries are ready to play, or with the error of the first entry that fails")
  }

  mutating func precise() -> Parameter<Bool> {
    flag(.precise, "determine exact durations, even if a file must be read completely before it plays")
  }
}

extension Arguments {
  /// The new entries of a request.
  func newEntries(_ paths: WireList<FilePath>, _ parameters: NewEntryParameters) -> RequestedEdit.NewEntries {
    RequestedEdit.NewEntries(
      paths, isPrecise: value(of: parameters.precise), network: value(of: parameters.network),
      resumes: value(of: parameters.resume), title: value(of: parameters.title))
  }

  /// A request that adds entries.
  func request(_ edit: RequestedEdit, _ parameters: NewEntryParameters) -> QueueEditRequest {
    QueueEditRequest(
      .one(edit), player: value(of: parameters.player), ifVersion: value(of: parameters.ifVersion),
      waitsUntilReady: value(of: parameters.wait) != nil,
      playlists: playlists(areDeclared: value(of: parameters.list)))
  }

  /// Whether the reply waits until playlists are read or entries are ready.
  func waits(_ parameters: NewEntryParameters) -> Bool {
    value(of: parameters.wait) != nil || playlists(areDeclared: value(of: parameters.list)) != .none
  }

  /// Checks the options of new entries.
  ///
  /// - Throws: `bad-arguments` for an invalid header field, for an empty title or a title of several entries, and for a
  ///   playlist that has a title or is within `queue.edit`.
  func checkNewEntries(_ paths: WireList<FilePath>, _ parameters: NewEntryParameters) throws(MediaError) {
    try value(of: parameters.network).checkHeader()
    let title = value(of: parameters.title)
    if let title {
      guard !title.isEmpty else { throw failure("title must not be empty") }
      guard paths.count == 1 else { throw failure("title needs exactly one path (got \(paths.count))") }
    }
    guard playlists(areDeclared: value(of: parameters.list)) != .none else { return }
    guard title == nil else { throw failure("a playlist cannot have a title") }
    if isPartOfEdit {
      throw failure("a playlist is not allowed within queue.edit; list=false adds its path as a media file")
    }
  }
}

/// The errors of the commands that edit the queue.
extension CommandTable {
  /// The errors of an edit that is collected between `queue.begin` and `queue.commit`.
  static let editErrors: [MediaError.Code] = [.invalidArgument, .editTooLarge]

  /// The errors of new entries and of playlists.
  static let newEntryErrors: [MediaError.Code] =
    [.noSuchPlayer, .queueTooLong, .unsupportedLocation, .invalidState, .waitEnded, .noSuchDescriptor, .onlyInOrder]
    + editErrors + mediaErrors + [
      .notAPlaylist, .damagedPlaylist, .playlistLimitExceeded, .playlistCycle, .emptyPlaylist,
    ]
}
