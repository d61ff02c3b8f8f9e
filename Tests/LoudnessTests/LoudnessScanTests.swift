import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadLoudness

/// Loudness scans of files of all kinds, intact and damaged.
@Suite struct LoudnessScanTests {
  private func measurement(_ path: String) async throws -> LoudnessMeasurement {
    try #require(try await LoudnessScan([Asset(path: path)]).report().files.first).get()
  }

  private func errorCode(_ path: String) async throws -> MediaError.Code? {
    guard case .failure(let error)? = try await LoudnessScan([Asset(path: path)]).report().files.first else {
      return nil
    }
    return error.code
  }

  private func samples(_ count: Int, _ sample: (Int) -> Double) -> [Int16] {
    (0..<count).map { Int16(clamping: Int((sample($0) * 32_767).rounded())) }
  }

  /// A sine in both channels.
  private func tone(_ files: TemporaryDirectory, _ name: String, level: Double, frames: Int) throws -> String {
    let path = files.file(name)
    let values = samples(frames) { level * sin(2 * .pi * 997 * Double($0) / 48_000) }
    try TimeCode.writeWAV(path: path, frameCount: frames) { StereoFrame(left: values[$0], right: values[$0]) }
    return path
  }

  // MARK: - Values

  @Test func sineAtMinus23dBFSMeasuresMinus23LUFS() async throws {
    let files = try TemporaryDirectory()
    // EBU Tech 3341, case 1: 997 Hz at -23 dBFS in both channels is -23 LUFS.
    let path = try tone(files, "tone.wav", level: pow(10, -23.0 / 20), frames: 48_000 * 5)
    let result = try await measurement(path)
    #expect(result.kind == .measured)
    #expect(abs(try #require(result.integratedLoudness) + 23) < 0.05)
    #expect(abs(try #require(result.gainDecibels) - 5) < 0.05)
    #expect(try #require(result.loudnessRange) < 0.05)
    #expect(abs(20 * log10(result.samplePeak) + 23) < 0.05)
    #expect(result.duration == MediaTime(value: 5, timescale: 1))
    #expect(result.fault == nil)
  }

  @Test(arguments: [19, 21]) func fileOfUnknownDurationIsMeasuredUpToTheLimit(seconds: Int) async throws {
    let files = try TemporaryDirectory()
    let path = files.file("unknown.flac")
    try ChildProcess.run([
      "sh", "-c",
      "ffmpeg -nostdin -v error -f lavfi -i sine=d=20:r=8000 -f flac - | cat > '\(path)'",
    ])
    let scan = LoudnessScan([Asset(path: path)], maximumUnknownSeconds: seconds)
    let result = try #require(try await scan.report().files.first).get()
    #expect(result.duration == MediaTime(value: Int64(min(seconds, 20)), timescale: 1))
    #expect(result.fault?.code == (seconds == 19 ? .mediaLimitExceeded : nil))
  }

  @Test func truePeakBetweenSamplesIsFound() async throws {
    let files = try TemporaryDirectory()
    let path = files.file("between.wav")
    // A quarter of the sample rate, with samples at 45 degrees: they reach 0.707 of the true peak.
    let values = samples(96_000) { 0.7 * sin(.pi / 2 * Double($0) + .pi / 4) }
    try TimeCode.writeWAV(path: path, frameCount: 96_000) { StereoFrame(left: values[$0], right: 0) }
    let result = try await measurement(path)
    #expect(abs(result.samplePeak - 0.495) < 0.001)
    #expect(abs(20 * log10(result.truePeak / 0.7)) < 0.2)
  }

