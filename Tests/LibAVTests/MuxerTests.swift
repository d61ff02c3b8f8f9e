import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadLibAV

/// The output of encoders and muxers, verified with FFmpeg's programs.
@Suite struct MuxerTests {
  /// One codec in one container.
  struct Row: Sendable, CustomTestStringConvertible {
    var format: String
    var encoder: String
    var codec: String
    /// Whether every sample survives unchanged; otherwise only the number of samples is checked.
    var isExact = false
    /// The number of additional frames, for containers that cannot store the number of frames.
    var surplus = 0...0
    var bits: Int?

    var testDescription: String { "\(encoder) in \(format)" }
  }

  static let rows = [
    Row(format: "wav", encoder: "pcm_s16le", codec: "pcm_s16le", isExact: true),
    Row(format: "wav", encoder: "pcm_s24le", codec: "pcm_s24le", isExact: true),
    Row(format: "wav", encoder: "pcm_f32le", codec: "pcm_f32le", isExact: true),
    Row(format: "caf", encoder: "pcm_s16be", codec: "pcm_s16be", isExact: true),
    Row(format: "caf", encoder: "alac", codec: "alac", isExact: true),
    // A packet of IMA 4:1 has 64 frames, and CAF does not store how many of the last ones are valid.
    Row(format: "caf", encoder: "adpcm_ima_qt", codec: "adpcm_ima_qt", surplus: 0...63),
    Row(format: "flac", encoder: "flac", codec: "flac", isExact: true),
    Row(format: "flac", encoder: "flac", codec: "flac", isExact: true, bits: 24),
    Row(format: "ogg", encoder: "flac", codec: "flac", isExact: true),
    Row(format: "ogg", encoder: "libopus", codec: "opus"),
    Row(format: "mp3", encoder: "libmp3lame", codec: "mp3"),
    Row(format: "ipod", encoder: "alac", codec: "alac", isExact: true),
    Row(format: "ipod", encoder: "aac", codec: "aac", surplus: 0...1_023),
    Row(format: "mp4", encoder: "aac", codec: "aac", surplus: 0...1_023),
    Row(format: "mp4", encoder: "libopus", codec: "opus", surplus: 0...959),
    Row(format: "mov", encoder: "pcm_s16le", codec: "pcm_s16le", isExact: true),
    Row(format: "mov", encoder: "pcm_s24be", codec: "pcm_s24be", isExact: true),
    Row(format: "matroska", encoder: "flac", codec: "flac", isExact: true),
    Row(format: "matroska", encoder: "pcm_s16le", codec: "pcm_s16le", isExact: true),
    Row(format: "matroska", encoder: "libopus", codec: "opus"),
    Row(format: "webm", encoder: "libopus", codec: "opus"),
  ]

