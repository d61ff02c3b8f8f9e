import Foundation

/// The rows of the seek table, by kind of audio. Every codec and container that an available tool can write has one.
extension SeekRow {
  /// Playable formats for which no packaged tool can make a file.
  static let untested: [(name: String, reason: String)] = [
    (
      "he-aac with SBR or PS sent",
      "nothing in Debian main encodes it: FFmpeg's own encoder and vo-aacenc are LC, fdk-aac is"
        + " non-free. Announced, but not sent, it has a row"
    ), ("usac", "nothing here encodes it, nor does FFmpeg 5.1 decode it"),
    ("musepack sv7", "mpcenc of Debian writes SV8"), ("amr, atrac", "nothing here encodes them"),
  ]

  static let all = pcm + adpcm + flac + otherLossless + monkeysAudio + mp3 + aac + opusAndVorbis + otherLossy + edited

  /// Writes one row in a line.
  init(
    _ name: String, _ formats: [RequiredFormat], of source: Music = Music(), _ steps: Step...,
    is expectation: Expectation = .bitExact, edges: Edges = .kept,
    packet: (frames: Int, priming: Int) = (4_096, 0), isLossless: Bool = false
  ) {
    self.init(
      name: name, formats: formats, source: source, steps: steps, expectation: expectation, edges: edges,
      packet: packet, isLossless: isLossless)
  }

  static let mono = Music(channelCount: 1)
  static let mono8k = Music(sampleRateHz: 8_000, channelCount: 1)
  static let mono16k = Music(sampleRateHz: 16_000, channelCount: 1)
  static let at48k = Music(sampleRateHz: 48_000)
  static let deep = Music(encoding: .signed24)
  static let surround = Music(sampleRateHz: 48_000, channelCount: 6)
  static let floating = Music(encoding: .float32)

  /// FFmpeg with output options.
  static func ff(_ options: String, _ product: String) -> Step {
    .tool(
      "ffmpeg", ["-i", "{in}"] + options.split(separator: " ").map(String.init) + ["{out}"], makes: product)
  }

  /// FFmpeg with video in addition to the audio; the options follow both inputs.
  static func video(_ options: String, late offset: String = "0", _ product: String) -> Step {
    .tool(
      "ffmpeg",
      ["-f", "lavfi", "-i", "testsrc=duration=10:size=64x48:rate=25", "-itsoffset", offset, "-i", "{in}"]
        + options.split(separator: " ").map(String.init) + ["{out}"], makes: product)
  }

  /// Another tool with all its arguments.
  private static func tool(_ command: String, _ product: String) -> Step {
    let words = command.split(separator: " ").map(String.init)
    return .tool(words[0], Array(words.dropFirst()), makes: product)
  }

  // MARK: - PCM

  private static let pcm: [SeekRow] = [
    SeekRow("wav s16", [.wav], ff("-c:a pcm_s16le", "a.wav"), isLossless: true),
    SeekRow("wav s24", [.wav], of: deep, ff("-c:a pcm_s24le", "a.wav"), isLossless: true),
    SeekRow("wav f32", [.wav], of: floating, ff("-c:a pcm_f32le", "a.wav"), isLossless: true),
    SeekRow("wav u8 mono 8k", [.wav], of: mono8k, ff("-c:a pcm_u8", "a.wav")),
    SeekRow("wav mulaw", [.wav], ff("-c:a pcm_mulaw", "a.wav")),
    SeekRow("wav extensible s24 (sox)", [.wav], of: deep, tool("sox {in} {out}", "a.wav"), isLossless: true),
    SeekRow("rf64", [.rf64], ff("-c:a pcm_s16le -rf64 always", "a.wav"), isLossless: true),
    SeekRow(
      "w64", [.w64], ff("-c:a pcm_s16le", "a.w64"),
      edges: Edges(start: 0, extraFrames: 1, because: "ffmpeg counts the padding after the samples"), isLossless: true),
    SeekRow("aiff", [.aiff], ff("-c:a pcm_s16be", "a.aiff"), isLossless: true),
    SeekRow("aiff s24 (sox)", [.aiff], of: deep, tool("sox {in} {out}", "a.aiff"), isLossless: true),
    SeekRow("caf", [.caf], ff("-c:a pcm_s24le", "a.caf"), isLossless: true),
    SeekRow("au", [.au], ff("-c:a pcm_s16be", "a.au"), isLossless: true),
    SeekRow("pcm in mov", [], ff("-c:a pcm_s16le", "a.mov"), isLossless: true),
    SeekRow(
      "pcm in mov, later than the video", [], of: at48k, video("-c:v mpeg4 -c:a pcm_s16le", late: "0.5", "a.mov"),
      edges: Edges(
        start: 24_000, extraFrames: 24_000, because: "an empty edit of half a second", silentFrames: 24_000),
      isLossless: true),
    SeekRow("pcm in matroska", [.matroska], ff("-c:a pcm_s16le", "a.mka"), isLossless: true),
    SeekRow(
      "pcm in matroska (mkvmerge)", [.matroska], tool("mkvmerge --quiet -o {out} {in}", "a.mka"), isLossless: true),
    SeekRow("pcm in avi with video", [], video("-c:v mpeg4 -c:a pcm_s16le", "a.avi"), isLossless: true),
    SeekRow("pcm in nut", [], ff("-c:a pcm_s16le", "a.nut"), isLossless: true),
  ]

