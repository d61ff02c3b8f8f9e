import ControlServer
import FileAccess
import MediaCore
import WireProtocol

/// The table of all options. The file, its example and the result of a reload are derived from it.
public enum OptionTable {
  /// All options, table by table.
  public static let all: [OptionSpec] =
    socket + output + session + log + access + roots + sandbox + isolation + tags + network + state + bookmarks + limits

  /// The tables of the file, with their descriptions for the example file.
  public static let tables: [(name: String, summary: String)] = [
    ("socket", "Where programs connect. Sockets that systemd hands over are taken in the place of these."),
    ("output", "What is played on."),
    ("session", "How what is played goes together with the sound of other programs."),
    ("log", "What is said on standard error."),
    ("access", "Who may connect besides the daemon's own user, and what for. Users and groups by name or number."),
    (
      "roots",
      "Folders that files may be opened in, whatever names them. Links that lead out of them are not followed. While Landlock is active,"
        + " wider roots take effect at the next start only, and a root must exist at the start."
    ),
    (
      "sandbox",
      "Restrictions on the daemon's own process: a faulty media library can access only the files that the daemon needs."
    ),
    ("isolation", "Which processes parse the bytes of files and servers."),
    ("tags", "Tags of media files."),
    ("network", "What is asked of servers."),
    ("state", "What comes back after a restart: players, queues, positions, bookmarks."),
    (
      "limits",
      "What peers may use. Those of a connection hold for the connections that come; protocol.md says what is beyond each."
    ),
  ]

  /// The option with this name.
  public static func option(_ name: String) -> OptionSpec? { all.first { $0.name == name } }

  private static let socket = [
    optionalText(
      "socket.path", \.socketPath, flag: "--socket",
      "Where to listen. Nothing: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR."),
    OptionSpec(
      name: "socket.mode", kind: .mode, summary: "Permissions of the sockets.", flag: nil, isReloadable: false,
      field: \.socketMode,
      set: { options, value throws(MediaError) in
        guard case .text(let text) = value, let mode = UInt32(text, radix: 8), (3...4).contains(text.utf8.count),
          mode <= 0o777
        else { throw MediaError(.invalidArgument, "not permissions") }
        options.socketMode = mode
      }, text: { quoted("0" + String($0.socketMode, radix: 8)) }),
    optionalText("socket.group", \.socketGroup, flag: nil, "The group that the sockets are given to.") {
      text throws(MediaError) in _ = try Accounts.group(text)
    },
  ]

