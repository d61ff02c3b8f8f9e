import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

/// Test files are made once, and again when one of their inputs changes.
@Suite struct FixturesTests {
  /// Whether there is a cache: scripts/test sets the folder.
  private static let hasCache = ProcessInfo.processInfo.environment["PLAYHEAD_FIXTURES"] != nil

  @Test func filesAreWrittenOnceForEachKey() throws {
    let key = [UUID().uuidString]
    var writeCount = 0
    for (key, text) in [(key, "first"), (key, "first"), (key + ["other"], "second")] {
      let folder = try TemporaryDirectory("fixtures")
      try Fixtures.files(key, in: folder.path) { path in
        writeCount += 1
        try text.write(toFile: "\(path)/file", atomically: false, encoding: .utf8)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
      #expect(try String(contentsOfFile: folder.file("file"), encoding: .utf8) == text)
    }
    #expect(writeCount == (Self.hasCache ? 2 : 3))
  }

  @Test func filesOfAFailedWriteAreNotCached() throws {
    let key = [UUID().uuidString]
    let folder = try TemporaryDirectory("fixtures")
    #expect(throws: RigError.self) {
      try Fixtures.files(key, in: folder.path) { path in
        try "half".write(toFile: "\(path)/file", atomically: false, encoding: .utf8)
        throw RigError.timedOut("the test")
      }
    }
    let other = try TemporaryDirectory("fixtures")
    try Fixtures.files(key, in: other.path) {
      try "whole".write(toFile: "\($0)/file", atomically: false, encoding: .utf8)
    }
    #expect(try String(contentsOfFile: other.file("file"), encoding: .utf8) == "whole")
  }

  /// A command that reads a file makes a new file when the bytes of its input change.
  @Test func ffmpegOutputIsRemadeWhenItsInputChanges() throws {
    let folder = try TemporaryDirectory("fixtures")
    var sizes: [Int] = []
    for frameCount in [100, 200, 100] {
      let input = folder.file("input.wav")
      try Fixtures.ffmpeg([
        "-y", "-v", "error", "-f", "lavfi", "-i", "aevalsrc=0:s=8000:d=\(Double(frameCount) / 8_000)", input,
      ])
      let output = folder.file("output.wav")
      try Fixtures.ffmpeg(["-y", "-v", "error", "-i", input, "-bitexact", output])
      sizes.append(try Data(contentsOf: URL(fileURLWithPath: output)).count)
    }
    #expect(sizes[1] == sizes[0] + 200)
    #expect(sizes[2] == sizes[0])
  }

  @Test func failedCommandIsAnErrorEachTime() throws {
    let folder = try TemporaryDirectory("fixtures")
    for _ in 0..<2 {
      #expect(throws: RigError.self) {
        try Fixtures.ffmpeg(["-v", "quiet", "-i", folder.file("missing.wav"), folder.file("output.wav")])
      }
    }
  }
}
