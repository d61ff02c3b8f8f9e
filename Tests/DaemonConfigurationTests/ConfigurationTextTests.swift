import PlayheadControlServer
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadDaemonConfiguration

/// The options read from a file's text, and the positions of errors in it.
@Suite struct ConfigurationTextTests {
  private func read(_ text: String) throws -> ConfigurationText {
    ConfigurationText(try TOMLValue.parse(Array(text.utf8)), file: "f")
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
    let found = try read(text)
    let rows = [
      "f:2:2: unknown table [sokcet]; did you mean socket?",
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
    let found = try read("socket = 1\nlevel = \"debug\"\n[log.level]\nx = 1\n")
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
    let found = try read("[\(option.table)]\n\(line)\n")
    #expect(found.faults.isEmpty && found.options == DaemonOptions())
    let wrong = value.hasPrefix("\"") ? "7" : "\"seven\""
    let rejected = try read("[\(option.table)]\n\(option.key) = \(wrong)\n")
    #expect(rejected.faults.count == 1 && rejected.faults.first?.line == 2 && rejected.options == DaemonOptions())
  }

  @Test func optionsOfTheFileAreApplied() throws {
    let found = try read(
      """
      socket = { path = "/a.sock", mode = "0660", group = "0" }
      log.level = "debug"
      limits.connections = 5
      [output]
      device = "null"
      clock = "virtual"
      pulse-server = "x"
      preferred = ["a"]
      lost = "hold"
      latency = 120
      [access]
      users = [1000, "root"]
      groups = [5]
      rights = ["read"]
      watching-users = [7]
      watching-groups = ["root"]
      [roots]
      read = ["/music"]
      write = ["/artwork"]
      [network]
      allowed = false
      allow = ["10.0.0.0/8"]
      deny = ["bad.example"]
      """)
    #expect(found.faults.isEmpty, "\(found.faults)")
    let options = found.options
    #expect(options.socketPath == "/a.sock" && options.socketMode == 0o660 && options.socketGroup == "0")
    #expect(
      options.output == "null" && options.clock == .virtual && options.pulseServer == "x" && options.logLevel == .debug)
    #expect(options.outputLatency == 120)
    for latency in [9, 151] {
      let wrong = try read("[output]\nlatency = \(latency)\n")
      #expect(wrong.faults.count == 1 && wrong.faults.first?.line == 2 && wrong.options.outputLatency == 100)
    }
    let policy = try options.policy()
    #expect(policy.access.userIDs == [1_000, 0] && policy.access.groupIDs == [5] && policy.access.rights == [.read])
    #expect(policy.access.watchingUserIDs == [7] && policy.access.watchingGroupIDs == [0])
    #expect(policy.limits.connectionCount == 5 && !policy.isNetworkAllowed)
    #expect(options.allowedNetworks == ["10.0.0.0/8"] && options.deniedNetworks == ["bad.example"])
    let wrong = try read("[network]\ndeny = [\"10.0.0.0/99\"]\n")
    #expect(wrong.faults.count == 1 && wrong.faults.first?.line == 2)
    #expect(try options.readableRoots().folders == [Array("/music".utf8)])
    #expect(policy.writableRoots.folders == [Array("/artwork".utf8)])
    let other = try read("[output]\ndevice = \"pulse\"\nclock = \"virtual\"\n")
    expectError(.invalidArgument) { try other.options.checkCombinations() }
  }

  /// A reload retains exactly those options that only a restart can change.
  @Test func reloadKeepsOptionsThatNeedARestart() throws {
    let next = try read(
      """
      socket = { path = "/a.sock", mode = "0660", group = "0" }
      session.category = "playback"
      log.level = "debug"
      sandbox.landlock = false
      isolation.level = "none"
      tags.charset = "gbk"
      [output]
      device = "null"
      clock = "virtual"
      pulse-server = "x"
      preferred = ["a"]
      lost = "hold"
      latency = 120
      [access]
      users = [7]
      groups = [5]
      rights = ["read"]
      watching-users = [7]
      watching-groups = [0]
      [roots]
      read = ["/music"]
      write = ["/artwork"]
      min-free = 4096
      [network]
      allowed = false
      ca-file = "/dev/null"
      allow = ["10.0.0.0/8"]
      deny = ["10.1.0.0/16"]
      [state]
      saved = false
      folder = "/state"
      bookmarks-from = 60
      resume = true
      resume-playback = true
      """)
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
    let found = try read("[output]\nclock = \"virtual\"\n")
    let names = ["output.device", "output.clock"]
    #expect(found.fault("m", atFirstOf: names)?.description == "f:2:9: output.clock: m")
    #expect(found.fault("m", atFirstOf: ["output.device"]) == nil)
  }
}
