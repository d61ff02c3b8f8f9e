import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// A frame of video, or 1,024 frames of audio, with its position and a hash of its content.
struct ContractShot: Equatable {
  var position: MediaTime
  var content: Int

  static let audioFrameCount = 1_024

  /// The shots of audio of which `frameCount` frames are read backwards or forwards.
  static func audio(_ samples: [Float], sampleRateHz: Int, isReversed: Bool = false) -> [ContractShot] {
    let ordered = isReversed ? SampleComparison.reversed(samples[...], channelCount: 2) : samples
    return stride(from: 0, to: ordered.count / 2, by: audioFrameCount).map { start in
      let end = min(start + audioFrameCount, ordered.count / 2)
      let position = Int64(isReversed ? ordered.count / 2 - start : start)
      return ContractShot(
        position: MediaTime(frame: position, rate: sampleRateHz), content: ordered[(2 * start)..<(2 * end)].hashValue)
    }
  }
}

/// A reader under test, reduced to what all readers have in common.
protocol ContractReader: AnyObject {
  /// The frames cut off before the first frame.
  var startTrimFrames: Int64 { get }
  /// Reads the next frame; nil at the end.
  func next() throws -> ContractShot?
  func seek(to shot: ContractShot) throws
  /// Returns the report of skipped packets since the last call.
  func popReport() -> MediaError?
  /// Returns the error that a reader reports at its end, instead of throwing it.
  func popFinalError() -> MediaError?
}

extension ContractReader {
  func popFinalError() -> MediaError? { nil }
}

/// Collects audio to shots.
private struct AudioShots {
  let sampleRateHz: Int
  private var pendingError: MediaError?

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  mutating func restart() { pendingError = nil }

  mutating func next(
    _ read: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> AudioTrackReader.ReadResult
  ) throws -> ContractShot? {
    if let error = pendingError {
      pendingError = nil
      throw error
    }
    var samples = [Float](repeating: 0, count: 2 * ContractShot.audioFrameCount)
    var count = 0
    var first: Int64?
    samples.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      do throws(MediaError) {
        while count < ContractShot.audioFrameCount,
          case .frames(let more, let position) = try read(base + 2 * count, ContractShot.audioFrameCount - count)
        {
          first = first ?? position
          count += more
        }
      } catch { pendingError = error }
    }
    guard let first else {
      if let error = pendingError {
        pendingError = nil
        throw error
      }
      return nil
    }
    return ContractShot(
      position: MediaTime(frame: first, rate: sampleRateHz), content: samples[..<(2 * count)].hashValue)
  }
}

/// A file or a stream, in this process or in a worker.
final class ForwardContractReader: ContractReader {
  private let reader: AudioTrackReader
  private let server: HTTPServer?
  private var shots: AudioShots

  init(_ asset: Asset, server: HTTPServer? = nil) throws {
    (reader, self.server) = (try AudioTrackReader(asset: asset), server)
    shots = AudioShots(sampleRateHz: reader.format.sampleRateHz)
  }

  var startTrimFrames: Int64 { reader.startTrim.frameCount }
  func next() throws -> ContractShot? {
    try shots.next { (output, count) throws(MediaError) in try reader.read(into: output, capacityFrames: count) }
  }
  func seek(to shot: ContractShot) throws {
    shots.restart()
    #expect(try reader.seekExactly(to: shot.position) == shot.position)
  }
  func popReport() -> MediaError? { reader.popSkippedPackets()?.error }
}

/// A file that is read backwards.
final class ReverseContractReader: ContractReader {
  private let forwards: AudioTrackReader
  private let reader: ReverseAudioReader
  private var shots: AudioShots
  /// The error of the seek to the end.
  private var openingError: MediaError?

  init(_ asset: Asset) throws {
    forwards = try AudioTrackReader(asset: asset)
    reader = ReverseAudioReader(forwards, duration: try asset.load().duration)
    shots = AudioShots(sampleRateHz: forwards.format.sampleRateHz)
    do throws(MediaError) { _ = try reader.seek(to: .positiveInfinity) } catch { openingError = error }
  }

  var startTrimFrames: Int64 { forwards.startTrim.frameCount }
  func next() throws -> ContractShot? {
    if let error = openingError {
      openingError = nil
      throw error
    }
    return try shots.next { (output, count) throws(MediaError) in try reader.read(into: output, capacityFrames: count) }
  }
  func seek(to shot: ContractShot) throws {
    shots.restart()
    #expect(try reader.seek(to: shot.position) == shot.position)
  }
  func popReport() -> MediaError? { forwards.popSkippedPackets()?.error }
  func popFinalError() -> MediaError? { reader.popWarning()?.error }
}

/// Video, in this process or in a worker.
final class VideoContractReader: ContractReader {
  private let reader: any VideoReader
  private let converter: ImageConverter

  init(_ asset: Asset) throws {
    reader = try VideoReaders.open(asset, interrupt: Interrupt(), trackID: nil, log: nil)
    converter = try ImageConverter()
  }

