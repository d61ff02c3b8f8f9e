import Foundation
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// Errors of the file: each has a code, no file is overwritten, and the recorded audio plays.
@Suite struct RecordingErrorTests {
  /// A small file system, mounted during its lifetime.
  private final class Disk {
    let folder: TemporaryDirectory
    let path: String

    init(_ options: String, readOnly: Bool = false) throws {
      folder = try TemporaryDirectory("disk")
      path = folder.file("disk")
      mkdir(path, 0o700)
      guard mount("none", path, "tmpfs", readOnly ? UInt(MS_RDONLY) : 0, options) == 0 else {
        throw RigError.system(call: "mount", errno: errno)
      }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
  }

  private static func preparationError(_ path: String, replaces: Bool = false) throws -> MediaError? {
    let source = ManualSource(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    let recorder = AudioRecorder(location: RecordingLocation(path: path, replaces: replaces)) { source }
    do throws(MediaError) { try recorder.prepareToRecord() } catch { return error }
    try recorder.stop()
    return nil
  }

  @Test(.enabled(if: geteuid() == 0)) func unwritablePathsAreRejected() throws {
    let folder = try TemporaryDirectory("recorder")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("taken.wav")))
    symlink("/nonexistent/elsewhere.wav", folder.file("link.wav"))
    mkdir(folder.file("folder.wav"), 0o700)
    let readOnly = try Disk("size=64k", readOnly: true)
    let full = try Disk("size=4k,nr_inodes=1")
    let rows: [(problem: String, path: String, code: MediaError.Code)] = [
      ("name exists", folder.file("taken.wav"), .fileExists),
      ("a link has the name", folder.file("link.wav"), .fileExists),
      ("a folder has the name", folder.file("folder.wav"), .fileExists),
      ("no such folder", folder.file("none/a.wav"), .writeFailed),
      ("read-only disk", readOnly.path + "/a.wav", .writeFailed),
      ("no room for a file", full.path + "/a.wav", .writeFailed),
      ("name too long", folder.file(String(repeating: "a", count: 250) + ".wav"), .writeFailed),
    ]
    for row in rows {
      let error = try Self.preparationError(row.path)
      print("bad: \(row.problem): \(error.map { "\($0.code.rawValue) \($0.code.name)" } ?? "accepted")")
      #expect(error?.code == row.code, "\(row.problem)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("taken.wav"))) == Data("mine".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
        "folder.wav", "link.wav", "taken.wav",
      ])
  }

  @Test(
    .enabled(if: geteuid() == 0),
    arguments: ["a.wav", "a.caf", "a.flac", "a.m4a", "a.opus", "alac.m4a", "ulaw.wav"]
  ) func fullDiskKeepsTheRecordedAudio(_ name: String) throws {
    let disk = try Disk("size=640k")
    var settings = RecordingSettings()
    if name == "alac.m4a" { settings.format = .alac }
    if name == "ulaw.wav" { settings.format = .ulaw }
    let source = ManualSource(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    let finalOutcome = ConditionMutex<AudioRecorder.Outcome?>(nil)
    var options = AudioRecorder.Options()
    options.onEvent = { event in if case .finished(let outcome) = event { finalOutcome.update { $0 = outcome } } }
    let path = "\(disk.path)/\(name)"
    let recorder = AudioRecorder(
      location: RecordingLocation(path: path), settings: settings, options: options
    ) { source }
    try recorder.prepareToRecord()
    try recorder.record()
    // Noise, which no codec compresses, until the disk is full.
    var (count, seed): (Int, UInt32) = (0, 1)
    while finalOutcome.withState({ $0 == nil }) {
      source.deliver(
        (0..<4_800).flatMap { _ -> [Float] in
          seed = seed &* 1_664_525 &+ 1_013_904_223
          let value = Float(Int16(truncatingIfNeeded: seed >> 16)) / 32_768
          return [value, -value]
        })
      count += 4_800
      while recorder.status.state == .recording, Int(recorder.currentTime.value) < count - 24_000 { sched_yield() }
    }
    let outcome = try #require(finalOutcome.withState { $0 })
    let frames = try Decoded.frames(path)
    let byteCount = try Data(contentsOf: URL(fileURLWithPath: path)).count
    print(
      "bad: disk full: \(name): \(outcome.error.map { "\($0.code.rawValue) \($0.code.name)" } ?? "none"); \(frames.count) frames play, \(byteCount) bytes"
    )
    #expect(outcome.error?.code == .writeFailed)
    #expect(outcome.path == path)
    #expect(access(path + ".recording", F_OK) != 0)
    // The outcome describes the actual file.
    #expect(outcome.byteCount == Int64(byteCount))
    let frameCount = outcome.duration.seconds * Double(outcome.duration.isNumeric ? 48_000 : 0)
    #expect(abs(frameCount - Double(frames.count)) <= 2_048, "\(outcome.duration)")
    // As much as fits on the disk, except for the last fragment.
    #expect(frames.count > 48_000 && byteCount > 300_000)
  }
}
