import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWholeFiles
import RigSupport
import Synchronization
import Testing

@testable import PlayheadWaveforms

/// Waveforms of files, compared with ffmpeg's decodes.
@Suite struct WaveformScanTests {
  private func check(
    _ found: Waveform, _ pcm: [Int16], range: Range<Int>, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let channels = found.channelCount
    let edges = (0...found.binCount).map { range.lowerBound + Int(found.edge($0)) }
    #expect(edges.last == range.upperBound, sourceLocation: sourceLocation)
    let expected = PlainWaveform(pcm, channelCount: channels, edges: edges)
    #expect(found.minima.map { Int($0 * 32_768) } == expected.minima, sourceLocation: sourceLocation)
    #expect(found.maxima.map { Int($0 * 32_768) } == expected.maxima, sourceLocation: sourceLocation)
    #expect(
      zip(found.rms, expected.squares).allSatisfy { abs(Double($0) - $1) < 1e-5 }, sourceLocation: sourceLocation)
  }

  @Test(arguments: [1, 2, 6]) func waveformEqualsThatOfFFmpegsDecode(channelCount: Int) async throws {
    let files = try TemporaryDirectory()
    let path = try WaveformRig.noise(files, "noise.flac", frameCount: 50_021, channelCount: channelCount)
    let pcm = try WaveformRig.pcm(files, path)
    #expect(pcm.count == 50_021 * channelCount)
    check(try await WaveformRig.result(path), pcm, range: 0..<50_021)
    check(try await WaveformRig.result(path, .init(scale: .bins(333))), pcm, range: 0..<50_021)
    // A range, exact to the sample: 0.5 s is frame 22,050; a time between two frames rounds up.
    let range = WaveformRequest(
      scale: .bins(10), start: MediaTime(value: 1, timescale: 2), end: MediaTime(value: 1_000_001, timescale: 1_000_000)
    )
    check(try await WaveformRig.result(path, range), pcm, range: 22_050..<44_101)
    // Fewer frames than requested bins, and an end after the end of the file.
    let few = WaveformRequest(
      scale: .bins(500), start: MediaTime(frame: 50_000, rate: 44_100), end: MediaTime(value: 9, timescale: 1))
    check(try await WaveformRig.result(path, few), pcm, range: 50_000..<50_021)
  }

  /// A pass over 20 s in a container without a declared duration. `seconds`: the limit of such a file.
  private func unknownDurationMeasurement(_ files: TemporaryDirectory, seconds: Int) throws -> WaveformMeasurement {
    let path = files.file("unknown.flac")
    try ChildProcess.run([
      "sh", "-c",
      "ffmpeg -nostdin -v error -f lavfi -i sine=d=20:r=8000 -f flac - | cat > '\(path)'",
    ])
    let (opening, asset) = (AssetOpening(), Asset(path: path))
    let duration = try opening.load(asset).duration
    #expect(!duration.isNumeric)
    let reader = try opening.reader(asset, trackID: nil)
    return try WaveformMeasurement(reader, .init(scale: .bins(10)), duration: duration, maximumUnknownSeconds: seconds)
  }

  @Test func fileOfUnknownDurationIsReadUpToTheLimit() throws {
    let files = try TemporaryDirectory()
    var endless = try unknownDurationMeasurement(files, seconds: 19)
    expectError(.mediaLimitExceeded) { _ = try endless.run({ _ in }, checkCancellation: {}) }
    var whole = try unknownDurationMeasurement(files, seconds: 20)
    #expect(try whole.run({ _ in }, checkCancellation: {}).binCount == 10)
    #expect(AudioTrackReader.maximumUnknownDurationSeconds == 4 * 3_600)
  }

  @Test func channelsAreMixedToTheirMean() async throws {
    let files = try TemporaryDirectory()
    let path = files.file("two.wav")
    try TimeCode.writeWAV(path: path, frameCount: 1_000) { StereoFrame(left: Int16($0), right: Int16(-3 * $0)) }
    let found = try await WaveformRig.result(path, .init(scale: .bins(1), mixesChannels: true))
    #expect(found.channelCount == 1 && found.minima == [-999.0 / 32_768] && found.maxima == [0])
  }

  /// An MP3 file without a header has only an estimated length: the edges are those of the actual audio.
  @Test func binsOfAFileWithAWrongLengthCoverTheActualAudio() async throws {
    let files = try TemporaryDirectory()
    let path = files.file("noise.mp3")
    let wav = try WaveformRig.noise(files, "noise.wav", frameCount: 100_000)
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", wav, "-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0", path,
    ])
    let found = try await WaveformRig.result(path, .init(scale: .bins(64)))
    let fine = try await WaveformRig.result(path, .init(scale: .framesPerBin(1)))
    #expect(found.frameCount == fine.frameCount && found.binCount == 64)
    for bin in 0..<64 {
      let points = Int(found.edge(bin)) * 2..<Int(found.edge(bin + 1)) * 2
      let left = stride(from: points.lowerBound, to: points.upperBound, by: 2)
      #expect(left.map { fine.maxima[$0] }.max() == found.maxima[2 * bin])
    }
  }

  @Test func errorsHaveACodeAndLeaveNoFile() async throws {
    let files = try TemporaryDirectory()
    let good = try WaveformRig.noise(files, "good.wav", frameCount: 4_000)
    try Data("no audio".utf8).write(to: URL(fileURLWithPath: files.file("text.wav")))
    let cut = files.file("cut.flac")
    let flac = try Data(contentsOf: URL(fileURLWithPath: WaveformRig.noise(files, "whole.flac", frameCount: 400_000)))
    try flac.prefix(flac.count / 2).write(to: URL(fileURLWithPath: cut))
    func code(_ path: String, _ request: WaveformRequest = .init(), to output: WaveformOutput? = nil) async
      -> MediaError.Code?
    {
      await #expect(throws: MediaError.self) {
        try await WaveformScan(Asset(path: path), request, output: output).result()
      }?.code
    }
    #expect(await code(files.file("missing.wav")) == .fileNotFound)
    #expect(await code(files.file("text.wav")) == .unknownFormat)
    #expect(await code(files.path) == .notAFile)
    #expect(await code(good, .init(scale: .bins(0))) == .invalidArgument)
    #expect(await code(good, .init(scale: .framesPerBin(-1))) == .invalidArgument)
    #expect(await code(good, .init(scale: .bins(Waveform.maximumPointCount))) == .mediaLimitExceeded)
    #expect(await code(good, .init(start: MediaTime(value: 1, timescale: 1))) == .invalidTime)
    #expect(await code(good, .init(start: MediaTime(value: -1, timescale: 1))) == .invalidTime)
    #expect(await code(good, .init(start: MediaTime(value: 1, timescale: 1), end: .zero)) == .invalidTime)
    // Errors of the output.
    func output(_ name: String, _ format: WaveformFormat = .json, replaces: Bool = false) -> WaveformOutput {
      WaveformOutput(WholeFile(path: Array(files.file(name).utf8), replaces: replaces, hint: ""), format)
    }
    let existing = try FileManager.default.contentsOfDirectory(atPath: files.path).sorted()
    #expect(await code(good, to: output("good.wav")) == .fileExists)
    #expect(await code(good, to: output("none/some.json")) == .writeFailed)
    #expect(await code(good, .init(scale: .bins(7)), to: output("some.dat", .dat)) == .invalidArgument)
    #expect(await code(cut, to: output("cut.json")) == .damagedFile)
    #expect(try FileManager.default.contentsOfDirectory(atPath: files.path).sorted() == existing)
    _ = try await WaveformScan(Asset(path: good), output: output("some.svg", .svg)).result()
    _ = try await WaveformScan(Asset(path: good), output: output("some.svg", .svg, replaces: true)).result()
    #expect(try String(contentsOfFile: files.file("some.svg"), encoding: .utf8).hasSuffix("</svg>\n"))
  }

  @Test func progressIsReportedFromStartToEnd() async throws {
    let files = try TemporaryDirectory()
    let path = try WaveformRig.noise(files, "noise.flac", frameCount: 200_000)
    let reports = Mutex<[Double?]>([])
    _ = try await WaveformScan(Asset(path: path)).result { part in reports.withLock { $0.append(part) } }
    let parts = reports.withLock { $0 }.compactMap { $0 }
    #expect(parts.first == 0 && parts.last == 1 && parts == parts.sorted() && parts.count == 21)
  }

  @Test func cancelledScanThrowsAndWritesNoFile() async throws {
    let files = try TemporaryDirectory()
    let path = try WaveformRig.noise(files, "noise.flac", frameCount: 400_000)
    let before = WaveformScan(Asset(path: path))
    before.cancel()
    await expectError(.cancelled) { try await before.result() }
    let output = WaveformOutput(
      WholeFile(path: Array(files.file("out.json").utf8), replaces: false, hint: ""), .json)
    let during = WaveformScan(Asset(path: path), output: output)
    await expectError(.cancelled) { try await during.result { part in if let part, part >= 0.5 { during.cancel() } } }
    #expect(!FileManager.default.fileExists(atPath: files.file("out.json")))
  }

  @Test func resultIsCachedUntilTheFileChanges() async throws {
    let files = try TemporaryDirectory()
    let path = try WaveformRig.noise(files, "noise.wav", frameCount: 4_000)
    let cache = WaveformCache(folder: files.file("cache"))
    func result(_ request: WaveformRequest = .init(scale: .bins(10))) async throws -> WaveformResult {
      try await WaveformScan(Asset(path: path), request, cache: cache).result()
    }
    let first = try await result()
    let second = try await result()
    #expect(!first.isCached && second.isCached && first.waveform == second.waveform)
    // Another request is not in the cache yet.
    #expect(!(try await result(.init(scale: .bins(11))).isCached))
    #expect(!(try await result(.init(scale: .bins(10), mixesChannels: true)).isCached))
    // Damaged files are ignored.
    for name in try FileManager.default.contentsOfDirectory(atPath: cache.folder) {
      let file = URL(fileURLWithPath: cache.folder).appendingPathComponent(name)
      var data = try Data(contentsOf: file)
      for end in [0, 7, 60, data.count - 1] { #expect(StoredWaveform.waveform([UInt8](data.prefix(end))) == nil) }
      data[data.count / 2] ^= 1
      try data.write(to: file)
    }
    #expect(!(try await result().isCached))
    #expect(try await result().isCached)
    // Another file at the same path.
    try FileManager.default.removeItem(atPath: path)
    _ = try WaveformRig.noise(files, "noise.wav", frameCount: 5_000)
    let other = try await result()
    #expect(!other.isCached && other.waveform.frameCount == 5_000)
  }

  @Test func cacheStaysWithinItsByteLimit() async throws {
    let files = try TemporaryDirectory()
    let path = try WaveformRig.noise(files, "noise.wav", frameCount: 40_000)
    let cache = WaveformCache(folder: files.file("cache"), byteLimit: 100_000)
    for count in 1_000..<1_010 {
      _ = try await WaveformScan(Asset(path: path), .init(scale: .bins(count)), cache: cache).result()
      let sizes = try FileManager.default.contentsOfDirectory(atPath: cache.folder).map {
        try #require(
          try FileManager.default.attributesOfItem(atPath: cache.folder + "/" + $0)[.size] as? Int)
      }
      #expect(sizes.reduce(0, +) <= 100_000)
    }
    #expect(
      try await WaveformScan(Asset(path: path), .init(scale: .bins(1_009)), cache: cache).result().isCached)
    // A waveform that exceeds the limit is not stored.
    let none = WaveformCache(folder: files.file("none"), byteLimit: 10)
    _ = try await WaveformScan(Asset(path: path), cache: none).result()
    #expect(!(try await WaveformScan(Asset(path: path), cache: none).result().isCached))
  }
}
