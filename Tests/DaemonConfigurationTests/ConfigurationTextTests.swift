import ControlServer
import MediaCore
import RigSupport
import Testing
import WireProtocol

@testable import DaemonConfiguration

/// The options read from a file's text, and the positions of errors in it.
@Suite struct ConfigurationTextTests {
  private func read(_ text: String, _ json: String) throws -> ConfigurationText {
    ConfigurationText(text, parsed: try JSONValue(parsing: Array(json.utf8).span), file: "f")
  }

  @Test func everyFaultIsReportedWithItsPositionAndTheRestApplies() throws {
    let text = """
      # ä comment = 1
      [sokcet]
      path = "/x"
      [log]
      levle = "debug"
      level = "loud"
      [limits]
      connections = 0
      "players" = "many"
        queue-length = 5
      line-bytes = 1.5
      [access]
      users = [ # who
        -1 ]
      rights = ["read", "everything"]
      [roots]
      read = ["music"]
      write = "x"
      """
    let json = """
      {"sokcet":{"path":"/x"},"log":{"levle":"debug","level":"loud"},"limits":{"connections":0,"players":"many","queue-length":5,\
      "line-bytes":1.5},"access":{"users":[-1],"rights":["read","everything"]},"roots":{"read":["music"],"write":"x"}}
      """
    let found = try read(text, json)
    let rows = [
      "f:2:1: unknown table [sokcet]; did you mean socket?",
      "f:5:1: unknown option log.levle; did you mean log.level?",
      "f:6:9: log.level: unknown value"
        + #" (it takes one of "trace" "debug" "info" "notice" "warning" "error" "critical")"#,
      "f:8:15: limits.connections: 0 is out of range (it takes a whole number from 1 to 65536)",
      #"f:9:13: limits.players: unexpected string "many" (it takes a whole number from 1 to 1024)"#,
      "f:11:14: limits.line-bytes: 1.5 is not a whole number (it takes a whole number from 256 to 16777216)",
      "f:13:9: access.users: -1 is not a user or group id (it takes a list of names and numbers)",
      #"f:15:10: access.rights: unknown value "everything" (it takes a list of "read" "control" "write" "administer")"#,
      "f:17:8: roots.read: a root must be an absolute path without '..': music (it takes a list of strings)",
      #"f:18:9: roots.write: unexpected string "x" (it takes a list of strings)"#,
    ]
    for fault in found.faults { print(fault) }
    #expect(found.faults.map(\.description) == rows)
    #expect(found.options.limits.queueCount == 5)
    var rest = found.options
    rest.limits = .standard
    #expect(rest == DaemonOptions())
  }

  /// A table instead of an option, an option instead of a table, and an option in a wrong table.
  @Test func misplacedTablesAndOptionsAreReported() throws {
    let found = try read(
      "socket = 1\nlevel = \"debug\"\n[log.level]\nx = 1\n", #"{"socket":1,"level":"debug","log":{"level":{"x":1}}}"#)
    #expect(
      found.faults.map(\.description) == [
        "f:1:1: unknown option socket; did you mean socket.path?",
        "f:2:1: unknown option level; did you mean log.level?",
        "f:3:1: log.level: unexpected table"
          + #" (it takes one of "trace" "debug" "info" "notice" "warning" "error" "critical")"#,
      ])
  }

