import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Stored video frames without decoding times, and with decoding times that no container can store.
@Suite struct StoredVideoFramesTests {
  /// The decoding times of frames with presentation times `times`, in decoding order.
  private static func decodeTicks(_ times: [Int64], declared: [Int: Int64] = [:]) -> [Int64] {
    var frames = StoredVideoFrames()
    var found: [Int64] = []
    func drain() { while let frame = frames.popFirst() { found.append(frame.decodeTicks ?? .min) } }
    for (index, ticks) in times.enumerated() {
      frames.append(
        StoredVideoFrames.Frame(
          data: [], ticks: ticks, decodeTicks: declared[index], duration: 1_000, isKeyFrame: index == 0))
      drain()
    }
    frames.finish()
    drain()
    return found
  }

  /// Groups of four, decoded in the order last, second, first, third: B-frames of two levels.
  private static func pyramid(_ groups: Range<Int64>) -> [Int64] {
    groups.flatMap { group in [4, 2, 1, 3].map { (group * 4 + $0) * 1_000 } }
  }

  @Test("decoding times increase and precede presentation times, for any number of frames")
  func decodingTimesIncreaseAndPrecedePresentationTimes() {
    let late = (0..<60).map { Int64($0) * 1_000 } + [59_001, 59_002] + Self.pyramid(15..<40)
    let rows: [(String, [Int64], [Int: Int64])] = [
      ("in order", (0..<200).map { Int64($0) * 1_000 }, [:]), ("two levels", [0] + Self.pyramid(0..<50), [:]),
      ("31", [0] + Array(Self.pyramid(0..<8).prefix(31)), [:]), ("33", [0] + Self.pyramid(0..<8), [:]),
      ("order changes late", late, [:]),
      ("the last one declares it", [0] + Self.pyramid(0..<50), [200: 197_500]),
      ("a middle one declares it", [0] + Self.pyramid(0..<50), [100: 98_500]),
    ]
    print("frames                     first five are decoded at")
    for (name, times, declared) in rows {
      let decoded = Self.decodeTicks(times, declared: declared)
      #expect(decoded.count == times.count, "\(name)")
      #expect(zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 }, "\(name): \(decoded)")
      #expect(zip(decoded, times).allSatisfy { $0 <= $1 }, "\(name)")
      for (index, ticks) in declared { #expect(decoded[index] == ticks, "\(name)") }
      print("\(name.padding(toLength: 26, withPad: " ", startingAt: 0)) \(decoded.prefix(5))")
    }
    // One offset, and no jump.
    let even = Self.decodeTicks([0] + Self.pyramid(0..<50))
    #expect(Set(zip(even, even.dropFirst()).map { $1 - $0 }) == [1_000])
  }

  @Test("decoding times that are equal or after the presentation time are moved earlier")
  func invalidDecodingTimesAreMovedEarlier() {
    let times: [Int64] = (0..<60).map { $0 * 1_000 } + [62_000, 61_000, 60_500]
    let declared = Dictionary(uniqueKeysWithValues: (0..<63).map { ($0, Int64(min($0, 62)) * 1_000) })
    let decoded = Self.decodeTicks(times, declared: declared)
    #expect(decoded.count == times.count && zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 })
    #expect(zip(decoded, times).allSatisfy { $0 <= $1 })
    #expect(decoded.prefix(60) == times.prefix(60) && decoded.suffix(3) == [60_000, 60_499, 60_500])
    // Two packets with one time, as for a hidden frame and the frame that shows it.
    let hidden = Self.decodeTicks(
      [0, 1_000, 2_000, 2_000, 3_000], declared: [0: 0, 1: 1_000, 2: 2_000, 3: 2_000, 4: 3_000])
    #expect(hidden == [0, 1_000, 1_999, 2_000, 3_000])
  }

  @Test("a track without decoding times is written completely")
  func trackWithoutDecodingTimesIsWrittenCompletely() throws {
    let folder = try TemporaryFolder()
    let source = folder.file("film.mp4")
    try VideoRig.write(source, .mp4, times: VideoRig.times(150), VideoRig.settings { $0.keyFrameInterval = 60 })
    let stored = try StoredSamples(source)
    #expect(stored.buffers.contains { $0.decodeTime < $0.presentationTime })
    for container in [WritableContainer.mp4, .matroska] {
      let path = folder.file("copy.\(container)")
      let input = AssetWriterInput(settings: .passthrough, sourceFormat: stored.format)
      let writer = try WriterRig.writer(path, container, [input])
      for buffer in stored.buffers {
        try input.append(
          waiting: SampleBuffer(
            format: buffer.format, data: buffer.data, presentationTime: buffer.presentationTime,
            duration: buffer.duration, attachments: buffer.attachments))
      }
      try writer.finishWriting()
      #expect(try WrittenFile(path).decodingWarnings() == "")
      #expect(try VideoRig.numbers(path) == Array(0..<150))
      let times = try WrittenFile.frames(path, timescale: 1_000).map(\.ticks)
      #expect(times == (0..<150).map { $0 * 40 }, "\(container)")
    }
  }
}
