import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Headers with a wrong length, and timestamps that jump: all audio plays, the position stays correct, and the fault is
/// reported.
@Suite struct InconsistentTimingTests {
  private static let frameCount = 352_800  // 8 s

  /// A time-coded file, made from WAV by FFmpeg with these options.
  private func make(_ name: String, _ options: [String], in folder: TemporaryFolder) throws -> [UInt8] {
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount)
    let source = try folder.write(wav, as: "source.wav")
    guard name != "a.wav" else { return wav }
    try Tool.ffmpeg(arguments: ["-i", source] + options + [folder.file(name)])
    return try readFile(folder.file(name))
  }

  /// The first frame whose time code differs from its position plus `shift`.
  private func firstWrong(_ samples: [Float], in range: Range<Int>, shift: Int = 0) -> Int? {
    range.first { IndexedAudio.index(left: samples[2 * $0], right: samples[2 * $0 + 1]) != Int64($0 + shift) }
  }

  // MARK: - Lengths

  enum WrongLength: CaseIterable {
    case wavLong, wavZero, wavUnknown, rf64, rf64Long, flacLong, flacShort, flacUnknown, aiffLong, movieLong, movieShort
    case xingLong, xingShort, factLong, factShort, matroskaLong, matroskaShort

    /// The error that ends reading, and the warning.
    var codes: (error: Int, warning: Int) {
      switch self {
      case .wavLong, .rf64Long, .flacLong, .aiffLong, .xingLong, .factLong, .matroskaLong: (3004, 0)
      case .flacShort, .movieShort, .xingShort, .matroskaShort: (0, 3006)
      // The usual ways to declare an unknown length, and lengths that FFmpeg corrects with the sample table or the bit
      // rate.
      case .wavZero, .wavUnknown, .rf64, .flacUnknown, .movieLong, .factShort: (0, 0)
      }
    }
  }

  private func fileWithWrongLength(_ wrongLength: WrongLength, in folder: TemporaryFolder) throws -> String {
    func patched(_ name: String, _ options: [String] = [], _ patch: (inout [UInt8]) throws -> Void) throws -> String {
      var bytes = try make(name, options, in: folder)
      try patch(&bytes)
      return try folder.write(bytes, as: "lying-\(name)")
    }
    func put(_ value: [UInt8], at offset: Int, of bytes: inout [UInt8]) {
      bytes.replaceSubrange(offset..<(offset + value.count), with: value)
    }
    func littleEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    let length = UInt32(Self.frameCount)
    switch wrongLength {
    case .wavLong: return try patched("a.wav") { put(littleEndian(length * 8), at: 40, of: &$0) }
    case .wavZero: return try patched("a.wav") { put(littleEndian(0), at: 40, of: &$0) }
    case .wavUnknown: return try patched("a.wav") { put(littleEndian(.max), at: 40, of: &$0) }
    case .rf64, .rf64Long:
      return try patched("a.wav") { bytes in
        // EBU Tech 3306: 64-bit lengths of the file, the data and the samples, and no table.
        let lengths = [0, UInt64(length) * (wrongLength == .rf64 ? 4 : 8), 0].flatMap { value in
          withUnsafeBytes(of: UInt64(value).littleEndian) { Array($0) }
        }
        put(Array("RF64".utf8) + littleEndian(.max), at: 0, of: &bytes)
        put(littleEndian(.max), at: 40, of: &bytes)
        bytes.insert(contentsOf: Array("ds64".utf8) + littleEndian(28) + lengths + littleEndian(0), at: 12)
      }
    // The last 32 bits of the sample count in STREAMINFO (RFC 9639, 8.2).
    case .flacLong: return try patched("a.flac") { put(MovieBoxes.bigEndian(length * 2), at: 22, of: &$0) }
    case .flacShort: return try patched("a.flac") { put(MovieBoxes.bigEndian(length / 2), at: 22, of: &$0) }
    case .flacUnknown: return try patched("a.flac") { put(MovieBoxes.bigEndian(UInt32(0)), at: 22, of: &$0) }
    case .aiffLong:
      return try patched("a.aiff") { bytes in
        func chunkOffset(_ name: String) throws -> Int {
          try #require((0..<200).first { Array(bytes[$0..<($0 + 4)]) == Array(name.utf8) })
        }
        put(MovieBoxes.bigEndian(length * 2), at: try chunkOffset("COMM") + 10, of: &bytes)
        put(MovieBoxes.bigEndian(length * 8 + 8), at: try chunkOffset("SSND") + 4, of: &bytes)
      }
    case .movieLong, .movieShort:
      return try patched("alac.m4a", ["-c:a", "alac"]) { bytes in
        bytes = try MovieBoxes.withEdits([], in: bytes)
        let header = try MovieBoxes.range(of: ["moov", "trak", "mdia", "mdhd"], in: bytes).lowerBound
        let duration = wrongLength == .movieLong ? length * 2 : length / 2
        put(MovieBoxes.bigEndian(duration), at: header + 24, of: &bytes)
      }
    case .xingLong, .xingShort:
      return try patched("a.mp3", ["-c:a", "libmp3lame", "-id3v2_version", "0"]) { bytes in
        let offset = 36 + 8
        let count = MovieBoxes.number(bytes, offset)
        put(MovieBoxes.bigEndian(wrongLength == .xingLong ? count * 2 : count / 2), at: offset, of: &bytes)
      }
    case .factLong, .factShort:
      return try patched("fact.wav", ["-c:a", "libmp3lame"]) { bytes in
        let offset = try #require((0..<200).first { Array(bytes[$0..<($0 + 4)]) == Array("fact".utf8) })
        put(littleEndian(wrongLength == .factLong ? length * 3 : length / 2), at: offset + 8, of: &bytes)
      }
    case .matroskaLong, .matroskaShort:
      return try patched("a.mka", ["-c:a", "flac"]) { bytes in
        // Duration: a float of 8 bytes, in milliseconds.
        let offset = try #require((0..<2_000).first { Array(bytes[$0..<($0 + 3)]) == [0x44, 0x89, 0x88] })
        let milliseconds = wrongLength == .matroskaLong ? 16_000.0 : 4_000.0
        put(MovieBoxes.bigEndian(milliseconds.bitPattern), at: offset + 3, of: &bytes)
      }
    }
  }

  @Test(arguments: WrongLength.allCases)
  func fileWithAWrongLengthPlaysCompletely(_ wrongLength: WrongLength) throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try fileWithWrongLength(wrongLength, in: folder))
    let announced = try asset.load().duration
    let reader = try AudioTrackReader(asset: asset)
    var samples: [Float] = []
    let code = errorCode { try reader.readToEnd(into: &samples) }
    #expect(code == wrongLength.codes.error)
    let isMP3 = [.xingLong, .xingShort, .factLong, .factShort].contains(wrongLength)
    if isMP3 {
      // The position of the padding is unknown then.
      #expect(abs(samples.count / 2 - Self.frameCount) < 2_304)
    } else {
      #expect(samples.count == 2 * Self.frameCount)
      #expect(firstWrong(samples, in: 0..<min(Self.frameCount, samples.count / 2)) == nil)
    }
    let warning = reader.popWarning()
    #expect(warning?.error.code.rawValue ?? 0 == wrongLength.codes.warning)
    // The announced duration is corrected.
    let end = try #require(reader.end)
    #expect(end == .init(frame: Int64(samples.count / 2), isExact: true))
    let refined = asset.refine(audioEnd: MediaTime(frame: end.frame, rate: 44_100))
    if end.frame != announced.frameIndex(rate: 44_100, rounding: .halfAwayFromZero) {
      #expect(refined?.duration != announced && refined?.providesPreciseDuration == true)
    }
    #expect(try asset.load().duration == MediaTime(frame: end.frame, rate: 44_100))
    // Seeks work.
    try reader.seekExactly(to: MediaTime(frame: 300_000, rate: 44_100))
    let (position, chunk) = try reader.readFrames(10)
    #expect(position == 300_000)
    if !isMP3 {
      let index = try #require(IndexedAudio.index(left: chunk[0], right: chunk[1]))
      #expect(abs(index - 300_000) <= (wrongLength == .matroskaLong || wrongLength == .matroskaShort ? 44 : 0))
    }
  }

  // MARK: - Timestamps

  /// The jump of timestamps in the middle, and the change of the total duration, both in milliseconds.
  @Test(arguments: [
    (jump: 3_000, change: 3_000), (jump: 30_000, change: 0), (jump: -200, change: 0), (jump: -3_000, change: 0),
  ])
  func matroskaTimestampJumpBecomesSilenceOrIsIgnored(_ row: (jump: Int, change: Int)) throws {
    let folder = try TemporaryFolder()
    var bytes = try make("a.mka", ["-c:a", "flac", "-cluster_time_limit", "500"], in: folder)
    var jumpFrame = 0
    for offset in bytes.indices.dropLast(16)
    where bytes[offset] == 0x1f && Array(bytes[offset..<(offset + 4)]) == [0x1f, 0x43, 0xb6, 0x75] {
      // After the size and a checksum.
      let offsets = (offset + 4)..<(offset + 20)
      guard let element = offsets.first(where: { bytes[$0] == 0xe7 && bytes[$0 + 1] == 0x82 }) else { continue }
      let time = Int(bytes[element + 2]) << 8 | Int(bytes[element + 3])
      guard time >= 4_000 else { continue }
      if jumpFrame == 0 { jumpFrame = time * 441 / 10 }
      let changed = time + row.jump
      bytes.replaceSubrange((element + 2)..<(element + 4), with: MovieBoxes.bigEndian(UInt16(changed)))
    }
    try #require(jumpFrame > 0)
    try expectJump(
      Asset(path: folder.write(bytes, as: "jump.mka")), at: jumpFrame, change: row.change * 441 / 10, tolerance: 45,
      isReported: row.jump != -200)
  }

  /// The sample table declares too long or too short a duration for one sample.
  @Test(arguments: [(44_100, 44_100), (-2_048, 0), (600_000, 0)])
  func movieTimestampJumpBecomesSilenceOrIsIgnored(_ jump: Int, _ change: Int) throws {
    let folder = try TemporaryFolder()
    let bytes = try MovieBoxes.withEdits([], in: make("a.m4a", ["-c:a", "alac"], in: folder))
    let count = (Self.frameCount + 4_095) / 4_096
    let last = Self.frameCount - (count - 1) * 4_096
    let path = try folder.write(
      MovieBoxes.withSampleDurations(
        [(40, 4_096), (1, 4_096 + jump), (count - 42, 4_096), (1, last)], duration: Self.frameCount + jump, in: bytes),
      as: "jump.m4a")
    if jump < 0 {
      // A jump of less than several frames: samples are contiguous up to the declared end of the track.
      let samples = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
      #expect(samples.count / 2 == Self.frameCount + jump && firstWrong(samples, in: 0..<samples.count / 2) == nil)
      return
    }
    try expectJump(Asset(path: path), at: 41 * 4_096, change: change, tolerance: 0)
  }

  /// The sample table moves each timestamp by up to `reach` frames. The audio is that of the file with right
  /// timestamps, from the first sample after the priming to the declared end.
  @Test(arguments: [11, 300, 900])
  func irregularMovieTimestampsMoveNoAudio(_ reach: Int) throws {
    let folder = try TemporaryFolder()
    _ = try make("a.m4a", ["-t", "3", "-c:a", "aac", "-aac_pns", "0"], in: folder)
    let whole = try AudioTrackReader(asset: Asset(path: folder.file("a.m4a"))).readToEnd()
    let path = folder.file("jitter.m4a")
    try MediaPatch.apply("mp4_jitter(data, \(reach), \(reach))", from: folder.file("a.m4a"), to: path)
    let asset = Asset(path: path)
    #expect(try AudioTrackReader(asset: asset).readToEnd() == whole)
    #expect(
      try Asset(path: path, prefersPreciseDuration: true).load().duration
        == MediaTime(frame: Int64(whole.count / 2), rate: 44_100))
    let reader = try AudioTrackReader(asset: asset)
    for target in [100_000, 0, 1_500, 60_000] {
      try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: 44_100))
      let (position, samples) = try reader.readFrames(3_000)
      #expect(position == Int64(target) && reader.positionDoubt == nil)
      #expect(SampleComparison.largestDifference(samples, whole[(2 * target)...]) <= 1e-4, "target \(target)")
    }
  }

  @Test(arguments: [(3_000, 3_000), (20_000, 0), (-200, -200), (-2_000, 0)])
  func transportStreamTimestampJumpBecomesSilenceOrACut(_ jump: Int, _ change: Int) throws {
    let folder = try TemporaryFolder()
    var bytes = try make("a.ts", ["-c:a", "mp2", "-f", "mpegts"], in: folder)
    let whole = try AudioTrackReader(asset: Asset(path: folder.file("a.ts"))).readToEnd()
    var first: Int?
    for packet in stride(from: 0, to: bytes.count - 187, by: 188) where bytes[packet + 1] & 0x40 != 0 {
      let adaptation = bytes[packet + 3] & 0x20 != 0 ? 1 + Int(bytes[packet + 4]) : 0
      let header = packet + 4 + adaptation
      guard Array(bytes[header..<(header + 4)]) == [0, 0, 1, 0xc0], bytes[header + 7] & 0x80 != 0 else { continue }
      let parts = (9..<14).map { UInt64(bytes[header + $0]) }
      let pts = (parts[0] >> 1 & 7) << 30 | parts[1] << 22 | (parts[2] >> 1) << 15 | parts[3] << 7 | parts[4] >> 1
      if first == nil { first = Int(pts) }
      guard Int(pts) - (first ?? 0) >= 4 * 90_000 else { continue }
      let changed = UInt64(Int(pts) + jump * 90)
      bytes[header + 9] = 0x21 | UInt8(changed >> 30 & 7) << 1
      bytes[header + 10] = UInt8(changed >> 22 & 0xff)
      bytes[header + 11] = 1 | UInt8(changed >> 15 & 0x7f) << 1
      bytes[header + 12] = UInt8(changed >> 7 & 0xff)
      bytes[header + 13] = 1 | UInt8(changed & 0x7f) << 1
    }
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "jump.ts")))
    let samples = try reader.readToEnd()
    #expect(abs((samples.count - whole.count) / 2 - change * 441 / 10) < 100)
    #expect(try #require(reader.popWarning()).error.code == .irregularTimestamps)
    #expect(reader.popWarning() == nil)
  }

  /// Reads a time-coded file whose timestamps jump. Expects silence or a cut of `change` frames, or neither, and all
  /// other audio. A jump of less than several frames is noise, and is not reported.
  private func expectJump(
    _ asset: Asset, at frame: Int, change: Int, tolerance: Int, isReported: Bool = true
  ) throws {
    let reader = try AudioTrackReader(asset: asset)
    var samples: [Float] = []
    // If the count started again, there is less audio than the header declares.
    let code = errorCode { try reader.readToEnd(into: &samples) }
    #expect(code == 0 || code == 3004 && change == 0)
    let count = samples.count / 2
    try #require(abs(count - (Self.frameCount + change)) <= tolerance)
    let shift = Self.frameCount - count
    let before = change == 0 ? count : frame - tolerance
    #expect(firstWrong(samples, in: 0..<before) == nil)
    #expect(firstWrong(samples, in: (frame + max(0, -shift) + 8_192)..<count, shift: shift) == nil)
    if change > 0 {
      let isSilent = samples[(2 * (frame + tolerance))..<(2 * (frame + change - tolerance))].allSatisfy { $0 == 0 }
      #expect(isSilent)
    }
    guard isReported else {
      let warning = reader.popWarning()
      #expect(warning?.error.code != .irregularTimestamps)
      return
    }
    let warning = try #require(reader.popWarning())
    #expect(warning.error.code == .irregularTimestamps)
    #expect(abs(warning.time.seconds - Double(frame) / 44_100) < 0.2)
    // With silence in it, the audio may be longer than declared.
    if let further = reader.popWarning() { #expect(further.error.code == .wrongLength && change > 0) }
  }
}
