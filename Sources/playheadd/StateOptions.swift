import ArgumentParser
import PlayheadDaemonConfiguration
import PlayheadSavedState

/// The options about saved state.
struct StateOptions: ParsableArguments {
  @Option(
    help: """
      Absolute path of the folder for saved players, queues and positions. Missing folders are created (default: \
      playhead in $XDG_STATE_HOME or ~/.local/state). One playheadd at a time can use it.
      """)
  var state: String?
  @Flag(help: "Neither save nor restore the state. Default with `--clock virtual`, unless --state is given.")
  var noState = false
  @Option(
    help: """
      Minimum duration in seconds of items that get a bookmark when playback leaves them; 0: none (default: 600).
      """)
  var bookmarksFrom: Int?
  @Flag(
    help: """
      Start entries added by `load`, `append` and `insert` where they were left, unless `resume=false` is given.
      """)
  var resume = false
  @Flag(
    help: """
      Continue to play the players that were playing when the last playheadd ended or was killed. Without this option, \
      they are paused at their positions.
      """)
  var resumePlayback = false

  func validate() throws {
    if let bookmarksFrom, !OptionTable.bookmarkSeconds.contains(bookmarksFrom) {
      throw ValidationError(
        "--bookmarks-from must be between 0 and \(OptionTable.bookmarkSeconds.upperBound) (got \(bookmarksFrom))")
    }
    if noState, state != nil { throw ValidationError("--state and --no-state exclude each other") }
    if noState, resumePlayback { throw ValidationError("--resume-playback and --no-state exclude each other") }
    if let state, !state.hasPrefix("/") { throw ValidationError("--state needs an absolute path") }
  }

  /// Applies the command line's options to `options`.
  func apply(to options: inout DaemonOptions) {
    if let state { (options.stateFolder, options.savesState) = (state, true) }
    if noState { options.savesState = false }
    if let bookmarksFrom { options.minimumBookmarkedSeconds = bookmarksFrom }
    if resume { options.resumesAtLastPosition = true }
    if resumePlayback { options.resumesPlayback = true }
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
