import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Guarantees of seeks in addition to exactness: tolerances, end, cancellation, and reported timings.
@Suite(.timeLimit(.minutes(5))) struct SeekContractTests {
  private func makeFile(_ folder: TemporaryFolder, _ name: String, _ options: [String]) throws -> String {
    let source = "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=20:s=44100"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + options + [folder.file(name)])
    return folder.file(name)
  }

  private static let files: [(name: String, options: [String])] = [
    ("a.wav", []), ("a.flac", []), ("a.mp3", ["-q:a", "5"]), ("bare.mp3", ["-b:a", "64k", "-write_xing", "0"]),
    ("a.m4a", ["-c:a", "aac", "-aac_pns", "0"]), ("a.aac", ["-aac_pns", "0"]), ("a.ogg", ["-c:a", "libvorbis"]),
    ("a.mka", ["-c:a", "flac"]), ("a.ts", ["-c:a", "mp2"]),
  ]

  @Test(arguments: files.indices)
  func seeksLandWithinTheirTolerancesOnTheRightSamples(_ file: Int) throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try makeFile(folder, Self.files[file].name, Self.files[file].options))
    let reference = try AudioTrackReader(asset: asset).readToEnd()
    let reader = try AudioTrackReader(asset: asset)
    let end = MediaTime(frame: Int64(reference.count), rate: 44_100)
    var random = SplitMix64(state: UInt64(file))
    for _ in 0..<60 {
      let target = MediaTime(value: Int64.random(in: 0..<19_000_000, using: &random), timescale: 1_000_000)
      // From zero to whole seconds, in both directions.
      func tolerance() -> MediaTime {
        let largest = Int64(1) << Int64.random(in: 0...22, using: &random)
        return MediaTime(value: Int64.random(in: 0..<largest, using: &random), timescale: 1_000_000)
      }
      let (before, after) = (tolerance(), tolerance())
      let landed = try reader.seek(to: target, toleranceBefore: before, toleranceAfter: after)
      let floor = try #require(target.frameIndex(rate: 44_100, rounding: .towardNegativeInfinity))
      let isExact = landed == MediaTime(frame: floor, rate: 44_100)
      #expect(isExact || (landed >= target - before && landed <= target + after), "\(landed) for \(target)")
      let (position, samples) = try reader.readFrames(1_000)
      #expect(MediaTime(frame: position ?? -1, rate: 44_100) == landed)
      let start = Int(position ?? 0)
      let isSame = samples == Array(reference[start..<min(reference.count, start + 1_000)])
      #expect(isSame, "at \(landed) for \(target) - \(before) + \(after)")
      if Bool.random(using: &random) {
        let anywhere = try reader.seek(
          to: target, toleranceBefore: .positiveInfinity, toleranceAfter: .positiveInfinity)
        #expect(anywhere >= .zero && anywhere <= end)
      }
    }
  }

  /// Measured in bytes, each time with a reader that does not know the file: tolerances make no seek more expensive.
  @Test(arguments: files.indices)
  func tolerantSeekReadsNoMoreThanAnExactOne(_ file: Int) throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, Self.files[file].name, Self.files[file].options)
    func seek(to target: MediaTime, _ before: MediaTime, _ after: MediaTime) throws -> (landed: MediaTime, bytes: Int64)
    {
      let reader = try AudioTrackReader(asset: Asset(path: path))
      let source = reader.media.reader.demuxer.source
      let opened = source.readByteCount
      let landed = try reader.seek(to: target, toleranceBefore: before, toleranceAfter: after)
      #expect(try reader.readFrames(100).position == landed.frameIndex(rate: 44_100, rounding: .towardNegativeInfinity))
      return (landed, source.readByteCount - opened)
    }
    let tenth = MediaTime(value: 1, timescale: 10)
    let second = MediaTime(value: 1, timescale: 1)
    for milliseconds in [Int64(40), 1_301, 7_770, 13_001, 19_499] {
      let target = MediaTime(value: milliseconds, timescale: 1_000)
      let exact = try seek(to: target, .zero, .zero)
      let floor = try #require(target.frameIndex(rate: 44_100, rounding: .towardNegativeInfinity))
      #expect(exact.landed == MediaTime(frame: floor, rate: 44_100))
      for (before, after) in [
        (tenth, .zero), (.zero, tenth), (second, .zero), (.zero, second), (second, second),
        (.positiveInfinity, .positiveInfinity),
      ] {
        let tolerant = try seek(to: target, before, after)
        #expect(tolerant.bytes <= exact.bytes, "to \(target) - \(before) + \(after)")
        let isWithin = tolerant.landed >= target - before && tolerant.landed <= target + after
        #expect(isWithin || tolerant.landed == exact.landed, "\(tolerant.landed) for \(target) - \(before) + \(after)")
      }
    }
  }

  @Test func seekNearDecodedAudioReadsNothing() throws {
    let folder = try TemporaryFolder()
    let reader = try AudioTrackReader(asset: Asset(path: makeFile(folder, "a.flac", [])))
    try reader.seekExactly(to: MediaTime(value: 10, timescale: 1))
    #expect(try reader.readFrames(10).position == 441_000)
    let source = reader.media.reader.demuxer.source
    let before = source.readByteCount
    let tenth = MediaTime(value: 1, timescale: 10)
    let earlier = try reader.seek(
      to: MediaTime(value: 1_019, timescale: 100), toleranceBefore: .positiveInfinity, toleranceAfter: .zero)
    #expect(earlier > MediaTime(value: 10, timescale: 1) && earlier < MediaTime(value: 1_019, timescale: 100))
    let later = try reader.seek(
      to: MediaTime(value: 985, timescale: 100), toleranceBefore: .zero, toleranceAfter: .positiveInfinity)
    #expect(later > MediaTime(value: 985, timescale: 100) && later <= MediaTime(value: 10, timescale: 1))
    #expect(source.readByteCount == before && reader.lastSeekTimings.demuxNanoseconds == 0, "nothing was read")
    // Beyond the tolerance it is not used.
    let far = MediaTime(value: 985, timescale: 100)
    #expect(try reader.seek(to: far, toleranceBefore: tenth, toleranceAfter: .zero) <= far)
  }

  @Test(arguments: ["a.mp3", "a.aac", "a.ac3", "a.ogg", "a.wav"])
  func seekPastTheEndLandsAtTheEnd(_ name: String) throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try makeFile(folder, name, name == "a.mp3" ? ["-write_xing", "0"] : []))
    let count = try AudioTrackReader(asset: asset).readToEnd().count
    let reader = try AudioTrackReader(asset: asset)
    let end = MediaTime(frame: Int64(count), rate: 44_100)
    for seconds in [Int64(1_000), 21, 1 << 40] {
      #expect(try reader.seekExactly(to: MediaTime(value: seconds, timescale: 1)) == end)
      #expect(try reader.readFrames(1).position == nil)
    }
    let last = MediaTime(frame: Int64(count) - 1, rate: 44_100)
    #expect(try reader.seekExactly(to: last) == last)
    #expect(try reader.readFrames(10).samples.count == 1)
  }

  /// Also when the header is not trusted, as after a change of the file, and when frames are counted.
  @Test(arguments: [
    ("a.opus", true), ("a.opus", false), ("a.ogg", true), ("a.ogg", false), ("a.oga", true), ("a.oga", false),
    ("a.flac", true), ("a.flac", false), ("a.mp3", true), ("bare.mp3", false), ("a.aac", false),
  ])
  func newReaderSeeksToTheActualEnd(_ name: String, _ trustsHeader: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(name)
    let options = ["a.ogg": ["-c:a", "libvorbis"], "a.oga": ["-c:a", "flac"], "bare.mp3": ["-write_xing", "0"]][name]
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "anoisesrc=d=7.3:r=48000:c=pink:a=0.3:s=1"] + (options ?? []) + [path])
    let forwards = try AudioTrackReader(asset: Asset(path: path))
    let count = Int64(try forwards.readToEnd().count)
    #expect(forwards.end?.frame == count)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    if !trustsHeader { reader.media.seekLimit = nil }
    let landed = try reader.seekExactly(to: .positiveInfinity)
    #expect(landed == MediaTime(frame: count, rate: 48_000))
    #expect(try reader.readFrames(1).position == nil)
    #expect((reader.end?.frame ?? reader.position) == count)
    #expect(trustsHeader || reader.end != nil)
    #expect(try AudioTrackReader(asset: Asset(path: path)).exactFrameCount() == count)
  }

  @Test(arguments: ["a.mp3", "a.flac", "a.aac"])
  func seekTimingsSumToAtMostTheElapsedTime(_ name: String) throws {
    let folder = try TemporaryFolder()
    let reader = try AudioTrackReader(asset: Asset(path: makeFile(folder, name, [])))
    let start = MonotonicClock.nanoseconds
    try reader.seekExactly(to: MediaTime(value: 17, timescale: 1))
    let elapsed = MonotonicClock.nanoseconds - start
    let timings = reader.lastSeekTimings
    let parts = [timings.indexNanoseconds, timings.demuxNanoseconds, timings.decodeNanoseconds]
    #expect(parts.allSatisfy { $0 > 0 } && parts.reduce(0, +) <= elapsed, "\(parts) of \(elapsed)")
  }

  // MARK: - Cancellation

  @Test func packetWalkCanBeCancelled() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, "a.mp3", ["-write_xing", "0", "-id3v2_version", "0"])
    let interrupt = Interrupt()
    let source = try FileSource(path: Array(path.utf8), interrupt: interrupt)
    let index = PacketIndex(
      identity: try #require(try source.identity()), streamIndex: 0, firstByte: 0, spacingFrames: 44_100)
    interrupt.cancel()
    let failure = #expect(throws: AVFailure.self) {
      _ = try MPEGAudioLocator.locate(frame: 800_000, index: index, source: source)
    }
    #expect(failure?.kind == .cancelled)
    #expect(throws: AVFailure.self) { try ADTSWalker.extend(index, to: 800_000, packetFrames: 1_024, source: source) }
    interrupt.reset()
    #expect(try MPEGAudioLocator.locate(frame: 800_000, index: index, source: source) != nil)
  }

  /// Cancelled at any time, a seek returns only that, and the next one is correct.
  @Test(arguments: ["a.mp3", "a.aac", "a.ogg", "a.ac3"])
  func cancelledSeekDoesNotAffectTheNextOne(_ name: String) throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(folder, name, name == "a.mp3" ? ["-write_xing", "0"] : [])
    let reference = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    // A separate asset, so that every seek starts without an index.
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let isDone = Flag()
    let finished = DispatchSemaphore(value: 0)
    Thread {
      while !isDone.value.load(ordering: .acquiring) {
        reader.cancel()
        sched_yield()
      }
      finished.signal()
    }.start()
    var random = SplitMix64(state: 41)
    var outcomes: Set<Int> = []
    var seekCount = 0
    // On a busy machine, the thread may run only after the first 200 seeks.
    while seekCount < 200 || (seekCount < 20_000 && !outcomes.contains(6015)) {
      seekCount += 1
      let target = Int64.random(in: 0..<Int64(reference.count - 2_000), using: &random)
      reader.resetCancellation()
      let code = errorCode {
        let landed = try reader.seekExactly(to: MediaTime(frame: target, rate: 44_100))
        #expect(landed == MediaTime(frame: target, rate: 44_100))
      }
      outcomes.insert(code)
    }
    isDone.value.store(true, ordering: .releasing)
    finished.wait()
    #expect(outcomes.isSubset(of: [0, 6015]) && outcomes.contains(6015))
    reader.resetCancellation()
    for target in [Int64(700_000), 100_000, 400_000] {
      try reader.seekExactly(to: MediaTime(frame: target, rate: 44_100))
      #expect(try reader.readFrames(10).position == target)
    }
  }

  private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
  }

  // MARK: - Irregular files

  /// Chained streams in one file: the audio at a position equals that of a read from the start.
  @Test func seeksInChainedOggEqualAReadFromTheStart() throws {
    let folder = try TemporaryFolder()
    let first = try readFile(makeFile(folder, "a.ogg", ["-c:a", "libvorbis", "-serial_offset", "1"]))
    let second = try readFile(makeFile(folder, "b.ogg", ["-c:a", "libvorbis", "-serial_offset", "77"]))
    let path = try folder.write(first + second, as: "chain.ogg")
    let asset = Asset(path: path)
    let reference = try AudioTrackReader(asset: asset).readToEnd()
    #expect(reference.count > 30 * 44_100)
    let reader = try AudioTrackReader(asset: asset)
    for target in [400_000, 1_100_000, 50_000, 870_000, 1_200_000] {
      try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: 44_100))
      let (position, samples) = try reader.readFrames(1_000)
      let isSame = samples == Array(reference[target..<(target + 1_000)])
      #expect(position == Int64(target) && isSame, "\(target)")
    }
  }

  /// Noise in the middle, missing parts, changed bytes: seeks end at the reported position.
  @Test(arguments: ["a.mp3", "a.aac", "a.ogg", "a.opus", "a.oga", "a.ac3"])
  func seeksInDamagedFilesLandAtTheReportedPosition(_ name: String) throws {
    let folder = try TemporaryFolder()
    let original = try readFile(
      makeFile(folder, name, name == "a.oga" ? ["-c:a", "flac", "-t", "5"] : ["-b:a", "48k"]))
    var random = SplitMix64(state: 51)
    for _ in 0..<25 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let offset = Int.random(in: 2_000..<bytes.count, using: &random)
        let noise = (0..<Int.random(in: 1...2_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.insert(contentsOf: noise, at: offset)
        case 1: bytes.removeSubrange(offset..<min(bytes.count, offset + noise.count))
        case 2: bytes.replaceSubrange(offset..<min(bytes.count, offset + noise.count), with: noise)
        default: bytes.insert(contentsOf: original.prefix(3_000), at: offset)
        }
      }
      let path = try folder.write(bytes, as: "damaged-\(name)")
      do {
        let reader = try AudioTrackReader(asset: Asset(path: path))
        let rate = reader.format.sampleRateHz
        for _ in 0..<6 {
          let target = Int64.random(in: 0..<Int64(rate * 25), using: &random)
          let landed = try reader.seekExactly(to: MediaTime(frame: target, rate: rate))
          #expect(landed <= MediaTime(frame: target, rate: rate))
          let (position, _) = try reader.readFrames(500)
          #expect(position == nil || MediaTime(frame: position ?? 0, rate: rate) == landed)
        }
      } catch let error as MediaError {
        #expect((2_000..<5_000).contains(error.code.rawValue))
      }
    }
  }

  @Test func pageSearchGivesUpInAFileOfPageHeaders() throws {
    let folder = try TemporaryFolder()
    let page: [UInt8] =
      Array("OggS".utf8) + [0, 0] + [UInt8](repeating: 0, count: 20) + [255] + [UInt8](repeating: 255, count: 255)
    var bytes: [UInt8] = []
    while bytes.count < 2_000_000 { bytes += page }
    let path = try folder.write(bytes, as: "pages.ogg")
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    var pages = OggPages(source: source)
    let found = try pages.firstPage(from: 0, before: Int64(bytes.count))
    #expect(found == nil)
    #expect(source.readByteCount < 1_500_000, "it was not read to its end")
  }
}
