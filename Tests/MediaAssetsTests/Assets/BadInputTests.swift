import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Each kind of unplayable input has an error code, and none blocks or crashes.
@Suite struct BadInputTests {
  /// An unplayable input.
  enum Row: CaseIterable {
    case missing, missingFolder, fileAsFolder, emptyPath, zeroByteInPath, tooLongName
    case folder, fifo, device, socket
    case empty, text, textNamedMP3, textNamedWAV, textNamedTXT, playlistNamedM3U8, noise, oneByte
    case movieWithoutIndex, flacHeaderOnly
    case subtitlesOnly, matroskaWithSubtitlesOnly, stillImage
    case unknownCodec, sampleRateTooHigh, tooManyChannels

    var code: MediaError.Code {
      switch self {
      case .missing, .missingFolder, .fileAsFolder, .emptyPath, .zeroByteInPath, .tooLongName: .fileNotFound
      case .folder, .fifo, .device, .socket: .notAFile
      case .empty: .emptyFile
      case .text, .textNamedMP3, .textNamedWAV, .textNamedTXT, .playlistNamedM3U8, .noise, .oneByte,
        .subtitlesOnly, .stillImage:
        .unknownFormat
      case .movieWithoutIndex, .flacHeaderOnly: .damagedFile
      case .matroskaWithSubtitlesOnly: .noPlayableTracks
      case .unknownCodec: .unknownCodec
      case .sampleRateTooHigh, .tooManyChannels: .unsupportedAudioFormat
      }
    }

