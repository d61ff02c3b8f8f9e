import ArgumentParser
import DaemonConfiguration
import SavedState

/// The options about saved state.
struct StateOptions: ParsableArguments {
  @Option(
    help: """
      Where players, queues and positions are saved (default: playhead in $XDG_STATE_HOME or ~/.local/state), an absolute \
      path; what is missing of it is made. One playheadd at a time saves there.
      """)
  var state: String?
  @Flag(help: "Save nothing, and restore nothing. With `--clock virtual` that is so unless --state is said.")
  var noState = false
  @Option(
    help: """
      What lasts so many seconds or longer leaves a bookmark where it is left (default: 600; 0: nothing does).
      """)
  var bookmarksFrom: Int?
  @Flag(
    help: "What `load`, `append` and `insert` add begins where it was left, unless the command says `resume=false`.")
  var resume = false

  func validate() throws {
    if let bookmarksFrom, !OptionTable.bookmarkSeconds.contains(bookmarksFrom) {
      throw ValidationError("--bookmarks-from needs 0 to \(OptionTable.bookmarkSeconds.upperBound) seconds")
    }
    if noState, state != nil { throw ValidationError("--state and --no-state exclude each other") }
    if let state, !state.hasPrefix("/") { throw ValidationError("--state needs an absolute path") }
  }

  /// Applies the command line's options to `options`.
  func apply(to options: inout DaemonOptions) {
    if let state { (options.stateFolder, options.savesState) = (state, true) }
    if noState { options.savesState = false }
    if let bookmarksFrom { options.bookmarksFromSeconds = bookmarksFrom }
    if resume { options.resumesWhereLeft = true }
  }

  /// The store, which has started to read the saved state. Nil if no state is saved.
  static func makeStore(_ options: DaemonOptions) -> StateStore? {
    folder(options).map { StateStore(folder: $0) }
  }

  /// The folder of the saved state. Nil if no state is saved.
  static func folder(_ options: DaemonOptions) -> String? {
    guard options.savesState, options.clock == .real || options.stateFolder != nil else { return nil }
    return options.stateFolder ?? StateFolder.standard
  }
}
