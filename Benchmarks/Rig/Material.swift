import Glibc
import RigSupport

/// The media files. A folder caches files that take long to make between runs.
struct Material {
  /// Sample rate of all files except `music`, in Hz. It is the device's rate, so that samples are compared without
  /// resampling.
  static let sampleRateHz = 48_000
  /// Duration of the time-coded files in seconds.
  static let codedSeconds = 300
  /// Duration of the noise in lossy files in seconds.
  static let noiseSeconds = 90
  /// Repetitions of the noise in the long file, which lasts ten hours.
  static let longRepeatCount = 400

  let cache: String

  init(cache: String) throws {
    self.cache = cache
    if mkdir(cache, 0o755) != 0, errno != EEXIST { throw RigError.system(call: "mkdir \(cache)", errno: errno) }
  }

  /// The files with tags that `scripts/bench` makes.
  func taggedFiles() throws -> [String] {
    let paths = (0..<250).flatMap { number in ["mp3", "flac", "m4a", "opus"].map { "\(cache)/tags/\(number).\($0)" } }
    for path in paths where access(path, R_OK) != 0 { throw RigError.missingTool("file \(path)") }
    return paths
  }

  enum Coded: String, CaseIterable {
    case wav = "WAV"
    case flac = "FLAC"
  }

  /// A time-coded file, number `number`, of `frameCount` frames.
  func coded(_ kind: Coded, number: Int, frameCount: Int = codedSeconds * sampleRateHz) throws -> String {
    try cached("coded-\(number)-\(frameCount).\(kind.rawValue.lowercased())") { path in
      switch kind {
      case .wav: try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
      case .flac: try TimeCode.writeFLAC(path: path, file: number, frameCount: frameCount)
      }
    }
  }

  /// Lossy files of white noise, with their encoders.
  enum Lossy: String, CaseIterable {
    case mp3 = "MP3 VBR"
    case mp3Bare = "MP3 VBR, no Xing header"
    case vorbis = "Vorbis"
    case opus = "Opus"
    case m4a = "AAC in M4A"
    case adts = "AAC in ADTS"

    var fileName: String {
      switch self {
      case .mp3: "noise.mp3"
      case .mp3Bare: "bare.mp3"
      case .vorbis: "noise.ogg"
      case .opus: "noise.opus"
      case .m4a: "noise.m4a"
      case .adts: "noise.aac"
      }
    }

    var encoding: [String] {
      switch self {
      case .mp3: ["-c:a", "libmp3lame", "-q:a", "5"]
      case .mp3Bare: ["-c:a", "libmp3lame", "-q:a", "5", "-write_xing", "0", "-id3v2_version", "0"]
      case .vorbis: ["-c:a", "libvorbis", "-q:a", "4"]
      case .opus: ["-c:a", "libopus", "-b:a", "96k"]
      // Without noise substitution, because its noise differs in every decode.
      case .m4a, .adts: ["-c:a", "aac", "-b:a", "128k", "-aac_pns", "0"]
      }
    }
  }

  func noise(_ kind: Lossy) throws -> String {
    let source = try cached("noise.wav") { path in
      try Self.ffmpeg(
        ["-f", "lavfi", "-i", "anoisesrc=color=white:d=\(Self.noiseSeconds):r=\(Self.sampleRateHz):a=0.3:seed=3"]
          + ["-ac", "2", path])
    }
    return try cached(kind.fileName) { try Self.ffmpeg(["-i", source] + kind.encoding + [$0]) }
  }

  /// A lossy file decoded from its start, as the reference.
  func reference(_ kind: Lossy) throws -> [StereoFrame] {
    try decoded(try noise(kind))
  }

  /// The output of `ffmpeg` for a file in the folder.
  func decoded(_ file: String) throws -> [StereoFrame] {
    let name = file.split(separator: "/").last ?? ""
    return try Self.frames(
      try cached("\(name).s16") { path in
        try Self.ffmpeg(["-i", file, "-f", "s16le", "-ac", "2", "-ar", "\(Self.sampleRateHz)", path])
      })
  }

  /// Ten hours of MP3 without a duration or an index.
  func longMP3() throws -> String {
    try cached("ten-hours.mp3") { path in
      let part = try noise(.mp3Bare)
      try ChildProcess.run([
        "/bin/sh", "-c", #"i=0; while [ $i -lt "$3" ]; do cat "$1" || exit 1; i=$((i + 1)); done >"$2""#, "sh", part,
        path,
        "\(Self.longRepeatCount)",
      ])
    }
  }

  /// Ten minutes with the decoding cost of music.
  func music(rate: Int) throws -> String {
    try cached("music-\(rate).flac") { path in
      try Self.ffmpeg(
        ["-f", "lavfi", "-i", "anoisesrc=color=pink:d=600:r=\(rate):a=0.3:seed=5", "-ac", "2", "-c:a", "flac", path])
    }
  }

  /// Ten hours with the decoding cost of music.
  func longMusic() throws -> String {
    try cached("ten-hours.flac") { path in
      try Self.ffmpeg([
        "-stream_loop", "59", "-i", try music(rate: 44_100), "-c:a", "flac", "-compression_level", "0", path,
      ])
    }
  }

  /// A continuous tone of 440 Hz, cut at an odd sample into two files that are encoded separately.
  func halves(_ name: String, _ encoding: [String]) throws -> [String] {
    try [("a", "-t", "2.1"), ("b", "-ss", "2.1")].map { part, option, time in
      try cached("half-\(part).\(name)") { path in
        try Self.ffmpeg(
          ["-f", "lavfi", "-i", "anoisesrc=color=white:d=4.5:r=\(Self.sampleRateHz):a=0.3:seed=9"]
            + [option, time, "-ac", "2"] + encoding + [path])
      }
    }
  }

  // MARK: - Internals

  /// The path of a file in the folder, which is made if it does not exist. The file is renamed when complete.
  private func cached(_ name: String, make: (String) throws -> Void) throws -> String {
    let path = "\(cache)/\(name)"
    guard access(path, R_OK) != 0 else { return path }
    Progress.report("making \(name)")
    let unfinished = "\(cache)/unfinished-\(name)"
    try make(unfinished)
    guard rename(unfinished, path) == 0 else { throw RigError.system(call: "rename \(path)", errno: errno) }
    return path
  }

  private static func ffmpeg(_ arguments: [String]) throws {
    try ChildProcess.run(["ffmpeg", "-nostdin", "-v", "error", "-y"] + arguments)
  }

  static func frames(_ path: String) throws -> [StereoFrame] {
    guard let file = fopen(path, "r") else { throw RigError.system(call: "open \(path)", errno: errno) }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file) / MemoryLayout<StereoFrame>.stride
    rewind(file)
    var frames = [StereoFrame](repeating: .silence, count: count)
    guard fread(&frames, MemoryLayout<StereoFrame>.stride, count, file) == count else {
      throw RigError.system(call: "read \(path)", errno: errno)
    }
    return frames
  }
}
