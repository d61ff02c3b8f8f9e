import Foundation
import MediaCore
import Testing

@testable import MediaAssets

/// Writing packets as they are.
@Suite struct PassthroughTests {
  private static let sound = ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*440*t)|0.3*sin(2*PI*1000*t):s=48000:d=2"]
  private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=128x96:rate=25:d=2"]
  private static let h264 = ["-c:v", "libx264", "-bf", "3", "-g", "12", "-pix_fmt", "yuv420p"]

  /// A file to read, by its name.
  private static func arguments(_ name: String) -> [String] {
    switch name {
    case "aac.m4a": sound + ["-c:a", "aac"]
    case "aac.mkv": sound + ["-c:a", "aac"]
    case "alac.m4a": sound + ["-c:a", "alac"]
    case "opus.ogg": sound + ["-c:a", "libopus"]
    case "opus.webm": sound + ["-c:a", "libopus"]
    case "vorbis.ogg": sound + ["-c:a", "libvorbis"]
    case "sound.flac": sound + ["-c:a", "flac"]
    case "sound.mp3": sound + ["-c:a", "libmp3lame"]
    case "sound.wav": sound + ["-c:a", "pcm_s16le"]
    case "alaw.wav": sound + ["-c:a", "pcm_alaw"]
    case "ac3.mkv": sound + ["-c:a", "ac3"]
    case "h264.mp4": sound + pictures + ["-c:a", "aac"] + h264
    case "h264.mkv": sound + pictures + ["-c:a", "libopus"] + h264
    case "hevc.mp4": pictures + ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"]
    case "vp9.webm": pictures + ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"]
    case "mpeg4.mp4": pictures + ["-c:v", "mpeg4", "-bf", "2"]
    case "mjpeg.mov": pictures + ["-c:v", "mjpeg", "-q:v", "3"]
    default: []
    }
  }

  private static let table: [(source: String, targets: [WritableContainer])] = [
    ("aac.m4a", [.m4a, .mp4, .mov, .matroska]), ("aac.mkv", [.m4a, .mp4]), ("alac.m4a", [.m4a, .mov, .matroska, .caf]),
    ("opus.ogg", [.ogg, .webm, .matroska, .mp4]), ("opus.webm", [.ogg, .mp4]),
    ("vorbis.ogg", [.ogg, .webm, .matroska]),
    ("sound.flac", [.flac, .ogg, .matroska]), ("sound.mp3", [.mp3, .mp4, .mov, .matroska]),
    ("sound.wav", [.wav, .caf, .mov, .matroska]), ("alaw.wav", [.wav, .caf, .mov]),
    ("ac3.mkv", [.mp4, .mov, .matroska]),
    ("h264.mp4", [.mp4, .mov, .matroska]), ("h264.mkv", [.mp4, .matroska]), ("hevc.mp4", [.mp4, .mov, .matroska]),
    ("vp9.webm", [.webm, .mp4, .matroska]), ("mpeg4.mp4", [.mp4, .mov, .matroska]), ("mjpeg.mov", [.mov, .matroska]),
  ]

  @Test("what is coded comes out of another container as it went in")
  func table() throws {
    let folder = try TemporaryFolder()
    print("source       container  checked")
    for (source, targets) in Self.table {
      let path = folder.file(source)
      try Tool.ffmpeg(arguments: Self.arguments(source) + [path])
      let before = try WrittenFile(path)
      for container in targets {
        let target = folder.file("\(source).\(container)")
        let row = Comment(rawValue: "\(source) -> \(container)")
        do { try Passing.pass(path, to: target, container) } catch {
          Issue.record("\(source) -> \(container): \(error)")
          continue
        }
        let after = try WrittenFile(target)
        let names = { (file: WrittenFile) in file.streams.map { $0["codec_name"] as? String } }
        #expect(names(after) == names(before), row)
        let warnings = try after.decodingWarnings()
        #expect(warnings.isEmpty, "\(row): \(warnings)")
        var checked: [String] = ["no warnings"]
        if !before.streams("audio").isEmpty {
          let (given, got) = (try WrittenFile.heard(path), try WrittenFile.heard(target))
          // Matroska says what is padding by its codec delay, which FFmpeg's readers follow for Opus only.
          let isPadded = container == .matroska && ["aac.m4a", "sound.mp3", "h264.mp4"].contains(source)
          let padding = isPadded ? max(0, got.count - given.count) : 0
          #expect(WrittenFile.difference(given, Array(got.dropFirst(padding))) == "", row)
          checked.append("\(got.count / 8) frames of sound")
        }
        if let stream = before.streams("video").first, let written = after.streams("video").first {
          let (given, got) = (
            try WrittenFile.pictures(path, timescale: 1_000), try WrittenFile.pictures(target, timescale: 1_000)
          )
          #expect(WrittenFile.difference(given.map(\.sum), got.map(\.sum)) == "", row)
          #expect(
            WrittenFile.difference(given.map { $0.ticks - given[0].ticks }, got.map { $0.ticks - got[0].ticks }) == "",
            row)
          #expect(before.keyTimes(of: stream).count == after.keyTimes(of: written).count, row)
          checked.append("\(got.count) pictures and their times")
        }
        print(
          "\(source.padding(toLength: 12, withPad: " ", startingAt: 0)) \(container)\t\(checked.joined(separator: ", "))"
        )
      }
    }
  }
}
