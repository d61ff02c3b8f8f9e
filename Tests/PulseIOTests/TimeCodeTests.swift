import MediaCore
import RigSupport
import Testing

@Suite("The rig's time code")
struct TimeCodeTests {
  @Test(
    "says file and index, to the last index",
    arguments: [0, 1, 32_767, 32_768, TimeCode.indexLimit - 1])
  func roundTrips(index: Int) throws {
    for file in TimeCode.fileNumbers {
      let code = try #require(TimeCode.decode(TimeCode.frame(file: file, index: index)))
      #expect(code == (file, index))
    }
  }

  @Test("silence and other sound are no code")
  func refusesOtherSound() {
    #expect(TimeCode.decode(.silence) == nil)
    #expect(TimeCode.decode(StereoFrame(left: -1, right: 0x4400)) == nil)
    #expect(TimeCode.decode(StereoFrame(left: 5, right: -1)) == nil)
    #expect(TimeCode.decode(StereoFrame(left: 5, right: 0x4000)) == nil)
  }

  @Test("runs break at lost and repeated frames, at other files, silence and foreign sound")
  func findsRuns() {
    func codes(_ file: Int, _ range: Range<Int>) -> [StereoFrame] {
      range.map { TimeCode.frame(file: file, index: $0) }
    }
    let foreign = StereoFrame(left: -7, right: -7)
    let frames =
      [.silence] + codes(1, 5..<8) + codes(1, 9..<10) + codes(1, 9..<11) + codes(2, 11..<12) + [
        .silence, foreign, foreign,
      ]
    #expect(
      TimeCode.runs(in: frames) == [
        .init(file: 1, firstIndex: 5, count: 3, position: 1),
        .init(file: 1, firstIndex: 9, count: 1, position: 4),
        .init(file: 1, firstIndex: 9, count: 2, position: 5),
        .init(file: 2, firstIndex: 11, count: 1, position: 7),
        .init(file: 0, firstIndex: 0, count: 2, position: 9),
      ])
  }

  @Test("files hold what the code says, and ffmpeg reads the FLAC back bit for bit")
  func writesFiles() throws {
    let folder = try TemporaryDirectory()
    let wav = folder.file("a.wav")
    let flac = folder.file("b.flac")
    let back = folder.file("back.wav")
    try TimeCode.writeWAV(path: wav, file: 7, frameCount: 10_000, firstIndex: 30_000)
    try TimeCode.writeFLAC(path: flac, file: 7, frameCount: 10_000, firstIndex: 30_000)
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", flac, "-bitexact", "-c:a", "pcm_s16le", "-f",
      "wav", back,
    ])
    try ChildProcess.run(["cmp", wav, back])
  }

  @Test("a program that is not installed is an error with its name")
  func missesTools() {
    let error = #expect(throws: RigError.self) {
      try ChildProcess.run(["no-such-program-anywhere"])
    }
    #expect(error?.description.contains("no-such-program-anywhere") == true)
  }
}