  private static let output = [
    optionalText(
      "output.device", \.output, flag: "--output",
      "auto, null, pulse[:SINK], wav:PATH or pipe:PATH, with rate=, channels= and format= behind commas. Nothing: auto."
    ) { text throws(MediaError) in _ = try OutputSpec(parsing: text) },
    choice(
      "output.clock", \.clock, flag: "--clock", isReloadable: false, "Virtual: time passes only by `clock.advance`."),
    optionalText(
      "output.pulse-server", \.pulseServer, flag: "--pulse-server", "Nothing: $PULSE_SERVER, else the user's own."),
    texts(
      "output.preferred", \.preferredOutputs, kind: .texts, flag: "--preferred-output", isReloadable: false,
      "Devices by name, the dearest first: the first that is there is played on, and taken again when it returns."
    ) { names throws(MediaError) in
      for name in names where name.isEmpty { throw MediaError(.invalidArgument, "a device without a name") }
    },
    choice(
      "output.lost", \.lostDevice, flag: "--lost-device", isReloadable: false,
      "A device that goes away: players pause, hold on until it is back, move to the next one, or go on in silence (null)."
    ),
    OptionSpec(
      name: "output.latency", kind: .integer(DaemonOptions.outputLatencyRange),
      summary: """
        Milliseconds of audio that a sound server buffers. With more of it, playback survives longer delays of a busy \
        machine or network. Seeks and pauses are heard at once in any case, where the device can replace what it buffers.
        """, flag: "--output-latency", isReloadable: false, field: \.outputLatency,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.outputLatency = value }
      }, text: { "\($0.outputLatency)" }),
  ]

  private static let session = [
    choice(
      "session.category", \.sessionCategory, flag: nil, isReloadable: false,
      "What the sound is used for until `session.category` says something else.")
  ]

  private static let log = [
    choice("log.level", \.logLevel, flag: "--log-level", isReloadable: true, "From this level up.")
  ]

  private static let access = [
    texts("access.users", \.users, kind: .accounts, flag: "--allow-uid", "Users that may connect.") {
      names throws(MediaError) in _ = try Accounts.users(names)
    },
    texts("access.groups", \.groups, kind: .accounts, flag: "--allow-gid", "Groups whose members may connect.") {
      names throws(MediaError) in _ = try Accounts.groups(names)
    },
    OptionSpec(
      name: "access.rights", kind: .choices(Rights.named.map(\.name)), summary: "What these may.", flag: nil,
      isReloadable: true,
      field: \.rights,
      set: { options, value throws(MediaError) in
        guard case .texts(let names) = value, let rights = Rights(names: names) else {
          throw MediaError(.invalidArgument, "not rights")
        }
        options.rights = rights
      }, text: { list($0.rights.names) }),
    texts(
      "access.watching-users", \.watchingUsers, kind: .accounts, flag: nil, "Users that may watch, and change nothing."
    ) {
      names throws(MediaError) in _ = try Accounts.users(names)
    },
    texts(
      "access.watching-groups", \.watchingGroups, kind: .accounts, flag: nil,
      "Groups whose members may watch, and change nothing."
    ) { names throws(MediaError) in _ = try Accounts.groups(names) },
  ]

  private static let roots = [
    OptionSpec(
      name: "roots.read", kind: .texts, summary: "Where files are read. Nothing in the list: everywhere.",
      flag: "--read-root", isReloadable: true,
      field: \.readRoots,
      set: { options, value throws(MediaError) in
        guard case .texts(let folders) = value else { throw MediaError(.invalidArgument, "not folders") }
        _ = try FileRoots(folders: folders)
        options.readRoots = folders.isEmpty ? nil : folders
      }, text: { list($0.readRoots ?? []) }),
    texts(
      "roots.write", \.writeRoots, kind: .texts, flag: "--write-root",
      "Where files are written for clients. Nothing in the list: nowhere."
    ) {
      folders throws(MediaError) in _ = try FileRoots(folders: folders)
    },
    OptionSpec(
      name: "roots.min-free", kind: .integer(0...1_125_899_906_842_624),
      summary:
        "Bytes of a file system that stay free when files are written for clients; a write beyond is `write-failed`. 0: no reserve.",
      flag: nil, isReloadable: true, field: \.reservedFreeBytes,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.reservedFreeBytes = value }
      },
      text: { "\($0.reservedFreeBytes)" }),
  ]

  private static let isolation = [
    choice(
      "isolation.level", \.isolation, flag: "--isolate", isReloadable: false,
      "Opening: worker processes without access to files or networks open files, read their tags, decode them for scan and waveform,"
        + " export them, and make images; the daemon decodes what plays. Playback: workers decode what plays, too. None: the daemon parses everything itself."
    )
  ]

  private static let tags = [
    choice(
      "tags.charset", \.tagCharset, flag: nil, isReloadable: true,
      "Encoding of tags that do not state one: ID3v1, RIFF INFO, and Latin-1 in ID3v2. Automatic: detected, or else Latin-1."
        + " Valid UTF-8 is always read as UTF-8. On reload: for tags that are read from then on."
    )
  ]

  private static let sandbox = [
    OptionSpec(
      name: "sandbox.landlock", kind: .boolean,
      summary: "Restrict access to files with the kernel's Landlock.",
      flag: "--no-landlock", isReloadable: false,
      field: \.usesLandlock,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.usesLandlock = value }
      },
      text: { "\($0.usesLandlock)" })
  ]

  private static let network = [
    OptionSpec(
      name: "network.allowed", kind: .boolean, summary: "False: what is at an address is `network-not-allowed`.",
      flag: nil, isReloadable: true,
      field: \.isNetworkAllowed,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.isNetworkAllowed = value }
      },
      text: { "\($0.isNetworkAllowed)" }),
    texts(
      "network.allow", \.allowedNetworks, kind: .texts, flag: "--allow-network",
      "Servers that may be reached: networks (10.0.0.0/8, fd00::/8), addresses, host names (radio.example, and .example"
        + " for all names below it). Nothing in the list: all."
    ) { entries throws(MediaError) in
      var policy = ServerPolicy()
      try policy.setNetworkRules(allow: entries, deny: [])
    },
    texts(
      "network.deny", \.deniedNetworks, kind: .texts, flag: "--deny-network",
      "Servers that may not be reached, before `network.allow`. 169.254.0.0/16, fe80::/10 and fd00:ec2::254 are denied"
        + " unless `network.allow` has a network within these."
    ) { entries throws(MediaError) in
      var policy = ServerPolicy()
      try policy.setNetworkRules(allow: [], deny: entries)
    },
    optionalText(
      "network.ca-file", \.certificateAuthorityFile, flag: "--ca-file", isReloadable: true,
      "A file of certificates (PEM): authorities that https: servers are believed by, in place of the system's."
    ) { path throws(MediaError) in
      guard Accounts.isReadable(path) else { throw MediaError(.invalidArgument, "\(path) cannot be read") }
    },
  ]

  private static let state = [
    OptionSpec(
      name: "state.saved", kind: .boolean, summary: "Whether it is saved, and restored.", flag: "--no-state",
      isReloadable: false,
      field: \.savesState,
      set: { options, value throws(MediaError) in if case .boolean(let value) = value { options.savesState = value } },
      text: { "\($0.savesState)" }),
    optionalText(
      "state.folder", \.stateFolder, flag: "--state",
      "Where; what is missing of it is made. Nothing: playhead in $XDG_STATE_HOME or ~/.local/state, and nowhere on the virtual clock."
    ) { path throws(MediaError) in
      guard path.hasPrefix("/") else { throw MediaError(.invalidArgument, "\(path) is no absolute path") }
    },
  ]

  private static let bookmarks = [
    OptionSpec(
      name: "state.bookmarks-from", kind: .integer(bookmarkSeconds),
      summary: "What lasts so many seconds or longer leaves a bookmark where it is left. 0: nothing does.",
      flag: "--bookmarks-from", isReloadable: true, field: \.bookmarksFromSeconds,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.bookmarksFromSeconds = value }
      },
      text: { "\($0.bookmarksFromSeconds)" }),
    OptionSpec(
      name: "state.resume", kind: .boolean,
      summary:
        "True: what `load`, `append` and `insert` add begins where it was left, unless the command says `resume=false`.",
      flag: "--resume", isReloadable: true, field: \.resumesWhereLeft,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.resumesWhereLeft = value }
      },
      text: { "\($0.resumesWhereLeft)" }),
  ]

  /// The range of `state.bookmarks-from` in seconds: up to ten days.
  public static let bookmarkSeconds = 0...864_000

  private static let limits = WireLimit.all.map { limit in
    OptionSpec(
      name: "limits.\(limit.name)", kind: .integer(limit.range), summary: "", flag: nil, isReloadable: true,
      field: \.limits,
      set: { options, value throws(MediaError) in
        guard case .integer(let value) = value else { return }
        try options.limits.set(limit.name, to: value)
      }, text: { "\($0.limits.named.first { $0.name == limit.name }?.value ?? 0)" })
  }

  // MARK: - Kinds of options

  /// An option that may be unset, which is an empty text.
  private static func optionalText(
    _ name: String, _ path: WritableKeyPath<DaemonOptions, String?> & Sendable, flag: String?,
    isReloadable: Bool = false, _ summary: String,
    check: @escaping @Sendable (String) throws(MediaError) -> Void = { _ throws(MediaError) in }
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: .text, summary: summary, flag: flag, isReloadable: isReloadable,
      field: path,
      set: { options, value throws(MediaError) in
        guard case .text(let text) = value else { return }
        if !text.isEmpty { try check(text) }
        options[keyPath: path] = text.isEmpty ? nil : text
      }, text: { quoted($0[keyPath: path] ?? "") })
  }

  private static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
    _ name: String, _ path: WritableKeyPath<DaemonOptions, Choice> & Sendable, flag: String?, isReloadable: Bool,
    _ summary: String
  ) -> OptionSpec where Choice.RawValue == String {
    OptionSpec(
      name: name, kind: .choice(Choice.allCases.map(\.rawValue)), summary: summary, flag: flag,
      isReloadable: isReloadable,
      field: path,
      set: { options, value throws(MediaError) in
        guard case .text(let text) = value, let choice = Choice(rawValue: text) else {
          throw MediaError(.invalidArgument, "none of these")
        }
        options[keyPath: path] = choice
      }, text: { quoted($0[keyPath: path].rawValue) })
  }

  private static func texts(
    _ name: String, _ path: WritableKeyPath<DaemonOptions, [String]> & Sendable, kind: OptionSpec.Kind, flag: String?,
    isReloadable: Bool = true, _ summary: String, check: @escaping @Sendable ([String]) throws(MediaError) -> Void
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: kind, summary: summary, flag: flag, isReloadable: isReloadable,
      field: path,
      set: { options, value throws(MediaError) in
        guard case .texts(let texts) = value else { return }
        try check(texts)
        options[keyPath: path] = texts
      }, text: { list($0[keyPath: path]) })
  }

  private static func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

  /// A basic string of TOML.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text.unicodeScalars {
      switch character {
      case "\"", "\\": quoted += "\\\(character)"
      case _ where character.value < 0x20 || character.value == 0x7F:
        let digits = String(character.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(character)
      }
    }
    return quoted + "\""
  }
}