  private static let ima4State = Expectation.positionExact(
    steps: 127, because: "a block begins with 9 of the predictor's 16 bits")

  private static let adpcm: [SeekRow] = [
    SeekRow(
      "ima adpcm in wav", [.imaInWAV], ff("-c:a adpcm_ima_wav", "a.wav"),
      edges: Edges(start: 0, extraFrames: 235, because: "ffmpeg counts whole blocks"), packet: (1_017, 0)),
    SeekRow("ima adpcm in wav (sox)", [.imaInWAV], tool("sox {in} -e ima-adpcm {out}", "a.wav"), packet: (505, 0)),
    SeekRow(
      "ms adpcm", [.microsoftADPCM], ff("-c:a adpcm_ms", "a.wav"),
      edges: Edges(start: 0, extraFrames: 29, because: "ffmpeg counts whole blocks"), packet: (1_012, 0)),
    SeekRow("ms adpcm (sox)", [.microsoftADPCM], tool("sox {in} -e ms-adpcm {out}", "a.wav"), packet: (500, 0)),
    SeekRow(
      "ima4 in caf", [.ima4], ff("-c:a adpcm_ima_qt", "a.caf"),
      is: ima4State,
      edges: Edges(start: 0, extraFrames: 29, because: "whole blocks are counted"), packet: (64, 0)),
    SeekRow(
      "ima4 in aifc", [.ima4], ff("-c:a adpcm_ima_qt", "a.aifc"),
      is: ima4State,
      edges: Edges(start: 0, extraFrames: 29, because: "whole blocks are counted"), packet: (64, 0)),
    SeekRow(
      "ima4 in mov", [.ima4], ff("-c:a adpcm_ima_qt", "a.mov"),
      is: ima4State,
      edges: Edges(start: 0, extraFrames: 29, because: "whole blocks are counted"), packet: (64, 0)),
    SeekRow(
      "g722", [], of: mono16k, ff("-c:a g722", "a.wav"),
      is: .positionExact(steps: 10, because: "the predictor is never stored"),
      edges: Edges(start: 22, extraFrames: 0, because: "the filters' delay is not stored")),
    SeekRow(
      "gsm in wav", [], of: mono8k, ff("-c:a libgsm_ms", "a.wav"),
      is: .positionExact(steps: 200, because: "the long-term predictor is never stored"),
      edges: Edges(start: 0, extraFrames: 1, because: "ffmpeg counts whole blocks"), packet: (320, 0)),
  ]

  // MARK: - Lossless

  private static let flac: [SeekRow] = [
    SeekRow("flac (ffmpeg)", [.flacWithoutSeekTable], ff("-c:a flac", "a.flac"), packet: (4_608, 0), isLossless: true),
    SeekRow(
      "flac without seek table", [.flacWithoutSeekTable], tool("flac -s --no-seektable -o {out} {in}", "a.flac"),
      isLossless: true),
    SeekRow(
      "flac with seek table", [.flacWithSeekTable], tool("flac -s -S 1s -o {out} {in}", "a.flac"), isLossless: true),
    SeekRow(
      "flac with lying seek table", [.flacWithSeekTable], ff("-c:a flac", "plain.flac"),
      .edit("a seek table 7 frames off by this test", makes: "a.flac") { bytes, path in
        try FLACSeekTable.inserted(into: path, bytes: bytes, interval: 10, shift: 7)
      }, packet: (4_608, 0), isLossless: true),
    SeekRow(
      "flac s24, fast", [], of: deep, tool("flac -s -0 -b 192 -o {out} {in}", "a.flac"), packet: (192, 0),
      isLossless: true),
    SeekRow("flac in ogg (flac)", [.flacInOgg], tool("flac -s --ogg -o {out} {in}", "a.oga"), isLossless: true),
    SeekRow("flac in ogg (ffmpeg)", [.flacInOgg], ff("-c:a flac", "a.oga"), packet: (4_608, 0), isLossless: true),
    SeekRow(
      "flac in matroska", [.flacInMatroska, .matroska], ff("-c:a flac", "a.mka"), packet: (4_608, 0), isLossless: true),
    SeekRow(
      "flac in matroska (mkvmerge)", [.flacInMatroska, .matroska], ff("-c:a flac", "a.flac"),
      tool("mkvmerge --quiet -o {out} {in}", "a.mka"), packet: (4_608, 0), isLossless: true),
    SeekRow("flac in mp4", [], ff("-c:a flac -strict -2", "a.mp4"), packet: (4_608, 0), isLossless: true),
  ]

