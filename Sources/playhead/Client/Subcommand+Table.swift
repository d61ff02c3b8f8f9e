import PlayheadWireProtocol

extension Subcommand {
  /// The commands of the client by name. Each is created when it is first used: one call of the client uses at most
  /// one.
  private static let table: [(name: String, command: @Sendable () -> Subcommand)] = [
    ("add", { add }), ("get", { get }), ("watch", { watch }), ("info", { info }), ("tags", { tags }),
    ("save", { save }), ("record", { record }), ("shell", { shell }), ("help", { help }),
    ("completions", { completions }), ("manual", { manual }), ("complete", { complete }), ("spool", { spool }),
  ]

  /// All commands of the client.
  static var all: [Subcommand] { table.map { $0.command() } }

  /// The command with that name.
  static func named(_ name: String) -> Subcommand? { table.first { $0.name == name }?.command() }

  /// Options of every command.
  static let globalOptions = [
    Option(
      name: "socket", value: "PATH",
      summary:
        "the daemon's socket (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or"
        + " /run/user/UID, else /tmp/playhead-UID/control.sock)",
      candidates: .files),
    Option(
      name: "autostart", value: nil,
      summary: "if no daemon runs, start playheadd, and wait until it is ready; its log is discarded"),
    Option(name: "json", value: nil, summary: "print results and errors as JSON, one value per line"),
    Option(
      name: "raw", value: nil,
      summary: "print the text form of the protocol, one row per line (default if the output is not a terminal)"),
    Option(
      name: "human", value: nil, summary: "print human-readable tables (default if the output is a terminal)"),
    Option(
      name: "wait", value: nil,
      summary: "wait until the daemon is reachable; --wait=SECONDS limits the wait (before COMMAND if COMMAND has wait)"
    ),
    Option(
      name: "verbose", value: nil, summary: "print all fields of a reply in the human-readable form"),
  ]

  /// Options before the command.
  static let leadingOptions = globalOptions + [leadingPlayer]

  static let leadingPlayer = Option(
    name: "player", value: "NAME",
    summary: "before the command: the player of a command that names none (default: $PLAYHEAD_PLAYER, else main)",
    candidates: .players)

  private static let player = Option(
    name: "player", value: "NAME", summary: "the player (default: $PLAYHEAD_PLAYER, else main)", candidates: .players)

  static let get = Subcommand(
    name: "get", arguments: "NAME...",
    summary: "Print values of the player and of its current entry, one per line.",
    details: """
      A value that is unknown, such as the title of a file without tags, is an empty line. Times are in seconds. The
      values of a list are separated by commas. tags.KEY is a tag of the current entry: KEY is a common key such as
      albumName, or the file's own key (see item.metadata).

      --format inserts values into a template. {NAME} is a value, {NAME:clock} is a time as minutes and seconds, {{ and
      }} are braces.

      Values:
      \(HelpText.wrapped(Get.names.all.joined(separator: " "), width: 118, indent: "  "))
      """,
    candidates: .words(Get.names.all),
    options: [templateOption, player],
    examples: [
      "playhead get title time duration", "playhead get --format '{artist} - {title} [{time:clock}]'",
      "playhead get tags.albumName",
    ])

  static let watch = Subcommand(
    name: "watch",
    summary: "Show and control the player on a terminal; otherwise print events.",
    details: """
      The status line has the title, a position bar, the time, the duration, the player's state and a level meter. It
      appears if standard output is a terminal and no option selects events (--lines, --tick, --at, --chapters, --meter,
      --observe, --json, --raw). On a terminal with 8 rows or more, the entries of the queue appear below it.

      Keys: Space pauses or plays. Left and Right seek by 5 seconds. Up, Down, + and - change the volume by 5%. n and p
      play the next or previous entry. m mutes or unmutes. ? explains the keys, and Escape hides them. q and Ctrl-C
      quit. If standard input is not a terminal, there are no keys.

      Events are printed one per line until the command is interrupted. By default they are the changes of the keys
      player.* item.* queue.version.

      With --format, a line is printed whenever the text in the template changes, for a status bar. The names are
      those of `playhead get`. A time is updated once per second of the item, or at each multiple of --tick.
      """,
    options: [
      Option(name: "tick", value: "T", summary: "an event at each multiple of T", isVariadic: true),
      Option(name: "at", value: "T", summary: "an event at each of these times", isVariadic: true),
      Option(name: "chapters", value: nil, summary: "an event at the start of each chapter"),
      Option(
        name: "item", value: "ID", summary: "the queue entry for --at and --chapters (default: every entry)",
        candidates: .entries),
      Option(name: "seeks", value: nil, summary: "for --at and --chapters: an event also if a seek passes the time"),
      Option(
        name: "meter", value: "RATE", summary: "the audio level, RATE times per second", isVariadic: true),
      Option(
        name: "observe", value: "KEY",
        summary: "the current value of a key and every change; `player.*` selects all keys with this prefix",
        candidates: .keys, isVariadic: true),
      Option(
        name: "format", value: "TEMPLATE", summary: "print a template, such as '{artist} - {title}', when it changes"),
      player,
      Option(name: "lines", value: nil, summary: "print events on a terminal, too"),
      Option(
        name: "reconnect", value: nil,
        summary: "while the daemon is not reachable, wait for it, then continue"),
    ],
    examples: [
      "playhead watch", "playhead watch --reconnect", "playhead watch --tick 0.5 --at 90 --at 95.25",
      "playhead watch --format '{artist} - {title} [{time:clock}]'",
      "playhead watch --json --observe player.timeControlStatus",
    ],
    statuses:
      "1 the daemon replied with an error; 2 invalid arguments; 3 the daemon is not reachable (not with --reconnect)")