  @Test func silenceAndTooShortFilesHaveNoLoudness() async throws {
    let files = try TemporaryDirectory()
    let silence = try await measurement(try tone(files, "silence.wav", level: 0, frames: 48_000))
    #expect(silence.kind == .silence)
    #expect(silence.integratedLoudness == nil && silence.gainDecibels == nil && silence.loudnessRange == nil)
    #expect(silence.samplePeak == 0 && silence.truePeak == 0)
    let short = try await measurement(try tone(files, "short.wav", level: 0.5, frames: 19_199))
    #expect(short.kind == .tooShort)
    #expect(short.integratedLoudness == nil && short.samplePeak > 0.49)
    #expect(short.duration == MediaTime(value: 19_199, timescale: 48_000))
    let longEnough = try await measurement(try tone(files, "enough.wav", level: 0.5, frames: 19_200))
    #expect(longEnough.kind == .measured)
    // Below -70 LUFS throughout.
    #expect(try await measurement(try tone(files, "quiet.wav", level: 0.0001, frames: 48_000)).kind == .silence)
  }

  @Test func albumLoudnessIsThatOfItsFilesInSequence() async throws {
    let files = try TemporaryDirectory()
    let loud = try tone(files, "loud.wav", level: 0.5, frames: 48_000 * 4)
    let quiet = try tone(files, "quiet.wav", level: 0.25, frames: 48_000 * 6)
    let faint = try tone(files, "faint.wav", level: 0.01, frames: 48_000 * 6)
    let report = try await LoudnessScan([loud, quiet, faint].map { Asset(path: $0) }, measuresAlbum: true).report()
    let album = try #require(report.album)
    // The quiet file is gated out; (0.5² * 4 + 0.25² * 6) / 10, except for blocks across file boundaries.
    let expected = 10 * log10((0.25 * 4 + 0.0625 * 6) / 10)
    #expect(abs(try #require(album.integratedLoudness) - expected) < 0.1)
    #expect(abs(album.samplePeak - 0.5) < 0.001)
    // The album of one file has the loudness that libebur128 computes for the file.
    let singleFile = try await LoudnessScan([Asset(path: quiet)], measuresAlbum: true).report()
    let fileLoudness = try #require(try singleFile.files.first?.get().integratedLoudness)
    #expect(abs(try #require(singleFile.album?.integratedLoudness) - fileLoudness) < 0.001)
    let silence = try tone(files, "silence.wav", level: 0, frames: 48_000)
    let silentAlbum = try await LoudnessScan([Asset(path: silence)], measuresAlbum: true).report()
    #expect(silentAlbum.album == AlbumLoudness(integratedLoudness: nil, truePeak: 0, samplePeak: 0))
    #expect(try await LoudnessScan([Asset(path: silence)]).report().album == nil)
  }

  // MARK: - Faults