  private static let otherLossless: [SeekRow] = [
    SeekRow("alac", [.alac], ff("-c:a alac", "a.m4a"), isLossless: true),
    SeekRow("alac s24 in caf", [.alac], of: deep, ff("-c:a alac", "a.caf"), isLossless: true),
    SeekRow("alac in matroska", [.alac, .matroska], ff("-c:a alac", "a.mka"), isLossless: true),
    SeekRow("wavpack (ffmpeg)", [.wavpack], ff("-c:a wavpack", "a.wv"), packet: (22_050, 0), isLossless: true),
    SeekRow(
      "wavpack s24", [.wavpack], of: deep, tool("wavpack -q -h {in} -o {out}", "a.wv"), packet: (22_050, 0),
      isLossless: true),
    SeekRow(
      "wavpack f32", [.wavpack], of: floating, tool("wavpack -q {in} -o {out}", "a.wv"), packet: (22_050, 0),
      isLossless: true),
    SeekRow("wavpack hybrid, lossy", [.wavpack], tool("wavpack -q -b256 {in} -o {out}", "a.wv"), packet: (22_050, 0)),
    SeekRow(
      "wavpack in matroska", [.wavpack, .matroska], ff("-c:a wavpack", "a.mka"), packet: (22_050, 0), isLossless: true),
    SeekRow("tta", [.tta], ff("-c:a tta", "a.tta"), packet: (46_080, 0), isLossless: true),
    SeekRow(
      "tta in matroska", [.tta, .matroska], ff("-c:a tta", "a.mka"),
      edges: Edges(
        start: 0, extraFrames: 1,
        because:
          "ffmpeg makes the codec's header from the length in milliseconds, and the last packet does not decode: silence up to that length"
      ),
      packet: (46_080, 0)),
    SeekRow("truehd", [], of: at48k, ff("-c:a truehd -strict -2", "a.thd"), packet: (40, 0), isLossless: true),
  ]

  /// An encoder of this project, because Debian has none. Every frame is decoded without the others.
  private static func monkeysAudio(frames: Int) -> Step {
    .edit("monkey's audio by this project's encoder, \(frames) samples per frame", makes: "a.ape") { _, path in
      try MediaPatch.apply("monkeys_audio(data, \(frames))", from: path, to: path + ".ape")
      return try readFile(path + ".ape")
    }
  }

  private static let monkeysAudio: [SeekRow] = [
    SeekRow(
      "monkey's audio", [.monkeysAudio], monkeysAudio(frames: 73_728), packet: (73_728, 0), isLossless: true),
    SeekRow(
      "monkey's audio mono 16k", [.monkeysAudio], of: mono16k, monkeysAudio(frames: 9_216), packet: (9_216, 0),
      isLossless: true),
    SeekRow(
      "monkey's audio mono 8k, small frames", [.monkeysAudio], of: mono8k, monkeysAudio(frames: 1_001),
      packet: (1_001, 0), isLossless: true),
  ]

  // MARK: - MPEG audio

  private static let bareMP3 = Edges(
    start: 1_105, extraFrames: 1_693, because: "the file does not declare delay and padding")

