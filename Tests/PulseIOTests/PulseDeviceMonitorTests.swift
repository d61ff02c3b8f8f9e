import Glibc
import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

@Suite("PulseDeviceMonitor", .serialized)
struct PulseDeviceMonitorTests {
  /// The reports of the monitor, in order.
  private let reports = ConditionMutex<[AudioDevices?]>([])

  private func follow(_ server: String) throws -> PulseDeviceMonitor {
    let monitor = try PulseDeviceMonitor(server: server)
    monitor.start { [reports] devices in reports.update { $0.append(devices) } }
    return monitor
  }

  /// Waits until the newest report satisfies `isExpected`.
  private func wait(_ what: String, until isExpected: @escaping (AudioDevices?) -> Bool) throws {
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let met = reports.wait(until: deadline) { reports in reports.last.map(isExpected) == true ? true : nil }
    if met == nil { throw RigError.timedOut("\(what): \(reports.withState { $0 })") }
  }

  @Test("reports outputs, inputs, the defaults, and the monitored output of an input")
  func reportsOutputsInputsDefaultsAndMonitoredOutputs() throws {
    let server = try PulseServer()
    let monitor = try follow(server.address)
    try wait("devices") { $0 != nil }
    let devices = reports.withState { $0.last ?? nil }
    let rig = try #require(devices?.output("rig"))
    #expect(rig.kind == .output && rig.sampleRateHz == 48_000 && rig.channelCount == 2 && rig.ports == [])
    #expect(!rig.description.isEmpty && rig.isUsable)
    #expect(devices?.defaultOutputName == "rig" && devices?.serverName == "pulseaudio")
    #expect(devices?.inputs.map(\.name) == ["rig.monitor"])
    #expect(devices?.inputs.first?.monitoredOutputName == "rig" && devices?.inputs.first?.kind == .input)
    monitor.cancel()
  }

  @Test("reports added and removed devices and changed defaults without a check")
  func reportsAddedAndRemovedDevicesAndChangedDefaults() throws {
    let server = try PulseServer()
    let monitor = try follow(server.address)
    try wait("devices") { $0?.output("rig") != nil }
    try server.control("load-module", "module-null-sink", "sink_name=second")
    try wait("another output") { $0?.output("second") != nil && $0?.inputs.count == 2 }
    try server.control("set-default-sink", "second")
    try wait("another default") { $0?.defaultOutputName == "second" }
    try server.control("unload-module", "module-null-sink")
    try wait("one output less") { $0?.outputs.map(\.name) == ["rig"] && $0?.defaultOutputName == "rig" }
    monitor.cancel()
  }

  @Test("reports no server, and later a server in a new folder")
  func reportsNoServerAndLaterAServerInANewFolder() throws {
    let parent = try TemporaryDirectory()
    let folder = parent.file("a/b")
    let monitor = try follow("unix:\(folder)/pulse.sock")
    try wait("nothing") { $0 == nil }
    #expect(mkdir(parent.file("a"), 0o700) == 0)
    #expect(mkdir(folder, 0o700) == 0)
    let server = try PulseServer(directory: folder)
    try wait("the server") { $0?.output("rig") != nil }
    monitor.cancel()
    server.stop()
  }

  @Test("reports a killed server and its replacement, five times")
  func reportsAKilledServerAndItsReplacement() throws {
    let folder = try TemporaryDirectory()
    var server = try PulseServer(directory: folder.path)
    let monitor = try follow(server.address)
    try wait("the server") { $0?.output("rig") != nil }
    for number in 1...5 {
      server.kill()
      try wait("the end of server \(number)") { $0 == nil }
      server.stop()
      server = try PulseServer(directory: folder.path)
      try wait("server \(number + 1)") { $0?.output("rig") != nil }
    }
    monitor.cancel()
  }

  @Test("a check repeats the report, also once a suspended server resumes")
  func checkRepeatsTheReportOnceASuspendedServerResumes() throws {
    let server = try PulseServer()
    let monitor = try follow(server.address)
    try wait("devices") { $0 != nil }
    let count = reports.withState(\.count)
    server.suspend()
    monitor.check()
    // A stopped server cannot have replied.
    #expect(reports.withState(\.count) == count)
    server.resume()
    let deadline = HostTime.now.advanced(byNanoseconds: 30_000_000_000)
    let repeated = reports.wait(until: deadline) { $0.count > count ? $0 : nil }
    #expect(repeated?.last == repeated?.dropLast().last)
    monitor.cancel()
  }

  @Test("reports nothing after cancel")
  func reportsNothingAfterCancel() throws {
    let folder = try TemporaryDirectory()
    let monitor = try follow("unix:\(folder.file("pulse.sock"))")
    monitor.cancel()
    monitor.cancel()
    monitor.check()
    let count = reports.withState(\.count)
    let server = try PulseServer(directory: folder.path)
    server.stop()
    #expect(reports.withState(\.count) == count)
  }

  @Test("a server without a Unix socket is rejected")
  func serverWithoutAUnixSocketIsRejected() {
    let error = #expect(throws: MediaError.self) { try PulseDeviceMonitor(server: "tcp:localhost:4713") }
    #expect(error?.code == .outputUnavailable && !PulseDeviceMonitor.canWatch(server: "tcp:localhost:4713"))
  }
}