  static let add = Subcommand(
    name: "add", arguments: "PATH...",
    summary: "Add files, and the media files in folders and subfolders, to the queue.",
    details: """
      Either all files are added or none. From a folder, media files are added: files with a file name extension of a
      media format, and files without an extension that begin with the signature of a media format. They are sorted in
      natural order (2 before 10). The search omits names that begin with a dot, and playlists (M3U, PLS, XSPF, CUE),
      because they name the files in the same folder (see --lists). It also omits links to folders outside PATH (see
      --follow), and the folders of /proc and /sys. Each folder is searched once, even if several links lead to it. A
      file given as PATH is always added; a playlist is replaced by its entries. A summary of the omitted files is
      printed on standard error.
      """,
    candidates: .files,
    options: [
      Option(name: "replace", value: nil, summary: "replace the queue"),
      Option(name: "next", value: nil, summary: "insert after the current entry (default: at the end)"),
      Option(name: "all", value: nil, summary: "add every file of a folder, including hidden ones"),
      Option(name: "lists", value: nil, summary: "from a folder with playlists, add these instead of its files"),
      Option(name: "follow", value: nil, summary: "follow links to folders outside PATH, too"),
      Option(name: "dry-run", value: nil, summary: "only print the paths; no daemon is necessary"),
      Option(name: "verbose", value: nil, summary: "print each omitted file"), player,
    ],
    examples: [
      "playhead add ~/Music", "playhead add --replace \"Disc 1\" \"Disc 2\"", "playhead add --next one.flac",
      "playhead add --dry-run . | less",
    ],
    statuses:
      "0 success; 1 no media found, a PATH does not exist or is not readable, or the daemon replied with an error"
      + " (nothing was added), or a file below a folder is not readable (the rest was added); 2 invalid arguments; 3"
      + " the daemon is not reachable")

  static let save = Subcommand(
    name: "save", arguments: "FILE",
    summary: "Write the queue to a playlist file.",
    details: """
      `load` and other players can read the file. Entries in the file's folder or below have relative paths. The file is
      written atomically. Entries without a name, such as pipes, are omitted; their number is printed.
      """,
    candidates: .files,
    options: [
      Option(
        name: "format", value: "m3u8|pls|xspf|cue",
        summary: "the playlist format (default: from the file name extension, else m3u8)",
        candidates: .words(PlaylistExportCommand.Format.allCases.map(\.rawValue))),
      player, Option(name: "force", value: nil, summary: "replace an existing file"),
    ],
    examples: ["playhead save tonight.m3u8", "playhead save --force --format pls list"],
    statuses:
      "0 success; 1 the file could not be written, or the daemon replied with an error; 2 invalid arguments; 3 the"
      + " daemon is not reachable")

  static let record = Subcommand(
    name: "record", arguments: "FILE | -o FILE",
    summary: "Record to a file until Enter is pressed, and show the audio level.",
    details: """
      The daemon records. Below a folder of playheadd --write-root, the daemon opens FILE. Elsewhere, and with -o, the
      client opens it, in any folder that you may write to. Space pauses and resumes the recording. Enter, q, Ctrl-C or
      a signal stops it, and so does the end of standard input, unless --duration is given. The file name extension
      selects the format: wav, caf, flac, m4a, ogg, opus. Until the recording is complete, the file is named
      FILE.recording. If the daemon ends during the recording, the client repairs the file that it has opened, and gives
      it its name.
      """,
    candidates: .files,
    options: Invocation.recordParameters.map(Option.init),
    examples: [
      "playhead record idea.flac", "playhead record -o idea.flac",
      "playhead record --duration 10 --source @DEFAULT_MONITOR@ what-is-played.wav </dev/null",
      "playhead record --format aac --quality high memo.m4a",
    ],
    statuses:
      "0 success; 1 the daemon replied with an error, or the recording ended with an error; 2 invalid arguments; 3 the"
      + " daemon is not reachable")

  static let info = inspecting(
    "info", "Print the duration, tracks, chapters and tags of files.",
    "The daemon reads the files. A file can also be an http:// or https:// URL. One file can be - (standard input).",
    tagsOnly: false, examples: ["playhead info album.flac", "playhead info https://example.org/two.flac --timeout 5"])

