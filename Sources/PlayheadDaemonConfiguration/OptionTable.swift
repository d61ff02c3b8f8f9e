import PlayheadControlServer
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadWireProtocol

/// The table of all options, from which the parser of the file, the example file and the reload are derived.
package enum OptionTable {
  /// All options, table by table.
  package static let all: [OptionSpec] =
    socket + output + session + log + access + roots + sandbox + isolation + tags + network + state + bookmarks + limits

  /// The tables of the file, with their descriptions for the example file.
  package static let tables: [(name: String, summary: String)] = [
    ("socket", "The sockets for clients. Sockets that systemd passes to the daemon replace them."),
    ("output", "The output device."),
    ("session", "How playback interacts with the audio of other programs."),
    ("log", "The log on standard error."),
    (
      "access",
      "Users and groups that may connect in addition to the daemon's own user, and their rights. Each is given by"
        + " name or number."
    ),
    (
      "roots",
      "Folders in which the daemon may open files, for all commands and playlists. Symbolic links that lead out of"
        + " these folders are not followed. While Landlock is active, a root must exist when the daemon starts, and"
        + " wider roots take effect at the next start."
    ),
    (
      "sandbox",
      "Restrictions on the daemon's own process. With them, a faulty media library can access only the files that"
        + " the daemon needs."
    ),
    ("isolation", "The processes that parse data from files and servers."),
    ("tags", "Tags of media files."),
    ("network", "Access to servers."),
    ("state", "The state that is restored after a restart: players, queues, positions and bookmarks."),
    (
      "limits",
      "Limits for clients. The limits of a connection apply to new connections. The protocol reference describes"
        + " each limit."
    ),
  ]

  /// The option with this name.
  package static func option(_ name: String) -> OptionSpec? { all.first { $0.name == name } }

  private static let socket = [
    optionalText(
      "socket.path", \.socketPath, flag: "--socket",
      "Path of the control socket (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR)."),
    OptionSpec(
      name: "socket.mode", kind: .mode, summary: "Permissions of the sockets.", flag: nil, isReloadable: false,
      field: \.socketMode,
      set: { options, value throws(MediaError) in
        guard case .text(let text) = value, let mode = UInt32(text, radix: 8), (3...4).contains(text.utf8.count),
          mode <= 0o777
        else { throw MediaError(.invalidArgument, "invalid permissions") }
        options.socketMode = mode
      }, text: { quoted("0" + String($0.socketMode, radix: 8)) }),
    optionalText("socket.group", \.socketGroup, flag: nil, "Group of the sockets.") {
      text throws(MediaError) in _ = try Accounts.group(text)
    },
  ]

  private static let output = [
    optionalText(
      "output.device", \.output, flag: "--output",
      "Output. auto (default): the sound server, or silence until it is available. null: silence. pulse[:SINK]: the"
        + " sound server, or one of its devices. wav:PATH: a WAV file. pipe:PATH: raw samples to a FIFO. Options follow"
        + " after commas: rate=, channels=, format=."
    ) { text throws(MediaError) in _ = try OutputSpec(parsing: text) },
    choice(
      "output.clock", \.clock, flag: "--clock", isReloadable: false,
      "Clock. real: time advances by itself. virtual: time advances only with `clock.advance`."),
    optionalText(
      "output.pulse-server", \.pulseServer, flag: "--pulse-server",
      "Address of the PulseAudio server (default: $PULSE_SERVER, else the user's server)."),
    texts(
      "output.preferred", \.preferredOutputs, kind: .texts, flag: "--preferred-output", isReloadable: false,
      "Names of output devices in order of preference. Playback uses the first available device and returns to it"
        + " when it reappears."
    ) { names throws(MediaError) in
      for name in names where name.isEmpty { throw MediaError(.invalidArgument, "a device name must not be empty") }
    },
    choice(
      "output.lost", \.lostDevice, flag: "--lost-device", isReloadable: false,
      "Action when the output device disappears. pause: the players pause. hold: the players wait until it"
        + " reappears. move: the players continue on the next device. null: the players continue in silence until it"
        + " reappears."
    ),
    OptionSpec(
      name: "output.latency", kind: .integer(DaemonOptions.outputLatencyRange),
      summary:
        "Buffer latency that the daemon requests from the sound server, in milliseconds. With a larger buffer,"
        + " playback survives longer delays of a busy machine or network. Seeks and pauses are still heard at once if"
        + " the device can replace its buffer.",
      flag: "--output-latency", isReloadable: false, field: \.outputLatency,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.outputLatency = value }
      }, text: { "\($0.outputLatency)" }),
  ]

  private static let session = [
    choice(
      "session.category", \.sessionCategory, flag: nil, isReloadable: false,
      "Initial category of the audio session. `session.category` changes it.")
  ]

  private static let log = [
    choice("log.level", \.logLevel, flag: "--log-level", isReloadable: true, "Minimum level of messages in the log.")
  ]

  private static let access = [
    texts("access.users", \.users, kind: .accounts, flag: "--allow-uid", "Users that may connect.") {
      names throws(MediaError) in _ = try Accounts.users(names)
    },
    texts("access.groups", \.groups, kind: .accounts, flag: "--allow-gid", "Groups whose members may connect.") {
      names throws(MediaError) in _ = try Accounts.groups(names)
    },
    OptionSpec(
      name: "access.rights", kind: .choices(Rights.named.map(\.name)), summary: "Rights of these users and groups.",
      flag: nil, isReloadable: true,
      field: \.rights,
      set: { options, value throws(MediaError) in
        guard case .texts(let names) = value, let rights = Rights(names: names) else {
          throw MediaError(.invalidArgument, "invalid rights")
        }
        options.rights = rights
      }, text: { list($0.rights.names) }),
    texts(
      "access.watching-users", \.watchingUsers, kind: .accounts, flag: nil, "Users that may only observe."
    ) {
      names throws(MediaError) in _ = try Accounts.users(names)
    },
    texts(
      "access.watching-groups", \.watchingGroups, kind: .accounts, flag: nil,
      "Groups whose members may only observe."
    ) { names throws(MediaError) in _ = try Accounts.groups(names) },
  ]

  private static let roots = [
    OptionSpec(
      name: "roots.read", kind: .texts,
      summary: "Folders below which files may be read. An empty list permits all folders.",
      flag: "--read-root", isReloadable: true,
      field: \.readRoots,
      set: { options, value throws(MediaError) in
        guard case .texts(let folders) = value else { throw MediaError(.invalidArgument, "invalid folders") }
        _ = try FileRoots(folders: folders)
        options.readRoots = folders.isEmpty ? nil : folders
      }, text: { list($0.readRoots ?? []) }),
    texts(
      "roots.write", \.writeRoots, kind: .texts, flag: "--write-root",
      "Folders below which files may be written for clients. An empty list permits no folder."
    ) {
      folders throws(MediaError) in _ = try FileRoots(folders: folders)
    },
    OptionSpec(
      name: "roots.min-free", kind: .integer(0...1_125_899_906_842_624),
      summary:
        "Number of bytes that stay free in a file system when files are written for clients. A write that needs"
        + " these bytes fails with `write-failed`. 0: no reserve.",
      flag: nil, isReloadable: true, field: \.reservedFreeBytes,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.reservedFreeBytes = value }
      },
      text: { "\($0.reservedFreeBytes)" }),
  ]

  private static let isolation = [
    choice(
      "isolation.level", \.isolation, flag: "--isolate", isReloadable: false,
      "Work of the worker processes, which have no access to files or networks. opening: workers open files and"
        + " read their tags. They also perform scan, waveform, export and image. The daemon decodes for playback."
        + " playback: workers also decode for playback. none: the daemon parses everything itself."
    )
  ]

  private static let tags = [
    choice(
      "tags.charset", \.tagCharset, flag: nil, isReloadable: true,
      "Encoding of tags that do not state one: ID3v1, RIFF INFO, and Latin-1 in ID3v2. automatic: the encoding is"
        + " detected, and Latin-1 is used otherwise. Valid UTF-8 is always read as UTF-8. After a reload, the new value"
        + " applies to tags that are read later."
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
      name: "network.allowed", kind: .boolean,
      summary: "Whether the daemon may access servers. If false, URLs fail with `network-not-allowed`.", flag: nil,
      isReloadable: true, field: \.isNetworkAllowed,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.isNetworkAllowed = value }
      },
      text: { "\($0.isNetworkAllowed)" }),
    texts(
      "network.allow", \.allowedNetworks, kind: .texts, flag: "--allow-network",
      "Servers that the daemon may access: networks (10.0.0.0/8, fd00::/8), addresses, and host names"
        + " (radio.example, or .example for all names below it). An empty list permits all servers."
    ) { entries throws(MediaError) in
      var policy = ServerPolicy()
      try policy.setNetworkRules(allow: entries, deny: [])
    },
    texts(
      "network.deny", \.deniedNetworks, kind: .texts, flag: "--deny-network",
      "Servers that the daemon may not access. This list overrides `network.allow`. Link-local addresses and cloud"
        + " metadata services (169.254.0.0/16, fe80::/10 and fd00:ec2::254) are denied unless `network.allow` has a"
        + " network within these."
    ) { entries throws(MediaError) in
      var policy = ServerPolicy()
      try policy.setNetworkRules(allow: [], deny: entries)
    },
    optionalText(
      "network.ca-file", \.certificateAuthorityFile, flag: "--ca-file", isReloadable: true,
      "File of certificate authorities (PEM) for https: URLs (default: those of the system)."
    ) { path throws(MediaError) in
      guard Accounts.isReadable(path) else { throw MediaError(.invalidArgument, "\(path) cannot be read") }
    },
  ]

  private static let state = [
    OptionSpec(
      name: "state.saved", kind: .boolean, summary: "Whether the state is saved and restored.", flag: "--no-state",
      isReloadable: false,
      field: \.savesState,
      set: { options, value throws(MediaError) in if case .boolean(let value) = value { options.savesState = value } },
      text: { "\($0.savesState)" }),
    optionalText(
      "state.folder", \.stateFolder, flag: "--state",
      "Folder of the state (default: playhead in $XDG_STATE_HOME or ~/.local/state; none with the virtual clock)."
        + " Missing folders are created."
    ) { path throws(MediaError) in
      guard path.hasPrefix("/") else { throw MediaError(.invalidArgument, "\(path) is not an absolute path") }
    },
  ]

  private static let bookmarks = [
    OptionSpec(
      name: "state.bookmarks-from", kind: .integer(bookmarkSeconds),
      summary:
        "Minimum duration of an item, in seconds, for an automatic bookmark when playback leaves the item. 0: no"
        + " automatic bookmarks.",
      flag: "--bookmarks-from", isReloadable: true, field: \.minimumBookmarkedSeconds,
      set: { options, value throws(MediaError) in
        if case .integer(let value) = value { options.minimumBookmarkedSeconds = value }
      },
      text: { "\($0.minimumBookmarkedSeconds)" }),
    OptionSpec(
      name: "state.resume", kind: .boolean,
      summary:
        "Whether entries that `load`, `append` and `insert` add start where playback ended last. `resume=` of these"
        + " commands overrides it.",
      flag: "--resume", isReloadable: true, field: \.resumesAtLastPosition,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.resumesAtLastPosition = value }
      },
      text: { "\($0.resumesAtLastPosition)" }),
    OptionSpec(
      name: "state.resume-playback", kind: .boolean,
      summary:
        "Whether players that were playing when the daemon ended, or was killed, continue to play after the next start."
        + " False: they are paused at their positions.",
      flag: "--resume-playback", isReloadable: false, field: \.resumesPlayback,
      set: { options, value throws(MediaError) in
        if case .boolean(let value) = value { options.resumesPlayback = value }
      },
      text: { "\($0.resumesPlayback)" }),
  ]

  /// The range of `state.bookmarks-from` in seconds: up to ten days.
  package static let bookmarkSeconds = 0...864_000

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

  /// An option that may be unset. An empty string in the file means unset.
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
          throw MediaError(.invalidArgument, "unknown value")
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
