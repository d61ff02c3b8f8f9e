import Foundation
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// Levels, compared with FFmpeg's filter astats.
@Suite struct RecordingMeterTests {
  /// The signals: the samples of each channel by frame.
  static let signals: [(String, @Sendable (Int) -> [Float])] = [
    ("sine and quiet sine", { [0.5 * Float(sin(Double($0) * 0.1)), 0.003 * Float(sin(Double($0) * 0.317))] }),
    ("square and ramp", { [$0 / 50 % 2 == 0 ? 1 : -1, Float($0 % 997) / 997 - 0.3] }),
    ("pulses", { [$0 % 4_800 == 17 ? 0.9 : 0.0001, $0 % 3 == 0 ? 0.25 : 0] }),
  ]

  @Test(arguments: signals.indices) func levelsMatchAstats(_ index: Int) throws {
    let (name, value) = Self.signals[index]
    var settings = RecordingSettings()
    settings.isFloat = true
    let rig = try RecorderRig(settings: settings)
    try rig.recorder.prepareToRecord()
    let reports = ConditionMutex<[(levels: MeterLevels, time: MediaTime)]>([])
    _ = try rig.recorder.addMeterObserver(rate: 10) { levels, time in reports.update { $0.append((levels, time)) } }
    try rig.recorder.record()
    for start in stride(from: 0, to: 96_000, by: 1_200) { rig.source.deliver((start..<start + 1_200).flatMap(value)) }
    rig.waitUntilRecorded(96_000)
    rig.recorder.updateMeters()
    let measured = (0..<2).map { (rig.recorder.averagePower(forChannel: $0), rig.recorder.peakPower(forChannel: $0)) }
    try rig.recorder.stop()
    let reference = try Self.astats(rig.path, from: 0, to: 2)
    for channel in 0..<2 {
      print(
        "meter: \(name), channel \(channel): average \(measured[channel].0) astats \(reference[channel].rms), peak \(measured[channel].1) astats \(reference[channel].peak)"
      )
      #expect(abs(Double(measured[channel].0) - reference[channel].rms) < 0.1)
      #expect(abs(Double(measured[channel].1) - reference[channel].peak) < 0.1)
    }
    // Also for each tenth of a second.
    let observed = reports.withState { $0 }
    #expect(observed.count == 20)
    for (number, observation) in observed.enumerated() where number % 6 == 1 {
      let reference = try Self.astats(rig.path, from: Double(number) / 10, to: Double(number + 1) / 10)
      for channel in 0..<2 {
        #expect(abs(Double(observation.levels.averagePower[channel]) - reference[channel].rms) < 0.1)
        #expect(abs(Double(observation.levels.peakPower[channel]) - reference[channel].peak) < 0.1)
      }
    }
  }

  @Test func silenceIsMinus160DecibelsAndFullScaleIsOne() throws {
    let rig = try RecorderRig(channels: 1)
    try rig.begin()
    #expect(rig.recorder.peakPower(forChannel: 0) == -160)
    rig.source.deliver([Float](repeating: 0, count: 4_800))
    rig.waitUntilRecorded(4_800)
    rig.recorder.updateMeters()
    #expect(rig.recorder.averagePower(forChannel: 0) == -160 && rig.recorder.peakPower(forChannel: 0) == -160)
    #expect(rig.recorder.averagePower(forChannel: 7) == -160)
    rig.source.deliver([Float](repeating: -1, count: 4_800) + [.nan, .infinity])
    rig.waitUntilRecorded(9_602)
    rig.recorder.updateMeters()
    #expect(rig.recorder.peakPower(forChannel: 0) == 0)
    #expect(MeterLevels.scale(0) == 1 && MeterLevels.scale(-160) == 0 && MeterLevels.scale(-60) == 0)
    try rig.recorder.stop()
  }

  /// A program may read the meters more often than the source delivers blocks.
  @Test func metersKeepTheirLevelBetweenBlocks() throws {
    let rig = try RecorderRig(channels: 1)
    try rig.begin()
    rig.source.deliver([Float](repeating: 0.5, count: 4_800))
    rig.waitUntilRecorded(4_800)
    for _ in 0..<3 {
      rig.recorder.updateMeters()
      #expect(abs(rig.recorder.averagePower(forChannel: 0) + 6.02) < 0.01)
      #expect(abs(rig.recorder.peakPower(forChannel: 0) + 6.02) < 0.01)
    }
    try rig.recorder.stop()
  }

  /// RMS and peak level of each channel in a part of a file, in dB.
  private static func astats(_ path: String, from: Double, to: Double) throws -> [(rms: Double, peak: Double)] {
    let folder = try TemporaryDirectory("astats")
    let text = folder.file("text")
    try ChildProcess.run([
      "sh", "-c", "ffmpeg -nostdin -hide_banner -i \"$1\" -af \"$2\" -f null - 2>\"$3\"", "sh", path,
      "atrim=start=\(from):end=\(to),astats=measure_overall=none", text,
    ])
    var (rms, peak): ([Double], [Double]) = ([], [])
    for line in try String(contentsOfFile: text, encoding: .utf8).split(separator: "\n") {
      let value = line.split(separator: " ").last.flatMap { Double($0) }
      if line.contains("RMS level dB") { rms.append(value ?? -160) }
      if line.contains("Peak level dB") { peak.append(value ?? -160) }
    }
    return zip(rms, peak).map { (rms: $0, peak: $1) }
  }
}