  private static let mp3: [SeekRow] = [
    SeekRow("mp3 cbr (lame)", [.mp3CBR], tool("lame --quiet -b 128 {in} {out}", "a.mp3"), packet: (1_152, 1_105)),
    SeekRow("mp3 cbr (ffmpeg)", [.mp3CBR], ff("-c:a libmp3lame -b:a 128k", "a.mp3"), packet: (1_152, 1_105)),
    SeekRow(
      "mp3 cbr 320 mono", [.mp3CBR], of: mono, tool("lame --quiet -b 320 -m m {in} {out}", "a.mp3"),
      packet: (1_152, 1_105)),
    SeekRow(
      "mp3 vbr, xing (lame)", [.mp3VBR, .mp3Xing], tool("lame --quiet -V 2 {in} {out}", "a.mp3"), packet: (1_152, 1_105)
    ),
    SeekRow(
      "mp3 vbr, xing (ffmpeg)", [.mp3VBR, .mp3Xing], ff("-c:a libmp3lame -q:a 4", "a.mp3"), packet: (1_152, 1_105)),
    SeekRow(
      "mp3 vbr, xing with a lying table", [.mp3VBR, .mp3Xing], tool("lame --quiet -V 2 {in} {out}", "plain.mp3"),
      .edit("table of contents reversed by this test", makes: "a.mp3") { bytes, _ in
        try SeekTableEdits.reversingXingTable(bytes)
      }, packet: (1_152, 1_105)),
    SeekRow(
      "mp3 abr, checksums, id3", [.mp3VBR, .mp3Xing],
      tool("lame --quiet --abr 140 -p --tt title --add-id3v2 {in} {out}", "a.mp3"), packet: (1_152, 1_105)),
    SeekRow(
      "mp3 vbr, vbri", [.mp3VBRI, .mp3VBR], tool("lame --quiet -V 2 -t {in} {out}", "plain.mp3"),
      .edit("VBRI header written by this test", makes: "a.mp3") { bytes, _ in try SeekTableEdits.withVBRI(bytes) },
      edges: bareMP3, packet: (1_152, 0)),
    SeekRow(
      "mp3 vbr, vbri with a lying table", [.mp3VBRI, .mp3VBR], tool("lame --quiet -V 2 -t {in} {out}", "plain.mp3"),
      .edit("VBRI header written by this test, its table reversed", makes: "a.mp3") { bytes, _ in
        try SeekTableEdits.reversingVBRITable(SeekTableEdits.withVBRI(bytes))
      },
      edges: bareMP3, packet: (1_152, 0)),
    SeekRow(
      "mp3 vbr without header", [.mp3WithoutHeader, .mp3VBR], tool("lame --quiet -V 2 -t {in} {out}", "a.mp3"),
      edges: bareMP3, packet: (1_152, 0)),
    SeekRow(
      "mp3 cbr without header", [.mp3WithoutHeader, .mp3CBR], ff("-c:a libmp3lame -b:a 64k -write_xing 0", "a.mp3"),
      edges: bareMP3, packet: (1_152, 0)),
    SeekRow(
      "mp3 after garbage", [.mp3AfterGarbage], tool("lame --quiet -V 4 {in} {out}", "plain.mp3"),
      .edit("9,000 bytes of garbage in front by this test", makes: "a.mp3") { bytes, _ in
        SeekTableEdits.garbage(byteCount: 9_000, sync: [0xff, 0xfb, 0x90, 0x64]) + bytes
      }, packet: (1_152, 1_105)),
    SeekRow(
      "mp3 without header after garbage", [.mp3AfterGarbage, .mp3WithoutHeader],
      tool("lame --quiet -V 4 -t {in} {out}", "plain.mp3"),
      .edit("9,000 bytes of garbage in front by this test", makes: "a.mp3") { bytes, _ in
        SeekTableEdits.garbage(byteCount: 9_000, sync: [0xff, 0xfb, 0x90, 0x64]) + bytes
      },
      edges: bareMP3, packet: (1_152, 0)),
    SeekRow(
      "mp3 after a large id3 tag", [.mp3AfterGarbage], tool("lame --quiet -V 4 {in} {out}", "plain.mp3"),
      .edit("an ID3 tag of 300,000 bytes in front by this test", makes: "a.mp3") { bytes, _ in
        SeekTableEdits.id3(byteCount: 300_000) + bytes
      }, packet: (1_152, 1_105)),
    SeekRow(
      "mp3 with tags at the end", [.mp3CBR], tool("lame --quiet -b 160 {in} {out}", "plain.mp3"),
      .edit("garbage and an ID3v1 tag at the end by this test", makes: "a.mp3") { bytes, _ in
        bytes + SeekTableEdits.garbage(byteCount: 4_000, sync: [0xff, 0xfb, 0xa0, 0x64]) + Array("TAG".utf8)
          + [UInt8](repeating: 0, count: 125)
      }, packet: (1_152, 1_105)),
    SeekRow(
      "mp3 8 kbit/s, 16 kHz", [.mp3At8kbit], of: mono16k,
      tool("lame --quiet -b 8 -m m --resample 16 {in} {out}", "a.mp3"),
      edges: Edges(start: 1105, extraFrames: 1409, because: "no header fits into a frame of 36 bytes"),
      packet: (576, 1_105)),
    SeekRow(
      "mp3 8 kbit/s, 8 kHz", [.mp3At8kbit], of: mono8k, tool("lame --quiet -b 8 -m m --resample 8 {in} {out}", "a.mp3"),
      edges: Edges(start: 1105, extraFrames: 1281, because: "no header fits into a frame of 72 bytes"),
      packet: (576, 1_105)),
    SeekRow(
      "mp3 8 kbit/s, 16 kHz, no header", [.mp3At8kbit, .mp3WithoutHeader], of: mono16k,
      ff("-c:a libmp3lame -b:a 8k -write_xing 0", "a.mp3"),
      edges: Edges(start: 1105, extraFrames: 1409, because: "the file does not declare delay and padding"),
      packet: (576, 0)),
    SeekRow(
      "mp3 from another encoder", [], ff("-c:a libshine -b:a 128k", "a.mp3"),
      edges: Edges(
        start: 528, extraFrames: 12, because: "the tag that ffmpeg writes for it declares no delay"),
      packet: (1_152, 0)),
    SeekRow("mp3 in mp4", [.mp3InMP4], ff("-c:a libmp3lame -b:a 96k", "a.mp4"), packet: (1_152, 1_105)),
    SeekRow(
      "mp3 in matroska", [.mp3InMatroska, .matroska], ff("-c:a libmp3lame -q:a 4", "a.mka"),
      edges: Edges(start: 1105, extraFrames: 1105, because: "ffmpeg 5.1 writes DiscardPadding, but no CodecDelay"),
      packet: (1_152, 1_105)),
    SeekRow(
      "mp3 in matroska (mkvmerge)", [.mp3InMatroska, .matroska], tool("lame --quiet -V 4 {in} {out}", "a.mp3"),
      tool("mkvmerge --quiet -o {out} {in}", "a.mka"),
      edges: Edges(
        start: 2257, extraFrames: 2845, because: "mkvmerge leaves the Info frame in, and writes no CodecDelay"),
      packet: (1_152, 1_105)),
    SeekRow(
      "mp3 in wav", [], ff("-c:a libmp3lame -b:a 128k", "a.wav"),
      edges: Edges(start: 1105, extraFrames: 1105, because: "the sample count of the file includes the delay"),
      packet: (1_152, 1_105)),
    SeekRow(
      "mp3 in avi with video", [], video("-c:v mpeg4 -c:a libmp3lame -b:a 128k", "a.avi"),
      edges: bareMP3, packet: (1_152, 1_105)),
    SeekRow(
      "mp2 (ffmpeg)", [.mp2], ff("-c:a mp2 -b:a 192k", "a.mp2"),
      edges: Edges(start: 481, extraFrames: 541, because: "the file does not declare delay and padding"),
      packet: (1_152, 0)),
    SeekRow(
      "mp2 (twolame)", [.mp2], tool("twolame -t 0 -b 192 {in} {out}", "a.mp2"),
      edges: Edges(start: 481, extraFrames: 541, because: "the file does not declare delay and padding"),
      packet: (1_152, 0)),
  ]