  @Test("encoded files are read without a warning and with all samples", arguments: rows)
  func encodedFilesAreReadWithoutAWarningAndWithAllSamples(_ row: Row) throws {
    let folder = try TemporaryDirectory()
    let path = "\(folder.path)/audio"
    let samples = Self.tone(frameCount: 30_011)
    try Self.write(samples, to: path, row)
    let probed = try Self.run(
      ["ffprobe", "-v", "warning", "-show_entries", "stream=codec_name,sample_rate,channels", "-of", "csv=p=0", path],
      in: folder.path)
    #expect(probed.output == "\(row.codec),48000,2\n")
    #expect(probed.messages == "")
    let decoded = try Self.run(
      ["ffmpeg", "-nostdin", "-hide_banner", "-v", "warning", "-i", path, "-f", "s16le", "-y", path + ".pcm"],
      in: folder.path)
    #expect(decoded.messages == "")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path + ".pcm"))
    #expect(row.surplus.contains(bytes.count / 4 - 30_011), "\(bytes.count / 4) frames instead of 30011")
    if row.isExact { #expect(bytes == samples.withUnsafeBytes { Data($0) }) }
  }

  @Test("a moved index precedes the media, and each fragment has its own index")
  func movedIndexPrecedesTheMediaAndEachFragmentHasAnIndex() throws {
    let folder = try TemporaryDirectory()
    let row = Row(format: "mp4", encoder: "alac", codec: "alac")
    func boxes(_ options: Muxer.Options) throws -> [String] {
      let path = "\(folder.path)/audio.mp4"
      try Self.write(Self.tone(frameCount: 96_000), to: path, row, options: options)
      let decoded = try Self.run(
        ["ffmpeg", "-nostdin", "-hide_banner", "-v", "warning", "-i", path, "-f", "s16le", "-y", path + ".pcm"],
        in: folder.path)
      #expect(decoded.messages == "")
      #expect(
        try Data(contentsOf: URL(fileURLWithPath: path + ".pcm"))
          == Self.tone(frameCount: 96_000).withUnsafeBytes { Data($0) })
      return Self.boxes([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }
    #expect(try boxes(Muxer.Options()).filter { ["moov", "mdat"].contains($0) } == ["mdat", "moov"])
    var options = Muxer.Options()
    options.movesIndexToFront = true
    #expect(try boxes(options).filter { ["moov", "mdat"].contains($0) } == ["moov", "mdat"])
    options = Muxer.Options()
    options.fragmentMicroseconds = 500_000
    let fragmented = try boxes(options).filter { ["moov", "moof"].contains($0) }
    #expect(fragmented.first == "moov")
    #expect(fragmented.filter { $0 == "moof" }.count >= 3)
  }

  @Test("an ended stream delays later packets by a limited time", arguments: ["vp8", "mjpeg"])
  func endedStreamDelaysLaterPacketsByALimitedTime(_ codecName: String) throws {
    let folder = try TemporaryDirectory()
    let descriptor = open("\(folder.path)/film.mkv", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let muxer = try Muxer(formatName: "matroska", descriptor: descriptor)
    var video = FormatDescription(mediaType: .video, codecName: codecName)
    video.video = .init(width: 64, height: 48)
    let videoIndex = try muxer.addStream(video, timeBase: .microseconds)
    let audioIndex = try muxer.addStream(
      FormatDescription(mediaType: .audio, codecName: "mp2", audio: .init(sampleRateHz: 48_000, channelCount: 2)),
      timeBase: .microseconds)
    try muxer.writeHeader()
    func write(_ byteCount: Int, at microseconds: Int64, _ index: Int) throws {
      let packet = try Packet(bytes: [UInt8](repeating: 7, count: byteCount))
      packet.setTimestamps(pts: microseconds, dts: microseconds, duration: 20_000)
      packet.setKeyFrame(true)
      try muxer.write(packet, streamIndex: index)
    }
    try write(100, at: 0, videoIndex)
    var mostWaiting = 0
    for number in 0..<3_000 {
      try write(10_000, at: Int64(number) * 20_000, audioIndex)
      var status = stat()
      try #require(fstat(descriptor, &status) == 0)
      mostWaiting = max(mostWaiting, number * 10_000 - Int(status.st_size))
    }
    // Ten seconds, and the size of a Matroska cluster.
    #expect(mostWaiting < 500 * 10_000 + 6_000_000, "\(mostWaiting) bytes waited")
    print("\(codecName)\t\(mostWaiting) bytes waited of \(3_000 * 10_000)")
    try muxer.finish()
  }

  @Test("tags and languages are written")
  func tagsAndLanguagesAreWritten() throws {
    let folder = try TemporaryDirectory()
    let path = "\(folder.path)/audio.m4a"
    var options = Muxer.Options()
    options.tags = ["title": "Ein Lied", "artist": "A;B=C"]
    var stream = Muxer.StreamOptions()
    stream.languageCode = "deu"
    let row = Row(format: "ipod", encoder: "alac", codec: "alac")
    try Self.write(Self.tone(frameCount: 4_800), to: path, row, options: options, stream: stream)
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    #expect(demuxer.tag("title") == "Ein Lied")
    #expect(demuxer.tag("artist") == "A;B=C")
    #expect(demuxer.streams.first?.languageCode == "deu")
  }

  @Test("another sample rate and channel count are converted")
  func otherSampleRateAndChannelCountAreConverted() throws {
    let folder = try TemporaryDirectory()
    let path = "\(folder.path)/audio.flac"
    var settings = Encoder.Settings(
      encoderName: "flac", input: SampleLayout(format: .signed16, sampleRateHz: 48_000, channelCount: 2))
    settings.sampleRateHz = 24_000
    settings.channelCount = 1
    settings.channelMask = nil
    try Self.write(Self.tone(frameCount: 48_000), to: path, format: "flac", settings)
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    #expect(demuxer.streams.first?.sampleRateHz == 24_000)
    #expect(demuxer.streams.first?.channelCount == 1)
    #expect(demuxer.streams.first?.durationTicks == 24_000)
  }

  @Test("unknown formats and incompatible codecs are rejected")
  func unknownFormatsAndIncompatibleCodecsAreRejected() throws {
    let folder = try TemporaryDirectory()
    let row = Row(format: "mp3", encoder: "flac", codec: "flac")
    #expect(throws: AVFailure.self, "MP3 cannot contain FLAC") {
      try Self.write(Self.tone(frameCount: 100), to: "\(folder.path)/a", row)
    }
    #expect(throws: AVFailure.self, "FFmpeg writes no AAC into CAF") {
      try Self.write(
        Self.tone(frameCount: 5_000), to: "\(folder.path)/b", Row(format: "caf", encoder: "aac", codec: "aac"))
    }
    func kind(_ body: () throws(AVFailure) -> Void) -> AVFailure.Kind? {
      do throws(AVFailure) { try body() } catch { return error.kind }
      return nil
    }
    let layout = SampleLayout(format: .signed16, sampleRateHz: 48_000, channelCount: 2)
    #expect(kind { () throws(AVFailure) in _ = try Muxer(formatName: "no such", descriptor: -1) } == .noEncoder)
    #expect(
      kind { () throws(AVFailure) in
        _ = try Encoder(settings: Encoder.Settings(encoderName: "no such", input: layout))
      } == .noEncoder)
    var unsupportedRate = Encoder.Settings(encoderName: "libopus", input: layout)
    unsupportedRate.sampleRateHz = 44_100
    #expect(throws: AVFailure.self, "Opus does not support this rate") { _ = try Encoder(settings: unsupportedRate) }
    var mismatchedMask = SampleLayout(format: .signed16, sampleRateHz: 48_000, channelCount: 1)
    mismatchedMask.channelMask = 0x3F
    var wrongMask = Encoder.Settings(encoderName: "flac", input: mismatchedMask)
    wrongMask.channelCount = 2
    #expect(throws: AVFailure.self, "six channel positions for one channel") { _ = try Encoder(settings: wrongMask) }
    #expect(Encoder.Traits(encoderName: "libopus")?.sampleRatesHz.contains(48_000) == true)
    #expect(Encoder.Traits(encoderName: "no such") == nil)
  }

