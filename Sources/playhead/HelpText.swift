import WireProtocol

/// What the client says of itself and, from the table, of the daemon's commands; no daemon is needed for it.
enum HelpText {
  /// The version of the client.
  static let version = "0.1.0"

  static let usage = """
    usage: playhead [--socket PATH] [--json] COMMAND [ARGUMENT...] [OPTION=VALUE | --OPTION VALUE]...
           playhead [--socket PATH] [--json] watch [--tick T]... [--at T... [--item ID] [--seeks]] [--meter RATE]
                                               [--observe KEY...] [--player NAME]
           playhead [--socket PATH] save FILE [--format m3u8|pls|xspf|cue] [--player NAME] [--force]
           playhead [--socket PATH] info [--precise] FILE...
           playhead [--socket PATH] tags FILE...
           playhead [--socket PATH] scan FILE... [--album]
           playhead [--socket PATH] shell
           playhead help [COMMAND]

      playhead load one.flac two.mp3        playhead seek 1:23.5
      playhead append three.flac            playhead wait 'time>=90' --timeout 5
      playhead play                         playhead watch --tick 0.5 --at 95.25
      ffmpeg ... -f flac - | playhead load -

    COMMAND is one of the daemon's; `playhead help` lists them. A file may be named as in any program; one whose name begins
    with - stands behind --, one called - is ./-. A file - is standard input: a file that is redirected to it, or a pipe, which
    the daemon then reads by itself. `watch` prints events until it is interrupted, `save` writes the queue into a file, `info` and
    `tags` tell what files are and what their tags say, `scan` how loud they are, `shell` reads commands and prints what comes.

      --socket PATH  where the daemon listens (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR
                     or /run/user/UID, else /tmp/playhead-UID/control.sock)
      --json         print results as JSON
      --version      print the version
      -h, --help     print this

    Exit status: 0 done; 1 the daemon answered an error (on standard error); 2 wrong use, which the daemon is not asked about;
    3 no daemon, or it went away before it answered.

    """

  private static let watch = """
    watch [--tick T]... [--at T... [--item ID] [--seeks]] [--meter RATE] [--observe KEY...] [--player NAME]

    Prints events, a line each, until it is interrupted.

      --tick T        each time playback passes a multiple of T
      --at T...       each time playback passes one of these times
      --item ID       only in this queue entry
      --seeks         and each time a seek goes over one
      --meter RATE    how loud the player is, so many times a second
      --observe KEY   the present value of a key and then every change; `player.*` is all keys that begin so
      --player NAME   which player; main unless said

    Without --tick, --at, --meter and --observe it observes player.* item.* queue.version.

    """

  private static let save = """
    save FILE [--format m3u8|pls|xspf|cue] [--player NAME] [--force]

    Writes the queue into a file, as a list that `load` and other players read. What lies in the file's folder or below is
    named relative to it. The file is there whole, or not at all. What has no name, such as a pipe, is left out, and said.

      --format F      the kind of list; what the file's name says unless said, else m3u8
      --player NAME   which player; main unless said
      --force         replace a file that is there

    Exit status: 0 done; 1 it could not be written, or the daemon answered an error; 3 no daemon, or it went away.

    """

  private static let info = """
    info [--precise] FILE...

    Tells what files are, without playing them: how long, what tracks and chapters they have, and what their tags say. The daemon
    looks at them; a file may also be an http:// or https:// address, and one file - is standard input.

      --precise       find out durations exactly, if need be by reading all of a file

    Exit status: 0 done; 1 one of them could not be read; 3 no daemon, or it went away.

    """

  private static let tags = """
    tags FILE...

    Tells what the tags of files say: a line for each value, by what its key means in any format, else by the format's own
    name for it. A file - is standard input. `playhead item.artwork ID file=PATH` writes a picture.

    Exit status: 0 done; 1 one of them could not be read; 3 no daemon, or it went away.

    """

  private static let shell = """
    shell

    Reads commands from standard input, a line each, and prints what the daemon sends, as it comes, in the words of the
    protocol. Relative paths are made absolute. It ends with the input (Ctrl-D), or with `bye`. The line that is being typed
    stays below what comes; Backspace, Ctrl-W and Ctrl-U edit it.

    Exit status: 0 done; 1 a request failed, if the input is no terminal; 3 no daemon, or it went away.

    """

  /// The list of commands, by family.
  static var overview: String {
    let width = CommandTable.all.map(\.name.rawValue.utf8.count).max() ?? 0
    var text = ""
    for family in CommandSpec.Family.allCases {
      text += "\(family.rawValue)\n"
      for spec in CommandTable.all where spec.family == family {
        let name = spec.name.rawValue
        text += "  \(name)\(String(repeating: " ", count: width - name.utf8.count))  \(spec.summary)\n"
      }
    }
    return text + "Of this client\n  watch, save, info, tags, shell; see playhead --help\n"
  }

  /// One command; nil when there is none of that name.
  static func explanation(of command: String) -> String? {
    switch command {
    case "watch": return watch
    case "save": return save
    case "info": return info
    case "tags": return tags
    case "shell": return shell
    default: break
    }
    guard let spec = CommandName(rawValue: command).flatMap({ CommandTable.spec($0) }) else { return nil }
    var text = "\(spec.synopsis)\n\n\(spec.summary)\n"
    if !spec.details.isEmpty { text += "\(spec.details)\n" }
    if !spec.parameters.isEmpty { text += "\n" }
    for parameter in spec.parameters {
      text += "  \(parameter.synopsis): \(parameter.summary) (\(parameter.kind.accepted))\n"
    }
    if spec.name == .observe {
      text += "\nKeys:\n"
      for key in ObservableKey.allCases { text += "  \(key.rawValue): \(key.summary)\n" }
    }
    if let rows = spec.rowFields { text += "\nRows: \(rows.joined(separator: " "))\n" }
    if !spec.replyFields.isEmpty { text += "\nAnswers: \(spec.replyFields.joined(separator: " "))\n" }
    text += "\nFor example, on the wire:\n"
    for line in spec.example { text += "  \(line)\n" }
    return text
  }
}
