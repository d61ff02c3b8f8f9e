import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Seeks in lossless files are exact to the sample.
@Suite struct ExactSeekTests {
  /// The files; each row stores the same time code in a different way.
  enum Storage: String, CaseIterable {
    case wavSigned16, wavSigned24, wavFloat32
    case flac16, flac24, flacSmallBlocks, flacWithSeekTable, flacWithWrongSeekTable
    case aiff, alac, wavpack

    /// Creates the file and returns its path.
    func make(in folder: TemporaryFolder, sampleRateHz: Int, frameCount: Int) throws -> String {
      func wav(_ encoding: IndexedAudio.Encoding) throws -> String {
        try folder.write(
          IndexedAudio.wav(encoding, sampleRateHz: sampleRateHz, frameCount: frameCount), as: "\(encoding.rawValue).wav"
        )
      }
      func encoded(_ source: String, _ name: String, _ options: String...) throws -> String {
        try Tool.ffmpeg(arguments: ["-i", source] + options + [folder.file(name)])
        return folder.file(name)
      }
      switch self {
      case .wavSigned16: return try wav(.signed16)
      case .wavSigned24: return try wav(.signed24)
      case .wavFloat32: return try wav(.float32)
      case .flac16: return try encoded(wav(.signed16), "a.flac")
      case .flac24: return try encoded(wav(.signed24), "a.flac")
      case .flacSmallBlocks: return try encoded(wav(.signed16), "a.flac", "-frame_size", "192")
      case .flacWithSeekTable, .flacWithWrongSeekTable:
        let plain = try encoded(wav(.signed16), "plain.flac")
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: plain)))
        let shift = self == .flacWithWrongSeekTable ? 7 : 0
        return try folder.write(
          FLACSeekTable.inserted(into: plain, bytes: bytes, interval: 10, shift: shift), as: "table.flac")
      case .aiff: return try encoded(wav(.signed16), "a.aiff")
      case .alac: return try encoded(wav(.signed16), "a.m4a", "-c:a", "alac")
      case .wavpack: return try encoded(wav(.signed16), "a.wv")
      }
    }
  }

  @Test(arguments: Storage.allCases, [44_100, 48_000])
  func exactSeekReturnsTheRequestedSample(_ storage: Storage, _ rate: Int) throws {
    let folder = try TemporaryFolder()
    let frameCount = rate * 5 + 1_234
    let asset = Asset(path: try storage.make(in: folder, sampleRateHz: rate, frameCount: frameCount))
    let reader = try AudioTrackReader(asset: asset)
    #expect(reader.format == AudioFormat(sampleRateHz: rate, channelCount: 2))

    var random = SplitMix64(state: 7)
    let edges = [0, 1, 2, 4_607, 4_608, 4_609, frameCount - 4_609, frameCount - 2, frameCount - 1]
    let targets = edges + (0..<50).map { _ in Int.random(in: 0..<frameCount, using: &random) }
    for target in targets {
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      #expect(landed == MediaTime(frame: Int64(target), rate: rate))
      let wanted = min(2_000, frameCount - target)
      let (position, samples) = try reader.readFrames(wanted, chunkFrames: 777)
      #expect(position == Int64(target))
      let wrong = firstWrongFrame(in: samples, from: target)
      #expect(samples.count == 2 * wanted && wrong == nil, "target \(target): wrong at \(wrong ?? -1)")
    }
    #expect(reader.popSkippedPackets() == nil)
  }

  @Test(arguments: Storage.allCases)
  func fileIsReadToItsLastSample(_ storage: Storage) throws {
    let folder = try TemporaryFolder()
    let frameCount = 100_003
    let asset = Asset(path: try storage.make(in: folder, sampleRateHz: 44_100, frameCount: frameCount))
    let properties = try asset.load()
    #expect(properties.duration == MediaTime(frame: Int64(frameCount), rate: 44_100))
    #expect(properties.providesPreciseDuration)
    let reader = try AudioTrackReader(asset: asset)
    let samples = try reader.readToEnd()
    #expect(samples.count == 2 * frameCount)
    #expect(firstWrongFrame(in: samples, from: 0) == nil)
    #expect(try reader.readFrames(1).position == nil, "the end stays the end")
  }

  @Test func timeBetweenTwoSamplesLandsOnTheEarlierOne() throws {
    let folder = try TemporaryFolder()
    let path = try Storage.wavSigned16.make(in: folder, sampleRateHz: 44_100, frameCount: 44_100)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let landed = try reader.seekExactly(to: MediaTime(value: 1, timescale: 3) + MediaTime(value: 1, timescale: 100_000))
    #expect(landed == MediaTime(frame: 14_700, rate: 44_100))
    #expect(try reader.readFrames(1).position == 14_700)
  }

  @Test(arguments: [Storage.wavSigned16, .flac16])
  func seekStaysWithinItsTolerances(_ storage: Storage) throws {
    let folder = try TemporaryFolder()
    let path = try storage.make(in: folder, sampleRateHz: 48_000, frameCount: 480_000)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let before = MediaTime(value: 1, timescale: 100)
    for seconds in [1.0, 7.77, 3.3] {
      let time = MediaTime(seconds: seconds, preferredTimescale: 48_000)
      let landed = try reader.seek(to: time, toleranceBefore: before, toleranceAfter: .zero)
      #expect(landed <= time && landed >= time - before)
      let (position, samples) = try reader.readFrames(100)
      #expect(MediaTime(frame: position ?? -1, rate: 48_000) == landed)
      #expect(firstWrongFrame(in: samples, from: Int(position ?? -1)) == nil)
      let anywhere = try reader.seek(
        to: time, toleranceBefore: .positiveInfinity, toleranceAfter: .positiveInfinity)
      #expect(anywhere <= time)
    }
  }

  @Test func timesOutsideTheFileAreClampedAndInvalidTimesRejected() throws {
    let folder = try TemporaryFolder()
    let path = try Storage.flac16.make(in: folder, sampleRateHz: 48_000, frameCount: 48_000)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    #expect(try reader.seekExactly(to: MediaTime(value: 100, timescale: 1)) == MediaTime(value: 1, timescale: 1))
    #expect(try reader.readFrames(1).position == nil)
    #expect(try reader.seekExactly(to: MediaTime(value: -1, timescale: 1)) == .zero)
    #expect(try reader.readFrames(1).position == 0)
    #expect(try reader.seekExactly(to: .positiveInfinity) == MediaTime(value: 1, timescale: 1))
    #expect(try reader.seekExactly(to: MediaTime(value: .max, timescale: 1)) == MediaTime(value: 1, timescale: 1))
    #expect(try reader.seekExactly(to: .negativeInfinity) == .zero)
    for time in [MediaTime.invalid, .indefinite] {
      expectError(.invalidTime) { try reader.seekExactly(to: time) }
    }
    #expect(try reader.readFrames(1).position == 0, "a failed seek changes nothing")
  }

  /// The first frame whose time code differs from its position.
  private func firstWrongFrame(in samples: [Float], from start: Int) -> Int? {
    for frame in 0..<(samples.count / 2) {
      let index = IndexedAudio.index(left: samples[2 * frame], right: samples[2 * frame + 1])
      if index != Int64(start + frame) { return start + frame }
    }
    return nil
  }
}

/// A generator with the same numbers in every run.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
