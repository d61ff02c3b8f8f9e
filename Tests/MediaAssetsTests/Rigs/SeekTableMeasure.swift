import Foundation
import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The results of one file.
struct SeekMeasurement {
  var seekCount = 0
  /// The largest distance between a seek's target and the actual audio, in frames.
  var errorFrames = 0
  /// The largest difference of a sample from a read from the start, in 16-bit steps.
  var largestDifference: Float = 0
  var start = 0
  var extraFrames = 0
  /// Deviations from the row's expectations, as text.
  var faults: [String] = []
}

/// Seeks in a file and compares the audio with a read from its start.
struct SeekMeasurer {
  let row: SeekRow
  let path: String
  let original: [Float]
  let reference: [Float]
  let channelCount: Int
  let sampleRateHz: Int
  private let shared: Asset
  private var result = SeekMeasurement()
  private var misplacedCount = 0

  /// Frames that are read after a seek, and the search range for their position in both directions.
  private static let windowFrames = 4_096
  private static let reachFrames = 3_000
  /// Frames that identify a position, the minimum for that, and the number of measured positions before a row is
  /// abandoned.
  private static let comparedFrames = 1_024
  private static let fewestFrames = 512
  private static let measuredMisplaced = 6

  init(row: SeekRow, path: String) throws {
    self.row = row
    self.path = path
    original = try row.source.samples()
    shared = Asset(path: path)
    let reader = try AudioTrackReader(asset: shared)
    channelCount = reader.format.channelCount
    sampleRateHz = reader.format.sampleRateHz
    reference = try reader.readToEnd()
    try #require(channelCount == row.source.channelCount && sampleRateHz == row.source.sampleRateHz)
    try #require(reference.count > sampleRateHz * channelCount)
  }

  private var frameCount: Int { reference.count / channelCount }

