import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Items of every codec after each other, and after themselves: the audio equals decoding one after the other, sample
/// for sample.
@Suite struct TransitionTests {
  static let pairs: [(CodecFile, CodecFile)] = {
    let full = CodecFile.common(48_000, 2)
    var pairs = (full + [.opus]).map { ($0, $0) }
    pairs += zip(full, full.dropFirst() + [.opus]).map { ($0, $1) }
    pairs += CodecFile.common(44_100, 2).map { ($0, $0) }
    // Mono and stereo, one rate and the other.
    pairs += zip(CodecFile.common(44_100, 1), full).map { ($0, $1) }
    pairs += zip(full.reversed(), CodecFile.common(44_100, 1)).map { ($0, $1) }
    pairs += zip(CodecFile.common(22_050, 1), CodecFile.common(22_050, 1)).map { ($0, $1) }
    // Other containers, and six channels: after themselves, after a common file and before one.
    pairs += CodecFile.other.map { ($0, $0) }
    pairs += zip(CodecFile.other, full.reversed() + full).map { ($0, $1) }
    pairs += zip(full + full, CodecFile.other).map { ($0, $1) }
    return pairs
  }()

  @Test(arguments: Self.pairs)
  func transitionHasNoMissingOrExtraSample(_ first: CodecFile, _ second: CodecFile) async throws {
    let rig = try await Rig()
    let paths = [rig.files.file("a.\(first.suffix)"), rig.files.file("b.\(second.suffix)")]
    try first.make(paths[0], frames: 13_007, seed: 1)
    try second.make(paths[1], frames: 9_001, seed: 2)
    let items = paths.map { rig.item($0) }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let heard = rig.heard.all
    let expected = try CodecFile.heard(try paths.map(CodecFile.decode))
    #expect(heard.count >= expected.count)
    #expect(heard.prefix(expected.count).elementsEqual(expected))
    #expect(heard.dropFirst(expected.count).allSatisfy { $0 == .silence }, "something extra")
    #expect(rig.dump.contains("event transition 1 to 2"))
    #expect(rig.dump.contains("inserted 0"))
  }