  @Test("a full disk is reported at whichever packet it occurs", arguments: [10, 5_000, 100_000])
  func fullDiskIsReportedAtWhicheverPacketItOccurs(_ frameCount: Int) throws {
    let full = open("/dev/full", O_RDWR | O_CLOEXEC)
    try #require(full >= 0)
    defer { close(full) }
    var failure: AVFailure?
    do throws(AVFailure) {
      try Self.write(
        Self.tone(frameCount: frameCount), to: full, Row(format: "wav", encoder: "pcm_s16le", codec: "pcm_s16le"))
    } catch { failure = error }
    #expect(failure?.code == AVFailure(errno: ENOSPC, call: "").code)
    #expect(failure?.call == "write")
  }

  // MARK: - Tools

  /// Generates a tone of two different channels, 16 bits.
  static func tone(frameCount: Int) -> [Int16] {
    (0..<frameCount * 2).map { index in
      let seconds = Double(index / 2) / 48_000
      return Int16(12_000 * sin(seconds * (index % 2 == 0 ? 2_764 : 4_146)))
    }
  }

  private static func write(
    _ samples: [Int16], to path: String, _ row: Row, options: Muxer.Options = Muxer.Options(),
    stream: Muxer.StreamOptions = Muxer.StreamOptions()
  ) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try write(samples, to: descriptor, row, options: options, stream: stream)
  }

  private static func write(
    _ samples: [Int16], to descriptor: Int32, _ row: Row, options: Muxer.Options = Muxer.Options(),
    stream: Muxer.StreamOptions = Muxer.StreamOptions()
  ) throws(AVFailure) {
    var settings = Encoder.Settings(
      encoderName: row.encoder, input: SampleLayout(format: .signed16, sampleRateHz: 48_000, channelCount: 2))
    settings.bitsPerSample = row.bits
    try write(samples, to: descriptor, format: row.format, settings, options: options, stream: stream)
  }

  private static func write(_ samples: [Int16], to path: String, format: String, _ settings: Encoder.Settings) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try write(samples, to: descriptor, format: format, settings)
  }

  private static func write(
    _ samples: [Int16], to descriptor: Int32, format: String, _ settings: Encoder.Settings,
    options: Muxer.Options = Muxer.Options(), stream: Muxer.StreamOptions = Muxer.StreamOptions()
  ) throws(AVFailure) {
    let muxer = try Muxer(formatName: format, descriptor: descriptor, options: options)
    var settings = settings
    settings.hasGlobalHeader = muxer.wantsGlobalHeader
    let encoder = try Encoder(settings: settings)
    let index = try muxer.addStream(encoder, options: stream)
    try muxer.writeHeader()
    let packet = try Packet()
    // Chunks of an arbitrary size.
    var rest = samples[...]
    while true {
      let chunk = rest.prefix(2 * 1_777)
      rest = rest.dropFirst(chunk.count)
      if chunk.isEmpty {
        try encoder.finish()
      } else {
        try Array(chunk).withUnsafeBufferPointer { bytes throws(AVFailure) in
          if let base = bytes.baseAddress { try encoder.append(base, frameCount: chunk.count / 2) }
        }
      }
      while try encoder.receive(into: packet) == .packet { try muxer.write(packet, streamIndex: index) }
      if chunk.isEmpty { break }
    }
    #expect(try encoder.receive(into: packet) == .endOfStream)
    try muxer.finish()
  }

  /// Returns the names of a movie's top-level boxes.
  private static func boxes(_ bytes: [UInt8]) -> [String] {
    var names: [String] = []
    var offset = 0
    while offset + 8 <= bytes.count {
      let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
      guard size >= 8 else { break }
      offset += size
    }
    return names
  }

  /// Runs a program; returns the contents of its two outputs.
  private static func run(_ arguments: [String], in folder: String) throws -> (output: String, messages: String) {
    try ChildProcess.run(
      [
        "sh", "-c",
        #"out=$1 err=$2; shift 2; "$@" >"$out" 2>"$err"; status=$?; echo >>"$out"; echo >>"$err"; exit $status"#, "sh",
        folder + "/out", folder + "/err",
      ]
        + arguments)
    func text(_ name: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")), as: UTF8.self)
    }
    // Foundation leaks the buffer for an empty file, so no file is empty.
    let output = try text("out").dropLast()
    // FFmpeg 5.1 prints these messages for all such files, including its own: PCM has no speaker names, and CAF no
    // duration.
    let expected = ["Guessed Channel Layout for Input Stream", "Estimating duration from bitrate"]
    let messages = try text("err").split(separator: "\n").filter { line in !expected.contains { line.contains($0) } }
    return (String(output), messages.joined(separator: "\n"))
  }
}
