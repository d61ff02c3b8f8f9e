import Foundation
import RigSupport

/// AIFF files with tags that only TagLib reads: their values are unknown when the file has been opened.
enum TaggedAIFF {
  /// Creates half a second at 0.25 of full scale.
  ///
  /// - Parameter hundredths: the track gain, in hundredths of a dB.
  static func file(in files: TemporaryDirectory, hundredths: Int) throws -> String {
    let path = files.file("tagged.aiff")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "aevalsrc=0.25|0.25:s=48000:d=0.5", path,
    ])
    try append(hundredths, to: path)
    return path
  }

  /// Appends a chunk with an ID3v2.4 tag whose frame RVA2 has a track gain, in hundredths of a dB.
  private static func append(_ hundredths: Int, to path: String) throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func big(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let frame = Array("track".utf8) + [0, 1] + big(hundredths * 512 / 100, 2) + [0]
    let tag =
      Array("ID3".utf8) + [4, 0, 0] + big(frame.count + 10, 4) + Array("RVA2".utf8) + big(frame.count, 4) + [0, 0]
      + frame
    bytes += Array("ID3 ".utf8) + big(tag.count, 4) + tag + (tag.count % 2 == 1 ? [0] : [])
    bytes.replaceSubrange(4..<8, with: big(bytes.count - 8, 4))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }
}
