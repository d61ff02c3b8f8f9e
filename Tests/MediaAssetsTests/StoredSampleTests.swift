import Foundation
import LibAV
import MediaCore
import Testing

@testable import MediaAssets

/// Reading samples as they are stored.
@Suite struct StoredSampleTests {
  /// Formats of sound, and what makes them of a WAV file of noise.
  private static let sources: [(name: String, options: [String])] = [
    ("16.wav", []), ("24.wav", ["-c:a", "pcm_s24le"]), ("be.aiff", []), ("alaw.wav", ["-c:a", "pcm_alaw"]),
    ("adpcm.wav", ["-c:a", "adpcm_ima_wav"]), ("flac", []), ("wv", []), ("alac.m4a", ["-c:a", "alac"]),
    ("alac.caf", ["-c:a", "alac"]), ("cbr.mp3", ["-c:a", "libmp3lame"]),
    ("vbr.mp3", ["-c:a", "libmp3lame", "-q:a", "4"]),
    ("bare.mp3", ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"]),
    ("m4a", ["-c:a", "aac", "-aac_pns", "0"]), ("aac", ["-c:a", "aac", "-aac_pns", "0"]),
    ("frag.mp4", ["-c:a", "aac", "-aac_pns", "0", "-movflags", "frag_keyframe+empty_moov"]),
    ("ogg", ["-c:a", "libvorbis"]),
    ("opus", ["-c:a", "libopus"]), ("opus.mka", ["-c:a", "libopus"]), ("vorbis.mka", ["-c:a", "libvorbis"]),
    ("aac.mka", ["-c:a", "aac", "-aac_pns", "0"]), ("flac.mka", ["-c:a", "flac"]), ("mp3.mka", ["-c:a", "libmp3lame"]),
    ("oga", ["-c:a", "flac", "-f", "ogg"]), ("ac3", ["-c:a", "ac3"]), ("ac3.mka", ["-c:a", "ac3"]), ("mp2", []),
    ("tta", []),
    ("late.m4a", ["-af", "adelay=0", "-c:a", "aac", "-aac_pns", "0", "-output_ts_offset", "0.3"]),
  ]

  private static func make(_ row: Int, in folder: TemporaryFolder, seconds: Double, rate: Int = 44_100) throws -> String
  {
    let (name, options) = sources[row]
    let noise = folder.file("noise.wav")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "anoisesrc=seed=\(row):r=\(rate):d=\(seconds),aformat=channel_layouts=stereo", noise)
    let path = folder.file("a.\(name)")
    try Tool.ffmpeg(arguments: ["-i", noise] + options + [path])
    return path
  }

  /// The sound, decoded.
  private static func decoded(_ path: String) throws -> (samples: [Float], format: AudioFormat) {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let samples = try reader.readFrames(Int.max / 64).samples
    return (samples, reader.format)
  }

  @Test(arguments: sources.indices)
  func packetsOfSoundAreThoseOfTheFile(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder, seconds: 1.3)
    let reading = try StoredReading(Asset(path: path))
    let (packets, timeBase, start) = try ProbedPacket.all(path, stream: 0)
    #expect(reading.status == .completed && reading.fault == nil)
    let found = reading.buffers.map(\.data.count)
    print("stored | \(Self.sources[row].name) | \(packets.count) packets by ffprobe, \(found.count) read")
    #expect(found == packets.map(\.byteCount))
    #expect(reading.buffers.map { ProbedPacket.checksum($0.data) } == packets.map(\.checksum))
    #expect(reading.buffers.map(\.attachments.isSync) == packets.map(\.isSync))
    let rate = try #require(reading.format?.audio?.sampleRateHz)
    let origin = Self.sources[row].name.contains(".m") && !Self.sources[row].name.hasSuffix("mp3") ? 0 : start ?? 0
    // To the frame, or what a tick can say.
    // FFmpeg's count of raw AC-3 drifts, and Vorbis in Matroska is stamped late by a block.
    let isLoose = ["ac3", "vorbis.mka"].contains(Self.sources[row].name)
    let tick = Double(timeBase.numerator) / Double(timeBase.denominator)
    let tolerance = isLoose ? 0.02 : max(1.001 / Double(rate), 1.5 * tick)
    for (buffer, packet) in zip(reading.buffers, packets) {
      guard let pts = packet.pts else { continue }
      let expected = Double(pts - origin) * Double(timeBase.numerator) / Double(timeBase.denominator)
      #expect(
        abs(buffer.presentationTime.seconds - expected) <= tolerance, "\(buffer.presentationTime.seconds) \(expected)")
      if packet.isDiscarded { #expect(buffer.outputDuration == .zero) }
    }
    let needsSetup =
      ["flac", "alac", "aac", "vorbis", "opus"].contains(reading.format?.codecName) && !path.hasSuffix(".aac")
    #expect(!needsSetup || reading.format?.setupData.isEmpty == false)
  }

  @Test(arguments: sources.indices)
  func whatIsStoredDecodesToTheDecodedSound(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder, seconds: 4.1)
    let (whole, format) = try Self.decoded(path)
    let frameCount = whole.count / format.channelCount
    let rate = format.sampleRateHz
    let ranges = [
      (0, frameCount), (0, 1_000), (rate / 3, rate), (2 * rate + 77, 3 * rate + 1_013), (3 * rate + 5, frameCount),
      (7, 8),
    ]
    for (first, end) in ranges {
      let range = TimeRange(
        start: MediaTime(frame: Int64(first), rate: rate), end: MediaTime(frame: Int64(end), rate: rate))
      let reading = try StoredReading(Asset(path: path), first == 0 && end == frameCount ? nil : range)
      let heard = try reading.heard(from: first, to: end)
      let expected = Array(whole[(first * format.channelCount)..<(end * format.channelCount)])
      let different = zip(heard, expected).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
      print(
        "stored | \(Self.sources[row].name) | \(first)..<\(end) | \(reading.buffers.count) packets | \(different) of \(expected.count) samples differ"
      )
      // The decoder of AC-3 makes up noise as it goes along.
      #expect(different == 0 || Self.sources[row].name.hasPrefix("ac3") && first > 0)
      #expect(reading.status == .completed)
    }
  }
}
