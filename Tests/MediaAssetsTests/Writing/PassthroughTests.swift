import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Writing packets without transcoding.
@Suite struct PassthroughTests {
  private static let audio = ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*440*t)|0.3*sin(2*PI*1000*t):s=48000:d=2"]
  private static let video = ["-f", "lavfi", "-i", "testsrc=size=128x96:rate=25:d=2"]
  private static let h264 = ["-c:v", "libx264", "-bf", "3", "-g", "12", "-pix_fmt", "yuv420p"]

  /// The arguments for a source file, by its name.
  private static func arguments(_ name: String) -> [String] {
    switch name {
    case "aac.m4a": audio + ["-c:a", "aac"]
    case "aac.mkv": audio + ["-c:a", "aac"]
    case "alac.m4a": audio + ["-c:a", "alac"]
    case "opus.ogg": audio + ["-c:a", "libopus"]
    case "opus.webm": audio + ["-c:a", "libopus"]
    case "vorbis.ogg": audio + ["-c:a", "libvorbis"]
    case "audio.flac": audio + ["-c:a", "flac"]
    case "audio.mp3": audio + ["-c:a", "libmp3lame"]
    case "audio.wav": audio + ["-c:a", "pcm_s16le"]
    case "alaw.wav": audio + ["-c:a", "pcm_alaw"]
    case "ac3.mkv": audio + ["-c:a", "ac3"]
    case "h264.mp4": audio + video + ["-c:a", "aac"] + h264
    case "h264.mkv": audio + video + ["-c:a", "libopus"] + h264
    case "hevc.mp4": video + ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"]
    case "vp9.webm": video + ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"]
    case "mpeg4.mp4": video + ["-c:v", "mpeg4", "-bf", "2"]
    case "mjpeg.mov": video + ["-c:v", "mjpeg", "-q:v", "3"]
    default: []
    }
  }

  private static let table: [(source: String, targets: [WritableContainer])] = [
    ("aac.m4a", [.m4a, .mp4, .mov, .matroska]), ("aac.mkv", [.m4a, .mp4]), ("alac.m4a", [.m4a, .mov, .matroska, .caf]),
    ("opus.ogg", [.ogg, .webm, .matroska, .mp4]), ("opus.webm", [.ogg, .mp4]),
    ("vorbis.ogg", [.ogg, .webm, .matroska]),
    ("audio.flac", [.flac, .ogg, .matroska]), ("audio.mp3", [.mp3, .mp4, .mov, .matroska]),
    ("audio.wav", [.wav, .caf, .mov, .matroska]), ("alaw.wav", [.wav, .caf, .mov]),
    ("ac3.mkv", [.mp4, .mov, .matroska]),
    ("h264.mp4", [.mp4, .mov, .matroska]), ("h264.mkv", [.mp4, .matroska]), ("hevc.mp4", [.mp4, .mov, .matroska]),
    ("vp9.webm", [.webm, .mp4, .matroska]), ("mpeg4.mp4", [.mp4, .mov, .matroska]), ("mjpeg.mov", [.mov, .matroska]),
  ]

  @Test("packets are written unchanged to every container that supports them")
  func packetsAreUnchangedInEveryContainer() throws {
    let folder = try TemporaryFolder()
    print("source       container  checked")
    for (source, targets) in Self.table {
      let path = folder.file(source)
      try Tool.ffmpeg(arguments: Self.arguments(source) + [path])
      let before = try WrittenFile(path)
      let audioSamples = try before.streams("audio").isEmpty ? [] : WrittenFile.decodedAudio(path)
      let frames = try before.streams("video").isEmpty ? [] : WrittenFile.frames(path, timescale: 1_000)
      for container in targets {
        let target = folder.file("\(source).\(container)")
        let row = Comment(rawValue: "\(source) -> \(container)")
        do { try PacketCopy.copy(path, to: target, container) } catch {
          Issue.record("\(source) -> \(container): \(error)")
          continue
        }
        let after = try WrittenFile(target)
        let names = { (file: WrittenFile) in file.streams.map { $0["codec_name"] as? String } }
        #expect(names(after) == names(before), row)
        let warnings = try after.decodingWarnings()
        #expect(warnings.isEmpty, "\(row): \(warnings)")
        var checked: [String] = ["no warnings"]
        if !audioSamples.isEmpty {
          let got = try WrittenFile.decodedAudio(target)
          // Matroska declares padding with its codec delay, which FFmpeg's readers apply only to Opus.
          let padding =
            container == .matroska ? ["aac.m4a": 1_024, "h264.mp4": 1_024, "audio.mp3": 1_105][source] ?? 0 : 0
          #expect(WrittenFile.difference(audioSamples, Array(got.dropFirst(8 * padding))) == "", row)
          checked.append("\(got.count / 8) frames of audio")
        }
        if let stream = before.streams("video").first, let written = after.streams("video").first {
          let got = try WrittenFile.frames(target, timescale: 1_000)
          #expect(WrittenFile.difference(frames.map(\.sum), got.map(\.sum)) == "", row)
          let origins = (frames.first?.ticks ?? 0, got.first?.ticks ?? 0)
          #expect(
            WrittenFile.difference(frames.map { $0.ticks - origins.0 }, got.map { $0.ticks - origins.1 }) == "", row)
          #expect(before.keyTimes(of: stream).count == after.keyTimes(of: written).count, row)
          checked.append("\(got.count) video frames and their times")
        }
        print(
          "\(source.padding(toLength: 12, withPad: " ", startingAt: 0)) \(container)\t\(checked.joined(separator: ", "))"
        )
      }
    }
  }

  /// Four seconds: ALAC, and frames that encode their numbers, including B-frames.
  private static func film(_ path: String) throws {
    let (audio, video) = (
      WriterRig.audio(.alac),
      AssetWriterInput(settings: VideoRig.settings { $0.keyFrameInterval = 20 }, sourceFormat: VideoRig.format())
    )
    let writer = try WriterRig.writer(path, .mp4, [audio, video])
    for second in 0..<4 {
      try audio.append(waiting: WriterRig.buffer(second * 48_000..<(second + 1) * 48_000))
      for time in VideoRig.times(25, from: Int64(second) * 25) {
        try video.append(waiting: SampleBuffer(pixels: VideoRig.image(Int(time.value)), presentationTime: time))
      }
    }
    try writer.finishWriting()
  }

  @Test("a range in MP4 and MOV has exactly its samples, and every video frame that these need for decoding")
  func rangeInMovieContainersHasExactlyItsSamples() throws {
    let folder = try TemporaryFolder()
    let source = folder.file("film.mp4")
    try Self.film(source)
    let all = try WrittenFile.decodedAudio(source)
    print("container  range  audio  video frames")
    for (start, end) in [(0, 1_500), (500, 1_300), (1_700, 4_000), (2_400, 2_800)] as [(Int64, Int64)] {
      let range = TimeRange(
        start: MediaTime(value: start, timescale: 1_000), duration: MediaTime(value: end - start, timescale: 1_000))
      let frames = Int(start) * 48..<Int(end) * 48
      for container in [WritableContainer.mp4, .mov] {
        let target = folder.file("\(start).\(container)")
        try PacketCopy.copy(source, to: target, container, range, timescale: 12_800)
        let row = Comment(rawValue: "\(container) \(start)..<\(end)")
        let decoded = try WrittenFile.decodedAudio(target)
        #expect(WrittenFile.difference(decoded, Array(all[frames.lowerBound * 8..<frames.upperBound * 8])) == "", row)
        // A frame that starts before the range is cut. A frame that is only decoded is not shown.
        let shown = try VideoRig.numbers(target)
        let expected = Array(Int((start + 39) / 40)..<Int((end + 39) / 40))
        #expect(shown.filter(expected.contains) == expected, row)
        #expect(shown.count <= expected.count + 4, "\(row): \(shown)")
        let warnings = try WrittenFile(target).decodingWarnings()
        #expect(warnings.isEmpty, "\(row): \(warnings)")
        print(
          "\(container)\t\(start)..<\(end)\t\(decoded.count / 8)\t\(shown.first ?? -1)...\(shown.last ?? -1) of \(expected.first ?? -1)...\(expected.last ?? -1)"
        )
      }
      // Matroska has no times before its start: a range starts at a key frame there, or is rejected.
      let target = folder.file("\(start).mkv")
      let isKey = try WrittenFile(source).keyTimes(of: try #require(WrittenFile(source).streams("video").first))
        .contains { abs($0 * 1_000 - Double(start)) < 0.5 }
      guard isKey else {
        expectError(.unsupportedEdit) { try PacketCopy.copy(source, to: target, .matroska, range) }
        #expect(!FileManager.default.fileExists(atPath: target))
        continue
      }
      try PacketCopy.copy(source, to: target, .matroska, range)
      #expect(try WrittenFile(target).decodingWarnings() == "")
      #expect(try VideoRig.numbers(target).starts(with: Int(start / 40)..<Int(end / 40)))
      #expect(try WrittenFile.decodedAudio(target) == Array(all[frames.lowerBound * 8..<frames.upperBound * 8]))
    }
  }

  @Test("a range of coded audio is exact to the sample in MP4")
  func audioRangeInMP4IsExactToTheSample() throws {
    let folder = try TemporaryFolder()
    for (name, tolerance) in [("aac.m4a", 0), ("alac.m4a", 0), ("audio.mp3", 0), ("opus.ogg", 0.001)]
      as [(String, Float)]
    {
      let source = folder.file(name)
      // Substituted noise depends on the start of decoding.
      try Tool.ffmpeg(arguments: Self.arguments(name) + (name == "aac.m4a" ? ["-aac_pns", "0"] : []) + [source])
      let all = try WrittenFile.decodedAudio(source)
      let range = TimeRange(
        start: MediaTime(value: 31_234, timescale: 48_000), duration: MediaTime(value: 40_001, timescale: 48_000))
      let target = folder.file(name + ".mp4")
      try PacketCopy.copy(source, to: target, .mp4, range)
      let decoded = try WrittenFile.decodedAudio(target)
      func numbers(_ bytes: ArraySlice<UInt8>) -> [Float] {
        Array(bytes).withUnsafeBytes { bytes in
          stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
        }
      }
      let expected = numbers(all[31_234 * 8..<(31_234 + 40_001) * 8])
      let got = numbers(decoded[...])
      #expect(got.count == expected.count, "\(name)")
      let off = zip(got, expected).map { abs($0 - $1) }.max() ?? 1
      #expect(off <= tolerance, "\(name): \(off)")
      print("\(name)\t\(got.count / 2) frames, off by \(off) at most")
    }
  }

  @Test("PCM is copied bit for bit, with silence in gaps")
  func pcmPassthroughFillsGapsWithSilence() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.mov")
    let format = FormatDescription.pcm(
      PCMEncoding(.signedInteger, bitsPerSample: 24, isBigEndian: true), sampleRateHz: 48_000, channelCount: 2)
    let input = AssetWriterInput(settings: .passthrough, sourceFormat: format)
    let writer = try WriterRig.writer(path, .mov, [input])
    let bytes = (0..<6_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for start in [0, 2_000] as [Int64] {
      try input.append(
        waiting: SampleBuffer(pcm: bytes, format: format, presentationTime: MediaTime(value: start, timescale: 48_000)))
    }
    try writer.finishWriting()
    let samples = try StoredSamples(path)
    #expect(samples.format.codecName == "pcm_s24be")
    #expect(samples.buffers.flatMap(\.data) == bytes + [UInt8](repeating: 0, count: 6_000) + bytes)
  }
}
