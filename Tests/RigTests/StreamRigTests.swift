import DaemonTesting
import RigSupport
import Testing

/// HLS streams on a real PulseAudio server.
///
/// In real time, because segments must arrive before the device needs their first sample.
@Suite struct StreamRigTests {
  @Test func everySampleIsHeardOnceOnARealDevice() throws {
    let (server, _) = try TimeCodedStream.serve()
    let rig = try PlaybackRig()
    try rig.client.reply("load \(server.address)/a.m3u8 wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 60_000)
    #expect(try rig.client.reply("seek 500001/48000").contains(" pts=500001/48000 "))
    try rig.server.capture.waitForCode(file: 1, index: TimeCodedStream.frameCount - 1)
    let runs = rig.server.capture.runs()
    #expect(runs.map(\.firstIndex) == [0, 500_001] && runs.last?.endIndex == TimeCodedStream.frameCount, "\(runs)")
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.endPosition == $1.position }, "silence at the seek")
  }
}