    /// Creates the input and returns its path.
    func make(in folder: TemporaryFolder) throws -> [UInt8] {
      let lines = (1...3_000).flatMap { Array("This is line \($0) of a text.\n".utf8) }
      func write(_ bytes: [UInt8], _ name: String) throws -> [UInt8] { Array(try folder.write(bytes, as: name).utf8) }
      func patched(_ patches: [Int: UInt8]) throws -> [UInt8] {
        var wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 50_000)
        for (offset, byte) in patches { wav[offset] = byte }
        return try write(wav, "a.wav")
      }
      let path = folder.file("a")
      switch self {
      case .missing: return Array(path.utf8)
      case .missingFolder: return Array("\(path)/b.flac".utf8)
      case .fileAsFolder: return try write([1], "a") + Array("/b.flac".utf8)
      case .emptyPath: return []
      case .zeroByteInPath: return Array(path.utf8) + [0] + Array("b".utf8)
      case .tooLongName: return Array(path.utf8) + [UInt8](repeating: 0x61, count: 5_000)
      case .folder: return Array(folder.path.utf8)
      case .fifo: #expect(mkfifo(path, 0o600) == 0)
      case .device: return Array("/dev/zero".utf8)
      case .socket: try makeSocket(at: path)
      case .empty: return try write([], "a.flac")
      case .text: return try write(lines, "a")
      case .textNamedMP3: return try write(lines, "a.mp3")
      case .textNamedWAV: return try write(lines, "a.wav")
      case .textNamedTXT: return try write(lines, "a.txt")
      case .playlistNamedM3U8: return try write(Array("#EXTM3U\n#EXTINF:1,\n/etc/passwd\n".utf8), "a.m3u8")
      case .noise:
        var random = SplitMix64(state: 3)
        return try write((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) }, "a")
      case .oneByte: return try write([0x66], "a.flac")
      case .movieWithoutIndex:
        try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=2", "-c:a", "aac", folder.file("whole.m4a"))
        return try write(Array(readFile(folder.file("whole.m4a")).prefix(8_000)), "a.m4a")
      case .flacHeaderOnly:
        try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", folder.file("whole.flac"))
        return try write(Array(readFile(folder.file("whole.flac")).prefix(60)), "a.flac")
      case .subtitlesOnly: return try write(Self.subtitles, "a.srt")
      case .matroskaWithSubtitlesOnly:
        _ = try write(Self.subtitles, "a.srt")
        try Tool.ffmpeg("-i", folder.file("a.srt"), "-c:s", "srt", "-f", "matroska", folder.file("a.mka"))
        return Array(folder.file("a.mka").utf8)
      case .stillImage:
        try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=1", "-frames:v", "1", folder.file("a.png"))
        return Array(folder.file("a.png").utf8)
      case .unknownCodec: return try patched([20: 0x99, 21: 0x99])
      case .sampleRateTooHigh: return try patched([24: 0x40, 25: 0x42, 26: 0x0f])  // 1,000,000 Hz
      case .tooManyChannels: return try patched([22: 65, 32: 130])
      }
      return Array(path.utf8)
    }

    private static let subtitles = Array(
      "1\n00:00:00,000 --> 00:00:02,000\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nthere\n\n".utf8)

    private func makeSocket(at path: String) throws {
      let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      #expect(result == 0)
    }
  }

  @Test(arguments: Row.allCases)
  func unplayableInputReportsItsErrorOnEveryLoad(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try row.make(in: folder))
    expectError(row.code) { try asset.load() }
    expectError(row.code, "the failure is stored") { try asset.load() }
    expectError(row.code) { try AudioTrackReader(asset: asset) }
    if case .failure(let error)? = asset.loaded {
      #expect(!error.message.isEmpty)
      // Neither an error text "Success" nor a bare error number.
      for text in [error.message, error.underlying ?? ""] {
        #expect(!text.contains("Success") && !text.contains("(-") && !text.contains("(0)"), "\(text)")
      }
    } else {
      Issue.record("a failed load is not stored")
    }
  }

  @Test func accessErrorReportsPermissionDenied() {
    let error = MediaError(AVFailure(errno: EACCES, call: "open"), path: "/a")
    #expect(error.code == .permissionDenied && error.message.contains("/a"))
  }

  /// Names with a meaning for shells, URLs or FFmpeg, and names that are not text, are plain names.
  @Test(arguments: [
    Array("with space".utf8), Array("quote\"s'".utf8), Array("new\nline".utf8), Array("http:colon".utf8),
    Array("-y".utf8), Array("a%03d".utf8), Array("file:a".utf8), Array("pipe:0".utf8), Array("ünï".utf8),
    [0xff, 0xfe, 0x80], Array("concat:a|b".utf8), Array("q?a=b#c".utf8),
  ])
  func unusualFileNamesArePlainBytes(_ name: [UInt8]) throws {
    let folder = try TemporaryFolder()
    let path = Array(folder.path.utf8) + [UInt8(ascii: "/")] + name + Array(".wav".utf8)
    try writeFile(IndexedAudio.wav(.signed16, sampleRateHz: 8_000, frameCount: 800), at: path)
    let asset = Asset(path: path)
    #expect(try asset.load().duration == MediaTime(value: 1, timescale: 10))
    #expect(try AudioTrackReader(asset: asset).readToEnd().count == 1_600)
    let url = path.map { $0 == UInt8(ascii: "/") ? "/" : "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(try Asset(url: "file://\(url)").pathBytes == path)
  }

  @Test(arguments: [
    ("file:///a%20b", 0), ("file://localhost/a", 0), ("FILE:/a", 0), ("ftp://host/a", 2007), ("file://host/a", 2007),
    ("/a", 1001), ("file:a", 1001), ("file:///a%2", 1001), ("file:///a%zz", 1001), ("file:///a%00", 1001), ("", 1001),
  ])
  func fileURLIsAcceptedOrReportsItsError(_ text: String, _ code: Int) {
    #expect(errorCode { _ = try Asset(url: text) } == code)
  }

  @Test func videoWithoutAudioHasADurationAndNoAudioTrack() throws {
    let folder = try TemporaryFolder()
    for (name, codec) in [("a.mp4", "mpeg4"), ("b.mp4", "libx264"), ("c.mkv", "mpeg4")] {
      let path = folder.file(name)
      try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=duration=2:size=64x48:rate=25", "-c:v", codec, path)
      let asset = Asset(path: path)
      let properties = try asset.load()
      #expect(!properties.hasAudio && properties.hasVideo && properties.audioTrack == nil)
      #expect(properties.duration == MediaTime(value: 2, timescale: 1))
      expectError(.noPlayableTracks) { try AudioTrackReader(asset: asset) }
    }
  }

  @Test func artworkIsNotAVideoTrack() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=1", "-frames:v", "1", folder.file("cover.png"))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-i", folder.file("cover.png"), "-map", "0", "-map", "1", "-c:a", "flac",
      "-disposition:v", "attached_pic", folder.file("a.flac"))
    let properties = try Asset(path: folder.file("a.flac")).load()
    #expect(properties.hasAudio && !properties.hasVideo)
    #expect(properties.tracks.map(\.mediaType) == [.audio, .attachedPicture])
    #expect(properties.duration == MediaTime(value: 1, timescale: 1))
  }

  /// With any changed or missing bytes, opening, reading and seeking end, with an error or without.
  @Test(arguments: ["a.wav", "a.flac", "a.mp3", "a.m4a", "a.ogg", "a.opus", "a.mka", "a.aac", "a.aiff"])
  func mutatedFilesAreReadOrReportAnError(_ name: String) throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1:sample_rate=48000", folder.file(name))
    let original = try readFile(folder.file(name))
    var random = SplitMix64(state: 99)
    for _ in 0..<40 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        // Headers are changed more often than audio.
        let reach = Bool.random(using: &random) ? 300 : bytes.count
        bytes[Int.random(in: 0..<min(reach, bytes.count), using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
      let path = try folder.write(bytes, as: "mutated-\(name)")
      do {
        let reader = try AudioTrackReader(asset: Asset(path: path))
        _ = try reader.readFrames(20_000)
        try reader.seekExactly(to: MediaTime(value: 3, timescale: 4))
        _ = try reader.readFrames(20_000)
        try reader.seekExactly(to: .zero)
        _ = try reader.readFrames(100)
      } catch let error as MediaError {
        #expect((2_000..<5_000).contains(error.code.rawValue))
      }
    }
  }
}