  static let tags = inspecting(
    "tags", "Print the tags of files, one value per line.",
    """
    A line begins with the common key, or with the key of the format if there is no common key. A file can also be an
    http:// or https:// URL. One file can be - (standard input). `playhead item.artwork ID -o PATH` writes the artwork of
    an entry.

    --format prints a template for each file. {KEY} is a tag: KEY is a common key such as albumName, or the file's own
    key. {file} is the file. A tag that the file does not have is empty. {{ and }} are braces.
    """, tagsOnly: true,
    options: [templateOption],
    examples: ["playhead tags *.mp3", "playhead tags --format '{file}: {artist} - {title}' *.mp3"])

  private static func inspecting(
    _ name: String, _ summary: String, _ details: String, tagsOnly: Bool,
    options: [Option] = [], examples: [String]
  ) -> Subcommand {
    Subcommand(
      name: name, arguments: "FILE...", summary: summary, details: details, candidates: .files,
      options: options + Invocation.InspectOptions.parameters(tagsOnly: tagsOnly).map(Option.init),
      examples: examples,
      statuses: "0 success; 1 a file could not be read; 2 invalid arguments; 3 the daemon is not reachable")
  }

  static let shell = Subcommand(
    name: "shell",
    summary: "Read commands from standard input, and print the daemon's replies.",
    details: """
      Each line is one command. Replies and events are printed as they arrive. On a terminal, replies are printed for
      people, except those to JSON and to commands with an @ID. All other lines are in the text form of the protocol,
      and so are all lines with --raw. Relative paths are made absolute. The shell ends at the end of the input
      (Ctrl-D), or after `bye`. On a terminal, Ctrl-D does not wait for the replies of waiting requests, such as `wait`.
      Lines after a waiting request without an @ID are then not processed.

      The input line stays below the output. The keys are those of Readline: Left, Right, Home, End and Ctrl-A, Ctrl-E
      move the cursor; Ctrl-W, Ctrl-U and Ctrl-K remove text, and Ctrl-Y inserts it again; Ctrl-C clears the line. Tab
      completes commands, options, ids and file names. Pasted lines are sent after Enter. Up and Down show earlier
      lines, and Ctrl-R searches them. The last 1,000 lines are stored in playhead/history in $XDG_STATE_HOME or
      ~/.local/state, except those that begin with a space, and those with header fields or with a user name in a URL.
      """,
    examples: ["playhead shell", "printf 'pause\\nstatus\\n' | playhead shell"],
    statuses:
      "0 success; 1 a request failed, unless typed on a terminal; 2 invalid arguments; 3 the daemon is not reachable")

  static let help = Subcommand(
    name: "help", arguments: "[COMMAND]", summary: "List the commands, or explain one.",
    details: "No daemon is necessary. `playhead COMMAND --help` is equivalent.", candidates: .commands,
    examples: ["playhead help", "playhead help seek"], statuses: "0 success; 2 unknown command")

  private static let completions = Subcommand(
    name: "completions", arguments: "bash|zsh|fish",
    summary: "Print the completion script for a shell.",
    details: """
      The script completes commands, options, files, ids of queue entries and names of players. The ids and players come
      from the daemon during completion; without a daemon they are not offered. `make install` installs the scripts in
      the folders of the shells (fish: with PREFIX=/usr).
      """,
    candidates: .words(CompletionScript.allCases.map(\.rawValue)),
    examples: [
      "source <(playhead completions bash)   # in ~/.bashrc",
      "source <(playhead completions zsh)    # in ~/.zshrc, after compinit",
      "playhead completions fish | source    # in ~/.config/fish/config.fish",
    ], statuses: "0 success; 2 invalid arguments")

  private static let manual = Subcommand(
    name: "manual", arguments: "playhead|playheadd|playheadd.toml|playhead-protocol",
    summary: "Print a manual page for man(1).",
    details: """
      The page of playheadd is generated from the output of `playheadd --experimental-dump-help` on standard input, and
      the page of playheadd.toml from the example of that file. The date of the page is $SOURCE_DATE_EPOCH, else the
      current date.
      """,
    candidates: .words(ManualPage.allCases.map(\.rawValue)),
    examples: [
      "playhead manual playhead | man -l -",
      "playheadd --experimental-dump-help | playhead manual playheadd | man -l -",
    ], statuses: "0 success; 2 invalid arguments")

  private static let complete = Subcommand(
    name: "complete", arguments: "-- WORD...",
    summary: "Print the candidates for the last word of a command line.",
    details: """
      For the scripts of `playhead completions`. The first line is `files` or `words`, a tab, and the prefix of a file
      name in the word. Each further line is a candidate, a tab, and its description. Ids of the first 1,000 entries
      come from the daemon, within a time limit of half a second.
      """,
    examples: ["playhead complete -- seek fa"], statuses: "0 always", isHidden: true)

  private static let spool = Subcommand(
    name: "spool", arguments: "BYTES",
    summary: "Copy standard input to standard output, and store what is not read yet.",
    details: """
      For a pipe on standard input of `load`, `append`, `insert` and `replace`, which start this command in the
      background. At most BYTES bytes are stored, in an unnamed file in $TMPDIR, /var/tmp or /tmp. The command ends when
      all input is copied, or when the reader closes the output.
      """,
    examples: ["ffmpeg ... | playhead spool 1000000000 | less"], statuses: "0 success; 2 invalid arguments",
    isHidden: true)
}