  /// Measures everything, in the order of the table's columns.
  mutating func measure() throws -> SeekMeasurement {
    if let expected = row.expected { try compare(with: expected(path)) } else { compareWithOriginal() }
    try compareWithDuration()
    var random = SplitMix64(state: row.name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
    let targets = (0..<24).map { _ in min(frameCount - 1, Int.random(in: 0..<row.source.frameCount, using: &random)) }
    let reader = try AudioTrackReader(asset: shared)
    for (number, target) in (edges + targets).enumerated() {
      try seek(reader, to: target, readsToEnd: number % 16 == 7)
      // Back and forth by less than a packet, and within the decoder's buffered audio.
      if number % 8 == 0 { try seek(reader, to: max(0, target - 100), readsToEnd: false) }
      if number % 8 == 4 { try seek(reader, to: min(frameCount - 1, target + 300), readsToEnd: false) }
    }
    // With a new reader, every third time with a new asset.
    for (number, target) in (edges.prefix(5) + targets.prefix(10).map { frameCount - 1 - $0 }).enumerated() {
      let asset = number % 3 == 0 ? Asset(path: path) : shared
      try seek(AudioTrackReader(asset: asset), to: target, readsToEnd: number == 9)
    }
    if result.errorFrames != 0 { result.faults.append("\(result.errorFrames) frames off") }
    return result
  }

  /// The first and last frames, and both sides of packet boundaries.
  private var edges: [Int] {
    let (frames, priming) = row.packet
    let count = frameCount / frames
    let boundaries = [1, 2, 3, 40, count / 2, count - 2].map { $0 * frames - priming }
    let targets = [0, 1, frameCount - 1, frameCount - 2_000] + boundaries.flatMap { [$0 - 1, $0, $0 + 1] }
    return (targets + row.extraTargets.flatMap { [$0 - 1, $0, $0 + 1] }).filter { (0..<frameCount).contains($0) }
  }

  private mutating func fault(_ text: String) {
    if result.faults.count < 6 { result.faults.append(text) }
  }

  // MARK: - One seek

  private mutating func seek(_ reader: AudioTrackReader, to target: Int, readsToEnd: Bool) throws {
    result.seekCount += 1
    let time = MediaTime(frame: Int64(target), rate: sampleRateHz)
    let landed = try reader.seekExactly(to: time)
    if landed != time { fault("seek to \(target) answered \(landed.decimalDescription)") }
    let wanted = readsToEnd ? frameCount - target : min(Self.windowFrames, frameCount - target)
    let (position, decoded) = try reader.readFrames(wanted, chunkFrames: readsToEnd ? 4_096 : 1_000)
    if position != Int64(target) {
      fault("seek to \(target), read from \(position.map(String.init) ?? "nothing")")
      result.errorFrames = max(result.errorFrames, abs(Int(position ?? Int64(frameCount)) - target))
    }
    if decoded.count != wanted * channelCount {
      fault("after a seek to \(target) \(decoded.count / channelCount) frames of \(wanted) are read")
    }
    if readsToEnd, try reader.readFrames(1).position != nil {
      fault("after a seek to \(target) there is more at the end")
    }
    compare(decoded, at: target)
  }

  private mutating func compare(_ decoded: [Float], at target: Int) {
    let count = min(decoded.count, reference.count - target * channelCount)
    let (difference, index) = SampleComparison.largestDifference(
      decoded, reference, at: target * channelCount, count: count)
    guard difference > 0 else { return }
    if difference > result.largestDifference { result.largestDifference = difference }
    var offset = 0
    // Fewer frames match at many positions.
    if count >= Self.fewestFrames * channelCount, misplacedCount < Self.measuredMisplaced {
      offset = SampleComparison.bestOffset(
        of: decoded, from: 0, in: reference, at: target, channelCount: channelCount, frames: Self.comparedFrames,
        maximumOffset: Self.reachFrames)
      if offset != 0 { misplacedCount += 1 }
    }
    if abs(offset) > abs(result.errorFrames) { result.errorFrames = offset }
    if offset != 0 || difference > row.expectation.allowedSteps {
      fault(
        "seek to \(target): \(offset) frames off, \(difference) steps of difference, largest at frame \(index / channelCount)"
      )
    }
  }

  // MARK: - Comparison with the original

  /// The decoded audio must equal that of another decoder.
  private mutating func compare(with expected: [Float]) {
    result.extraFrames = (reference.count - expected.count) / channelCount
    if result.extraFrames != 0 { fault("\(result.extraFrames) frames more than expected") }
    let (difference, index) = SampleComparison.largestDifference(
      reference, expected, at: 0, count: min(reference.count, expected.count))
    if difference > row.expectation.allowedSteps {
      fault("\(difference) steps from what is expected at frame \(index / channelCount)")
    }
  }

  private mutating func compareWithOriginal() {
    let rows = min(original.count, reference.count) / channelCount
    result.extraFrames = reference.count / channelCount - original.count / channelCount
    // After encoders have settled. The result must be the same at other positions.
    let starts = [1, 5, 9].map { tenths in
      let index = rows * tenths / 10
      return row.edges.start
        + SampleComparison.bestOffset(
          of: original, from: index, in: reference, at: index + row.edges.start, channelCount: channelCount,
          frames: Self.windowFrames, maximumOffset: Self.reachFrames)
    }
    result.start = starts[0]
    if starts.contains(where: { abs($0 - starts[0]) > row.edges.doubtFrames }) {
      fault("the original is found \(starts) frames late, from its start to its end")
    }
    if result.start != row.edges.start { fault("the original begins at \(result.start), not at \(row.edges.start)") }
    if result.extraFrames != row.edges.extraFrames {
      fault("\(result.extraFrames) frames more than the original, not \(row.edges.extraFrames)")
    }
    if let index = reference.prefix(row.edges.silentFrames * channelCount).firstIndex(where: { $0 != 0 }) {
      fault("audio at frame \(index / channelCount), where \(row.edges.silentFrames) frames are to be silent")
    }
    // Lossless audio must be equal as a whole, at any position.
    if row.isLossless {
      let start = row.edges.start * channelCount
      let count = min(original.count, reference.count - start)
      let (difference, index) = SampleComparison.largestDifference(original, reference, at: start, count: count)
      if difference > 0 { fault("\(difference) steps from the original at its frame \(index / channelCount)") }
    }
  }

  /// A duration that claims to be precise must be that of the decoded audio.
  private mutating func compareWithDuration() throws {
    let properties = try shared.load()
    let duration = properties.duration
    if properties.providesPreciseDuration, !properties.hasVideo,
      duration != MediaTime(frame: Int64(frameCount), rate: sampleRateHz)
    {
      fault("the duration calls itself precise, \(duration.decimalDescription), and \(frameCount) frames are read")
    }
  }
}
