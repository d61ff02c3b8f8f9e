import PlayheadMediaCore
import RigSupport
import Testing

@Suite("The rig's time code")
struct TimeCodeTests {
  @Test(
    "encodes file and index, up to the last index",
    arguments: [0, 1, 32_767, 32_768, TimeCode.indexLimit - 1])
  func encodesFileAndIndexUpToTheLastIndex(index: Int) throws {
    for file in TimeCode.fileNumbers {
      let code = try #require(TimeCode.decode(TimeCode.frame(file: file, index: index)))
      #expect(code == (file, index))
    }
  }

  @Test("silence and other audio are not decoded")
  func silenceAndOtherAudioAreNotDecoded() {
    #expect(TimeCode.decode(.silence) == nil)
    #expect(TimeCode.decode(StereoFrame(left: -1, right: 0x4400)) == nil)
    #expect(TimeCode.decode(StereoFrame(left: 5, right: -1)) == nil)
    #expect(TimeCode.decode(StereoFrame(left: 5, right: 0x4000)) == nil)
  }

  @Test("runs end at lost and repeated frames, other files, silence and other audio")
  func runsEndAtLostOrRepeatedFramesAndOtherAudio() {
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

  @Test("written WAV and FLAC files contain the same samples")
  func writtenWAVAndFLACFilesContainTheSameSamples() throws {
    let folder = try TemporaryDirectory()
    let wav = folder.file("a.wav")
    let flac = folder.file("b.flac")
    let decoded = folder.file("back.wav")
    try TimeCode.writeWAV(path: wav, file: 7, frameCount: 10_000, firstIndex: 30_000)
    try TimeCode.writeFLAC(path: flac, file: 7, frameCount: 10_000, firstIndex: 30_000)
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", flac, "-bitexact", "-c:a", "pcm_s16le", "-f",
      "wav", decoded,
    ])
    try ChildProcess.run(["cmp", wav, decoded])
  }

  @Test("a program that is not installed is an error with its name")
  func missingProgramIsAnErrorWithItsName() {
    let error = #expect(throws: RigError.self) {
      try ChildProcess.run(["no-such-program-anywhere"])
    }
    #expect(error?.description.contains("no-such-program-anywhere") == true)
  }
}