  let startTrimFrames: Int64 = 0
  func next() throws -> ContractShot? {
    guard let found = try reader.next() else { return nil }
    guard case .decoded(let frame) = found.pixels else { return ContractShot(position: found.time, content: 0) }
    return ContractShot(position: found.time, content: try converter.convert(frame, to: .i420).data.hashValue)
  }
  func seek(to shot: ContractShot) throws { try reader.seek(to: shot.position) }
  func popReport() -> MediaError? { reader.popFault() }
}

/// An implementation, with the files from which it reads.
struct ContractRow: Sendable, CustomTestStringConvertible {
  enum Variant { case intact, damaged, unreadable }

  let name: String
  /// The frames that are cut off at the start.
  var startTrimFrames: Int64 = 0
  /// The largest number of shots that one damaged packet may change.
  var maximumDamagedCount = 16
  /// The reason why a variant does not exist.
  var reason = ""
  /// The shots that a variant has without its damage, from another source than the reader, if possible.
  let reference: @Sendable (TemporaryFolder, Variant) throws -> [ContractShot]
  /// Makes a file and opens it; nil if there is no such variant.
  let open: @Sendable (TemporaryFolder, Variant) throws -> (any ContractReader)?

  var testDescription: String { name }

  private static let rateHz = 44_100
  private static let frameCount = 200_000
  private static let edits = [
    (duration: 60_000, start: 100_000), (duration: 5_000, start: -1), (duration: 40_000, start: 7),
  ]

  static let all = [
    ContractRow(
      name: "file", reference: { _, _ in indexed(0..<frameCount) },
      open: { folder, variant in try ForwardContractReader(Asset(path: try flac(folder, variant))) }),
    ContractRow(
      name: "file in a worker", reference: { _, _ in indexed(0..<frameCount) },
      open: { folder, variant in
        try ForwardContractReader(Asset(path: Array(try flac(folder, variant).utf8), isolation: .opening))
      }),
    ContractRow(
      name: "trimmed file", startTrimFrames: 1_024, reason: "the index of MP4 names each packet",
      reference: { folder, _ in try trimmedReference(folder) },
      open: { folder, variant in
        variant == .unreadable ? nil : try ForwardContractReader(Asset(path: try aac(folder, variant)))
      }),
    ContractRow(
      name: "edited file", startTrimFrames: 100_000, reason: "the index of MP4 names each packet",
      reference: { _, _ in indexed(editedFrames) },
      open: { folder, variant in
        variant == .unreadable ? nil : try ForwardContractReader(Asset(path: try edited(folder, variant)))
      }),
    ContractRow(
      name: "stream", reason: "segments in MP4 name each packet", reference: { _, _ in indexed(0..<streamFrameCount) },
      open: { _, variant in variant == .unreadable ? nil : try stream(variant) }),
    ContractRow(
      name: "file backwards", reference: { _, _ in indexed(0..<frameCount, isReversed: true) },
      open: { folder, variant in try ReverseContractReader(Asset(path: try flac(folder, variant))) }),
    ContractRow(
      name: "edited file backwards", startTrimFrames: 100_000, reason: "the index of MP4 names each packet",
      reference: { _, _ in indexed(editedFrames, isReversed: true) },
      open: { folder, variant in
        variant == .unreadable ? nil : try ReverseContractReader(Asset(path: try edited(folder, variant)))
      }),
    ContractRow(
      name: "video", maximumDamagedCount: 2, reference: { folder, variant in try videoReference(folder, variant) },
      open: { folder, variant in try VideoContractReader(Asset(path: try video(folder, variant))) }),
  ]
}

// MARK: - Files

extension ContractRow {
  private static let streamFrameCount = 44_100 * 24

  private static var editedFrames: [Int?] {
    edits.flatMap { edit in (0..<edit.duration).map { edit.start < 0 ? nil : edit.start + $0 } }
  }

  /// The shots of time-coded audio; a nil frame is silent.
  private static func indexed(_ frames: some Sequence<Int?>, isReversed: Bool = false) -> [ContractShot] {
    let samples = frames.flatMap { index -> [Float] in
      guard let index else { return [0, 0] }
      return [Float(index & 0x7fff) / 32_768, Float(index >> 15) / 32_768]
    }
    return ContractShot.audio(samples, sampleRateHz: rateHz, isReversed: isReversed)
  }

  private static func indexed(_ range: Range<Int>, isReversed: Bool = false) -> [ContractShot] {
    indexed(range.map { Optional($0) }, isReversed: isReversed)
  }

