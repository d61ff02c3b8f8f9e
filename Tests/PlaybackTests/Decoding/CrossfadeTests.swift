import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import RigSupport
import Testing

/// Cross-fades between items, compared with the sum of both items, decoded separately and multiplied by the gains of
/// the curve.
@Suite struct CrossfadeTests {
  /// 100 ms.
  static let overlap = 4_800

  static let kinds =
    ["wav", "flac", "mp3", "aac"].map { name in
      CodecFile.common(48_000, 2).first { $0.name == name } ?? .opus
    } + [.opus]

  static let pairs: [(CodecFile, CodecFile)] = {
    var pairs = kinds.flatMap { first in kinds.map { (first, $0) } }
    // Other rates and channels. ADTS files have no duration: see below.
    let other = (CodecFile.common(44_100, 2) + CodecFile.common(22_050, 1)).filter { $0.name != "adts" }
    pairs += zip(other, kinds + kinds.reversed() + kinds).map { ($0, $1) }
    pairs += zip(kinds, other.reversed()).map { ($0, $1) }
    pairs += CodecFile.other.map { (kinds[0], $0) } + CodecFile.other.map { ($0, kinds[0]) }
    return pairs
  }()

  @Test(arguments: Self.pairs)
  func overlapIsExact(_ first: CodecFile, _ second: CodecFile) async throws {
    let rig = try await Rig()
    let parts = try await play([(first, 19_207), (second, 15_001)], Self.crossfade(), on: rig)
    expect(rig.heard.all, try Self.mixed(parts, [Self.overlap]))
    #expect(rig.dump.contains("event transition 1 to 2"))
    #expect(rig.dump.contains("inserted 0 overlap 4800 equal-power"), "\(rig.dump)")
  }

  @Test(
    arguments: [
      ("linear", FadeCurve.linear, nil, nil), ("equal-power", .equalPower, nil, nil), ("s-curve", .sCurve, nil, nil),
      ("short fade-out", .linear, 480, nil), ("short fade-in", .equalPower, nil, 960),
      ("both short", .sCurve, 1_000, 10),
      ("no fade-in", .linear, nil, 0), ("no fades", .linear, 0, 0),
    ] as [(String, FadeCurve, Int64?, Int64?)])
  func fadesFollowTheirCurveAndLength(_ name: String, _ curve: FadeCurve, _ out: Int64?, _ into: Int64?) async throws {
    let rig = try await Rig()
    let crossfade = Self.crossfade(curve: curve, fadeOut: out, fadeIn: into)
    let parts = try await play([(Self.kinds[0], 19_207), (Self.kinds[1], 15_001)], crossfade, on: rig)
    expect(rig.heard.all, try Self.mixed(parts, [Self.overlap], crossfade))
    print("\(name): exact")
  }

  @Test(arguments: [
    (3_000, 20_000, 1_500), (20_000, 3_001, 1_500), (2_000, 2_000, 1_000), (100, 20_000, 50), (20_000, 7, 3),
    (2, 2, 1), (1, 20_000, 0), (9_600, 9_600, 4_800), (9_599, 9_601, 4_799),
  ])
  func shortItemsOverlapByAtMostHalf(_ first: Int, _ second: Int, _ overlap: Int) async throws {
    let rig = try await Rig()
    let parts = try await play([(Self.kinds[0], first), (Self.kinds[0], second)], Self.crossfade(), on: rig)
    expect(rig.heard.all, try Self.mixed(parts, [overlap]))
    print("\(first) and \(second) frames: overlap of \(overlap)")
  }

  @Test func consecutiveOverlapsDoNotMeet() async throws {
    let rig = try await Rig()
    let lengths = [19_207, 9_600, 5_000, 4_801, 30_000]
    let parts = try await play(lengths.map { (Self.kinds[0], $0) }, Self.crossfade(), on: rig)
    expect(rig.heard.all, try Self.mixed(parts, [4_800, 2_500, 2_400, 2_400]))
  }

  @Test(arguments: CodecFile.common(48_000, 2))
  func longOverlapOfLongItemsIsExact(_ kind: CodecFile) async throws {
    // The overlap is longer than the stream.
    let rig = try await Rig(streamMilliseconds: 500)
    let crossfade = Self.crossfade(frames: 96_000)
    let parts = try await play(
      [(kind, 400_000), (Self.kinds[0], 300_001)], crossfade, on: rig, milliseconds: 14_000)
    expect(rig.heard.all, try Self.mixed(parts, [96_000], crossfade))
  }

