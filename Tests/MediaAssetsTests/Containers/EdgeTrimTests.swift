import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Encoder padding before and after the audio is not played. The number of frames is the original one, and the trimmed
/// frames are reported with their source.
@Suite struct EdgeTrimTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String] = []
    var rate = 44_100
    /// Frames of the decoded audio.
    var expected: Int64 = 110_250
    var start = EdgeTrim.none
    var end = EdgeTrim.none
    /// Whether the header has the exact length.
    var isPrecise = true
    var testDescription: String { "\(name) \(options.joined(separator: " "))" }
  }

  /// 2.5 s are 110,250 frames, or 120,000 at Opus' rate. Trimmed frames: libmp3lame's delay of 576 and the decoder's
  /// 529; FFmpeg's AAC encoder 1,024; libopus 312. The padding of the last packet follows from the packet sizes.
  static let rows: [Row] = [
    Row(name: "a.wav"), Row(name: "a.aiff"), Row(name: "a.flac"), Row(name: "alac.m4a", options: ["-c:a", "alac"]),
    Row(name: "a.wv"), Row(name: "a.tta"), Row(name: "flac.oga", options: ["-c:a", "flac"]),
    Row(
      name: "a.mp3", options: ["-c:a", "libmp3lame"], start: EdgeTrim(frameCount: 1_105, source: .lameTag),
      end: EdgeTrim(frameCount: 97 * 1_152 - 110_250 - 1_105, source: .lameTag)),
    Row(
      name: "low.mp3", options: ["-c:a", "libmp3lame", "-ar", "22050"], rate: 22_050, expected: 55_125,
      start: EdgeTrim(frameCount: 1_105, source: .lameTag),
      end: EdgeTrim(frameCount: 98 * 576 - 55_125 - 1_105, source: .lameTag)),
    Row(
      name: "plain.mp3", options: ["-c:a", "libmp3lame", "-write_xing", "0"], expected: 97 * 1_152, isPrecise: false),
    Row(
      name: "a.m4a", options: ["-c:a", "aac"], start: EdgeTrim(frameCount: 1_024, source: .editList),
      end: EdgeTrim(frameCount: 342, source: .editList)),
    Row(
      name: "a.mov", options: ["-c:a", "aac"], start: EdgeTrim(frameCount: 1_024, source: .editList),
      end: EdgeTrim(frameCount: 342, source: .editList)),
    Row(
      name: "noedit.m4a", options: ["-c:a", "aac", "-use_editlist", "0"], expected: 1_024 + 110_250,
      end: EdgeTrim(frameCount: 342, source: .trackDuration)),
    Row(
      name: "mp3.mp4", options: ["-c:a", "libmp3lame"], start: EdgeTrim(frameCount: 1_105, source: .editList),
      end: EdgeTrim(frameCount: 389, source: .editList)),
    Row(
      name: "opus.mp4", options: ["-c:a", "libopus", "-strict", "-2"], rate: 48_000, expected: 120_000,
      start: EdgeTrim(frameCount: 312, source: .editList), end: EdgeTrim(frameCount: 648, source: .editList)),
    Row(
      name: "fragments.mp4", options: ["-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov+delay_moov"],
      start: EdgeTrim(frameCount: 1_024, source: .editList), end: EdgeTrim(frameCount: 342, source: .editList)),
    // The encoder's padding is not declared. The edit list, in milliseconds, ends 8 frames before the media, which does
    // not count as a cut.
    Row(
      name: "ac3.mp4", options: ["-c:a", "ac3"], expected: 72 * 1_536 - 256,
      start: EdgeTrim(frameCount: 256, source: .editList)),
    Row(
      name: "mp3.wav", options: ["-c:a", "libmp3lame"], expected: 110_250 + 1_105,
      end: EdgeTrim(frameCount: 389, source: .trackDuration)),
    Row(name: "adts.aac", options: ["-c:a", "aac"], expected: 109 * 1_024, isPrecise: false),
    Row(
      name: "a.ogg", options: ["-c:a", "libvorbis"], end: EdgeTrim(frameCount: 918, source: .granulePosition)),
    Row(
      name: "a.opus", options: ["-c:a", "libopus"], rate: 48_000, expected: 120_000,
      start: EdgeTrim(frameCount: 312, source: .opusPreSkip),
      end: EdgeTrim(frameCount: 648, source: .granulePosition)),
    Row(
      name: "opus.mka", options: ["-c:a", "libopus"], rate: 48_000, expected: 120_000,
      start: EdgeTrim(frameCount: 312, source: .codecDelay),
      end: EdgeTrim(frameCount: 648, source: .discardPadding), isPrecise: false),
    Row(
      name: "opus.webm", options: ["-c:a", "libopus"], rate: 48_000, expected: 120_000,
      start: EdgeTrim(frameCount: 312, source: .codecDelay),
      end: EdgeTrim(frameCount: 648, source: .discardPadding), isPrecise: false),
    // FFmpeg 5.1 writes no CodecDelay for MP3, but the padding.
    Row(
      name: "mp3.mka", options: ["-c:a", "libmp3lame"], expected: 97 * 1_152 - 389,
      end: EdgeTrim(frameCount: 389, source: .discardPadding), isPrecise: false),
    Row(name: "flac.mka", options: ["-c:a", "flac"], isPrecise: false),
    Row(name: "a.ac3", options: ["-c:a", "ac3"], expected: 72 * 1_536, isPrecise: false),
  ]

  static func make(_ row: Row, in folder: TemporaryFolder) throws -> String {
    let path = folder.file(row.name)
    let source = "aevalsrc=0.3*sin(2*PI*440*t):d=2.5:s=44100"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + row.options + [path])
    return path
  }

  @Test(arguments: rows)
  func encoderPaddingIsTrimmedToTheOriginalLength(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try Self.make(row, in: folder))
    let properties = try asset.load()
    let length = MediaTime(frame: row.expected, rate: row.rate)
    #expect(properties.providesPreciseDuration == row.isPrecise)
    if row.isPrecise { #expect(properties.duration == length) }
    let reader = try AudioTrackReader(asset: asset)
    #expect(reader.format.sampleRateHz == row.rate)
    #expect(reader.startTrim == row.start, "known at once")
    #expect(try reader.readToEnd().count == Int(row.expected))
    #expect(reader.startTrim == row.start && reader.endTrim == row.end)
    #expect(reader.end == .init(frame: row.expected, isExact: true))
    #expect(reader.popWarning() == nil && reader.popSkippedPackets() == nil)

    // On request, the duration is exact before playback.
    let precise = try Asset(path: folder.file(row.name), prefersPreciseDuration: true).load()
    #expect(precise.duration == length && precise.providesPreciseDuration)
    // An estimate becomes exact once the end has been read.
    let refined = asset.refine(audioEnd: length)
    #expect((refined != nil) == !row.isPrecise)
    #expect(try asset.load().duration == length && asset.load().providesPreciseDuration)
  }

  /// Raw AC-3 is excluded: its packets are counted in ticks that are coarser than its frames.
  @Test(arguments: rows.filter { $0.name != "a.ac3" })
  func endIsTheSameAfterASeek(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let reader = try AudioTrackReader(asset: Asset(path: try Self.make(row, in: folder)))
    try reader.seekExactly(to: MediaTime(frame: row.expected - 5_000, rate: row.rate))
    let isMatroska = row.name.hasSuffix(".mka") || row.name.hasSuffix(".webm")
    let (position, samples) = try reader.readFrames(100_000)
    #expect(position == row.expected - 5_000)
    // Matroska's timestamps have a resolution of a millisecond.
    #expect(abs(samples.count - 5_000) <= (isMatroska ? row.rate / 1_000 : 0))
    if !isMatroska { #expect(reader.endTrim == row.end) }
  }

  // MARK: - Tags that FFmpeg does not write

  /// FFmpeg searches for LAME's tag only directly after ID3 tags.
  @Test func lameTagAfterGarbageIsUsed() throws {
    let folder = try TemporaryFolder()
    let row = try #require(Self.rows.first { $0.name == "a.mp3" })
    let clean = try Self.make(row, in: folder)
    let whole = try AudioTrackReader(asset: Asset(path: clean)).readToEnd()
    for byteCount in [1_500, 9_000, 60_000] {
      let garbage = SeekTableEdits.garbage(byteCount: byteCount, sync: [0xff, 0xfb, 0x90, 0x64])
      let asset = Asset(path: try folder.write(garbage + readFile(clean), as: "garbage.mp3"))
      #expect(try asset.load().duration == MediaTime(frame: row.expected, rate: row.rate))
      let reader = try AudioTrackReader(asset: asset)
      let samples = try reader.readToEnd()
      #expect(samples == whole, "after \(byteCount) bytes")
      #expect(reader.startTrim == row.start && reader.endTrim == row.end)
    }
  }

  /// iTunes' comment in a file without other encoder information.
  @Test func iTunesCommentTrimsAnM4A() throws {
    let folder = try TemporaryFolder()
    let plain = Row(name: "plain.m4a", options: ["-c:a", "aac", "-aac_pns", "0", "-use_editlist", "0"])
    let bytes = try readFile(Self.make(plain, in: folder))
    let comment = " 00000000 00000400 00000156 000000000001AEAA 00000000 00000000 00000000 00000000"
    let path = try folder.write(MovieBoxes.withITunesComment(comment, in: bytes), as: "tagged.m4a")
    let whole = try AudioTrackReader(asset: Asset(path: folder.file("plain.m4a"))).readToEnd()
    let asset = Asset(path: path)
    #expect(try asset.load().duration == MediaTime(frame: 110_250, rate: 44_100))
    #expect(try asset.load().providesPreciseDuration)
    let reader = try AudioTrackReader(asset: asset)
    let samples = try reader.readToEnd()
    let isSame = samples == Array(whole[1_024..<(1_024 + 110_250)])
    #expect(isSame, "time 0 is the first frame after the encoder's delay")
    #expect(reader.startTrim == EdgeTrim(frameCount: 1_024, source: .iTunSMPB))
    #expect(reader.endTrim == EdgeTrim(frameCount: 342, source: .iTunSMPB))
    try reader.seekExactly(to: MediaTime(frame: 50_000, rate: 44_100))
    let isSameAfterSeek = try reader.readFrames(1_000).samples == Array(samples[50_000..<51_000])
    #expect(isSameAfterSeek)
  }

  /// A fragmented file without an edit list: the decoder trims the priming, and time 0 is the audio after it.
  @Test(arguments: [
    (Row(name: "a.mp4", options: ["-c:a", "libopus", "-ar", "48000", "-movflags", "+frag_keyframe+empty_moov"]), 312),
    (Row(name: "a.ismv", options: ["-c:a", "libvorbis"]), 0),
  ])
  func primingWithoutAnEditListIsBeforeTimeZero(_ row: Row, _ preskip: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    let samples = try reader.readToEnd()
    let decoded = try Tool.decode(path)
    // At most one packet is missing at the end.
    let packetCount = 2_048 * reader.format.channelCount
    #expect(samples.count > 0 && (decoded.count - packetCount...decoded.count).contains(samples.count))
    let isSame = zip(samples, decoded).allSatisfy { abs($0 - $1) <= 1e-6 }
    #expect(isSame)
    #expect(reader.startTrim == (preskip > 0 ? EdgeTrim(frameCount: Int64(preskip), source: .opusPreSkip) : .none))
    let rate = reader.format.sampleRateHz
    let frameCount = Int64(samples.count / reader.format.channelCount)
    #expect(try asset.load().duration == MediaTime(frame: frameCount, rate: rate))
    try reader.seekExactly(to: .zero)
    let isSameAfterSeek =
      try reader.readFrames(1_000).samples == Array(samples.prefix(1_000 * reader.format.channelCount))
    #expect(isSameAfterSeek)
  }

  @Test func iTunesCommentTrimsAnMP3() throws {
    let folder = try TemporaryFolder()
    let plain = Row(name: "plain.mp3", options: ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"])
    let bytes = try readFile(Self.make(plain, in: folder))
    let whole = try AudioTrackReader(asset: Asset(path: folder.file("plain.mp3"))).readToEnd()
    let text = " 00000000 00000240 00000396 000000000001AEAA 00000000 00000000"
    let body = [UInt8(0)] + Array("engiTunSMPB\0\(text)".utf8)
    let frame = Array("COMM".utf8) + [0, 0, 0, UInt8(body.count), 0, 0] + body
    let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, UInt8(frame.count >> 7), UInt8(frame.count & 127)] + frame
    let path = try folder.write(tag + bytes, as: "tagged.mp3")
    let asset = Asset(path: path)
    #expect(try asset.load().duration == MediaTime(frame: 110_250, rate: 44_100))
    let reader = try AudioTrackReader(asset: asset)
    let samples = try reader.readToEnd()
    let isSame = samples == Array(whole[1_105..<(1_105 + 110_250)])
    #expect(isSame)
    #expect(reader.startTrim == EdgeTrim(frameCount: 576 + 529, source: .iTunSMPB))
    #expect(reader.endTrim == EdgeTrim(frameCount: 0x396 - 529, source: .iTunSMPB))
  }

  @Test(arguments: [
    "", " 00000000 00000240", " 0 240 396 nonsense", " 0 ffffff 0 1", " 0 -5 0 1", " 0 240 396 fffffffffffffffff",
  ])
  func malformedITunesCommentIsIgnored(_ text: String) {
    #expect(ITunesGaplessComment(text) == nil)
    #expect(ITunesGaplessComment(nil) == nil)
  }

  @Test func mp3InfoFramesAreParsed() {
    // MPEG-1, layer III, 128 kbit/s, 44.1 kHz, stereo.
    let header: [UInt8] = [0xff, 0xfb, 0x90, 0x00]
    let whole: Int64 = 115_200
    let start = header + [UInt8](repeating: 0, count: 32)
    // Frames and bytes: 100 MPEG frames.
    let xing = start + Array("Xing".utf8) + [0, 0, 0, 3, 0, 0, 0, 100, 0, 0, 0, 9]
    let encoder = Array("LAME3.100".utf8) + [UInt8](repeating: 0, count: 12) + [0x24, 0x03, 0x00]
    let lame = MP3InfoFrame(bytes: [0, 0xff, 0] + xing + encoder)
    #expect(lame?.padding == .init(startFrames: 576, endFrames: 768))
    #expect(lame?.audioFrameCount == whole - 576 - 768)
    let other = MP3InfoFrame(bytes: xing + Array("Gogo".utf8) + [UInt8](repeating: 0xff, count: 30))
    #expect(other?.padding == nil && other?.audioFrameCount == whole)
    let vbri = start + Array("VBRI".utf8) + [UInt8](repeating: 1, count: 10) + [0, 0, 0, 77]
    #expect(MP3InfoFrame(bytes: vbri)?.audioFrameCount == 88_704)
    for count in 0..<vbri.count { #expect(MP3InfoFrame(bytes: Array(vbri.prefix(count)))?.mpegFrameCount == nil) }
    for count in 0..<xing.count { #expect(MP3InfoFrame(bytes: Array(xing.prefix(count)))?.padding == nil) }
    #expect(MP3InfoFrame(bytes: []) == nil)
  }

  /// Columns: the header's number of frames, its number of bytes, the actual bytes, whether audio follows, and whether
  /// the length is plausible.
  @Test(
    arguments: [
      (100, 41_800, 41_800, false, true),
      (100, 41_800, 10_000, false, true),
      (100, 41_800, 41_928, false, true),
      (100, 41_800, 90_000, false, true),
      (100, 41_800, 90_000, true, false),
      (20, 41_800, 41_800, false, false),
      (8_500, 11_000, 11_000, false, false),
      (8_500, nil, 11_000, false, false),
      (20, nil, 41_800, true, false),
      (20, nil, 41_800, false, true),
      (nil, 41_800, 90_000, true, true),
    ] as [(Int64?, Int64?, Int64, Bool, Bool)])
  func infoFrameLengthIsPlausibleOnlyIfItFitsTheFile(
    _ frameCount: Int64?, _ byteCount: Int64?, _ present: Int64, _ hasAudio: Bool, _ isPlausible: Bool
  ) throws {
    var header: [UInt8] = [0xff, 0xfb, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + Array("Xing".utf8)
    header += [0, 0, 0, (frameCount == nil ? 0 : 1) + (byteCount == nil ? 0 : 2)]
    for number in [frameCount, byteCount].compactMap({ $0 }) {
      header += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
    let info = try #require(MP3InfoFrame(bytes: header))
    #expect(info.mpegFrameCount == frameCount && info.byteCount == byteCount)
    #expect(info.hasPlausibleLength(availableByteCount: present) { _ in hasAudio } == isPlausible)
  }

  /// Matroska's CodecDelay of a codec other than Opus, whose decoder ignores it.
  @Test func matroskaCodecDelayIsTrimmed() throws {
    let folder = try TemporaryFolder()
    let row = Row(name: "a.mka", options: ["-c:a", "libmp3lame"])
    var bytes = try readFile(Self.make(row, in: folder))
    let whole = try AudioTrackReader(asset: Asset(path: folder.file("a.mka"))).readToEnd()
    // Replaces the track's UID: 1,105 frames in nanoseconds.
    let offset = try #require((0..<2_000).first { Array(bytes[$0..<($0 + 3)]) == [0x73, 0xc5, 0x88] })
    let nanoseconds = UInt64((1_105.0 / 44_100 * 1e9).rounded())
    bytes.replaceSubrange(
      offset..<(offset + 11), with: [0x56, 0xaa, 0x88] + withUnsafeBytes(of: nanoseconds.bigEndian) { Array($0) })
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "delay.mka")))
    let samples = try reader.readToEnd()
    let isSame = samples == Array(whole[1_105...])
    #expect(isSame && samples.count == 110_250)
    #expect(reader.startTrim == EdgeTrim(frameCount: 1_105, source: .codecDelay))
    #expect(reader.endTrim == EdgeTrim(frameCount: 389, source: .discardPadding))
  }

  // MARK: - Edit lists

  /// The leading silence, and the frame of the file without its edit list that follows.
  @Test(arguments: [
    // Durations are in the movie's timescale of 1,000 a second, media times in frames.
    (edits: [(1_500, 20_000)], silence: 0, start: 20_000, frames: 66_150),
    (edits: [(500, -1), (2_000, 1_024)], silence: 22_050, start: 1_024, frames: 110_250),
    (edits: [(2_500, 0)], silence: 0, start: 0, frames: 110_250),
  ])
  func editListDeterminesTimeZero(_ row: (edits: [(Int, Int)], silence: Int, start: Int, frames: Int)) throws {
    let folder = try TemporaryFolder()
    let bytes = try readFile(Self.make(Row(name: "a.m4a", options: ["-c:a", "aac", "-aac_pns", "0"]), in: folder))
    let whole = try AudioTrackReader(
      asset: Asset(path: folder.write(MovieBoxes.withEdits([], in: bytes), as: "whole.m4a"))
    ).readToEnd()
    let asset = Asset(path: try folder.write(MovieBoxes.withEdits(row.edits, in: bytes), as: "edited.m4a"))
    #expect(try asset.load().duration == MediaTime(frame: Int64(row.frames), rate: 44_100))
    let reader = try AudioTrackReader(asset: asset)
    let samples = try reader.readToEnd()
    let isSilent = samples.prefix(row.silence).allSatisfy { $0 == 0 }
    let end = row.start + row.frames - row.silence
    let isSame = Array(samples.dropFirst(row.silence)) == Array(whole[row.start..<end])
    #expect(samples.count == row.frames && isSilent && isSame)
    let mediaStart = row.edits.last?.1 ?? 0
    #expect(reader.startTrim == (mediaStart > 0 ? EdgeTrim(frameCount: Int64(mediaStart), source: .editList) : .none))
    #expect(reader.popWarning() == nil)
  }
}