  private static func encode(_ folder: TemporaryFolder, _ name: String, _ options: [String] = []) throws -> String {
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: rateHz, frameCount: frameCount)
    try Tool.ffmpeg(arguments: ["-i", folder.write(wav, as: "source.wav")] + options + [folder.file(name)])
    return folder.file(name)
  }

  /// With some bytes changed from `offset` on.
  private static func damaged(_ path: String, at offset: Int, count: Int = 40) throws {
    var bytes = try readFile(path)
    for index in offset..<offset + count { bytes[index] ^= 0x5a }
    try writeFile(bytes, at: Array(path.utf8))
  }

  /// Without anything that a demuxer can read in a part of the file.
  private static func unreadable(_ path: String) throws -> String {
    var bytes = try readFile(path)
    for index in (bytes.count * 6 / 10)..<(bytes.count * 9 / 10) { bytes[index] = 0x55 }
    try writeFile(bytes, at: Array(path.utf8))
    return path
  }

  private static func flac(_ folder: TemporaryFolder, _ variant: Variant) throws -> String {
    if variant == .unreadable {
      // In WavPack, each 32 bytes without a block are a failed read.
      return try unreadable(try encode(folder, "a.wv"))
    }
    let path = try encode(folder, "a.flac")
    if variant == .damaged { try damaged(path, at: try readFile(path).count / 2) }
    return path
  }

  private static func aac(_ folder: TemporaryFolder, _ variant: Variant) throws -> String {
    let path = try encode(folder, "a.m4a", ["-c:a", "aac", "-aac_pns", "0"])
    guard variant == .damaged else { return path }
    let packet = try DamagedFileTests.packets(of: path)[60]
    var bytes = try readFile(path)
    for index in packet.byte..<packet.byte + packet.byteCount { bytes[index] = 0xff }
    return try folder.write(bytes, as: "a.m4a")
  }

  /// The audio according to FFmpeg's program, which does not trim the end.
  private static func trimmedReference(_ folder: TemporaryFolder) throws -> [ContractShot] {
    let samples = try Tool.decode(try aac(folder, .intact))
    return ContractShot.audio(Array(samples.prefix(2 * frameCount)), sampleRateHz: rateHz)
  }

  private static func edited(_ folder: TemporaryFolder, _ variant: Variant) throws -> String {
    let path = try encode(folder, "plain.mp4", ["-c:a", "flac", "-strict", "-2", "-movie_timescale", "44100"])
    if variant == .damaged {
      let packet = try DamagedFileTests.packets(of: path)[120_000 / 4_608]
      try damaged(path, at: packet.byte + packet.byteCount / 2)
    }
    let bytes = try MovieBoxes.withEdits(edits.map { ($0.duration, $0.start) }, in: readFile(path))
    return try folder.write(bytes, as: "edited.mp4")
  }

  private static func stream(_ variant: Variant) throws -> any ContractReader {
    let rig = try HLSRig(["-c:a", "flac", "-strict", "-2", "-hls_segment_type", "fmp4"], name: "s%d.m4s")
    if variant == .damaged {
      let path = rig.server.files.file("s5.m4s")
      try damaged(path, at: try readFile(path).count / 2)
    }
    return try ForwardContractReader(Asset(url: "\(rig.server.address)/vod.m3u8"), server: rig.server)
  }

  private static func video(_ folder: TemporaryFolder, _ variant: Variant) throws -> String {
    switch variant {
    case .intact: return try VideoFixture.film.make(in: folder)
    case .damaged:
      let path = try VideoFixture("film.avi", ["-c:v", "mjpeg"]).make(in: folder)
      var bytes = try readFile(path)
      let starts = bytes.indices.dropLast(4).filter { bytes[$0...].starts(with: [0xff, 0xd8, 0xff]) }
      for index in starts[10] + 2..<starts[10] + 600 { bytes[index] = 0 }
      return try folder.write(bytes, as: "hurt.avi")
    case .unreadable:
      let codec = ["-c:v", "libaom-av1", "-cpu-used", "8", "-g", "12", "-b:v", "100k"]
      return try unreadable(try VideoFixture("film.obu", source: VideoFixture.pattern("96x64"), codec).make(in: folder))
    }
  }

  /// The frames according to FFmpeg's programs.
  private static func videoReference(_ folder: TemporaryFolder, _ variant: Variant) throws -> [ContractShot] {
    if variant == .damaged {
      let path = try VideoFixture("film.avi", ["-c:v", "mjpeg"]).make(in: folder)
      let reader = try VideoContractReader(Asset(path: path))
      var shots: [ContractShot] = []
      while let shot = try reader.next() { shots.append(shot) }
      return shots
    }
    let path = try VideoFixture.film.make(in: folder)
    let raw = try VideoFixture.film.rawBytes(path)
    let origin = try Asset(path: path).load().timelineOrigin
    let (ticks, base) = try Tool.frameTicks(path, in: folder)
    let byteCount = raw.count / ticks.count
    return ticks.enumerated().map { index, ticks in
      ContractShot(
        position: MediaTime(value: ticks * base.0, timescale: Int32(base.1)) - origin,
        content: Array(raw[(index * byteCount)..<((index + 1) * byteCount)]).hashValue)
    }
  }
}