  @Test func eachUnreadableFileHasItsOwnErrorCode() async throws {
    let files = try TemporaryDirectory()
    let fifo = files.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    try Data("no audio".utf8).write(to: URL(fileURLWithPath: files.file("text.wav")))
    try Data().write(to: URL(fileURLWithPath: files.file("empty.wav")))
    let video = files.file("video.mp4")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-c:v",
      "mpeg4", "-an", "-y", video,
    ])
    #expect(try await errorCode(fifo) == .notAFile)
    #expect(try await errorCode(files.path) == .notAFile)
    #expect(try await errorCode(files.file("missing.wav")) == .fileNotFound)
    #expect(try await errorCode(files.file("text.wav")) == .unknownFormat)
    #expect(try await errorCode(files.file("empty.wav")) == .emptyFile)
    #expect(try await errorCode(video) == .noPlayableTracks)
    // Unreadable files do not end the scan.
    let good = try tone(files, "good.wav", level: 0.5, frames: 48_000)
    let report = try await LoudnessScan([fifo, good, video].map { Asset(path: $0) }, measuresAlbum: true).report()
    #expect(report.files.map { (try? $0.get())?.kind } == [nil, .measured, nil])
    #expect(report.album?.integratedLoudness != nil)
  }

  @Test func truncatedFilesAreMeasuredUpToTheTruncation() async throws {
    let files = try TemporaryDirectory()
    let whole = try tone(files, "whole.wav", level: 0.5, frames: 48_000 * 4)
    let flac = files.file("whole.flac")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-y", "-i", whole, flac])
    let wholeLoudness = try #require(try await measurement(flac).integratedLoudness)
    for (path, name) in [(whole, "cut.wav"), (flac, "cut.flac")] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: files.file(name)))
      let cut = try await measurement(files.file(name))
      #expect(cut.fault != nil, "\(name)")
      #expect(cut.duration.seconds > 1.5 && cut.duration.seconds < 2.5, "\(name): \(cut.duration)")
      #expect(abs(try #require(cut.integratedLoudness) - wholeLoudness) < 0.05, "\(name)")
    }
    var damaged = try Data(contentsOf: URL(fileURLWithPath: flac))
    for index in damaged.count / 2..<damaged.count / 2 + 2_000 { damaged[index] = 0xA5 }
    try damaged.write(to: URL(fileURLWithPath: files.file("damaged.flac")))
    let result = try await measurement(files.file("damaged.flac"))
    #expect(result.fault != nil)
    #expect(result.kind == .measured)
  }

  // MARK: - Progress and cancelling

  @Test func progressIsReportedForEachFileFromZeroToOne() async throws {
    let files = try TemporaryDirectory()
    let paths = [
      try tone(files, "a.wav", level: 0.5, frames: 48_000 * 4), try tone(files, "b.wav", level: 0.5, frames: 4_800),
    ]
    let reports = Mutex<[LoudnessProgress]>([])
    _ = try await LoudnessScan(paths.map { Asset(path: $0) }).report { progress in
      reports.withLock { $0.append(progress) }
    }
    let all = reports.withLock { $0 }
    #expect(all.allSatisfy { $0.fileCount == 2 })
    let first = all.filter { $0.fileIndex == 0 }.compactMap(\.fraction)
    #expect(first == (0...20).map { Double($0) / 20 })
    #expect(all.filter { $0.fileIndex == 1 }.compactMap(\.fraction) == [0, 1])
    #expect(all.map(\.fileIndex) == all.map(\.fileIndex).sorted())
  }

  @Test(.timeLimit(.minutes(1))) func cancelledScanReportsCancellationOnceAndAtOnce() async throws {
    let files = try TemporaryDirectory()
    let path = try tone(files, "a.wav", level: 0.5, frames: 48_000 * 8)
    let before = LoudnessScan([Asset(path: path)])
    before.cancel()
    await #expect(throws: MediaError(.cancelled, "the scan was cancelled", operation: "scan")) {
      try await before.report()
    }
    let ends = Mutex<[Bool]>([])
    let during = LoudnessScan([Asset(path: path), Asset(path: path)])
    let reportCount = Mutex(0)
    await withCheckedContinuation { continuation in
      during.start { progress in
        reportCount.withLock { $0 += 1 }
        if progress.fraction == 0.25 { during.cancel() }
      } completion: { result in
        ends.withLock { $0.append((try? result.get()) == nil) }
        continuation.resume()
      }
    }
    // The thread continues with the next scan after it has ended this one.
    _ = try await LoudnessScan([Asset(path: path)]).report()
    #expect(ends.withLock { $0 } == [true])
    #expect(reportCount.withLock { $0 } == 6)
  }

  @Test(.timeLimit(.minutes(1))) func scanOfAHangingSourceCanBeCancelled() async throws {
    let source = HangingSource()
    let scan = LoudnessScan([Asset(name: "hanging.wav") { () throws(MediaError) in source }])
    let ended = ConditionMutex<MediaError.Code?>(nil)
    scan.start(completion: { result in
      if case .failure(let error) = result { ended.update { $0 = error.code } }
    })
    await source.waitUntilReadAsync()
    scan.cancel()
    #expect(ended.withState { $0 } == .cancelled)
    // The thread is free, too.
    let files = try TemporaryDirectory()
    #expect(try await measurement(try tone(files, "a.wav", level: 0.5, frames: 48_000)).kind == .measured)
  }
}
