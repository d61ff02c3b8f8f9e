import DaemonTesting
import Glibc
import PlayheadPlayerModel
import RigSupport

/// A sound server, a daemon that plays to it, and a connection.
struct PlaybackRig {
  enum Kind: String, CaseIterable { case wav, flac }

  let server: PulseServer
  let daemon: TestDaemon
  let client: WireClient

  /// - Parameter latency: milliseconds of audio that the server buffers. Tests of samples need no exact timing: with a
  ///   longer buffer, fewer delays of a busy machine are audible. Tests of latency use the daemon's default, 100.
  /// - Parameter logLevel: the daemon's; its log is what it writes as errors.
  init(latency: Int = 150, logLevel: String = "error") throws {
    server = try PulseServer()
    daemon = try TestDaemon(
      "--output", "pulse:\(server.sinkName)", "--pulse-server", server.address, "--output-latency", "\(latency)",
      "--log-level", logLevel)
    client = try daemon.connect()
    try client.reply("observe output.state")
    while field("new", try client.line() ?? "") != "ready" {}
  }

  func file(_ number: Int, _ kind: Kind, frameCount: Int) throws -> String {
    let path = daemon.folder.file("\(number).\(kind.rawValue)")
    switch kind {
    case .wav: try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
    case .flac: try TimeCode.writeFLAC(path: path, file: number, frameCount: frameCount)
    }
    return path
  }

  /// The audio that the device plays for a queue, from the first sample to the last.
  func heard(_ paths: [String]) throws -> [StereoFrame] {
    let before = server.capture.frameCount
    try client.reply("load \(paths.joined(separator: " ")) wait=ready")
    try client.reply("play")
    let start = try server.capture.waitForFrame(from: before) { $0 != .silence }
    let end = try server.capture.waitForSilence(9_600, from: start)
    return server.capture.frames(from: start, count: end - start)
  }
}
