import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Manual pages and `make install`.
@Suite struct ManualTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private func pages() throws -> [(name: String, text: String)] {
    let dump = try Program(Executables.playheadd, ["--experimental-dump-help"]).waitForEnd().output
    let folder = try TemporaryDirectory("manual")
    let path = try folder.write("help.json", Array(dump.utf8))
    let input = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    let example = open("\(Self.root)/packaging/playheadd.toml.example", O_RDONLY | O_CLOEXEC)
    defer { close(example) }
    var pages = try ["playhead", "playheadd", "playheadd.toml", "playhead-protocol"].map { name in
      let outcome = try Program(
        Executables.playhead, ["manual", name], input: name == "playheadd.toml" ? example : input
      ).waitForEnd()
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
      return (name: name, text: outcome.output)
    }
    for name in ["playhead-mpris", "playhead.sh"] {
      let page = try Files.read("\(Self.root)/packaging/\(name).1")
      pages.append((name: name, text: String(decoding: page, as: UTF8.self).replacing("@DATE@", with: "2026-11-28")))
    }
    return pages
  }

  @Test func manualPagesHaveNoWarningsInMandocAndMan() throws {
    let folder = try TemporaryDirectory("manual")
    for page in try pages() {
      let path = try folder.write("\(page.name).man", Array(page.text.utf8))
      let lint = try Program("mandoc", ["-T", "lint", "-W", "warning", path]).waitForEnd()
      #expect(lint == .init(status: 0, output: "", errors: ""), "\(page.name): \(lint.output.prefix(1_000))")
      let shown = try Program(
        "man", ["--warnings", "-E", "UTF-8", "-l", path],
        environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "100", "MANPAGER": "cat"]
      ).waitForEnd()
      #expect(shown.status == 0 && shown.errors == "", "\(page.name): \(shown.errors.prefix(1_000))")
      #expect(shown.output.contains("SEE ALSO"))
    }
    // A line that looks like a macro is escaped, and only known pages exist.
    for page in ["playheadd", "playheadd.toml"] {
      #expect(try Program(Executables.playhead, ["manual", page]).waitForEnd().status == 2)
    }
    #expect(try Program(Executables.playhead, ["manual", "cat"]).waitForEnd().status == 2)
  }

  @Test func manualPagesContainAllCommandsAndOptions() throws {
    let pages = Dictionary(uniqueKeysWithValues: try pages().map { ($0.name, $0.text.replacing("\\-", with: "-")) })
    let help = try Program(Executables.playhead, ["help"]).waitForEnd().output
    let sections = help.split(separator: "\nClient\n")
    let names = try #require(sections.first).split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap {
      $0.split(separator: " ").first
    }
    /// Whether the page has a line with that request and exactly that name.
    func has(_ page: String, _ request: String, _ name: Substring) -> Bool {
      let start = "\(request) \"\(name)"
      return pages[page]?.split(separator: "\n").contains { $0.hasPrefix("\(start) ") || $0 == "\(start)\"" } == true
    }
    #expect(!has("playhead", ".B", "see") && has("playhead", ".B", "seek"))
    #expect(names.count > 90)
    for name in names {
      #expect(has("playhead", ".B", name), "\(name)")
      #expect(has("playhead-protocol", ".SS", name), "\(name)")
    }
    for name in try #require(sections.last).split(separator: "\n").compactMap({ $0.split(separator: " ").first }) {
      #expect(has("playhead", ".SS", name), "\(name)")
    }
    let options = try Program(Executables.playheadd, ["--help"]).waitForEnd().output.split(separator: "\n")
      .filter { $0.hasPrefix("  -") }.compactMap { $0.split(separator: " ").first { $0.hasPrefix("--") } }
    #expect(options.count >= 6)
    for option in options { #expect(pages["playheadd"]?.contains(option) == true, "\(option)") }
    // The configuration file has every option, too.
    let example = String(
      decoding: try Files.read("\(Self.root)/packaging/playheadd.toml.example"), as: UTF8.self
    ).split(separator: "\n").filter { $0.contains(" = ") && !$0.hasPrefix("# ") }
    #expect(example.count > 50)
    for line in example {
      let name = try #require(line.dropFirst().split(separator: " ").first)
      #expect(has("playheadd.toml", ".B", name), "\(line)")
    }
    let bridge = try Program(
      "/usr/bin/python3", ["-m", "playhead_mpris", "--help"],
      environment: [
        "PYTHONPATH": "\(Self.root)/clients/mpris/src:\(Self.root)/clients/python/src"
      ]
    ).waitForEnd()
    let bridgeOptions = bridge.output.split(whereSeparator: { " ,[]\n".contains($0) }).filter { $0.hasPrefix("--") }
    #expect(bridge.status == 0 && bridgeOptions.count >= 4, "\(bridge)")
    for option in bridgeOptions { #expect(pages["playhead-mpris"]?.contains(option) == true, "\(option)") }
    let shellClient = try Program("\(Self.root)/clients/sh/playhead.sh", ["--help"]).waitForEnd().output
    let shellOptions = shellClient.split(whereSeparator: { " ,[]\n".contains($0) }).filter { $0.hasPrefix("--") }
    #expect(Set(shellOptions).count == 7, "\(shellOptions)")
    for option in shellOptions { #expect(pages["playhead.sh"]?.contains(option) == true, "\(option)") }
    // The output of a command is a file that the client opens, also in the manual.
    for command in ["export", "waveform", "image", "item.artwork", "asset.artwork", "record"] {
      let help = try Program(Executables.playhead, ["help", command]).waitForEnd().output
      #expect(help.contains("-o PATH") || help.contains("-o FILE"), "\(command): \(help)")
    }
    #expect(pages["playhead"]?.contains("-o PATH") == true && pages["playhead"]?.contains("-o FILE") == true)
  }

  @Test func installedProgramsWorkBelowTheirPrefix() throws {
    let root = Self.root
    let prefix = try TemporaryDirectory("prefix")
    let outcome = try Program("\(root)/scripts/install", [Executables.folder, prefix.path]).waitForEnd()
    #expect(outcome == .init(status: 0, output: "", errors: ""))
    for (path, mode) in [
      ("bin/playhead", 0o755), ("bin/playheadd", 0o755),
      ("lib/playhead/playhead-worker", 0o755),
      ("share/bash-completion/completions/playhead", 0o644), ("share/zsh/site-functions/_playhead", 0o644),
      ("share/zsh/vendor-completions/_playhead", 0o644),
      ("share/fish/vendor_completions.d/playhead.fish", 0o644), ("share/man/man1/playhead.1", 0o644),
      ("share/man/man1/playheadd.1", 0o644), ("share/man/man7/playhead-protocol.7", 0o644),
      ("share/man/man1/playhead-mpris.1", 0o644), ("share/man/man1/playhead.sh.1", 0o644),
      ("share/man/man5/playheadd.toml.5", 0o644),
      ("share/playhead/playhead.sh", 0o755), ("share/playhead/examples/theatre", 0o755),
      ("share/playhead/examples/drill", 0o755), ("share/playhead/examples/loops", 0o755),
      ("bin/playhead-mpris", 0o755), ("lib/playhead/python/playhead/client.py", 0o644),
      ("lib/playhead/python/playhead_mpris/bridge.py", 0o644), ("lib/systemd/user/playhead-mpris.service", 0o644),
      ("lib/systemd/system/playheadd@.service", 0o644), ("share/doc/playhead/other-users.conf", 0o644),
    ] {
      print("installed: \(path)")
      #expect(Files.mode(prefix.file(path)) == S_IFREG | mode_t(mode), "\(path)")
    }
    // The programs have no symbols, except those for the dynamic linker. The build folder keeps its symbols.
    for path in ["bin/playhead", "bin/playheadd", "lib/playhead/playhead-worker"] {
      let sections = try Program("readelf", ["-SW", prefix.file(path)]).waitForEnd().output
      #expect(sections.contains(".dynsym") && !sections.contains(".symtab"), "\(path)")
    }
    let built = try Program("readelf", ["-SW", Executables.playhead]).waitForEnd().output
    #expect(built.contains(".symtab"))
    // The examples find the client in shell, which `bin` contains, too.
    for script in ["share/playhead/examples/loops", "bin/playhead.sh"] {
      let help = try Program(prefix.file(script), ["--help"]).waitForEnd()
      #expect(help.status == 0 && help.output.hasPrefix("usage: "), "\(help)")
    }
    // The shells can parse the scripts.
    for (shell, path) in [
      ("bash", "share/bash-completion/completions/playhead"), ("zsh", "share/zsh/site-functions/_playhead"),
      ("fish", "share/fish/vendor_completions.d/playhead.fish"),
    ] {
      #expect(try Program(shell, ["-n", prefix.file(path)]).waitForEnd() == .init(status: 0, output: "", errors: ""))
    }
    let bridge = String(decoding: try Files.read(prefix.file("lib/systemd/user/playhead-mpris.service")), as: UTF8.self)
    #expect(bridge.contains("\nExecStart=\(prefix.file("bin/playhead-mpris"))\n"), "\(bridge)")
    let version = try Program(prefix.file("bin/playhead-mpris"), ["--version"]).waitForEnd()
    #expect(version.status == 0 && version.output.hasPrefix("playhead-mpris "), "\(version)")
    let unit = String(decoding: try Files.read(prefix.file("lib/systemd/user/playheadd.service")), as: UTF8.self)
    #expect(unit.contains("\nExecStart=\(prefix.file("bin/playheadd"))"), "\(unit)")
    let system = String(decoding: try Files.read(prefix.file("lib/systemd/system/playheadd@.service")), as: UTF8.self)
    #expect(system.contains("\nExecStart=\(prefix.file("bin/playheadd"))\n"), "\(system)")
    let socket = prefix.file("control.sock")
    let daemon = try Program(prefix.file("bin/playheadd"), ["--socket", socket, "--clock", "virtual"])
    #expect(try daemon.waitForLine() == "playheadd ready socket=\(socket)")
    // The installed worker reads tags.
    let made = try Program(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "sine=d=0.1", "-metadata", "title=Installed", prefix.file("a.flac")]
    ).waitForEnd()
    try #require(made.status == 0, "\(made)")
    let tags = try Program(prefix.file("bin/playhead"), ["--socket", socket, "tags", prefix.file("a.flac")])
      .waitForEnd()
    #expect(tags.output.contains("Installed"), "\(tags)")
    // The daemon starts one worker by itself, and another one if a request comes before.
    let maps = try daemon.childProcesses().map { worker in
      String(decoding: (try? Files.read("/proc/\(worker)/maps")) ?? [], as: UTF8.self)
    }
    #expect(maps.contains { $0.contains(prefix.file("lib/playhead/playhead-worker")) })
    // An incomplete build installs nothing.
    let incomplete = try Program("\(root)/scripts/install", [prefix.file("share"), prefix.file("other")]).waitForEnd()
    #expect(incomplete.status == 1 && incomplete.errors.contains("make release"), "\(incomplete)")
    #expect(Files.mode(prefix.file("other")) == nil)
    let dry = try Program(
      "make", ["-n", "--no-print-directory", "-C", root, "install", "DESTDIR=/tmp/package", "PREFIX=/usr"]
    ).waitForEnd()
    // The installation builds nothing, and fetches no packages.
    #expect(
      dry.output == #"PLAYHEAD_PREFIX="/usr" scripts/install .build/release "/tmp/package/usr""# + "\n", "\(dry)")
  }
}
