import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Files whose timestamps do not match their frames. All audio is read, no sample twice, and a read after a seek equals
/// a read from the start.
@Suite struct ForeignTimestampTests {
  /// The options for a file, and an edit of its bytes.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    /// A call of a function of `mediapatch`; `data` is the file.
    var edit: String?
    var allowedDeviation: Float = 0
    var testDescription: String { "\(name) \(edit ?? "")" }
  }

  static let rows: [Row] = [
    Row(name: "first-delta.m4a", options: ["-c:a", "aac", "-aac_pns", "0"], edit: "mp4_first_delta(data, 259)"),
    Row(name: "jitter.m4a", options: ["-c:a", "aac", "-aac_pns", "0"], edit: "mp4_jitter(data, 11, 1)"),
    Row(name: "wide-jitter.m4a", options: ["-c:a", "aac", "-aac_pns", "0"], edit: "mp4_jitter(data, 300, 1)"),
    Row(name: "alac.m4a", options: ["-c:a", "alac"], edit: "mp4_jitter(data, 11, 1)"),
    Row(
      name: "opus.mka", options: ["-c:a", "libopus"], edit: "matroska_jitter(data, 8, 1)",
      allowedDeviation: 1 / 32_768),
    Row(name: "aac.mka", options: ["-c:a", "aac", "-aac_pns", "0"], edit: "matroska_jitter(data, 15, 1)"),
    Row(name: "packets.wma", options: ["-c:a", "wmav2"], edit: "asf_packet_times(data)"),
    Row(name: "irregular.ts", options: ["-c:a", "aac", "-aac_pns", "0"], edit: "ts_irregular(data, 5, -1920)"),
    Row(name: "vbr.avi", options: ["-c:a", "libmp3lame", "-q:a", "4"]),
    Row(name: "flac.avi", options: ["-c:a", "flac"]),
    Row(
      name: "blocks.flac", options: ["-c:a", "flac", "-frame_size", "4096"],
      edit: "flac_with_variable_blocks(data, other, False)"),
  ]

  /// Noise and a sweep: no two parts are alike.
  private static let source = "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=9:s=44100"

  @Test(arguments: rows)
  func everySampleIsReadOnceAndSeeksEqualReads(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let original = folder.file("original-\(row.name)")
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.source] + row.options + [original])
    let whole = try AudioTrackReader(asset: Asset(path: original)).readToEnd()
    let path = row.edit == nil ? original : folder.file(row.name)
    if let edit = row.edit {
      let other = folder.file("other-\(row.name)")
      if edit.contains("other") {
        try Tool.ffmpeg("-f", "lavfi", "-i", Self.source, "-c:a", "flac", "-frame_size", "1152", other)
      }
      try MediaPatch.apply(edit, from: original, other: other, to: path)
    }
    let asset = Asset(path: path)
    let reference = try AudioTrackReader(asset: asset).readToEnd()
    print("\(row.name): \(reference.count) of \(whole.count) frames")
    if row.name == "blocks.flac" {
      // Blocks of 4,096 and 1,152 samples follow each other, up to the last whole block of the first file.
      let others = try AudioTrackReader(asset: Asset(path: folder.file("other-\(row.name)"))).readToEnd()
      let blockCount = (whole.count - 1) / 4_096
      var expected: [Float] = []
      for block in 0..<blockCount {
        expected += whole[(4_096 * block)...].prefix(4_096)
        expected += others[(1_152 * block)...].prefix(1_152)
      }
      #expect(reference.count == expected.count)
      #expect(reference == expected)
    } else {
      #expect(reference.count == whole.count)
      #expect(reference == whole)
    }
    let reader = try AudioTrackReader(asset: asset)
    let rate = reader.format.sampleRateHz
    var random = SplitMix64(state: 47)
    for _ in 0..<20 {
      let target = Int.random(in: 0..<(reference.count - 3_000), using: &random)
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      #expect(landed == MediaTime(frame: Int64(target), rate: rate) && reader.positionDoubt == nil)
      let (position, samples) = try reader.readFrames(3_000)
      #expect(position == Int64(target) && samples.count == 3_000)
      let worst = SampleComparison.largestDifference(samples, reference[target...])
      #expect(worst <= row.allowedDeviation, "target \(target)")
    }
  }

  /// Timestamps of a transport stream that wrap or jump inside a segment, without a discontinuity in the playlist.
  @Test(arguments: [
    "ts_wrap(data, 1.0)", "ts_irregular(data, 0, 63000)", "ts_irregular(data, 3, -1920)",
    "ts_step(data, 1, -63000)", "ts_step(data, 1, 2000000)",
  ])
  func segmentsWithTimestampJumpsRepeatNoSample(_ edit: String) throws {
    let folder = try TemporaryFolder()
    let original = folder.file("original.ts")
    try Tool.ffmpeg("-f", "lavfi", "-i", Self.source, "-c:a", "aac", "-aac_pns", "0", original)
    try MediaPatch.apply(edit, from: original, to: folder.file("edited.ts"))
    func playlist(_ name: String) throws -> String {
      let lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:10", "#EXTINF:9.05,", "\(name).ts", "#EXT-X-ENDLIST", ""]
      return try folder.write(Array(lines.joined(separator: "\n").utf8), as: "\(name).m3u8")
    }
    let whole = try AudioTrackReader(asset: Asset(path: playlist("original"))).readToEnd()
    let reader = try AudioTrackReader(asset: Asset(path: playlist("edited")))
    #expect(try reader.readToEnd() == whole)
    for target in [0, 10_000, 100_000, 0] {
      try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: reader.format.sampleRateHz))
      let (position, samples) = try reader.readFrames(5_000)
      #expect(position == Int64(target) && samples.elementsEqual(whole[target..<(target + 5_000)]), "\(target)")
    }
  }

  /// The same in a playlist of several segments, and with other codecs.
  @Test(
    arguments: [["-c:a", "aac", "-aac_pns", "0"], ["-c:a", "libmp3lame"], ["-c:a", "ac3"]],
    [
      "ts_wrap(data, 3.0)", "ts_irregular(data, 0, 63000)", "ts_step(data, 1, -63000)", "ts_step(data, 1, 2000000)",
      "ts_step(data, 25, 2000000)", "ts_step(data, 25, -63000)",
    ])
  func severalSegmentsWithTimestampJumpsRepeatNoSample(_ encoding: [String], _ edit: String) throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", Self.source, "-ar", "48000"] + encoding + [
        "-f", "hls", "-hls_time", "2", "-hls_list_size", "0", folder.file("original.m3u8"),
      ])
    let text = String(decoding: try readFile(folder.file("original.m3u8")), as: UTF8.self)
    let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    #expect(names.count >= 4)
    let segments = try names.map { try readFile(folder.file($0)) }
    let joined = try folder.write(segments.flatMap(\.self), as: "joined.ts")
    try MediaPatch.apply(edit, from: joined, to: folder.file("edited.ts"))
    var rest = try readFile(folder.file("edited.ts"))[...]
    #expect(rest.count == segments.reduce(0) { $0 + $1.count })
    for (index, segment) in segments.enumerated() {
      try folder.write(Array(rest.prefix(segment.count)), as: "edited\(index).ts")
      rest = rest.dropFirst(segment.count)
    }
    let playlist = try folder.write(Array(text.replacing("original", with: "edited").utf8), as: "edited.m3u8")

    let whole = try AudioTrackReader(asset: Asset(path: folder.file("original.m3u8"))).readToEnd()
    let reader = try AudioTrackReader(asset: Asset(path: playlist))
    let found = try reader.readToEnd()
    print("\(encoding[1]) \(edit): \(found.count) of \(whole.count) samples in \(names.count) segments")
    #expect(found.count == whole.count)
    // The decoder of AC-3 adds dither.
    let allowed: Float = encoding[1] == "ac3" ? 0.02 : 0
    #expect(SampleComparison.largestDifference(found, whole[...]) <= allowed)
  }

  /// A stream whose frame numbers begin in the middle.
  @Test func flacStreamThatStartsInTheMiddleIsReadToItsEnd() throws {
    let folder = try TemporaryFolder()
    let original = folder.file("original.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", Self.source, "-c:a", "flac", "-frame_size", "4096", original)
    let whole = try AudioTrackReader(asset: Asset(path: original)).readToEnd()
    let path = folder.file("middle.flac")
    try MediaPatch.apply("flac_without_first_frames(data, 40)", from: original, to: path)
    var samples: [Float] = []
    let code = errorCode { try AudioTrackReader(asset: Asset(path: path)).readToEnd(into: &samples) }
    // The header still has the original's length.
    #expect(code == MediaError.Code.damagedFile.rawValue)
    #expect(samples.elementsEqual(whole.dropFirst(40 * 4_096)))
  }

  /// Bytes after the last frame are not audio.
  @Test(arguments: [("a.mp3", ["-c:a", "libmp3lame"]), ("a.aac", ["-c:a", "aac"])])
  func bytesAfterTheLastFrameAreNotAudio(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(name)
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.source] + options + [path])
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    for (kind, bytes) in [("text", Array("LYRICS and other tags ".utf8)), ("zeros", [UInt8](repeating: 0, count: 700))]
    {
      let longer = try folder.write(readFile(path) + bytes, as: "\(kind)-\(name)")
      let reader = try AudioTrackReader(asset: Asset(path: longer))
      #expect(try reader.readToEnd() == whole, "\(kind)")
      #expect(try AudioTrackReader(asset: Asset(path: longer)).exactFrameCount() == Int64(whole.count), "\(kind)")
    }
  }
}

/// Edits of media files, by `Tests/Collection/mediapatch`.
enum MediaPatch {
  /// - Parameters:
  ///   - edit: a call of one of its functions, in which `data` and `other` are the bytes of the two files.
  ///   - other: a second file; nil: none.
  static func apply(_ edit: String, from source: String, other: String? = nil, to target: String) throws {
    // `Tests`, three levels above this file.
    let tests = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let folder = tests.appendingPathComponent("Collection").path
    let program = """
      import sys
      sys.path.insert(0, sys.argv[1])
      from mediapatch import *
      def read(name):
          try:
              return open(name, "rb").read()
          except FileNotFoundError:
              return b""
      data, other = read(sys.argv[2]), read(sys.argv[4])
      open(sys.argv[3], "wb").write(\(edit))
      """
    try Tool.run("/usr/bin/python3", ["-B", "-c", program, folder, source, target, other ?? ""])
  }
}
