import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

// Parts that cannot be inserted into a composition, or read from it.
extension CompositionTests {
  @Test func invalidEditsReportTheirErrorsAndChangeNothing() throws {
    let folder = try TemporaryFolder()
    let asset = try Self.noise(folder, 1, frames: 48_000)
    let videoPath = folder.file("video.mkv")
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-c:v", "libx264", videoPath)
    let video = Asset(path: videoPath)
    let missing = Asset(path: folder.file("missing.wav"))
    let second = Self.range(0, 48_000)
    let rows:
      [(name: String, code: MediaError.Code, edit: (inout Composition, AssetTrack.ID) throws(MediaError) -> Void)] = [
        (
          "after the end", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(Self.range(1, 48_001), of: asset, at: .zero) }
        ),
        (
          "before 0", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(Self.range(-1, 100), of: asset, at: .zero) }
        ),
        (
          "empty", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(Self.range(5, 5), of: asset, at: .zero) }
        ),
        (
          "infinite", .invalidTime,
          { (c, _) throws(MediaError) in
            try c.insertTimeRange(TimeRange(start: .zero, duration: .positiveInfinity), of: asset, at: .zero)
          }
        ),
        (
          "no range", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(.invalid, of: asset, at: .zero) }
        ),
        (
          "at no time", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(second, of: asset, at: .indefinite) }
        ),
        (
          "at a time below 0", .invalidTime,
          { (c, _) throws(MediaError) in try c.insertTimeRange(second, of: asset, at: Self.time(-1)) }
        ),
        (
          "too late", .invalidTime,
          { (c, _) throws(MediaError) in
            try c.insertTimeRange(second, of: asset, at: MediaTime(value: .max, timescale: 1))
          }
        ),
        (
          "a missing file", .fileNotFound,
          { (c, _) throws(MediaError) in try c.insertTimeRange(second, of: missing, at: .zero) }
        ),
        (
          "video as audio", .noSuchTrack,
          { (c, id) throws(MediaError) in
            try c.insertTimeRange(Self.range(0, 100), ofTrack: nil, of: video, at: .zero, inTrack: id)
          }
        ),
        (
          "a video track as audio", .invalidArgument,
          { (c, id) throws(MediaError) in
            try c.insertTimeRange(Self.range(0, 100), ofTrack: 0, of: video, at: .zero, inTrack: id)
          }
        ),
        (
          "a nonexistent source track", .noSuchTrack,
          { (c, id) throws(MediaError) in
            try c.insertTimeRange(second, ofTrack: 9, of: asset, at: .zero, inTrack: id)
          }
        ),
        (
          "into a nonexistent track", .noSuchTrack,
          { (c, _) throws(MediaError) in
            try c.insertTimeRange(second, ofTrack: nil, of: asset, at: .zero, inTrack: 77)
          }
        ),
        ("a track of subtitles", .invalidArgument, { (c, _) throws(MediaError) in try c.addTrack(.subtitle) }),
        ("no such track", .noSuchTrack, { (c, _) throws(MediaError) in try c.removeTrack(77) }),
        ("removing nothing", .invalidTime, { (c, _) throws(MediaError) in try c.removeTimeRange(Self.range(7, 7)) }),
        (
          "removing below 0", .invalidTime,
          { (c, id) throws(MediaError) in try c.removeTimeRange(Self.range(-7, 7), fromTrack: id) }
        ),
        (
          "infinite silence", .invalidTime,
          { (c, _) throws(MediaError) in
            try c.insertEmptyTimeRange(TimeRange(start: .zero, duration: .positiveInfinity))
          }
        ),
        (
          "scaling audio", .unsupportedEdit,
          { (c, id) throws(MediaError) in
            try c.scaleTimeRange(Self.range(0, 100), toDuration: Self.time(50), inTrack: id)
          }
        ),
        (
          "scaling to zero", .invalidTime,
          { (c, _) throws(MediaError) in
            try c.scaleTimeRange(Self.range(0, 100), toDuration: .zero)
          }
        ),
      ]
    for row in rows {
      var composition = Composition()
      let id = try composition.addTrack(.audio)
      try composition.insertTimeRange(second, ofTrack: nil, of: asset, at: .zero, inTrack: id)
      let found = Self.code { () throws(MediaError) in try row.edit(&composition, id) }
      print("composition | \(row.name) | \(found.map { "\($0)" } ?? "no error")")
      #expect(found == row.code, "\(row.name)")
      #expect(composition.tracks.count == 1 && composition.tracks[0].segments.count == 1)
    }
    // No playable track remains.
    var empty = Composition()
    expectError(.noPlayableTracks) { try Asset(composition: empty).load() }
    let id = try empty.addTrack(.audio)
    try empty.insertTimeRange(second, ofTrack: nil, of: asset, at: .zero, inTrack: id)
    try empty.removeTimeRange(second)
    expectError(.noPlayableTracks) { try Asset(composition: empty).load() }
  }

  @Test func unreadableOutputsReportTheirErrors() throws {
    let folder = try TemporaryFolder()
    let asset = try Self.noise(folder, 1, frames: 48_000)
    var composition = Composition()
    try composition.insertTimeRange(Self.range(0, 48_000), of: asset, at: .zero)
    let composed = Asset(composition: composition)
    let rows: [(name: String, asset: Asset, output: AssetReaderOutput, code: MediaError.Code)] = [
      ("stored: no such track", asset, AssetReaderStoredOutput(trackID: 5), .noSuchTrack),
      ("stored: a composition", composed, AssetReaderStoredOutput(), .invalidArgument),
      ("stored: no file", Asset(path: folder.file("no.wav")), AssetReaderStoredOutput(), .fileNotFound),
      ("mix: no such track", asset, AssetReaderAudioMixOutput(trackIDs: [0, 5]), .noSuchTrack),
      ("mix: the same twice", asset, AssetReaderAudioMixOutput(trackIDs: [0, 0]), .invalidArgument),
      ("mix: none", asset, AssetReaderAudioMixOutput(trackIDs: []), .invalidArgument),
      (
        "mix: a rate of 0", asset, AssetReaderAudioMixOutput(settings: AudioReadSettings(sampleRateHz: 0)),
        .invalidArgument
      ),
      (
        "mix: 65 channels", asset, AssetReaderAudioMixOutput(settings: AudioReadSettings(channelCount: 65)),
        .invalidArgument
      ),
      (
        "mix: floats of 16 bits", asset,
        AssetReaderAudioMixOutput(settings: AudioReadSettings(PCMEncoding(.float, bitsPerSample: 16))), .invalidArgument
      ),
      ("a nonexistent track of a composition", composed, AssetReaderTrackOutput(trackID: 9), .noSuchTrack),
    ]
    for row in rows {
      let reader = AssetReader(asset: row.asset)
      let found = Self.code { () throws(MediaError) in
        try reader.add(row.output)
        try reader.startReading()
      }
      print("read | \(row.name) | \(found.map { "\($0)" } ?? "no error")")
      #expect(found == row.code, "\(row.name)")
    }
  }

  @Test func failedSourceIsNamedInTheErrorAfterTheReadableAudio() throws {
    let folder = try TemporaryFolder()
    for kind in ["vanishes", "becomes shorter", "becomes text"] {
      let (first, second) = (
        try Self.noise(folder, 1, frames: 20_000), try Self.noise(folder, 2, frames: 40_000, ending: "flac")
      )
      var composition = Composition()
      let id = try composition.addTrack(.audio)
      try composition.insertTimeRange(Self.range(0, 20_000), ofTrack: nil, of: first, at: .zero, inTrack: id)
      try composition.insertTimeRange(
        Self.range(0, 40_000), ofTrack: nil, of: second, at: Self.time(20_000), inTrack: id)
      let whole = try Self.all(Asset(composition: composition))
      let path = second.displayPath
      let bytes = try readFile(path)
      switch kind {
      case "vanishes": try FileManager.default.removeItem(atPath: path)
      case "becomes shorter": try folder.write(Array(bytes.prefix(bytes.count / 2)), as: "2-48000-2.flac")
      default: try folder.write(Array("nothing to hear".utf8), as: "2-48000-2.flac")
      }
      let output = AssetReaderTrackOutput(settings: Self.s16)
      let reader = AssetReader(asset: Asset(composition: composition))
      try reader.add(output)
      try reader.startReading()
      var found: [UInt8] = []
      while let buffer = output.copyNextSampleBuffer() { found += buffer.data }
      let error = try #require(reader.error)
      print("composition | its source \(kind) | \(found.count / 4) frames | \(error)")
      #expect(reader.status == .failed && error.message.contains(path))
      #expect(
        error.code
          == ["vanishes": .fileNotFound, "becomes shorter": .damagedFile, "becomes text": .unknownFormat][kind])
      #expect(found.count >= 80_000 && whole.starts(with: found))
      #expect((found.count > 80_000) == (kind == "becomes shorter"))
    }
  }

  @Test(arguments: ["composition", "mix", "stored"])
  func cancellationEndsABlockedRead(_ kind: String) throws {
    let bytes = StallingBytes(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 400_000), stallsAt: 800_000)
    var composition = Composition()
    try composition.insertTimeRange(Self.range(0, 400_000), of: bytes.asset, at: .zero)
    let asset = kind == "composition" ? Asset(composition: composition) : bytes.asset
    let output: AssetReaderOutput =
      switch kind {
      case "mix": AssetReaderAudioMixOutput(settings: Self.s16)
      case "stored": AssetReaderStoredOutput()
      default: AssetReaderTrackOutput(settings: Self.s16)
      }
    let reader = AssetReader(asset: asset)
    try reader.add(output)
    try reader.startReading()
    let canceller = Thread {
      bytes.waitUntilStalled()
      reader.cancelReading()
    }
    canceller.start()
    var count = 0
    while let buffer = output.copyNextSampleBuffer() { count += buffer.data.count }
    #expect(count < 800_000 && reader.status == .cancelled && reader.error == nil)
    bytes.waitUntilCancelled()
  }
}
