import Foundation
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// Repair after a crash: at most two seconds are lost, and the rest plays.
@Suite struct RecordingRepairTests {
  struct Case: Sendable, CustomStringConvertible {
    var name: String
    var isExact: Bool
    var change: @Sendable (inout RecordingSettings) -> Void = { _ in }
    var description: String { name }
  }

  static let cases = [
    Case(name: "a.wav", isExact: true), Case(name: "a.wav", isExact: true) { $0.bitDepth = 24 },
    Case(name: "a.wav", isExact: false) { $0.format = .ulaw },
    Case(name: "a.caf", isExact: true), Case(name: "a.caf", isExact: false) { $0.format = .ima4 },
    Case(name: "a.flac", isExact: true), Case(name: "a.m4a", isExact: true) { $0.format = .alac },
    Case(name: "a.m4a", isExact: false), Case(name: "a.opus", isExact: false),
  ]

  /// The bytes of the file during recording, after `seconds` of audio were delivered.
  private static func unfinished(_ testCase: Case, seconds: Int) throws -> Data {
    var settings = RecordingSettings()
    testCase.change(&settings)
    let rig = try RecorderRig(testCase.name, settings: settings)
    try rig.begin()
    for second in 0..<seconds {
      rig.deliver(second * 48_000..<(second + 1) * 48_000)
      rig.waitUntilRecorded((second + 1) * 48_000)
    }
    // The writer writes audio after it has received the next audio.
    while try Self.writtenSeconds(rig) < Double(seconds) - 2 { sched_yield() }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: rig.path + ".recording"))
    try rig.recorder.stop()
    return bytes
  }

  /// The duration of the audio that a copy of the file contains, in seconds.
  private static func writtenSeconds(_ rig: RecorderRig) throws -> Double {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: rig.path + ".recording"))
    guard let path = try recovered(bytes, (rig.path as NSString).lastPathComponent) else { return 0 }
    return Double(try Decoded.frames(path.file).count) / 48_000
  }

  /// The file that is recovered from some bytes; nil without audio.
  private static func recovered(_ bytes: Data, _ name: String) throws -> (folder: TemporaryDirectory, file: String)? {
    let folder = try TemporaryDirectory("repair")
    let path = folder.file(name)
    try bytes.write(to: URL(fileURLWithPath: path + ".recording"))
    let result = try #require(try RecordingLocation(path: path).recover())
    #expect(access(path + ".recording", F_OK) != 0)
    guard let found = result.path else { return nil }
    #expect(found == path)
    return (folder, path)
  }

  @Test(arguments: cases) func recoveryLosesAtMostTwoSecondsAndTheRestPlays(_ testCase: Case) throws {
    let bytes = try Self.unfinished(testCase, seconds: 6)
    let whole = try #require(try Self.recovered(bytes, testCase.name))
    let frames = try Decoded.frames(whole.file)
    #expect(frames.count >= 4 * 48_000)
    if testCase.isExact {
      let runs = TimeCode.runs(in: frames)
      #expect(runs == [TimeCode.Run(file: 1, firstIndex: 0, count: frames.count, position: 0)])
    }
    // Cut at any byte, like on a full disk: the rest plays to its end.
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<Effort.rounds(12) {
      let count = Int.random(in: bytes.count / 3..<bytes.count, using: &generator)
      guard let part = try Self.recovered(bytes.prefix(count), testCase.name) else {
        // A fragment has one second. Shortly before its end the file has no audio.
        #expect(testCase.name == "a.m4a", "\(testCase): nothing of \(count) of \(bytes.count) bytes")
        continue
      }
      let frames = try Decoded.frames(part.file)
      #expect(!frames.isEmpty, "\(testCase): \(count) bytes")
      if testCase.isExact {
        let runs = TimeCode.runs(in: frames)
        #expect(
          runs == [TimeCode.Run(file: 1, firstIndex: 0, count: frames.count, position: 0)],
          "\(testCase): \(count) bytes")
      }
    }
  }

  @Test func recoveredFileReportsItsLength() throws {
    for testCase in Self.cases where testCase.isExact {
      let bytes = try Self.unfinished(testCase, seconds: 3)
      let whole = try #require(try Self.recovered(bytes.dropLast(1), testCase.name))
      let reported = try #require(Double(try Probe.stream(whole.file, "duration")))
      #expect(abs(reported - Double(try Decoded.frames(whole.file).count) / 48_000) < 0.001, "\(testCase)")
    }
  }

  @Test func fileWithoutAudioIsRemoved() throws {
    for name in ["a.wav", "a.flac", "a.caf", "a.m4a", "a.opus"] {
      #expect(try Self.recovered(Data(), name) == nil)
      #expect(try Self.recovered(Data("RIFF".utf8), name) == nil)
      #expect(try Self.recovered(Data(repeating: 0x4f, count: 100_000), name) == nil)
    }
  }

  @Test func fileBeingRecordedIsNotRecovered() throws {
    let rig = try RecorderRig()
    try rig.begin()
    rig.deliver(0..<48_000)
    #expect(try rig.recorder.location.recover() == nil)
    let other = try RecorderRig(in: rig.folder)
    expectError(.fileExists) { try other.recorder.prepareToRecord() }
    rig.deliver(48_000..<50_000)
    #expect(try rig.recorder.stop().duration == MediaTime(value: 50_000, timescale: 48_000))
    #expect(try Decoded.frames(rig.path).count == 50_000)
  }

  @Test func nextRecordingToThePathRecoversTheUnfinishedFile() throws {
    let folder = try TemporaryDirectory("recorder")
    let bytes = try Self.unfinished(Case(name: "a.wav", isExact: true), seconds: 3)
    try bytes.write(to: URL(fileURLWithPath: folder.file("memo.wav.recording")))
    try Data("taken".utf8).write(to: URL(fileURLWithPath: folder.file("memo.wav")))
    let rig = try RecorderRig(in: folder, replaces: true)
    try rig.begin()
    rig.deliver(0..<1_000)
    try rig.recorder.stop()
    // No audio of either recording is lost.
    #expect(try Decoded.frames(folder.file("memo.wav")).count == 1_000)
    #expect(try Decoded.frames(folder.file("memo (recovered).wav")).count >= 48_000)
  }

  @Test func journalFindsUnfinishedFilesInAnyFolder() throws {
    let (state, music) = (try TemporaryDirectory("state"), try TemporaryDirectory("music"))
    let journal = RecordingJournal(folder: state.file("recordings"))
    let bytes = try Self.unfinished(Case(name: "a.flac", isExact: true), seconds: 3)
    // Simulates a process that crashes while recording: the file exists and has a journal entry.
    let names = ["one.flac", "two\n.flac"]
    for name in names {
      try bytes.write(to: URL(fileURLWithPath: music.file(name) + ".recording"))
      _ = try journal.add(Array((music.file(name) + ".recording").utf8))
    }
    _ = try journal.add(Array(music.file("gone.flac.recording").utf8))
    var found: [[UInt8]] = []
    journal.recover { path, result in
      if (try? result.get())?.pathBytes == path { found.append(path) }
    }
    #expect(Set(found) == Set(names.map { Array(music.file($0).utf8) }))
    #expect(try Decoded.frames(music.file("two\n.flac")).count >= 48_000)
    #expect(try FileManager.default.contentsOfDirectory(atPath: journal.folder).isEmpty)
    // The journal entry exists while recording, and is removed afterwards.
    let rig = try RecorderRig { $0.journal = journal }
    try rig.begin()
    journal.recover { _, _ in Issue.record("the file is being recorded") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: journal.folder).count == 1)
    try rig.recorder.stop()
    #expect(try FileManager.default.contentsOfDirectory(atPath: journal.folder).isEmpty)
  }

  @Test func recoveredSuffixPrecedesTheExtension() {
    func name(_ path: String, _ number: Int) -> String {
      String(decoding: RecordingLocation.recoveredPath(Array(path.utf8), number), as: UTF8.self)
    }
    #expect(name("/a.b/memo.wav", 1) == "/a.b/memo (recovered).wav")
    #expect(name("/a.b/memo", 2) == "/a.b/memo (recovered 2)")
    #expect(name("/a/.wav", 1) == "/a/.wav (recovered)")
  }
}
