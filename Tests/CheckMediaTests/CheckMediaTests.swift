import DaemonTesting
import Foundation
import Glibc
import RigSupport
import Testing

/// `scripts/check-media`: its lines, allow list, limits and exit status.
@Suite struct CheckMediaTests {
  @Test func intactFilesPassEveryCheck() throws {
    let rig = try CheckMediaRig()
    try rig.write("a.wav")
    try rig.write("b.flac")
    let outcome = try rig.run(["--seeks", "5"])
    #expect(outcome.status == 0, "\(outcome)")
    let count = outcome.output.split(separator: " ").dropFirst(2).first.flatMap { Int($0) } ?? 0
    #expect(count > 30)
    #expect(
      outcome.output == "2 files, \(count) checks, 0 failures, 0 inexact, 0 noise, 0 allowed, 0 not opened\n",
      "\(outcome)")
  }

  /// Writes a decoder `flac` whose output is another WAV file; returns its folder.
  private func decoder(_ rig: CheckMediaRig, frameCount: Int, changedFrame: Int?) throws -> String {
    let altered = rig.folder.file("altered.wav")
    try TimeCode.writeWAV(path: altered, file: 1, frameCount: frameCount, sampleRateHz: 48_000)
    if let changedFrame {
      var bytes = try Data(contentsOf: URL(fileURLWithPath: altered))
      let first = bytes.count - frameCount * 4
      bytes.replaceSubrange(first + changedFrame * 4 + 2..<first + changedFrame * 4 + 4, with: [0, 0x40])
      try bytes.write(to: URL(fileURLWithPath: altered))
    }
    _ = try rig.script("flac", #"while [ "$1" != -o ]; do shift; done; exec cp '\#(altered)' "$2""#)
    return rig.folder.path
  }

  @Test func differenceFromTheReferenceIsReportedOnALine() throws {
    let count = CheckMediaRig.frameCount
    for (frames, changed, text) in [
      (count, 1_234, "flac: sample 0.5 (frame 1234, channel 1), found"),
      (count - 100, nil, "flac: \(count - 100) frames, found \(count); the common frames agree"),
    ] as [(Int, Int?, String)] {
      let rig = try CheckMediaRig()
      let path = try rig.write("b.flac")
      let tools = try decoder(rig, frameCount: frames, changedFrame: changed)
      let outcome = try rig.run(["--only", "reference"], tools: tools)
      print(outcome.output)
      #expect(outcome.status == 1, "\(outcome)")
      #expect(outcome.output.hasPrefix("\(path): reference: expected \(text)"), "\(outcome)")
      #expect(outcome.output.contains("\n1 files, "), "\(outcome)")
    }
  }

  @Test func allowedDifferenceIsNoFailureAndAnUnusedRowIsReported() throws {
    let rig = try CheckMediaRig()
    try rig.write("b.flac")
    let tools = try decoder(rig, frameCount: CheckMediaRig.frameCount, changedFrame: 7)
    let list = rig.folder.file("allowed.txt")
    try "# Comment\n*.flac seek,reference the decoder is altered\n*.mp3 seek there is none\n"
      .write(toFile: list, atomically: true, encoding: .utf8)
    let outcome = try rig.run(["--only", "reference", "--allow", list], tools: tools)
    #expect(outcome.status == 0, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "\(list):3: unused: *.mp3 seek", "\(outcome)")
    #expect(lines.last?.contains("0 failures") == true && lines.last?.contains("1 allowed") == true, "\(outcome)")
  }

  @Test func processThatEndsEarlyIsReportedAndTheRunContinues() throws {
    for (name, body, arguments, text) in [
      (
        "crash", #"printf 'begin\tseek\n'; kill -s SEGV $$"#, [],
        "crash: expected an end with status 0, found SIGSEGV during seek"
      ),
      (
        "status", #"printf 'begin\topen\n'; echo 'Fatal error: nothing' >&2; exit 3"#, [],
        "crash: expected an end with status 0, found status 3 during open: Fatal error: nothing"
      ),
      ("silence", "exit 0", [], "crash: expected an end with status 0, found status 0 during start"),
      (
        "busy", #"printf 'begin\tplay\n'; while :; do :; done"#, ["--cpu-seconds", "1"],
        "timeout: expected an end within 1 s of processor time, found none during play"
      ),
      (
        "blocked", #"printf 'begin\texport-wav\n'; mkfifo "$0.$$"; read line <"$0.$$""#, ["--patience", "0.3"],
        "timeout: expected an end within 0.3 s, found none during export-wav"
      ),
    ] as [(String, String, [String], String)] {
      let rig = try CheckMediaRig()
      // Each file of the busy program takes a second.
      let paths = try (name == "busy" ? ["a.wav"] : ["a.wav", "b.wav"]).map { try rig.write($0) }
      let record = rig.folder.file("processes")
      let program = try rig.script("program", "echo $$ >>'\(record)'; \(body)")
      let outcome = try rig.run(arguments + ["--only", "seek"], program: program)
      print(name, outcome.output)
      #expect(outcome.status == 1, "\(outcome)")
      for path in paths { #expect(outcome.output.contains("\(path): \(text)\n"), "\(name): \(outcome)") }
      for process in try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n") {
        #expect(kill(try #require(pid_t(process)), 0) == -1, "\(name): process \(process) is still running")
      }
    }
  }

  @Test func inexactLandingIsReportedSeparately() throws {
    let rig = try CheckMediaRig()
    let path = try rig.write("a.wav")
    let program = try rig.script(
      "program", #"printf 'noise\tplay\t1\t2\ninexact\tseek\tframe 3\tframe 4\nmore\tinexact seek\t2\ndone\t9\n'"#)
    let outcome = try rig.run(program: program)
    #expect(outcome.status == 0)
    #expect(
      outcome.output
        == "\(path): inexact seek: expected frame 3, found frame 4 (2 more)\n"
        + "1 files, 9 checks, 0 failures, 1 inexact, 1 noise, 0 allowed, 0 not opened\n")
  }

  // MARK: - Tags and video

  private static let tags = [
    "title": "A title", "artist": "Artist · Ünïcödé", "album": "Album", "track": "3/12", "genre": "Rock",
    "date": "2004", "comment": "a comment",
  ]

  /// Writes a file with tags.
  private func writeTagged(_ name: String, to rig: CheckMediaRig) throws -> String {
    let (source, path) = (
      try rig.folder.write("source.wav", Files.read(rig.write("source.wav"))), "\(rig.media)/\(name)"
    )
    unlink("\(rig.media)/source.wav")
    let arguments = Self.tags.flatMap { ["-metadata", "\($0.key)=\($0.value)"] }
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", source] + arguments + [path])
    return path
  }

  @Test func tagsOfCommonFormatsAgreeWithTheReference() throws {
    let rig = try CheckMediaRig()
    let names = ["a.mp3", "a.flac", "a.ogg", "a.opus", "a.m4a", "a.wma", "a.wv", "a.aiff", "a.wav", "a.mka"]
    for name in names { _ = try writeTagged(name, to: rig) }
    let outcome = try rig.run(["--only", "tags", "--verbose"])
    print(outcome.output)
    #expect(outcome.status == 0, "\(outcome)")
    // WAV and AIFF have fewer tags than the others.
    let count = outcome.output.split(separator: "\n").last?.split(separator: " ").dropFirst(2).first.flatMap { Int($0) }
    #expect(try #require(count) > names.count * 5, "\(outcome)")
  }

  @Test func valueThatOnlyTheReferenceReadsIsAFailure() throws {
    let rig = try CheckMediaRig()
    let path = try writeTagged("a.flac", to: rig)
    let program = try rig.script(
      "program", #"printf 'begin\ttags\ntag\tA title\ntag\tAlbum\ntag\t3/12\ntag\tRock\ntag\t2004\ndone\t0\n'"#)
    let outcome = try rig.run(["--only", "tags"], program: program)
    print(outcome.output)
    #expect(outcome.status == 1, "\(outcome)")
    let line = outcome.output.split(separator: "\n").first.map(String.init) ?? ""
    #expect(line.hasPrefix("\(path): tags: expected mutagen: "), "\(line)")
    // The artist, the comment and the encoder.
    #expect(line.contains("=") && line.hasSuffix(", found 5 other values (2 more)"), "\(line)")
    let list = rig.folder.file("allowed.txt")
    try "*.flac tags the program omits them\n".write(toFile: list, atomically: true, encoding: .utf8)
    #expect(try rig.run(["--only", "tags", "--allow", list], program: program).status == 0)
  }

  /// One second of video with B-frames.
  private func writeVideo(_ name: String, to rig: CheckMediaRig) throws -> String {
    let path = "\(rig.media)/\(name)"
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i",
      "sine=d=1:r=48000", "-c:v", "libx264", "-bf", "2", "-c:a", "aac", path,
    ])
    return path
  }

  @Test func copiesOfVideoAreComplete() throws {
    let rig = try CheckMediaRig()
    for name in ["a.mp4", "a.ts", "a.mkv", "a.flv"] { _ = try writeVideo(name, to: rig) }
    let outcome = try rig.run(["--only", "export-video"])
    print(outcome.output)
    #expect(outcome.status == 0 && outcome.output.contains(" 0 failures"), "\(outcome)")
    // Opening, two copies, and two comparisons of each file.
    #expect(outcome.output.hasPrefix("4 files, 20 checks, "), "\(outcome)")
  }

  @Test func missingVideoFrameIsAFailure() throws {
    let rig = try CheckMediaRig()
    let path = try writeVideo("a.mp4", to: rig)
    let copy = "ffmpeg -nostdin -v error -i '\(path)' -frames:v 24 -c copy"
    let program = try rig.script(
      "program",
      #"while [ "$1" != --scratch ]; do shift; done; \#(copy) "$2/b.mkv"; printf 'copy\t%s\ndone\t1\n' "$2/b.mkv""#)
    let outcome = try rig.run(["--only", "export-video"], program: program)
    print(outcome.output)
    #expect(outcome.status == 1, "\(outcome)")
    let head = "\(path): export-video: expected 25 packets and 25 frames of video, the last one "
    #expect(outcome.output.hasPrefix(head), "\(outcome)")
    #expect(outcome.output.contains(", found in mkv 24 packets and 24 frames of video, the last one "), "\(outcome)")
  }

  @Test func limitedRunPrintsItsSeedAndCommand() throws {
    let rig = try CheckMediaRig()
    try rig.write("a.wav")
    let program = try rig.script("program", #"printf 'done\t1\n'"#)
    let outcome = try rig.run(["--seed", "77", "--within", "10s"], program: program)
    #expect(outcome.status == 0, "\(outcome)")
    let line = outcome.output.split(separator: "\n").first ?? ""
    #expect(line.hasPrefix("seed 77; ") && line.contains(" --seed 77 --within 10s \(rig.media)"), "\(line)")
  }

  @Test func wrongArgumentsExitWithStatus2() throws {
    let rig = try CheckMediaRig()
    for (arguments, text) in [
      (["--seeks", "-1"], "--seeks must be 0…1000000 (got -1)"), (["--seed", "x"], "--seed"),
      (["--only", "everything"], "--only"), (["--jobs", "0"], "--jobs must be 1…1024 (got 0)"),
      (["--within", "soon"], "--within must be a number with s or m (got soon)"),
      (["--allow", "/nowhere"], "--allow cannot be read"), (["/nowhere/at/all"], "is neither a folder nor a file"),
    ] {
      let outcome = try rig.run(arguments)
      #expect(outcome.status == 2 && outcome.errors.contains(text), "\(arguments): \(outcome)")
    }
    let list = rig.folder.file("allowed.txt")
    try "*.mp3 seek\n".write(toFile: list, atomically: true, encoding: .utf8)
    let outcome = try rig.run(["--allow", list])
    #expect(outcome.status == 2 && outcome.errors.contains("\(list):1: a row has a glob"), "\(outcome)")
  }
}
