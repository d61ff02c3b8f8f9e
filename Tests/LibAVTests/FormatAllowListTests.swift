import CPlayheadFFmpeg
import Glibc
import MediaTesting
import RigSupport
import Testing

@testable import PlayheadLibAV

/// Files select their demuxer and decoder by their bytes: only those of the list are reachable.
@Suite struct FormatAllowListTests {
  @Test func everyListedNameExistsInFFmpegAndIsListedOnce() {
    let demuxers = FormatAllowList.demuxers.flatMap(\.names)
    #expect(Set(demuxers).count == demuxers.count)
    for name in demuxers {
      let short = name.split(separator: ",").first.map(String.init) ?? name
      #expect(av_find_input_format(short).map { String(cString: $0.pointee.name) } == name)
    }
    let decoders = FormatAllowList.decoders.flatMap(\.names)
    #expect(Set(decoders).count == decoders.count)
    for name in decoders { #expect(avcodec_find_decoder_by_name(name) != nil, "\(name)") }
    for group in FormatAllowList.demuxers + FormatAllowList.decoders { #expect(!group.reason.isEmpty) }
  }

  @Test func emulatorLibrariesAndGameFormatsAreNotListed() {
    let names = Set((FormatAllowList.demuxers + FormatAllowList.decoders).flatMap(\.names))
    for name in [
      "libgme", "libopenmpt", "bink", "smk", "image2", "png_pipe", "concat", "hls", "dash", "tty", "librsvg",
    ] {
      #expect(!names.contains(name), "\(name)")
    }
  }

  /// Bytes that libraries for game music accept: with random bodies, many of them crash the process that opens them.
  static let magics: [(name: String, bytes: [UInt8])] = [
    ("HES", Array("HESM".utf8) + [0xF0]), ("GBS", Array("GBS".utf8) + [1]), ("AY", Array("ZXAYEMUL".utf8)),
    ("NSF", Array("NESM".utf8) + [0x1A]), ("KSS", Array("KSCC".utf8)), ("SAP", Array("SAP\r\n".utf8)),
    ("SPC", Array("SNES-SPC700 Sound File Data v0.30".utf8)), ("VGM", Array("Vgm ".utf8)), ("GYM", Array("GYMX".utf8)),
    ("gzip", [0x1F, 0x8B, 8, 0]), ("XM", Array("Extended Module: ".utf8)), ("IT", Array("IMPM".utf8)),
    ("Bink", Array("BIKi".utf8)), ("Smacker", Array("SMK2".utf8)),
    ("PNG", [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]),
  ]

  @Test(arguments: magics.map(\.name), ["a.mp3", "a", "a.hes", "a.flac"])
  func filesOfUnlistedFormatsFailToOpenAsUnknown(magic: String, file: String) throws {
    let bytes = try #require(Self.magics.first { $0.name == magic }).bytes
    var random = SeededGenerator(seed: 19)
    for count in [28, 300, 5_000] {
      for isZero in [true, false] {
        let body = (0..<count).map { _ in isZero ? 0 : UInt8.random(in: 0...255, using: &random) }
        let failure = try openingFailure(bytes + body, name: file)
        #expect(failure.kind == .invalidData || failure.kind == .other, "\(magic), \(count) bytes: \(failure)")
      }
    }
  }

  /// MP3 frames between random bytes, with a score of 25. The content is too weak without the extension.
  @Test(arguments: [("a.mp3", true), ("a.MP3", true), ("a", false), ("a.wav", false), ("a.mp3.flac", false)])
  func weakEvidenceIsAcceptedOnlyWithTheExtension(name: String, isAccepted: Bool) throws {
    let folder = try TemporaryDirectory()
    let frames = folder.file("frames.mp3")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.15", "-write_xing", "0",
      "-id3v2_version", "0", frames,
    ])
    var random = SeededGenerator(seed: 3)
    // A frame begins with 255.
    var noise: [UInt8] { (0..<200).map { _ in UInt8.random(in: 0...200, using: &random) } }
    let path = try folder.write(noise + read(frames) + noise, as: name)
    let score = try probeScore(path)
    print("probe score | \(name) | \(score)")
    try #require((2...25).contains(score))
    if isAccepted {
      let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
      #expect(demuxer.streams.map(\.codecName) == ["mp3"])
    } else {
      #expect(try openingFailure(at: path).kind == .invalidData)
    }
  }