  @Test(arguments: [0.5, 2, -1]) func overlapIsInTheTimeOfTheOutput(_ rate: Double) async throws {
    let rig = try await Rig()
    let items = try [19_200, 28_800].enumerated().map { try rig.wav(file: $0.offset + 1, frames: $0.element) }
    try await rig.run { player in
      try player.append(items)
      try player.setCrossfade(Self.crossfade())
      if rate < 0 { try player.setRepeatMode(.one) }
      try player.setRate(rate)
    }
    await rig.advance(milliseconds: 900)
    #expect(rig.dump.contains("inserted 0 overlap 4800 equal-power"), "\(rig.dump)")
  }

  // MARK: - Repeats

  @Test func repeatedItemOverlapsItself() async throws {
    let rig = try await Rig()
    let path = rig.files.file("a.flac")
    try Self.kinds[1].make(path, frames: 19_207, seed: 1)
    let item = rig.item(path)
    try await rig.run { player in
      try player.append([item])
      try player.setRepeatMode(.one)
      try player.setCrossfade(Self.crossfade())
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let part = try CodecFile.decode(path)
    let expected = try Self.mixed([part, part, part, part], [4_800, 4_800, 4_800])
    expect(Array(rig.heard.all.prefix(expected.count - 4_800)), Array(expected.dropLast(4_800)))
  }

  @Test func loopOfAPartIsNotCrossFaded() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    try await rig.run { player in
      try player.append([item])
      try player.setCrossfade(Self.crossfade())
    }
    await rig.settle()
    try await rig.run { player in
      try player.setLoop(TimeRange(start: .zero, end: MediaTime(value: 1, timescale: 2)), count: 2)
      player.play()
    }
    await rig.advance(milliseconds: 2_500)
    #expect(
      rig.heard.runs.map { "\($0.firstIndex) \($0.count)" } == ["0 24000", "0 24000", "0 48000"], "\(rig.dump)")
  }

  // MARK: - Changes after the overlap was decoded

  enum Edit: String, CaseIterable {
    case removeNext, insertBetween, crossfadeOff, crossfadeShorter, crossfadeCurve, repeatOne, pauseAtEnd,
      shuffleNothing
  }

  @Test(arguments: Edit.allCases)
  func editAfterTheOverlapWasDecodedIsExact(_ edit: Edit) async throws {
    let rig = try await Rig()
    let paths = ["a", "b", "c"].map { rig.files.file("\($0).wav") }
    for (seed, path) in paths.enumerated() { try Self.kinds[0].make(path, frames: 40_007 + seed, seed: seed + 1) }
    let items = paths.map { rig.item($0) }
    try await rig.run { player in
      try player.setCrossfade(Self.crossfade())
      try player.append(Array(items.prefix(2)))
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 300)
    let parts = try paths.map(CodecFile.decode)
    var expected: [StereoFrame]
    try await rig.run { player in
      switch edit {
      case .removeNext: try player.remove([items[1].id])
      case .insertBetween: try player.insert([items[2]], after: items[0].id)
      case .crossfadeOff: try player.setCrossfade(nil)
      case .crossfadeShorter: try player.setCrossfade(Self.crossfade(frames: 480))
      case .crossfadeCurve: try player.setCrossfade(Self.crossfade(curve: .linear))
      case .repeatOne: try player.setRepeatMode(.one)
      case .pauseAtEnd: try player.setActionAtItemEnd(.pause)
      case .shuffleNothing: player.shuffle(seed: 1)
      }
    }
    switch edit {
    case .removeNext, .pauseAtEnd: expected = try Self.mixed([parts[0]], [])
    case .insertBetween: expected = try Self.mixed([parts[0], parts[2], parts[1]], [4_800, 4_800])
    case .crossfadeOff: expected = try Self.mixed([parts[0], parts[1]], [0])
    case .crossfadeShorter: expected = try Self.mixed([parts[0], parts[1]], [480], Self.crossfade(frames: 480))
    case .crossfadeCurve: expected = try Self.mixed([parts[0], parts[1]], [4_800], Self.crossfade(curve: .linear))
    case .repeatOne: expected = try Array(Self.mixed([parts[0], parts[0]], [4_800]).dropLast(4_800))
    case .shuffleNothing: expected = try Self.mixed([parts[0], parts[1]], [4_800])
    }
    await rig.advance(milliseconds: 2_400)
    expect(edit == .repeatOne ? Array(rig.heard.all.prefix(expected.count)) : rig.heard.all, expected)
    print("\(edit.rawValue): exact")
  }

  /// The loop ends within the frames that are reserved, of which some are still in the converter.
  @Test(arguments: [22_050, 44_100, 48_000]) func cutInReservedFramesIsExact(_ rate: Int) async throws {
    let rig = try await Rig(streamMilliseconds: 500)
    let kind = CodecFile(name: "flac", suffix: "flac", arguments: ["-c:a", "flac"], rate: rate)
    let crossfade = Self.crossfade(frames: 96_000)
    let parts = try await play([(kind, rate * 8), (kind, rate * 6)], crossfade, on: rig, milliseconds: 300)
    try await rig.run { player in
      try player.setLoop(TimeRange(start: .seconds(1), end: .seconds(2)), count: 1)
    }
    await rig.advance(milliseconds: 13_500)
    let samples = parts[0].samples
    let looped = (parts[0].format, Array(samples[..<(4 * rate)] + samples[(2 * rate)...]))
    var expected = try Self.mixed([looped, parts[1]], [96_000], crossfade)
    // The resampling filter at the cut has the audio of only one side.
    let cut = 96_000 - (rate == 48_000 ? 0 : 128)..<96_000 + (rate == 48_000 ? 0 : 128)
    let heard = rig.heard.all
    if heard.count > cut.upperBound { expected.replaceSubrange(cut, with: heard[cut]) }
    expect(heard, expected)
    print("\(rate) Hz: exact")
  }

  /// The next item has another number of channels than the matrix of the player's processor.
  @Test func nextItemThatCannotBeProcessedLeavesTheItemComplete() async throws {
    let rig = try await Rig()
    let stereo = AudioProcessorFactory { StereoOnly() }
    await rig.run { $0.setAudioProcessors([stereo]) }
    let mono = CodecFile.common(48_000, 1)[6]
    let parts = try await play(
      [(Self.kinds[0], 30_001), (mono, 20_000), (Self.kinds[0], 20_003)], Self.crossfade(), on: rig)
    #expect(mono.name == "wav")
    expect(rig.heard.all, try Self.mixed([parts[0], parts[2]], [Self.overlap]))
    let alone = try await Rig()
    await alone.run { $0.setAudioProcessors([stereo]) }
    let last = try await play([(Self.kinds[0], 30_001), (mono, 20_000)], Self.crossfade(), on: alone)
    expect(alone.heard.all, try Self.mixed([last[0]], []))
  }

  @Test func decodedItemIsDecodedAgainForACrossfade() async throws {
    let rig = try await Rig()
    let parts = try await play(
      [(Self.kinds[0], 40_007), (Self.kinds[0], 30_001)], nil, on: rig, milliseconds: 300)
    try await rig.run { try $0.setCrossfade(Self.crossfade()) }
    await rig.advance(milliseconds: 2_000)
    expect(rig.heard.all, try Self.mixed(parts, [Self.overlap]))
  }

  enum Change: String, CaseIterable {
    case processors, longerCrossfade, shorterCrossfade, noCrossfade, append, clearNext
  }

  /// At 600 ms, the first 100 ms of an overlap of 500 ms have been heard.
  @Test(arguments: Change.allCases) func changeDuringTheOverlapContinuesBothItems(_ change: Change) async throws {
    let rig = try await Rig()
    let crossfade = Self.crossfade(frames: 24_000)
    let parts = try await play(
      [(Self.kinds[0], 48_000), (Self.kinds[1], 60_000), (Self.kinds[0], 48_001)], crossfade, on: rig,
      milliseconds: 600)
    let path = rig.files.file("late.wav")
    try Self.kinds[0].make(path, frames: 48_000, seed: 9)
    let late = rig.item(path)
    try await rig.run { player in
      switch change {
      case .processors: player.setAudioProcessors([AudioProcessorFactory { SameProcessor() }])
      case .longerCrossfade: try player.setCrossfade(Self.crossfade(frames: 30_000))
      case .shorterCrossfade: try player.setCrossfade(Self.crossfade(frames: 480))
      case .noCrossfade: try player.setCrossfade(nil)
      case .append: try player.append([late])
      case .clearNext: try player.remove(player.items().dropFirst().map(\.id))
      }
    }
    await rig.advance(milliseconds: 4_000)
    // The first overlap is as it began. The following one has the new length, at most half of an item.
    let expected =
      switch change {
      case .processors: try Self.mixed(parts, [24_000, 24_000], crossfade)
      case .longerCrossfade: try Self.mixed(parts, [24_000, 24_000], crossfade)
      case .shorterCrossfade: try Self.mixed(parts, [24_000, 480], crossfade)
      case .noCrossfade: try Self.mixed(parts, [24_000, 0], crossfade)
      case .append:
        try Self.mixed(parts + [CodecFile.decode(path)], [24_000, 24_000, 24_000], crossfade)
      case .clearNext: try Self.mixed(Array(parts.prefix(2)), [24_000], crossfade)
      }
    expect(rig.heard.all, expected)
    print("\(change.rawValue): exact")
  }

  @Test func itemAppendedNearTheEndOverlaps() async throws {
    let rig = try await Rig()
    let path = rig.files.file("late.wav")
    try Self.kinds[0].make(path, frames: 30_001, seed: 9)
    let late = rig.item(path)
    let parts = try await play([(Self.kinds[0], 96_007)], Self.crossfade(), on: rig, milliseconds: 800)
    try await rig.run { try $0.append([late]) }
    await rig.advance(milliseconds: 2_500)
    expect(rig.heard.all, try Self.mixed(parts + [CodecFile.decode(path)], [4_800]))
  }

  @Test func lastItemIsCompleteWithoutANextOne() async throws {
    let rig = try await Rig()
    let parts = try await play([(Self.kinds[0], 96_007)], Self.crossfade(), on: rig, milliseconds: 3_000)
    expect(rig.heard.all, try Self.mixed(parts, []))
  }

  @Test func nextItemThatCannotBeOpenedLeavesTheItemComplete() async throws {
    let rig = try await Rig()
    let path = rig.files.file("broken.wav")
    try Data("RIFF".utf8).write(to: URL(fileURLWithPath: path))
    let broken = rig.item(path)
    let parts = try await play([(Self.kinds[0], 30_001)], Self.crossfade(), on: rig, milliseconds: 100)
    try await rig.run { try $0.append([broken]) }
    await rig.advance(milliseconds: 1_500)
    expect(rig.heard.all, try Self.mixed(parts, []))
  }

  @Test func seekIntoTheOverlapShortensIt() async throws {
    let rig = try await Rig()
    let parts = try await play(
      [(Self.kinds[0], 48_000), (Self.kinds[0], 30_000)], Self.crossfade(), on: rig, plays: false)
    let target = 48_000 - 2_400
    let result = try await rig.player.seek(
      to: MediaTime(frame: Int64(target), rate: 48_000), toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(result.finished)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let rest = (parts[0].format, Array(parts[0].samples.dropFirst(target * 2)))
    expect(rig.heard.all, try Self.mixed([rest, parts[1]], [1_200]))
  }

  // MARK: - State and events

  @Test func nextItemBecomesCurrentAtTheFirstFrameOfTheOverlap() async throws {
    let rig = try await Rig()
    _ = try await play(
      [(Self.kinds[0], 48_000), (Self.kinds[0], 48_000)], Self.crossfade(), on: rig, milliseconds: 890)
    #expect(await rig.run { $0.currentItem?.id } == 1)
    await rig.advance(milliseconds: 20)
    #expect(await rig.run { $0.currentItem?.id } == 2)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 1, timescale: 100))
    #expect(rig.dump.contains("event playedToEnd item 1 at 0.9"), "\(rig.dump)")
  }

  @Test func stateHasTheCrossfade() async throws {
    let rig = try await Rig()
    #expect(await rig.run { $0.state.crossfade } == nil)
    try await rig.run { try $0.setCrossfade(Self.crossfade()) }
    #expect(await rig.run { $0.state.crossfade } == Self.crossfade())
    #expect(await rig.run { $0.crossfade } == Self.crossfade())
  }

  @Test(arguments: [
    ("no duration", Crossfade(duration: .zero), "more than 0 s"),
    ("negative", Crossfade(duration: MediaTime(value: -1, timescale: 1)), "more than 0 s"),
    ("too long", Crossfade(duration: MediaTime(value: 301, timescale: 10)), "at most 30 s (got 30.1)"),
    ("indefinite", Crossfade(duration: .indefinite), "more than 0 s"),
    ("infinite", Crossfade(duration: .positiveInfinity), "more than 0 s"),
    (
      "long fade-out", Crossfade(duration: .seconds(2), fadeOutDuration: .seconds(3)),
      "the fade-out must be between 0 s and the 2 s"
    ),
    (
      "negative fade-in", Crossfade(duration: .seconds(2), fadeInDuration: MediaTime(value: -1, timescale: 10)),
      "the fade-in must be between 0 s and the 2 s of the cross-fade (got -0.1)"
    ),
    ("no fade-in", Crossfade(duration: .seconds(2), fadeInDuration: .invalid), "the fade-in must be between"),
  ])
  func invalidCrossfadeChangesNothing(_ name: String, _ crossfade: Crossfade, _ message: String) async throws {
    let rig = try await Rig()
    try await rig.run { try $0.setCrossfade(Self.crossfade()) }
    let error = await #expect(throws: MediaError.self) { try await rig.run { try $0.setCrossfade(crossfade) } }
    #expect(error?.code == .invalidTime)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(await rig.run { $0.crossfade } == Self.crossfade())
    print("\(name): \(error?.message ?? "")")
  }

  // MARK: - Level

  /// Plays two mono files of 48 kHz. Returns the heard left channel.
  private func play(_ samples: [[Float]], overlap: Int64) async throws -> [Double] {
    let rig = try await Rig()
    let paths = samples.indices.map { rig.files.file("\($0).wav") }
    for (path, samples) in zip(paths, samples) { try writeWAV(path, samples, sampleRateHz: 48_000) }
    let items = paths.map { rig.item($0) }
    try await rig.run { player in
      try player.setCrossfade(Self.crossfade(frames: overlap))
      try player.append(items)
      player.play()
    }
    await rig.advance(milliseconds: 8_000)
    return rig.heard.all.map { Double($0.left) / 32_767 }
  }

  @Test func equalPowerKeepsTheLevelOfUncorrelatedNoiseWithinATenthOfADecibel() async throws {
    var random = SeededGenerator(seed: 28)
    let noise = (0..<2).map { _ in (0..<240_000).map { _ in Float.random(in: -0.5...0.5, using: &random) } }
    let heard = try await play(noise, overlap: 96_000)
    let window = 48_000
    let levels = (0..<8).map { index -> Double in
      let power: Double = heard[index * window..<(index + 1) * window].reduce(0) { $0 + $1 * $1 }
      return 10 * log10(power / Double(window))
    }
    print("levels in dB: \(levels.map { String(format: "%.3f", $0) })")
    let before = levels[0]
    #expect(levels.dropLast().allSatisfy { abs($0 - before) < 0.1 }, "\(levels)")
  }

  @Test func overlapOfTonesHasNoClick() async throws {
    let frequencies = [440.0, 553.0]
    let tones = frequencies.map { frequency in
      (0..<96_000).map { frame -> Float in
        let angle: Double = 2 * .pi * frequency * Double(frame) / 48_000
        return Float(0.4 * sin(angle))
      }
    }
    let heard = try await play(tones, overlap: 24_000)
    // Start and end of each tone are outside.
    var largest = 0.0
    for frame in 11..<160_000 { largest = max(largest, abs(heard[frame - 1] - 2 * heard[frame] + heard[frame + 1])) }
    var bound = 4.0 / 32_767
    for frequency in frequencies { bound += 0.4 * pow(2 * Double.pi * frequency / 48_000, 2) }
    print("largest second difference: \(largest) of \(bound)")
    #expect(largest <= bound)
  }

  // MARK: - The expected audio

  static func crossfade(
    frames: Int64 = Int64(overlap), curve: FadeCurve = .equalPower, fadeOut: Int64? = nil, fadeIn: Int64? = nil
  ) -> Crossfade {
    Crossfade(
      duration: MediaTime(frame: frames, rate: 48_000),
      fadeOutDuration: fadeOut.map { MediaTime(frame: $0, rate: 48_000) },
      fadeInDuration: fadeIn.map { MediaTime(frame: $0, rate: 48_000) }, curve: curve)
  }

  /// Plays files of these kinds and lengths. Returns their audio.
  private func play(
    _ files: [(CodecFile, frames: Int)], _ crossfade: Crossfade?, on rig: Rig, milliseconds: Int64 = 2_000,
    plays: Bool = true
  ) async throws -> [CodecFile.DecodedAudio] {
    let paths = files.enumerated().map { rig.files.file("\($0.offset).\($0.element.0.suffix)") }
    for (index, file) in files.enumerated() { try file.0.make(paths[index], frames: file.frames, seed: index + 1) }
    let items = paths.map { rig.item($0) }
    try await rig.run { player in
      try player.setCrossfade(crossfade)
      try player.append(items)
    }
    await rig.settle()
    if plays {
      await rig.run { $0.play() }
      await rig.advance(milliseconds: milliseconds)
    }
    return try paths.map(CodecFile.decode)
  }

  /// The parts in sequence, each overlapping the previous one by a number of frames.
  static func mixed(
    _ parts: [CodecFile.DecodedAudio], _ overlaps: [Int], _ crossfade: Crossfade = crossfade()
  ) throws -> [StereoFrame] {
    var mix: [StereoFrame] = []
    for (index, part) in parts.enumerated() {
      let audio = try CodecFile.heard([part])
      let overlap = index > 0 ? overlaps[index - 1] : 0
      let first = mix.count - overlap
      let (out, into) = (length(crossfade.fadeOutDuration, overlap), length(crossfade.fadeInDuration, overlap))
      for offset in 0..<overlap {
        let outPart = Double(offset - (overlap - out)) / Double(max(1, out))
        let gains = (
          out: outPart > 0 ? gain(crossfade.curve, 1 - outPart) : 1,
          in: offset < into ? gain(crossfade.curve, Double(offset) / Double(into)) : 1
        )
        func sum(_ old: Int16, _ new: Int16) -> Int16 {
          Int16(clamping: Int((Double(old) * gains.out + Double(new) * gains.in).rounded()))
        }
        mix[first + offset] = StereoFrame(
          left: sum(mix[first + offset].left, audio[offset].left),
          right: sum(mix[first + offset].right, audio[offset].right))
      }
      mix += audio.dropFirst(overlap)
    }
    return mix
  }

  private static func length(_ fade: MediaTime?, _ overlap: Int) -> Int {
    min(overlap, fade.map { Int(($0.seconds * 48_000).rounded()) } ?? overlap)
  }

  private static func gain(_ curve: FadeCurve, _ part: Double) -> Double {
    switch curve {
    case .linear: part
    case .equalPower: sin(part * .pi / 2)
    case .sCurve: (1 - cos(part * .pi)) / 2
    }
  }

  /// Compares what was heard, sample for sample. Both items are rounded to 16 bits before they are added, so a sum may
  /// differ by 2.
  private func expect(
    _ heard: [StereoFrame], _ expected: [StereoFrame], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(heard.count >= expected.count, sourceLocation: sourceLocation)
    func difference(_ index: Int) -> Int {
      max(
        abs(Int(heard[index].left) - Int(expected[index].left)),
        abs(Int(heard[index].right) - Int(expected[index].right)))
    }
    let wrong = (0..<min(heard.count, expected.count)).first { difference($0) > 2 }
    #expect(wrong == nil, "another sample at \(wrong ?? 0) of \(expected.count)", sourceLocation: sourceLocation)
    let rest = heard.dropFirst(expected.count)
    #expect(rest.allSatisfy { $0 == .silence }, "something extra", sourceLocation: sourceLocation)
  }
}

/// Leaves the audio as it is.
private final class SameProcessor: AudioProcessor {
  func prepare(format: AudioFormat, maximumFrameCount: Int) {}
  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {}
}

/// Refuses everything but stereo, and leaves that as it is.
private final class StereoOnly: AudioProcessor {
  func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError) {
    guard format.channelCount == 2 else { throw MediaError(.invalidArgument, "stereo only") }
  }
  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {}
}
