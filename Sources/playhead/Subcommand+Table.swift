import WireProtocol

extension Subcommand {
  /// All commands of the client.
  static let all = [add, watch, info, tags, save, record, shell, help, completions, manual, complete]

  /// The command with that name.
  static func named(_ name: String) -> Subcommand? { all.first { $0.name == name } }

  /// Options of every command.
  static let globalOptions = [
    Option(
      name: "socket", value: "PATH",
      summary:
        "where the daemon listens (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or /run/user/UID, else /tmp/playhead-UID/control.sock)",
      candidates: .files),
    Option(name: "json", value: nil, summary: "print results and errors as JSON, a line each"),
    Option(
      name: "raw", value: nil,
      summary: "print the daemon's own words, a line each: what is printed anyway where the output is no terminal"),
    Option(
      name: "human", value: nil,
      summary: "print for people, in tables: what is printed anyway where the output is a terminal"),
  ]

  private static let player = Option(
    name: "player", value: "NAME", summary: "which player; main unless said", candidates: .players)

  private static let watch = Subcommand(
    name: "watch",
    summary:
      "Shows what is played, in one live line on a terminal; else prints events, a line each, until it is interrupted.",
    details: """
      The live line has the title, a position bar, the time and the duration, what the player does, and how loud it is. It is there
      when standard output is a terminal and no events are asked for (--lines, --tick, --at, --chapters, --meter, --observe, --json,
      --raw). Events without anything asked for are those of player.* item.* queue.version.
      """,
    options: [
      Option(name: "tick", value: "T", summary: "each time playback passes a multiple of T", takesSeveral: true),
      Option(name: "at", value: "T", summary: "each time playback passes one of these times", takesSeveral: true),
      Option(name: "chapters", value: nil, summary: "each time playback passes the start of a chapter"),
      Option(name: "item", value: "ID", summary: "these only in this queue entry", candidates: .entries),
      Option(name: "seeks", value: nil, summary: "and each time a seek goes over one"),
      Option(
        name: "meter", value: "RATE", summary: "how loud the player is, so many times a second", takesSeveral: true),
      Option(
        name: "observe", value: "KEY",
        summary: "the present value of a key and then every change; `player.*` is all keys that begin so",
        candidates: .keys, takesSeveral: true),
      player,
      Option(name: "lines", value: nil, summary: "print events on a terminal, too"),
      Option(
        name: "reconnect", value: nil,
        summary: "when the daemon goes away, or is not there yet, wait for it and go on"),
    ],
    examples: [
      "playhead watch", "playhead watch --reconnect", "playhead watch --tick 0.5 --at 90 --at 95.25",
      "playhead watch --json --observe player.timeControlStatus",
    ],
    statuses: "1 the daemon answered an error; 2 wrong use; 3 no daemon, or it went away (never with --reconnect)")

  private static let add = Subcommand(
    name: "add", arguments: "PATH...",
    summary: "Adds files, and all media in folders and the folders in them, to the queue: all of them or none.",
    details: """
      Of a folder what can be media is taken: files whose names end as media's do, and files without an ending that begin as media
      do, in the order in which people count (2 before 10). Names that begin with a dot are left out, and so are lists (M3U, PLS,
      XSPF, CUE), which name what lies beside them, unless --lists asks for them instead. Each folder is gone into once, whatever
      links lead to it; a link to a folder that does not lie below what was named is left out, unless --follow goes through it, and
      so are the folders of /proc and /sys. What is named itself is taken as it is; a list is replaced by what it names. What was left out is said on
      standard error; --verbose says each.
      """,
    candidates: .files,
    options: [
      Option(name: "replace", value: nil, summary: "in place of the queue"),
      Option(name: "next", value: nil, summary: "behind the current entry, not at the end"),
      Option(name: "all", value: nil, summary: "every file of a folder, whatever its name; hidden ones, too"),
      Option(name: "lists", value: nil, summary: "of a folder that has lists, these in place of its files"),
      Option(name: "follow", value: nil, summary: "go through links to folders that lie outside what was named, too"),
      Option(name: "dry-run", value: nil, summary: "print the paths, and change nothing; no daemon is asked"),
      Option(name: "verbose", value: nil, summary: "say each file that is left out"), player,
    ],
    examples: [
      "playhead add ~/Music", "playhead add --replace \"Disc 1\" \"Disc 2\"", "playhead add --next one.flac",
      "playhead add --dry-run . | less",
    ],
    statuses:
      "0 done; 1 nothing to add, something that was named is not there or cannot be read, or the daemon answered an error: then nothing was added; 1, too, when something below a folder could not be read: then the rest was added; 2 wrong use; 3 no daemon, or it went away"
  )

  private static let save = Subcommand(
    name: "save", arguments: "FILE",
    summary: "Writes the queue into a file, as a list that `load` and other players read.",
    details: """
      What lies in the file's folder or below is named relative to it. The file is there whole, or not at all. What has no name, such
      as a pipe, is left out, and said.
      """,
    candidates: .files,
    options: [
      Option(
        name: "format", value: "m3u8|pls|xspf|cue", summary: "the kind of list; what the file's name says, else m3u8",
        candidates: .words(QueueCommand.PlaylistForm.allCases.map(\.rawValue))),
      player, Option(name: "force", value: nil, summary: "replace a file that is there"),
    ],
    examples: ["playhead save tonight.m3u8", "playhead save --force --format pls list"],
    statuses:
      "0 done; 1 it could not be written, or the daemon answered an error; 2 wrong use; 3 no daemon, or it went away")