  /// 12,960 frames are 270 ms: an edit list in milliseconds is exact, too. The padding of the last packet is its size
  /// times the number of packets, minus the audio and the frames before it. FFmpeg reports the same for each packet.
  @Test(arguments: [
    ("a.mp3", "libmp3lame", 13 * 1_152 - 12_960 - 1_105, "lame-tag", 1_105, "lame-tag"),
    ("a.m4a", "aac", 14 * 1_024 - 12_960 - 1_024, "edit-list", 1_024, "edit-list"),
    ("a.opus", "libopus", 14 * 960 - 12_960 - 312, "granule-position", 312, "opus-pre-skip"),
  ])
  func transitionReportsTrimmedFramesAndTheirSources(
    _ name: String, _ codec: String, _ end: Int, _ endSource: String, _ start: Int, _ startSource: String
  ) async throws {
    let rig = try await Rig()
    let paths = [rig.files.file("1-\(name)"), rig.files.file("2-\(name)")]
    let kind = CodecFile(name: codec, suffix: name, arguments: ["-c:a", codec])
    for (number, path) in paths.enumerated() { try kind.make(path, frames: 12_960, seed: number + 1) }
    for path in paths {
      let edges = try CodecFile.packetEdges(path)
      #expect(edges.before == start && edges.after == end, "FFmpeg reports others: \(edges)")
    }
    let items = paths.map { rig.item($0) }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 400)
    #expect(
      rig.dump.contains(
        "event transition 1 to 2 at 0 trimmed \(end) by \(endSource) and \(start) by \(startSource) inserted 0"),
      "\(rig.dump)")
  }

  // MARK: - Repeats

  static let repeated =
    CodecFile.common(48_000, 2) + [.opus] + CodecFile.common(44_100, 2).filter { ["mp3", "flac"].contains($0.name) }

  @Test(arguments: Self.repeated) func repeatedItemHasNoMissingOrExtraSample(_ kind: CodecFile) async throws {
    let rig = try await Rig()
    let path = rig.files.file("a.\(kind.suffix)")
    try kind.make(path, frames: 13_007, seed: 1)
    let item = rig.item(path)
    try await rig.run { player in
      try player.append([item])
      try player.setRepeatMode(.one)
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let pass = try CodecFile.decode(path)
    expect(rig.heard.all, try CodecFile.heard(Array(repeating: pass, count: 6)))
    #expect(rig.dump.contains("event transition 1 to 1 at 0 "))
    #expect(!rig.dump.contains("inserted 1"), "\(rig.dump)")
  }

  @Test(arguments: [
    [0, 1], [7, 2], [3, 5], [8, 8], [8, 9],
  ])
  func repeatedQueueHasNoMissingOrExtraSample(_ numbers: [Int]) async throws {
    let rig = try await Rig()
    let kinds = numbers.map { Self.repeated[$0] }
    let paths = kinds.enumerated().map { rig.files.file("\($0).\($1.suffix)") }
    for (seed, (kind, path)) in zip(kinds, paths).enumerated() {
      try kind.make(path, frames: 13_007 - 2_000 * seed, seed: seed + 1)
    }
    let items = paths.map { rig.item($0) }
    try await rig.run { player in
      try player.append(items)
      try player.setRepeatMode(.all)
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let round = try paths.map(CodecFile.decode)
    expect(rig.heard.all, try CodecFile.heard(Array(repeating: round, count: 3).flatMap { $0 }))
    #expect(rig.dump.contains("event transition 1 to 2 at 0 ") && rig.dump.contains("event transition 2 to 1 at 0 "))
    #expect(!rig.dump.contains("inserted 1"), "\(rig.dump)")
  }

  /// From one position within a packet to another. Opus is within one step of 16 bits of the audio without the jump.
  @Test(arguments: Self.repeated) func loopHasNoMissingOrExtraSample(_ kind: CodecFile) async throws {
    let rig = try await looping(kind)
    // The audio that was decoded before the loop was set is decoded again.
    let result = try await rig.player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(result.finished)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    expect(
      rig.heard.all, try Self.looped(rig.files.file("a.\(kind.suffix)")), tolerance: kind.name == "opus" ? 1 : 0)
  }

  /// The audio after the loop's end is already decoded when the loop is set: it is cut off there.
  @Test(arguments: Self.repeated)
  func loopSetAfterDecodingHasNoMissingOrExtraSample(_ kind: CodecFile) async throws {
    let rig = try await looping(kind)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    expect(
      rig.heard.all, try Self.looped(rig.files.file("a.\(kind.suffix)")), tolerance: kind.name == "opus" ? 1 : 0)
  }

  /// The same for an item that follows another: the two share a filter, and the loop shares it, too.
  @Test(arguments: Self.repeated)
  func loopInASecondItemSharesTheFilterOfBothItems(_ kind: CodecFile) async throws {
    let rig = try await Rig()
    let paths = ["a", "b"].map { rig.files.file("\($0).\(kind.suffix)") }
    for (path, frames) in zip(paths, [13_007, 40_009]) { try kind.make(path, frames: frames, seed: frames) }
    let items = paths.map { rig.item($0) }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    try await rig.run { try $0.setLoop(Self.loopRange(kind)) }
    await rig.settle()
    await rig.advance(milliseconds: 1_000)
    let first = try CodecFile.decode(paths[0])
    expect(
      rig.heard.all, try CodecFile.heard([first] + Self.loopedPasses(paths[1])),
      tolerance: kind.name == "opus" ? 1 : 0)
    #expect(rig.dump.contains("event transition 1 to 2 at 0 ") && rig.dump.contains("event transition 2 to 2 at "))
  }

  private static let loopFrames = 20_011..<30_024

  private static func loopRange(_ kind: CodecFile) -> TimeRange {
    TimeRange(
      start: MediaTime(value: Int64(loopFrames.lowerBound), timescale: Int32(kind.rate)),
      end: MediaTime(value: Int64(loopFrames.upperBound), timescale: Int32(kind.rate)))
  }

  /// Creates a player with a file that was decoded completely before a loop was set.
  private func looping(_ kind: CodecFile) async throws -> Rig {
    let rig = try await Rig()
    let path = rig.files.file("a.\(kind.suffix)")
    try kind.make(path, frames: 40_009, seed: 1)
    let item = rig.item(path)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { try $0.setLoop(Self.loopRange(kind)) }
    await rig.settle()
    return rig
  }

  /// The expected audio: up to the loop's end, and then the loop repeatedly.
  private static func looped(_ path: String) throws -> [StereoFrame] { try CodecFile.heard(loopedPasses(path)) }

  private static func loopedPasses(_ path: String) throws -> [CodecFile.DecodedAudio] {
    let whole = try CodecFile.decode(path)
    let start: CodecFile.DecodedAudio = (whole.format, Array(whole.samples[..<(2 * loopFrames.upperBound)]))
    let pass: CodecFile.DecodedAudio = (
      whole.format, Array(whole.samples[(2 * loopFrames.lowerBound)..<(2 * loopFrames.upperBound)])
    )
    return [start] + Array(repeating: pass, count: 5)
  }

  /// Expects the heard audio to equal the expected one, as far as both extend: at least 1.4 s.
  private func expect(
    _ heard: [StereoFrame], _ expected: [StereoFrame], tolerance: Int = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let count = min(heard.count, expected.count)
    #expect(count >= 67_200, sourceLocation: sourceLocation)
    func difference(_ index: Int) -> Int {
      max(
        abs(Int(heard[index].left) - Int(expected[index].left)),
        abs(Int(heard[index].right) - Int(expected[index].right)))
    }
    let wrong = (0..<count).first { difference($0) > tolerance }
    #expect(wrong == nil, "another sample at \(wrong ?? 0)", sourceLocation: sourceLocation)
  }
}
