import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Exports in this process and in a worker process.
@Suite(.timeLimit(.minutes(10))) struct AssetExportTests {
  private static let isolations = [Asset.Isolation.none, .opening]

  private static func asset(_ path: String, _ isolation: Asset.Isolation, isPrecise: Bool = false) -> Asset {
    Asset(path: Array(path.utf8), prefersPreciseDuration: isPrecise, isolation: isolation)
  }

  private static func export(
    _ source: String, _ isolation: Asset.Isolation, to target: String, _ settings: ExportSettings,
    replaces: Bool = false, progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws -> AssetExportSession.Outcome {
    try await AssetExportSession(
      asset(source, isolation), to: target, settings, replacesFile: replaces
    ).outcome(on: AssetExporter(), progress: progress)
  }

  private static func code(_ body: () async throws -> AssetExportSession.Outcome) async -> MediaError.Code? {
    do { _ = try await body() } catch let error as MediaError { return error.code } catch { return nil }
    return nil
  }

  private static func fileNames(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Two seconds of noise in a file of some format, with tags.
  private static func source(_ folder: TemporaryFolder, _ name: String, _ options: [String] = []) throws -> String {
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "anoisesrc=d=2:r=44100:seed=4:a=0.4", "-ac", "2"]
        + [
          "-metadata", "title=One", "-metadata", "artist=Someone", "-metadata", "album=All", "-metadata", "track=3/12",
        ]
        + options + [folder.file(name)])
    return folder.file(name)
  }

  /// Files with estimated or unknown durations: two seconds of noise, then ten of quiet tones, of which no two parts
  /// are alike. The last value is the permitted difference of a range, whose decoder starts in the middle.
  private static let filesWithEstimatedDurations: [(String, [String], Float)] = [
    ("a.aac", ["-c:a", "aac", "-aac_pns", "0"], 0),
    ("a.mp3", ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0"], 0),
    ("a.ts", ["-c:a", "aac", "-aac_pns", "0"], 0), ("a.mka", ["-c:a", "libvorbis", "-live", "1"], 0),
    ("a.webm", ["-c:a", "libopus", "-live", "1"], 1 / 32_768), ("a.dts", ["-strict", "-2", "-c:a", "dca"], 0),
    // The decoder of AC-3 adds dither.
    ("a.wma", ["-c:a", "wmav2"], 0), ("a.ac3", ["-c:a", "ac3"], 0.01), ("a.spx", ["-c:a", "libspeex"], 0),
  ]

  /// The samples of an exported file equal these, except for the rounding to the 24 bits of FLAC.
  private static func expectAudio(_ path: String, _ expected: [Float], within difference: Float = 0) throws {
    let found = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    #expect(found.count == expected.count)
    let worst = SampleComparison.largestDifference(found, expected[...])
    #expect(worst <= difference + 1 / 8_388_608, "\(worst * 32_768) steps")
  }

  @Test("an export ends at the last sample, whatever the estimated duration is", arguments: filesWithEstimatedDurations)
  func exportEndsAtTheLastSampleDespiteAnEstimatedDuration(
    _ name: String, _ encoding: [String], _ rangeDifference: Float
  ) async throws {
    let folder = try TemporaryFolder()
    let source = folder.file(name)
    let rate = name == "a.spx" ? 32_000 : 48_000
    let audio = "if(lt(t,2),0.5*(random(0)-0.5),0.05*sin(2*PI*(200+90*t)*t))"
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "aevalsrc='\(audio)':d=12:s=\(rate)", "-ac", "2"] + encoding + [source])
    let estimate = try await Asset(path: source).load(.duration)
    let whole = try AudioTrackReader(asset: Asset(path: source)).readToEnd()
    print("export | \(name) | duration \(estimate.seconds) | frames \(whole.count / 2)")
    #expect(whole.count / 2 > rate * 119 / 10)

    let target = folder.file("out.flac")
    let outcome = try await Self.export(source, .none, to: target, ExportSettings(.flac))
    #expect(outcome.fault == nil)
    try Self.expectAudio(target, whole)

    // An existing range can be exported even if it starts after the estimated end.
    var settings = ExportSettings(.flac)
    settings.timeRange = TimeRange(
      start: MediaTime(value: 10, timescale: 1), duration: MediaTime(value: 1, timescale: 1))
    _ = try await Self.export(source, .none, to: target, settings, replaces: true)
    try Self.expectAudio(target, Array(whole[(20 * rate)..<(22 * rate)]), within: rangeDifference)

    // In a joined export, the next file starts after its last frame.
    _ = try await AssetExportSession(
      joining: [Asset(path: source), Asset(path: source)], to: target, ExportSettings(.flac),
      replacesFile: true
    ).outcome(on: AssetExporter())
    try Self.expectAudio(target, whole + whole)
  }

  @Test(
    "a lossless export has exactly the samples of its time range",
    arguments: [
      ("a.wav", WritableContainer.flac), ("a.flac", .wav), ("a.flac", .m4a), ("a.mp3", .flac), ("a.m4a", .wav),
      ("a.opus", .caf), ("a.ogg", .matroska), ("a.wav", .mov),
    ], isolations)
  func losslessExportHasExactlyTheSamplesOfItsTimeRange(
    _ row: (String, WritableContainer), _ isolation: Asset.Isolation
  ) async throws {
    let (name, container) = row
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, name)
    let target = folder.file("out.\(container.rawValue)")
    var settings = ExportSettings(container)
    if container == .m4a { settings.audio = .encode(AudioOutputSettings(.alac)) }
    if container == .caf || container == .mov || name == "a.m4a" {
      settings.audio = .encode(AudioOutputSettings(.pcm(.float32)))
    }
    let rate = name == "a.opus" ? 48_000 : 44_100
    settings.timeRange = TimeRange(
      start: MediaTime(value: 1_001, timescale: Int32(rate)), duration: MediaTime(value: 30_007, timescale: Int32(rate))
    )
    let outcome = try await Self.export(source, isolation, to: target, settings)
    #expect(outcome.duration == settings.timeRange.duration && outcome.fault == nil)
    #expect(try outcome.byteCount == Int64(readFile(target).count))
    let (whole, part) = (try Tool.decode(source), try Tool.decode(target))
    let wanted = whole[2 * 1_001..<2 * (1_001 + 30_007)]
    try #require(part.count == wanted.count)
    let worst = SampleComparison.largestDifference(part, wanted[...])
    // Float audio has at most 24 bits in FLAC.
    #expect(worst <= (name == "a.wav" || name == "a.flac" ? 0 : 1 / 8_388_608), "\(name) in \(container)")
    print("export: \(name) to \(container.rawValue): \(part.count / 2) frames, off by \(worst)")
  }

  @Test(
    "an export copies all tags, only shareable tags, or none",
    arguments: isolations)
  func exportCopiesAllShareableOrNoTags(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, "a.flac", ["-metadata", "LOCATION=+48+011/", "-metadata", "MOOD=calm"])
    for (filter, expected) in [
      (ExportSettings.MetadataFilter.all, ["One", "Someone", "All", "+48+011/", "calm"]),
      (.sharing, ["One", "Someone", "All", nil, nil]), (.none, [nil, nil, nil, nil, nil]),
    ] as [(ExportSettings.MetadataFilter, [String?])] {
      var settings = ExportSettings(.ogg)
      settings.metadataFilter = filter
      let target = folder.file("\(filter.rawValue).ogg")
      _ = try await Self.export(source, isolation, to: target, settings)
      let metadata = try Asset(path: target).loadMetadata(interrupt: Interrupt())
      let found = [MetadataCommonKey.title, .artist, .albumName, .location].map { metadata.strings($0).first }
      let mood = metadata.items.first { $0.key.uppercased() == "MOOD" }?.stringValue
      #expect(found + [mood] == expected, "\(filter)")
      let track = metadata.commonMetadata.first { $0.commonKey == .trackNumber }
      #expect(track?.numberValue == (filter == .none ? nil : 3))
    }
    var settings = ExportSettings(.flac)
    settings.metadata = ["title": "Other", "artist": ""]
    _ = try await Self.export(source, isolation, to: folder.file("own.flac"), settings)
    let metadata = try Asset(path: folder.file("own.flac")).loadMetadata(interrupt: Interrupt())
    #expect(
      metadata.strings(.title) == ["Other"] && metadata.strings(.artist) == []
        && metadata.strings(.albumName) == ["All"])
  }

  @Test("progress rises from 0 to 1 in at most 20 steps", arguments: isolations)
  func progressRisesInAtMostTwentySteps(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, "a.wav")
    let reported = Mutex<[Double?]>([])
    _ = try await Self.export(source, isolation, to: folder.file("a.flac"), ExportSettings(.flac)) { done in
      reported.withLock { $0.append(done) }
    }
    let parts = reported.withLock { $0 }
    #expect(parts.first == 0 && parts.last == 1 && parts.count <= 21 && parts.count > 2)
    #expect(parts.compactMap { $0 } == parts.compactMap { $0 }.sorted())
  }

  // MARK: - Stored samples

  /// A checksum of the packets of a file's tracks of one type.
  private static func storedHash(_ path: String, _ kind: String) throws -> String {
    try Tool.ffmpeg("-i", path, "-map", "0:\(kind)", "-c", "copy", "-f", "hash", path + ".hash")
    return String(decoding: try readFile(path + ".hash"), as: UTF8.self)
  }

  @Test(
    "a passed-through track has exactly the stored packets",
    arguments: [
      ("a.mp3", [], WritableContainer.mp3), ("a.mp3", [], .matroska), ("a.m4a", [], .m4a), ("a.m4a", [], .matroska),
      ("a.flac", [], .flac), ("a.flac", [], .matroska), ("a.opus", [], .ogg), ("a.opus", [], .webm),
      ("a.ogg", [], .matroska), ("a.wav", [], .wav), ("a.wav", [], .mov), ("alac.m4a", ["-c:a", "alac"], .caf),
      ("a.mka", ["-c:a", "flac"], .flac),
    ] as [(String, [String], WritableContainer)], isolations)
  func passthroughKeepsTheStoredPackets(
    _ row: (String, [String], WritableContainer), _ isolation: Asset.Isolation
  ) async throws {
    let (name, options, container) = row
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, name, options)
    let target = folder.file("out.\(container == .matroska ? "mka" : container.rawValue)")
    let outcome = try await Self.export(source, isolation, to: target, .passthrough(container))
    #expect(try Self.storedHash(source, "a") == Self.storedHash(target, "a"), "\(name) to \(container)")
    let (whole, copy) = (try await Asset(path: source).load(.duration), try await Asset(path: target).load(.duration))
    print(
      "passthrough: \(name) to \(container.rawValue): \(whole.seconds) s, \(copy.seconds) s, \(outcome.byteCount) bytes"
    )
    #expect(abs(whole.seconds - copy.seconds) < 0.06, "duration: \(name) to \(container)")
    let metadata = try Asset(path: target).loadMetadata(interrupt: Interrupt())
    // WAV has no album, and CAF's tags are not read.
    if container != .wav, container != .caf {
      #expect(metadata.strings(.albumName) == ["All"], "\(name) to \(container)")
    }
  }

  @Test(
    "a passed-through time range is exact if the container has edits or padding",
    arguments: [
      ("a.m4a", WritableContainer.m4a), ("a.m4a", .mp4), ("alac.m4a", .m4a), ("a.opus", .ogg), ("a.opus", .webm),
      ("a.wav", .wav),
    ], isolations)
  func passthroughOfATimeRangeIsExactWithEditsOrPadding(
    _ row: (String, WritableContainer), _ isolation: Asset.Isolation
  ) async throws {
    let (name, container) = row
    let folder = try TemporaryFolder()
    let source = try Self.source(
      folder, name, name.hasPrefix("alac") ? ["-c:a", "alac"] : name == "a.m4a" ? ["-aac_pns", "0"] : [])
    let target = folder.file("out.\(container.rawValue)")
    let rate: Int32 = name == "a.opus" ? 48_000 : 44_100
    var settings = ExportSettings.passthrough(container)
    settings.timeRange = TimeRange(
      start: MediaTime(value: 20_011, timescale: rate), duration: MediaTime(value: 30_007, timescale: rate))
    _ = try await Self.export(source, isolation, to: target, settings)
    func samples(_ path: String, _ range: TimeRange?) throws -> [UInt8] {
      let reader = AssetReader(asset: Asset(path: path))
      let output = AssetReaderTrackOutput(settings: AudioReadSettings(.float32))
      try reader.add(output)
      if let range { try reader.setTimeRange(range) }
      try reader.startReading()
      var bytes: [UInt8] = []
      while let buffer = output.copyNextSampleBuffer() { bytes += buffer.data }
      #expect(reader.error == nil)
      return bytes
    }
    let (wanted, part) = (try samples(source, settings.timeRange), try samples(target, nil))
    print("passthrough: a part of \(name) to \(container.rawValue): \(part.count / 8) frames of \(wanted.count / 8)")
    try #require(part.count == wanted.count)
    func numbers(_ bytes: [UInt8]) -> [Float] {
      bytes.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
      }
    }
    let worst = zip(numbers(part), numbers(wanted)).map { abs($0 - $1) }.max() ?? 0
    print("passthrough: a part of \(name) to \(container.rawValue): off by \(worst)")
    // An Opus decoder has converged after 80 ms (RFC 7845, 4.6) from its start. Its noise limits the accuracy.
    #expect(worst <= (name == "a.opus" ? 0.01 : 0), "\(name) to \(container)")
  }

  @Test(
    "an export of a movie keeps video, audio and chapters, passed through or encoded, whole or in part",
    arguments: isolations)
  func exportOfAMovieKeepsVideoAudioAndChapters(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let source = folder.file("film.mp4")
    try writeFile(
      Array(
        ";FFMETADATA1\ntitle=Film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=A\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=B\n"
          .utf8),
      at: Array(folder.file("chapters.txt").utf8))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4:r=48000", "-i",
      folder.file("chapters.txt"),
      "-map_metadata", "2", "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p", "-c:a",
      "aac", source)
    for (container, isCopied) in [
      (WritableContainer.mp4, true), (.matroska, true), (.mov, true), (.mp4, false), (.matroska, false),
    ] {
      let target = folder.file("out\(isCopied).\(container == .matroska ? "mkv" : container.rawValue)")
      let settings = isCopied ? ExportSettings.passthrough(container) : ExportSettings(container)
      let outcome = try await Self.export(source, isolation, to: target, settings)
      let asset = Asset(path: target)
      let tracks: [AssetTrack] = try await asset.load(.tracks)
      // MP4's chapters are a track, too.
      let kinds: [String] = tracks.map(\.mediaType.rawValue).filter { $0 == "video" || $0 == "audio" }
      #expect(kinds == ["video", "audio"], "\(container) \(isCopied)")
      #expect(tracks.first?.codecName == "h264")
      #expect(try await asset.load(.chapters).compactMap(\.title) == ["A", "B"], "\(container) \(isCopied)")
      if isCopied {
        #expect(try Self.storedHash(source, "v") == Self.storedHash(target, "v"))
        #expect(try Self.storedHash(source, "a") == Self.storedHash(target, "a"))
      }
      #expect(abs(outcome.duration.seconds - 4) < 0.05)
      try Tool.run("ffmpeg", ["-nostdin", "-v", "error", "-xerror", "-i", target, "-f", "null", "-"])
      print(
        "film: \(container.rawValue), \(isCopied ? "copied" : "coded"): \(outcome.byteCount) bytes, \(outcome.duration.seconds) s"
      )
    }
    var part = ExportSettings(.mp4)
    part.timeRange = TimeRange(start: MediaTime(value: 1, timescale: 1), duration: MediaTime(value: 2, timescale: 1))
    _ = try await Self.export(source, isolation, to: folder.file("part.mp4"), part)
    let asset = Asset(path: folder.file("part.mp4"))
    #expect(abs(try await asset.load(.duration).seconds - 2) < 0.03)
    #expect(
      try await asset.load(.chapters).map { "\($0.title ?? "") \($0.timeRange.start.seconds)" } == ["A 0.0", "B 1.0"])
    // Video starts at a key frame, and Matroska cannot mark frames as not to be shown.
    var copied = ExportSettings.passthrough(.matroska)
    copied.timeRange = TimeRange(start: MediaTime(value: 5, timescale: 2), duration: MediaTime(value: 1, timescale: 1))
    let outcome = try await Self.export(source, isolation, to: folder.file("part.mkv"), copied)
    #expect(abs(outcome.duration.seconds - 1.5) < 0.05, "\(outcome.duration)")
    #expect(try await Asset(path: folder.file("part.mkv")).load(.tracks).count == 2)
    let audioFile = folder.file("audio.flac")
    _ = try await Self.export(source, isolation, to: audioFile, ExportSettings(.flac))
    #expect(try await Asset(path: audioFile).load(.tracks).map { $0.mediaType.rawValue } == ["audio"])
  }

  @Test(
    "rotated video is turned if the container has no rotation", arguments: [90, 270],
    isolations)
  func rotatedVideoIsTurnedIfTheContainerHasNoRotation(_ degrees: Int, _ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let fixture = VideoFixture(
      "phone.mp4", source: VideoFixture.pattern("64x48", seconds: "0.4"),
      ["-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv420p"], rotationDegrees: degrees)
    let source = try fixture.make(in: folder)
    var settings = ExportSettings(.matroska)
    var videoSettings = VideoOutputSettings(.h264)
    videoSettings.constantQuality = 0
    settings.video = .encode(videoSettings)
    let target = folder.file("out.mkv")
    _ = try await Self.export(source, isolation, to: target, settings)
    let isSame = try fixture.rawBytes(target) == fixture.rawBytes(source, upright: true)
    #expect(isSame)
    let track = try #require(try StoredSamples(target).format.video)
    #expect(track.width == 48 && track.height == 64 && track.rotationDegrees == 0)
    // MP4 stores the rotation.
    let movie = folder.file("out.mp4")
    settings.container = .mp4
    _ = try await Self.export(source, isolation, to: movie, settings)
    let kept = try #require(try StoredSamples(movie).format.video)
    #expect(kept.width == 64 && kept.height == 48 && kept.rotationDegrees == 360 - degrees)
    // A copy does not rotate video.
    await expectError(.invalidArgument) {
      try await Self.export(source, isolation, to: folder.file("no.mkv"), .passthrough(.matroska))
    }
  }

  // MARK: - Joined exports

  @Test(
    "joined files have no gap and a chapter each, and mixed files are a sum",
    arguments: isolations)
  func joinedFilesHaveNoGapAndMixedFilesAreSummed(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let sources = [
      try Self.source(folder, "a.flac"), try Self.source(folder, "b.mp3", ["-write_xing", "0"]),
      try Self.source(folder, "c.wav", ["-t", "1"]),
    ]
    let decoded = try sources.map { try Tool.decode($0) }
    func joining(_ mixes: Bool, _ name: String, _ settings: ExportSettings) async throws -> [Float] {
      let session = AssetExportSession(
        joining: sources.map { Self.asset($0, isolation, isPrecise: true) }, mixes: mixes,
        to: folder.file(name), settings)
      _ = try await session.outcome(on: AssetExporter())
      return try Tool.decode(folder.file(name))
    }
    let settings = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))
    let whole = try await joining(false, "whole.wav", settings)
    let wanted = decoded.flatMap(\.self)
    #expect(whole.count == wanted.count)
    #expect(zip(whole, wanted).allSatisfy { abs($0 - $1) < 1e-6 })
    let mixed = try await joining(true, "mixed.wav", settings)
    let longest = decoded.map(\.count).max() ?? 0
    #expect(mixed.count == longest)
    let sum = (0..<longest).map { index in decoded.reduce(0) { $0 + ($1.indices.contains(index) ? $1[index] : 0) } }
    #expect(zip(mixed, sum).allSatisfy { abs($0 - $1) < 1e-6 })
    _ = try await joining(false, "book.m4a", ExportSettings(.m4a))
    let chapters = try await Asset(path: folder.file("book.m4a")).load(.chapters)
    #expect(chapters.compactMap(\.title) == ["One", "One", "One"])
    let starts: [Double] = chapters.map { ($0.timeRange.start.seconds * 100).rounded() }
    let third: Double = 2 + Double(decoded[1].count) / 88_200
    #expect(starts == [0, 200, (third * 100).rounded()])
  }

  // MARK: - Errors

  @Test("a failed export reports its error code and leaves no file", arguments: isolations)
  func failedExportReportsItsErrorCodeAndLeavesNoFile(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, "a.flac")
    let short = folder.file("short.flac")
    try writeFile(Array(try readFile(source).prefix(60_000)), at: Array(short.utf8))
    try Tool.ffmpeg("-f", "lavfi", "-i", "color=red:s=64x48:d=0.2", "-c:v", "mpeg4", folder.file("mute.mp4"))
    try writeFile(Array("nothing".utf8), at: Array(folder.file("text.txt").utf8))
    try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
    func settings(_ container: WritableContainer = .flac, _ change: (inout ExportSettings) -> Void = { _ in })
      -> ExportSettings
    {
      var settings = ExportSettings(container)
      change(&settings)
      return settings
    }
    func range(_ start: Int64, _ duration: Int64) -> TimeRange {
      TimeRange(start: MediaTime(value: start, timescale: 1), duration: MediaTime(value: duration, timescale: 1))
    }
    let rows: [(String, source: String, target: String, ExportSettings, MediaError.Code)] = [
      ("an existing file", source, "a.flac", settings(), .fileExists),
      ("an existing folder", source, "folder", settings(), .fileExists),
      ("no such folder", source, "none/x.flac", settings(), .writeFailed),
      ("no such source", folder.file("none.flac"), "x.flac", settings(), .fileNotFound),
      ("no media", folder.file("text.txt"), "x.flac", settings(), .unknownFormat),
      ("no audio", folder.file("mute.mp4"), "x.flac", settings(), .noPlayableTracks),
      ("truncated", short, "x.flac", settings(), .damagedFile),
      (
        "a codec that the container does not support", source, "x.wav",
        settings(.wav) { $0.audio = .encode(AudioOutputSettings(.aac)) }, .invalidArgument
      ),
      (
        "AAC in CAF", source, "x.caf", settings(.caf) { $0.audio = .encode(AudioOutputSettings(.aac)) },
        .invalidArgument
      ),
      ("starts after the end", source, "x.flac", settings { $0.timeRange = range(5, 1) }, .invalidTime),
      ("negative start", source, "x.flac", settings { $0.timeRange = range(-1, 1) }, .invalidTime),
      ("empty range", source, "x.flac", settings { $0.timeRange = range(1, 0) }, .invalidTime),
      ("no such track", source, "x.flac", settings { $0.audioTrackID = 7 }, .noSuchTrack),
      ("no audio requested", source, "x.flac", settings { $0.audio = .none }, .noPlayableTracks),
    ]
    let before = try Self.fileNames(in: folder)
    for (name, source, target, settings, expected) in rows {
      let code = await Self.code { try await Self.export(source, isolation, to: folder.file(target), settings) }
      print("export: \(name): \(code.map { "\($0.rawValue) \($0.name)" } ?? "no error")")
      #expect(code == expected, "\(name)")
      #expect(try Self.fileNames(in: folder) == before, "\(name)")
    }
    #expect(
      try await Self.export(source, isolation, to: folder.file("folder/../short.flac"), settings(), replaces: true)
        .byteCount
        > 60_000)
  }

  @Test("a cancelled export leaves no file", arguments: isolations)
  func cancelledExportLeavesNoFile(_ isolation: Asset.Isolation) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.source(folder, "a.wav")
    let before = AssetExportSession(
      Self.asset(source, isolation), to: folder.file("x.flac"), ExportSettings(.flac))
    before.cancel()
    await expectError(.cancelled) { try await before.outcome() }
    let session = AssetExportSession(
      Self.asset(source, isolation), to: folder.file("x.flac"), ExportSettings(.flac))
    await expectError(.cancelled) {
      try await session.outcome(on: AssetExporter()) { done in
        if done ?? 0 > 0.2 { session.cancel() }
      }
    }
    let after = try await Self.export(source, isolation, to: folder.file("y.flac"), ExportSettings(.flac))
    #expect(after.byteCount > 0)
    #expect(try Self.fileNames(in: folder).filter { $0.hasSuffix("x.flac") } == [])
  }
}