  /// FFmpeg has no list of parsers. It must not run the parser of a codec without an allowed decoder.
  @Test(arguments: [("vc2", "dirac", false), ("mpeg4", "mpeg4", true)])
  func onlyStreamsWithAnAllowedDecoderAreParsed(encoder: String, codec: String, isParsed: Bool) throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a.mkv")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x240:duration=20", "-f", "lavfi", "-i",
      "sine=duration=20", "-c:v", encoder, "-c:a", "flac", path,
    ])
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    #expect(demuxer.streams.map(\.codecName) == [codec, "flac"])
    #expect(demuxer.streams[0].hasDecoder == isParsed)
    let packet = try Packet()
    // At the end FFmpeg closes its parsers.
    for _ in 0..<10 { try #require(try demuxer.readPacket(into: packet) == .packet) }
    let stream = try #require(demuxer.context.pointee.streams[0])
    let parser = try #require(av_stream_get_parser(stream))
    #expect((parser.pointee.cur_offset > 0) == isParsed)
  }

  /// The middle of an MPEG transport stream contains a second stream, which FFmpeg finds neither at the beginning nor
  /// at the end. Nothing can select it.
  @Test func streamsThatBeginAfterOpeningAreSkipped() throws {
    let folder = try TemporaryDirectory()
    let (first, second, path) = (folder.file("first.ts"), folder.file("second.ts"), folder.file("a.ts"))
    let sine = ["-f", "lavfi", "-i", "sine=duration=60"]
    let video = ["-f", "lavfi", "-i", "testsrc=size=320x240:duration=20"]
    let coded = ["-c:a", "mp2", "-b:a", "384k", "-shortest", "-c:v", "mpeg2video", "-map"]
    try Fixtures.ffmpeg(["-nostdin", "-v", "error"] + sine + coded + ["0:a", first])
    try Fixtures.ffmpeg(["-nostdin", "-v", "error"] + sine + video + coded + ["0:a", "-map", "1:v", second])
    _ = try folder.write(read(first) + read(second) + read(first), as: "a.ts")
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    #expect(demuxer.streams.map(\.codecName) == ["mp2"])
    let packet = try Packet()
    var counts = [0, 0]
    while try demuxer.readPacket(into: packet) == .packet { counts[packet.streamIndex] += 1 }
    print("packets | known stream \(counts[0]) | new stream \(counts[1])")
    // 140 s in frames of 1,152 samples. The new stream is known after a packet of it, and has 500 packets.
    #expect(counts[0] >= 5_300)
    #expect((0...2).contains(counts[1]))
    #expect(demuxer.context.pointee.nb_streams == 2)
  }

  /// The codecs of the allowed decoders that have a parser, by FFmpeg's names.
  private static func parsedCodecs() -> [String] {
    var parsed: Set<UInt32> = []
    var position: UnsafeMutableRawPointer?
    while let parser = av_parser_iterate(&position) {
      withUnsafeBytes(of: parser.pointee.codec_ids) { ids in
        parsed.formUnion(ids.bindMemory(to: Int32.self).filter { $0 != 0 }.map { UInt32($0) })
      }
    }
    let decoders = FormatAllowList.decoders.flatMap(\.names).compactMap { avcodec_find_decoder_by_name($0) }
    return Set(decoders.map(\.pointee.id).filter { parsed.contains($0.rawValue) })
      .map { String(cString: avcodec_get_name($0)) }.sorted()
  }

  @Test func documentListsTheAllowedFormats() throws {
    let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/protocol/sources.md"
    let lines = String(decoding: try read(path), as: UTF8.self).split(separator: "\n").map(String.init)
    for group in FormatAllowList.demuxers + FormatAllowList.decoders {
      let row = "| \(group.reason) | \(group.names.map { "`\($0)`" }.joined(separator: " ")) |"
      #expect(lines.contains(row), "missing in \(path): \(row)")
    }
    let parsers = "| of the decoders above | \(Self.parsedCodecs().map { "`\($0)`" }.joined(separator: " ")) |"
    #expect(lines.contains(parsers), "missing in \(path): \(parsers)")
  }

  private func read(_ path: String) throws -> [UInt8] {
    let stream = try #require(fopen(path, "r"))
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&chunk, 1, chunk.count, stream)
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// FFmpeg's score for the format of a file.
  private func probeScore(_ path: String) throws -> Int32 {
    var bytes = try read(path)
    let count = bytes.count
    bytes += [UInt8](repeating: 0, count: Int(AVPROBE_PADDING_SIZE))
    var score: Int32 = 0
    return path.withCString { name in
      bytes.withUnsafeMutableBufferPointer { buffer in
        var data = AVProbeData(
          filename: name, buf: buffer.baseAddress, buf_size: Int32(count), mime_type: nil)
        _ = av_probe_input_format3(&data, 1, &score)
        return score
      }
    }
  }

  private func openingFailure(_ bytes: [UInt8], name: String) throws -> AVFailure {
    let folder = try TemporaryDirectory()
    return try openingFailure(at: try folder.write(bytes, as: name))
  }

  private func openingFailure(at path: String) throws -> AVFailure {
    do throws(AVFailure) {
      let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
      _ = try Demuxer(source: source)
    } catch {
      return error
    }
    Issue.record("\(path) opened")
    throw AVFailure(code: 0, call: "none")
  }
}