  /// Each option accepts its default, formats it as written, and rejects values of other types.
  @Test(arguments: OptionTable.all.map(\.name)) func everyOptionAcceptsItsDefaultAndRejectsOtherTypes(
    _ name: String
  ) throws {
    let option = try #require(OptionTable.option(name))
    let value = option.value(in: DaemonOptions())
    let line = "\(option.key) = \(value)"
    print("option: \(name) = \(value)")
    // TOML texts, numbers, booleans and lists have the same form in JSON.
    let found = try read("[\(option.table)]\n\(line)\n", #"{"\#(option.table)":{"\#(option.key)":\#(value)}}"#)
    #expect(found.faults.isEmpty && found.options == DaemonOptions())
    let wrong = value.hasPrefix("\"") ? "7" : "\"seven\""
    let rejected = try read(
      "[\(option.table)]\n\(option.key) = 7\n", #"{"\#(option.table)":{"\#(option.key)":\#(wrong)}}"#)
    #expect(rejected.faults.count == 1 && rejected.faults.first?.line == 2 && rejected.options == DaemonOptions())
  }

  @Test func optionsOfTheFileAreApplied() throws {
    let found = try read(
      "",
      #"""
      {"socket":{"path":"/a.sock","mode":"0660","group":"0"},
      "output":{"device":"null","clock":"virtual","pulse-server":"x","preferred":["a"],"lost":"hold","latency":120},
      "log":{"level":"debug"},"access":{"users":[1000,"root"],"groups":[5],"rights":["read"],"watching-users":[7],"watching-groups":["root"]},
      "roots":{"read":["/music"],"write":["/artwork"]},"network":{"allowed":false,"allow":["10.0.0.0/8"],"deny":["bad.example"]},"limits":{"connections":5}}
      """#)
    #expect(found.faults.isEmpty, "\(found.faults)")
    let options = found.options
    #expect(options.socketPath == "/a.sock" && options.socketMode == 0o660 && options.socketGroup == "0")
    #expect(
      options.output == "null" && options.clock == .virtual && options.pulseServer == "x" && options.logLevel == .debug)
    #expect(options.outputLatency == 120)
    for latency in [9, 151] {
      let wrong = try read("[output]\nlatency = \(latency)\n", #"{"output":{"latency":\#(latency)}}"#)
      #expect(wrong.faults.count == 1 && wrong.faults.first?.line == 2 && wrong.options.outputLatency == 100)
    }
    let policy = try options.policy()
    #expect(policy.access.userIDs == [1_000, 0] && policy.access.groupIDs == [5] && policy.access.rights == [.read])
    #expect(policy.access.watchingUserIDs == [7] && policy.access.watchingGroupIDs == [0])
    #expect(policy.limits.connectionCount == 5 && !policy.isNetworkAllowed)
    #expect(options.allowedNetworks == ["10.0.0.0/8"] && options.deniedNetworks == ["bad.example"])
    let wrong = try read("[network]\ndeny = [\"10.0.0.0/99\"]\n", #"{"network":{"deny":["10.0.0.0/99"]}}"#)
    #expect(wrong.faults.count == 1 && wrong.faults.first?.line == 2)
    #expect(try options.readableRoots().folders == [Array("/music".utf8)])
    #expect(policy.writableRoots.folders == [Array("/artwork".utf8)])
    let other = try read("", #"{"output":{"device":"pulse","clock":"virtual"}}"#)
    expectError(.invalidArgument) { try other.options.checkCombinations() }
  }

  /// A reload retains exactly those options that only a restart can change.
  @Test func reloadKeepsOptionsThatNeedARestart() throws {
    let next = try read(
      "",
      #"""
      {"socket":{"path":"/a.sock","mode":"0660","group":"0"},
      "output":{"device":"null","clock":"virtual","pulse-server":"x","preferred":["a"],"lost":"hold","latency":120},
      "session":{"category":"playback"},
      "log":{"level":"debug"},"access":{"users":[7],"groups":[5],"rights":["read"],"watching-users":[7],"watching-groups":[0]},
      "roots":{"read":["/music"],"write":["/artwork"],"min-free":4096},"sandbox":{"landlock":false},"isolation":{"level":"none"},"tags":{"charset":"gbk"},
      "network":{"allowed":false,"ca-file":"/dev/null","allow":["10.0.0.0/8"],"deny":["10.1.0.0/16"]},
      "state":{"saved":false,"folder":"/state","bookmarks-from":60,"resume":true,"resume-playback":true}}
      """#)
    #expect(next.faults.isEmpty, "\(next.faults)")
    let start = DaemonOptions()
    let kept = next.options.keepingStartupValues(of: start)
    for option in OptionTable.all where option.table != "limits" {
      print(
        "kept: \(option.name): \(option.value(in: start)) or \(option.value(in: next.options)): \(option.value(in: kept))"
      )
      #expect(option.value(in: start) != option.value(in: next.options), "\(option.name)")
      #expect(option.value(in: kept) == option.value(in: option.isReloadable ? next.options : start), "\(option.name)")
    }
  }

  /// An error of a combination of options has the position of one of them.
  @Test func faultOfSeveralOptionsHasThePositionOfOne() throws {
    let found = try read("[output]\nclock = \"virtual\"\n", #"{"output":{"clock":"virtual"}}"#)
    let names = ["output.device", "output.clock"]
    #expect(found.fault("m", atFirstOf: names)?.description == "f:2:9: output.clock: m")
    #expect(found.fault("m", atFirstOf: ["output.device"]) == nil)
  }

  /// Keys are found between strings, lists and tables.
  @Test func keysAreFoundAroundStringsListsAndTables() {
    let locator = KeyLocator(
      #"""
      a = "x = 1 # no" # b = 2
      "c d" = '''
      e = 1
      ''' # '''
      f = [ "]", [1,
        2], { g = "}" } ]
      h.i = { j = 1, k.l = [ ] }
      [ m . "n.o" ]
      p = """\""" q = 1"""
      [[r]]
      s = 1
      """#)
    func position(_ path: [String]) -> String { locator.keys[path].map { "\($0.line):\($0.column)" } ?? "none" }
    #expect(
      [
        ["a"], ["c d"], ["f"], ["h", "i"], ["h", "i", "j"], ["h", "i", "k", "l"], ["m", "n.o"], ["m", "n.o", "p"],
        ["r", "s"],
      ]
      .map(position) == ["1:1", "2:1", "5:1", "7:1", "7:9", "7:16", "8:1", "9:1", "11:1"])
    for path in [["b"], ["e"], ["q"], ["m", "n.o", "q"]] { #expect(position(path) == "none") }
    #expect(locator.values[["h", "i", "k", "l"]].map { "\($0.line):\($0.column)" } == "7:22")
  }

  /// Nesting uses no stack, and time is linear in the length. With a time per key that grows with the file, these
  /// tests would not end.
  @Test func hugeFilesAreReadInOnePass() {
    for opened in ["[", "{a=", "[{a=", "{\"x\".b=["] {
      let locator = KeyLocator("a = 1\nbé = " + String(repeating: opened, count: 1_000_000 / opened.utf8.count))
      #expect(locator.firstTooDeep?.line == 2 && locator.keys[["a"]]?.line == 1, "\(opened)")
    }
    let lines = KeyLocator((0..<100_000).map { "k\($0) = \($0)\n" }.joined() + "[t]\nlast = 1\n")
    #expect(lines.keys[["t", "last"]] == .init(line: 100_002, column: 1) && lines.firstTooDeep == nil)
    let one = KeyLocator("t = { " + (0..<100_000).map { "k\($0) = 1, " }.joined() + "é = 1, last = 2 }\n")
    let columns = (0..<100_000).reduce(7) { $0 + "k\($1) = 1, ".utf8.count }
    #expect(one.keys[["t", "last"]] == .init(line: 1, column: columns + 7))
    #expect(one.values[["t", "last"]] == .init(line: 1, column: columns + 14))
    let path = String(repeating: "a.", count: 100_000) + "a"
    let long = KeyLocator("[\(path)]\n" + String(repeating: "b = 1\n", count: 100_000) + "[c]\nd = 1\n")
    #expect(long.keys[["c", "d"]] == .init(line: 100_003, column: 1) && long.keys.count == 2)
  }

  @Test func byteOrderMarkIsIgnored() {
    let locator = KeyLocator("\u{FEFF}a = 1\n")
    #expect(locator.keys == [["a"]: .init(line: 1, column: 1)] && locator.missingName == nil)
  }

  /// Truncated or invalid files are read to their end.
  @Test func truncatedFileIsReadToItsEnd() {
    let text = Array("[a.\"b]\nc = [ { d = '''x\n\\\"\"\"'' }, 1 # ]\n]\n\u{e4} = \"\\\"".utf8)
    for count in 0...text.count {
      let truncated = KeyLocator(String(decoding: text.prefix(count), as: UTF8.self))
      #expect(truncated.keys.values.allSatisfy { $0.line <= 4 })
    }
  }
}