  private static let record = Subcommand(
    name: "record", arguments: "FILE",
    summary: "Records into a file until Enter is pressed, and shows how loud it is.",
    details: """
      The daemon records, below a folder of playheadd --write-root. Space lets it stand, and go on; Enter, q, Ctrl-C or a signal ends it,
      and so does the end of standard input, unless there is a --duration. What the file is follows from its name: wav, caf, flac, m4a, ogg,
      opus. Until it is whole it is called FILE.recording.
      """,
    candidates: .files,
    options: Invocation.recordParameters.map { parameter in
      Option(
        name: parameter.name.rawValue, value: parameter.kind == .flag ? nil : parameter.placeholder,
        summary: parameter.summary, candidates: Candidates(of: parameter))
    },
    examples: [
      "playhead record idea.flac",
      "playhead record --duration 10 --source @DEFAULT_MONITOR@ what-is-played.wav </dev/null",
      "playhead record --format aac --quality high memo.m4a",
    ],
    statuses:
      "0 done; 1 the daemon answered an error, or the recording ended by itself with a fault; 2 wrong use; 3 no daemon, or it went away"
  )

  private static let info = inspecting(
    "info", "Tells what files are, without playing them: how long, what tracks and chapters they have, and their tags.",
    "The daemon looks at them; a file may also be an http:// or https:// address, and one file - is standard input.",
    tagsOnly: false, examples: ["playhead info album.flac", "playhead info https://example.org/two.flac --timeout 5"])

  private static let tags = inspecting(
    "tags", "Tells what the tags of files say: a line for each value.",
    """
    A line begins with what its key means in any format, else with the format's own name for it. A file may also be an http:// or
    https:// address, and one file - is standard input. `playhead item.artwork ID file=PATH` writes a picture,
    below a folder of playheadd --write-root.
    """, tagsOnly: true, examples: ["playhead tags *.mp3"])

  private static func inspecting(
    _ name: String, _ summary: String, _ details: String, tagsOnly: Bool, examples: [String]
  ) -> Subcommand {
    Subcommand(
      name: name, arguments: "FILE...", summary: summary, details: details, candidates: .files,
      options: Invocation.InspectOptions.parameters(tagsOnly: tagsOnly).map { parameter in
        Option(
          name: parameter.name.rawValue, value: parameter.kind == .flag ? nil : parameter.placeholder,
          summary: parameter.summary, candidates: Candidates(of: parameter))
      },
      examples: examples,
      statuses: "0 done; 1 one of them could not be read; 2 wrong use; 3 no daemon, or it went away")
  }

  private static let shell = Subcommand(
    name: "shell",
    summary: "Reads commands from standard input, a line each, and prints what the daemon sends, as it comes.",
    details: """
      It prints the words of the protocol. Relative paths are made absolute. It ends with the input (Ctrl-D), or with `bye`. The
      line that is being typed stays below what comes; Backspace, Ctrl-W and Ctrl-U edit it.
      """,
    examples: ["playhead shell", "printf 'pause\\nstatus\\n' | playhead shell"],
    statuses: "0 done; 1 a request failed, if the input is no terminal; 2 wrong use; 3 no daemon, or it went away")

  private static let help = Subcommand(
    name: "help", arguments: "[COMMAND]", summary: "Lists the commands, or explains one.",
    details: "No daemon is needed for it. `playhead COMMAND --help` is the same.", candidates: .commands,
    examples: ["playhead help", "playhead help seek"], statuses: "0 done; 2 there is no such command")

  private static let completions = Subcommand(
    name: "completions", arguments: "bash|zsh|fish",
    summary: "Prints what makes a shell complete the commands, options, files, and ids of this client.",
    details: """
      Ids of queue entries and names of players are asked of the daemon while one types; without a daemon there are none. `make
      install` puts the scripts where the shells find them (fish: below PREFIX=/usr).
      """,
    candidates: .words(CompletionScript.allCases.map(\.rawValue)),
    examples: [
      "source <(playhead completions bash)   # in ~/.bashrc",
      "source <(playhead completions zsh)    # in ~/.zshrc, behind compinit",
      "playhead completions fish | source    # in ~/.config/fish/config.fish",
    ], statuses: "0 done; 2 wrong use")

  private static let manual = Subcommand(
    name: "manual", arguments: "playhead|playheadd|playhead-protocol",
    summary: "Prints a page of the manual, for man(1) to show.",
    details: """
      The page of playheadd is made of what `playheadd --experimental-dump-help` says, on standard input. The date is that of
      $SOURCE_DATE_EPOCH, else today's.
      """,
    candidates: .words(ManualPage.allCases.map(\.rawValue)),
    examples: [
      "playhead manual playhead | man -l -",
      "playheadd --experimental-dump-help | playhead manual playheadd | man -l -",
    ], statuses: "0 done; 2 wrong use")

  private static let complete = Subcommand(
    name: "complete", arguments: "-- WORD...",
    summary: "Prints what the last of the words of a command line may be.",
    details: """
      For the scripts of `playhead completions`. The first line says whether files are meant, and what stands before them in the word;
      each further line is a word, and behind a tab what it is. A daemon is asked for ids, of the first 1,000 entries, and not waited for
      longer than half a second.
      """,
    examples: ["playhead complete -- seek fa"], statuses: "0 always", isHidden: true)
}