/// Opening limits the bytes that it reads, whatever the file claims.
@Suite struct OpeningLimitTests {
  /// An ID3 tag that claims more bytes than opening may read.
  @Test func openingFailsForATagLargerThanTheLimit() throws {
    let folder = try TemporaryDirectory()
    let size = 3 << 20
    let lengths = [21, 14, 7, 0].map { UInt8(size >> $0 & 0x7F) }
    let path = try folder.write(
      Array("ID3".utf8) + [4, 0, 0] + lengths + [UInt8](repeating: 0, count: size + 1_000), as: "a.mp3")
    var options = Demuxer.Options()
    options.openingByteCount = 1 << 20
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    do throws(AVFailure) {
      _ = try Demuxer(source: source, options: options)
      Issue.record("opened")
    } catch {
      #expect(error.kind == .limit)
    }
    #expect(source.readByteCount <= 1 << 20)
  }

  @Test func openingLimitDoesNotApplyToReading() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 960_000)
    var options = Demuxer.Options()
    options.openingByteCount = 1 << 20
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    let demuxer = try Demuxer(source: source, options: options)
    let packet = try Packet()
    var byteCount = 0
    while try demuxer.readPacket(into: packet) == .packet { byteCount += packet.byteCount }
    #expect(byteCount == 960_000 * 4)
  }

  /// An MP3 whose valid audio is followed by zeros: FFmpeg's parser would collect them all as one frame.
  @Test func zerosAfterAudioEndReadingWithALimitError() throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a.mp3")
    let process = try ChildProcess([
      "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=20", "-write_xing", "0", path,
    ])
    try #require(process.wait() == 0)
    // Sparse: it occupies no disk space.
    try #require(truncate(path, 1 << 30) == 0)
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    let demuxer = try Demuxer(source: source)
    demuxer.select(streamIndex: try #require(demuxer.preferredAudioStreamIndex))
    let packet = try Packet()
    var count = 0
    do throws(AVFailure) {
      while try demuxer.readPacket(into: packet) == .packet { count += 1 }
      Issue.record("the end was found")
    } catch {
      #expect(error.kind == .limit)
    }
    // 20 s are 766 frames of 1,152 samples.
    #expect(count >= 760)
    #expect(source.readByteCount < 120 << 20)
  }

  @Test func openingLimitIsClampedToOneMebibyteAndOneTebibyte() {
    let former = OpeningLimits.byteCount
    defer { OpeningLimits.byteCount = former }
    #expect(former == 64 << 20)
    OpeningLimits.byteCount = 1
    #expect(OpeningLimits.byteCount == 1 << 20)
    OpeningLimits.byteCount = .max
    #expect(OpeningLimits.byteCount == 1 << 40)
  }
}

extension TemporaryDirectory {
  /// Writes a file; returns its path.
  fileprivate func write(_ bytes: [UInt8], as name: String) throws -> String {
    let stream = try #require(fopen(file(name), "w"))
    defer { fclose(stream) }
    try #require(fwrite(bytes, 1, bytes.count, stream) == bytes.count)
    return file(name)
  }
}
