import CPlayheadFFmpeg
import MediaTesting
import RigSupport
import Testing

@testable import PlayheadLibAV

/// FFmpeg's own limits of memory, as Playhead sets them.
@Suite struct FFmpegLimitTests {
  /// The limit holds for the process once a file has been opened, whether opening succeeded or not.
  @Test func allocationsAboveTheLimitFail() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("empty")
    try ChildProcess.run(["touch", path])
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    #expect(throws: AVFailure.self) { try Demuxer(source: source) }
    for (byteCount, isAllowed) in [(FFmpegMemory.maximumByteCount, true), (FFmpegMemory.maximumByteCount + 1, false)] {
      var memory = av_malloc(byteCount)
      print("allocation | \(byteCount) bytes | \(memory == nil ? "refused" : "allowed")")
      #expect((memory != nil) == isAllowed)
      av_freep(&memory)
    }
  }

  /// FFmpeg decodes a first frame to find the pixel format, but only of at most 2^24 pixels, for all artwork together.
  /// The size is the one that the container states.
  @Test(arguments: [(4_096, 4_096, true), (4_096, 4_112, false), (8_192, 8_192, false)])
  func onlySmallFramesAreDecodedWhileOpening(width: Int, height: Int, isDecoded: Bool) throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a.mkv")
    // The header of Matroska does not state the pixel format of PNG.
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=size=\(width)x\(height):rate=1:duration=1",
      "-c:v", "png", "-frames:v", "1", path,
    ])
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let parameters = try #require(demuxer.context.pointee.streams[0]?.pointee.codecpar).pointee
    #expect(parameters.width == width)
    #expect(parameters.height == height)
    #expect((parameters.format != AV_PIX_FMT_NONE.rawValue) == isDecoded)
  }
}