  // MARK: - AAC

  private static let noiseSubstitution = Expectation.positionExact(
    steps: 24_000, because: "substituted noise is random")

  private static let aac: [SeekRow] = [
    SeekRow(
      "adts", [.adts, .aacWithoutNoiseSubstitution], ff("-c:a aac -aac_pns 0", "a.aac"),
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "adts with noise substitution", [.adts, .aacWithNoiseSubstitution], ff("-c:a aac -b:a 64k", "a.aac"),
      is: noiseSubstitution,
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "adts mono 8k", [.adts], of: mono8k, ff("-c:a aac -aac_pns 0 -b:a 16k", "a.aac"),
      edges: Edges(start: 1024, extraFrames: 1729, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "adts after garbage", [.adtsAfterGarbage], ff("-c:a aac -aac_pns 0", "plain.aac"),
      .edit("5,000 bytes of garbage in front by this test", makes: "a.aac") { bytes, _ in
        SeekTableEdits.garbage(byteCount: 5_000, sync: [0xff, 0xf1, 0x50, 0x80]) + bytes
      },
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "adts after an id3 tag", [.adts], ff("-c:a aac -aac_pns 0", "plain.aac"),
      .edit("an ID3 tag of 3,000 bytes in front by this test", makes: "a.aac") { bytes, _ in
        SeekTableEdits.id3(byteCount: 3_000) + bytes
      }, edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "m4a with six channels", [.m4aWithEditList], of: surround, ff("-c:a aac -aac_pns 0", "a.m4a"),
      packet: (1_024, 1_024)),
    SeekRow(
      "m4a with edit list", [.m4aWithEditList, .aacWithoutNoiseSubstitution], ff("-c:a aac -aac_pns 0", "a.m4a"),
      packet: (1_024, 1_024)),
    SeekRow(
      "m4a, noise substitution", [.m4aWithEditList, .aacWithNoiseSubstitution], ff("-c:a aac -b:a 64k", "a.m4a"),
      is: noiseSubstitution, packet: (1_024, 1_024)),
    SeekRow(
      "m4a with iTunSMPB alone", [.m4aWithITunSMPB], ff("-c:a aac -aac_pns 0 -metadata title=x", "plain.m4a"),
      .edit("iTunSMPB instead of the edit list by this test", makes: "a.m4a") { bytes, _ in
        try SeekTableEdits.withITunSMPB(
          bytes, priming: 1_024, frameCount: Music().frameCount, packetFrames: 1_024, removesEditList: true)
      }, packet: (1_024, 1_024)),
    SeekRow(
      "m4a with edit list and iTunSMPB", [.m4aWithITunSMPB, .m4aWithEditList],
      ff("-c:a aac -aac_pns 0 -metadata title=x", "plain.m4a"),
      .edit("iTunSMPB beside the edit list by this test", makes: "a.m4a") { bytes, _ in
        try SeekTableEdits.withITunSMPB(
          bytes, priming: 1_024, frameCount: Music().frameCount, packetFrames: 1_024, removesEditList: false)
      }, packet: (1_024, 1_024)),
    SeekRow(
      "m4a in fragments", [.m4aWithEditList],
      ff("-c:a aac -aac_pns 0 -movflags +frag_keyframe+empty_moov+delay_moov -frag_duration 1000000", "a.mp4"),
      packet: (1_024, 1_024)),
    SeekRow(
      "he-aac in mp4, SBR announced, not sent", [], ff("-ar 22050 -c:a aac -aac_pns 0", "plain.m4a"),
      .edit("SBR announced by this test", makes: "a.m4a") { bytes, _ in try SeekTableEdits.announcingSBR(bytes) },
      edges: Edges(
        start: 962, extraFrames: 1, because: "the decoder's filters delay; whole frames of half the rate are counted",
        doubtFrames: 1),
      packet: (2_048, 2_048)),
    SeekRow(
      "aac in mp4 with video", [.mp4WithVideo], of: at48k, video("-c:v mpeg4 -c:a aac -aac_pns 0", "a.mp4"),
      packet: (1_024, 1_024)
    ),
    SeekRow(
      "aac in mp4 with video, 44.1k", [.mp4WithVideo], video("-c:v mpeg4 -c:a aac -aac_pns 0", "a.mp4"),
      packet: (1_024, 1_024)),
    SeekRow(
      "aac in mp4, later than the video", [.mp4WithVideo], of: at48k,
      video("-c:v mpeg4 -c:a aac -aac_pns 0", late: "0.5", "a.mp4"),
      edges: Edges(
        start: 23_968, extraFrames: 23_968, because: "the empty edit has 478 ms, and no edit has the priming",
        silentFrames: 22_944),
      packet: (1_024, 1_024)),
    SeekRow(
      "aac in mpeg-ts, later than the video", [], of: at48k,
      video("-c:v mpeg4 -c:a aac -aac_pns 0", late: "0.5", "a.ts"),
      edges: Edges(
        start: 24_000, extraFrames: 24_130, because: "silence until the audio begins; padding at the end",
        silentFrames: 24_000 - 1_024),
      packet: (1_024, 0)),
    SeekRow(
      "aac in matroska", [.matroska], ff("-c:a aac -aac_pns 0", "a.mka"),
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 1_024)),
    SeekRow(
      "aac in matroska with video", [.matroska], of: at48k, video("-c:v mpeg4 -c:a aac -aac_pns 0", "a.mkv"),
      edges: Edges(start: 1024, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_024, 1_024)),
    SeekRow(
      "aac in mpeg-ts with video", [], of: at48k, video("-c:v mpeg4 -c:a aac -aac_pns 0", "a.ts"),
      edges: Edges(start: 1024, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "aac in mpeg-ts", [], ff("-c:a aac -aac_pns 0", "a.ts"),
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "aac in flv", [], ff("-c:a aac -aac_pns 0", "a.flv"),
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
  ]

  // MARK: - Opus and Vorbis

  private static let opusStep = Expectation.within(steps: 1)

  private static let opusAndVorbis: [SeekRow] = [
    SeekRow(
      "opus (opusenc)", [.opus], of: at48k, tool("opusenc --quiet {in} {out}", "a.opus"), is: opusStep,
      packet: (960, 312)),
    SeekRow("opus (ffmpeg)", [.opus], of: at48k, ff("-c:a libopus", "a.opus"), is: opusStep, packet: (960, 312)),
    SeekRow(
      "opus speech mono 16k", [.opus], of: Music(sampleRateHz: 48_000, channelCount: 1),
      tool("opusenc --quiet --speech --bitrate 16 --framesize 60 {in} {out}", "a.opus"), is: opusStep,
      edges: Edges(start: 0, extraFrames: 0, because: "", doubtFrames: 1),
      packet: (2_880, 312)),
    SeekRow(
      "opus in webm", [.opusInMatroska, .matroska], of: at48k, ff("-c:a libopus", "a.webm"), is: opusStep,
      packet: (960, 312)),
    SeekRow(
      "opus in matroska (mkvmerge)", [.opusInMatroska, .matroska], of: at48k,
      tool("opusenc --quiet {in} {out}", "a.opus"), tool("mkvmerge --quiet -o {out} {in}", "a.mka"), is: opusStep,
      packet: (960, 312)),
    SeekRow("opus in mp4", [], of: at48k, ff("-c:a libopus", "a.mp4"), is: opusStep, packet: (960, 312)),
    SeekRow("vorbis (oggenc)", [.vorbis], tool("oggenc -Q -q 5 -o {out} {in}", "a.ogg"), packet: (1_024, 0)),
    SeekRow("vorbis (ffmpeg)", [.vorbis], ff("-c:a libvorbis", "a.ogg"), packet: (1_024, 0)),
    SeekRow("vorbis mono 8k", [.vorbis], of: mono8k, tool("oggenc -Q -q 1 -o {out} {in}", "a.ogg"), packet: (256, 0)),
    SeekRow(
      "vorbis in matroska", [.vorbisInMatroska, .matroska], ff("-c:a libvorbis", "a.mka"),
      edges: Edges(start: 0, extraFrames: 29, because: "the muxer writes no DiscardPadding"), packet: (1_024, 0)),
    SeekRow(
      "vorbis in webm (mkvmerge)", [.vorbisInMatroska, .matroska], tool("oggenc -Q -q 5 -o {out} {in}", "a.ogg"),
      tool("mkvmerge --quiet -w -o {out} {in}", "a.webm"),
      edges: Edges(start: 0, extraFrames: 29, because: "the muxer writes no DiscardPadding"), packet: (1_024, 0)),
    SeekRow(
      "vorbis in matroska, in milliseconds (mkvmerge)", [.vorbisInMatroska, .matroska],
      tool("oggenc -Q -q 5 -o {out} {in}", "a.ogg"),
      tool("mkvmerge --quiet --timestamp-scale 1000000 -o {out} {in}", "a.mka"),
      edges: Edges(start: 0, extraFrames: 29, because: "the muxer writes no DiscardPadding"), packet: (1_024, 0)),
    SeekRow(
      "vorbis in webm 48k, low (mkvmerge)", [.vorbisInMatroska, .matroska], of: at48k,
      tool("oggenc -Q -q -1 -o {out} {in}", "a.ogg"), tool("mkvmerge --quiet -w -o {out} {in}", "a.webm"),
      edges: Edges(start: 0, extraFrames: 130, because: "the muxer writes no DiscardPadding"), packet: (1_024, 0)),
    SeekRow(
      "vorbis in webm mono 8k (mkvmerge)", [.vorbisInMatroska, .matroska], of: mono8k,
      tool("oggenc -Q -q 1 -o {out} {in}", "a.ogg"), tool("mkvmerge --quiet -w -o {out} {in}", "a.webm"),
      edges: Edges(start: 0, extraFrames: 193, because: "the muxer writes no DiscardPadding"), packet: (256, 0)),
    SeekRow(
      "vorbis in matroska with video (mkvmerge)", [.vorbisInMatroska, .matroska],
      video("-c:v libtheora -c:a libvorbis", "a.ogv"), tool("mkvmerge --quiet -o {out} {in}", "a.mkv"),
      edges: Edges(
        start: 88, extraFrames: 117,
        because: "2 ms are counted for the first packet, which gives no audio; the muxer writes no DiscardPadding"),
      packet: (1_024, 0)),
    SeekRow(
      "opus in matroska with video (mkvmerge)", [.opusInMatroska, .matroska], of: at48k,
      video("-c:v mpeg4 -c:a libopus", "a.mkv"), tool("mkvmerge --quiet -o {out} {in}", "b.mkv"), is: opusStep,
      packet: (960, 312)),
    SeekRow(
      "vorbis in ogg with video", [.vorbis], video("-c:v libtheora -c:a libvorbis", "a.ogv"), packet: (1_024, 0)),
    SeekRow(
      "speex", [], of: mono16k, ff("-c:a libspeex", "a.ogg"),
      is: .positionExact(steps: 2_100, because: "the long-term predictor is never stored"),
      edges: Edges(start: 223, extraFrames: 1, because: "the header has no field for the delay", doubtFrames: 24),
      packet: (320, 0)),
  ]

  // MARK: - Others

  private static let dither = Expectation.positionExact(steps: 10_000, because: "the decoder adds random dither")
  private static let eac3Dither = Expectation.positionExact(steps: 15_000, because: "the decoder adds random dither")

  private static let otherLossy: [SeekRow] = [
    SeekRow(
      "ac-3", [.ac3], of: at48k, ff("-c:a ac3", "a.ac3"), is: dither,
      edges: Edges(start: 256, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_536, 0)),
    SeekRow(
      "ac-3 44.1k", [.ac3], ff("-c:a ac3", "a.ac3"), is: dither,
      edges: Edges(start: 256, extraFrames: 1309, because: "the file does not declare delay and padding"),
      packet: (1_536, 0)),
    SeekRow(
      "ac-3 in mp4", [.ac3], of: at48k, ff("-c:a ac3", "a.mp4"), is: dither,
      edges: Edges(start: 0, extraFrames: 898, because: "the edit list declares the delay, not the padding"),
      packet: (1_536, 256)),
    SeekRow(
      "ac-3 in matroska", [.ac3, .matroska], of: at48k, ff("-c:a ac3", "a.mka"), is: dither,
      edges: Edges(start: 256, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_536, 256)),
    SeekRow(
      "ac-3 in mpeg-ts with video", [.ac3], of: at48k, video("-c:v mpeg4 -c:a ac3", "a.ts"), is: dither,
      edges: Edges(start: 256, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_536, 256)),
    SeekRow(
      "e-ac-3", [.eac3], of: at48k, ff("-c:a eac3", "a.eac3"), is: eac3Dither,
      edges: Edges(start: 256, extraFrames: 1154, because: "the file does not declare delay and padding"),
      packet: (1_536, 0)),
    SeekRow(
      "e-ac-3 in mp4", [.eac3], of: at48k, ff("-c:a eac3", "a.mp4"), is: eac3Dither,
      edges: Edges(start: 0, extraFrames: 898, because: "the edit list declares the delay, not the padding"),
      packet: (1_536, 256)),
    SeekRow(
      "mp2 in mpeg-ps with video", [.mp2], of: at48k, video("-c:v mpeg2video -c:a mp2", "a.mpg"),
      edges: Edges(start: 481, extraFrames: 770, because: "the file does not declare delay and padding"),
      packet: (1_152, 0)),
    SeekRow(
      "aac in latm", [], ff("-c:a aac -aac_pns 0", "a.latm"),
      edges: Edges(start: 1_024, extraFrames: 1_309, because: "the file does not declare delay and padding"),
      packet: (1_024, 0)),
    SeekRow(
      "dts", [], of: at48k, ff("-c:a dca -strict -2", "a.dts"),
      edges: Edges(start: 512, extraFrames: 130, because: "the file does not declare delay and padding"),
      packet: (512, 0)),
    SeekRow(
      "wma 2", [.wma], ff("-c:a wmav2", "a.wma"),
      edges: Edges(
        start: -2048, extraFrames: -739,
        because: "ffmpeg's decoder takes off two blocks that its encoder did not put in"), packet: (2_048, 0)),
    SeekRow(
      "wma 1", [.wma], ff("-c:a wmav1", "a.wma"),
      edges: Edges(
        start: -2048, extraFrames: -739,
        because: "ffmpeg's decoder takes off two blocks that its encoder did not put in"), packet: (2_048, 0)),
    SeekRow(
      "musepack sv8", [.musepack], tool("mpcenc --silent --standard {in} {out}", "a.mpc"),
      edges: Edges(start: 481, extraFrames: 541, because: "ffmpeg's decoder keeps the delay and the padding"),
      packet: (73_728, 0)),
    SeekRow(
      "musepack sv8 48k, low", [.musepack], of: at48k, tool("mpcenc --silent --thumb {in} {out}", "a.mpc"),
      edges: Edges(start: 481, extraFrames: 770, because: "ffmpeg's decoder keeps the delay and the padding"),
      packet: (73_728, 0)),
  ]
}
