import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Items with several audio tracks: the selection keeps the time.
@Suite struct MediaSelectionTests {
  private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  /// Creates an item with the tracks of these files, in this order.
  private func item(_ rig: Rig, _ name: String, _ sources: [String], _ options: [String] = []) throws -> PlayerItem {
    var arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    for source in sources { arguments += ["-i", source] }
    for index in sources.indices { arguments += ["-map", "\(index):a"] }
    arguments += [
      "-c:a", "flac", "-strict", "-2", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu",
    ]
    try ChildProcess.run(arguments + options + [rig.files.file(name)])
    return rig.item(rig.files.file(name))
  }

  /// Creates an item with two time-coded tracks.
  private func twoTrackItem(_ rig: Rig, _ name: String, frames: Int = 480_000) throws -> PlayerItem {
    let paths = [1, 2].map { rig.files.file("code-\($0).wav") }
    for (path, file) in zip(paths, 1...) { try TimeCode.writeWAV(path: path, file: file, frameCount: frames) }
    return try item(rig, name, paths)
  }

  /// Plays the item once it is ready.
  private func start(_ rig: Rig, _ item: PlayerItem) async throws -> MediaSelectionGroup {
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    return try #require(item.mediaSelectionGroups.first)
  }

  /// The heard runs of one track. Samples of the 5 ms cross-fade between two tracks cannot be decoded.
  private func decodableRuns(_ frames: [StereoFrame]) -> [TimeCode.Run] {
    TimeCode.runs(in: frames).filter { $0.file != 0 && $0.count > 240 }
  }

  @Test(arguments: ["a.mka", "a.mp4"])
  func selectedTrackContinuesAtTheSameSample(_ name: String) async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, name)
    let group = try await start(rig, item)
    #expect(group.options.map(\.trackID) == [0, 1] && group.options.map(\.languageCode) == ["eng", "deu"])
    await rig.advance(milliseconds: 500)
    try item.select(group.options[1], in: group)
    #expect(item.currentMediaSelection.selectedOption(in: group) == group.options[1])
    await rig.advance(milliseconds: 1_000)
    try item.select(matching: MediaSelectionCriteria(preferredLanguages: ["en"]), in: group)
    await rig.advance(milliseconds: 500)
    let frames = rig.heard.all
    let runs = decodableRuns(frames)
    print(name, runs)
    #expect(runs.map(\.file) == [1, 2, 1])
    // Every sample is heard at its time, in either track.
    for run in runs { #expect(run.firstIndex == run.position) }
    let count = runs.reduce(0) { $0 + $1.count }
    #expect(count >= 96_000 - 2 * 240)
    #expect(await rig.run { $0.currentTime() } == seconds(2))
    #expect(!rig.dump.contains("timeJumped") && !rig.dump.contains("waiting"))
  }

  @Test func selectionWhilePausedKeepsThePosition() async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, "a.mka")
    let group = try await start(rig, item)
    await rig.advance(milliseconds: 500)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 200)
    let time = await rig.run { $0.currentTime() }
    try item.select(group.options[1], in: group)
    await rig.advance(milliseconds: 200)
    #expect(await rig.run { $0.currentTime() } == time)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    let frames = rig.heard.all.filter { $0 != .silence }
    let runs = decodableRuns(frames)
    print(runs)
    #expect(runs.map(\.file) == [1, 2])
    for run in runs { #expect(run.firstIndex == run.position, "every frame is heard once") }
  }

  @Test func pendingSeekCompletesInTheNewlySelectedTrack() async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, "a.mka")
    let group = try await start(rig, item)
    await rig.advance(milliseconds: 500)
    let outcomes = Mutex<[SeekResult]>([])
    try await rig.run { player in
      try player.seek(to: seconds(6), toleranceBefore: .zero, toleranceAfter: .zero) { result in
        outcomes.withLock { $0.append(result) }
      }
      try item.select(group.options[1], in: group)
    }
    await rig.advance(milliseconds: 500)
    let runs = decodableRuns(rig.heard.all)
    print(runs)
    #expect(runs.map(\.file) == [1, 2] && runs[1].firstIndex == 288_000)
    #expect(runs[0].endPosition == runs[1].position, "not a sample between them")
    #expect(outcomes.withLock { $0.map { $0.unfinishedReason == nil } } == [true])
  }

  /// Two mirrored ramps: at any rate a sample encodes its time.
  @Test(arguments: [2.0, 0.5])
  func selectionAtAnotherRateKeepsTheTime(_ rate: Double) async throws {
    let rig = try await Rig()
    let saw: @Sendable (Int) -> Int16 = { Int16($0 % 24_000) }
    let first = try rig.wave("up.wav", frames: 480_000) { StereoFrame(left: saw($0), right: saw($0)) }
    let second = try rig.wave("down.wav", frames: 480_000) { StereoFrame(left: -saw($0), right: -saw($0)) }
    let paths = [first, second].map { $0.asset.path ?? "" }
    let item = try item(rig, "a.mka", paths)
    let group = try await start(rig, item)
    try await rig.run { try $0.setRate(rate) }
    await rig.advance(milliseconds: 600)
    let before = rig.heard.all.count
    try item.select(group.options[1], in: group)
    await rig.advance(milliseconds: 1_000)
    let frames = rig.heard.all
    let time = await rig.run { $0.currentTime() }
    var largestDeviation = 0.0
    // Backwards from the end, each sample has the value of its time. The samples where the ramps restart ring.
    for back in 1..<40_000 {
      let index = Double(time.seconds * 48_000) - Double(back) * rate
      let expected = index.truncatingRemainder(dividingBy: 24_000)
      guard expected > 400, expected < 23_600 else { continue }
      largestDeviation = max(largestDeviation, abs(-Double(frames[frames.count - back].left) - expected))
    }
    print("rate \(rate): \(before) frames before, at most \(largestDeviation) frames off its time")
    #expect(largestDeviation <= 1.5)
    #expect(!rig.dump.contains("timeJumped"))
  }

  @Test func selectedTrackOfAnotherFormatContinuesAtTheSameTime() async throws {
    let rig = try await Rig()
    let loud = try rig.level(0.25, frames: 480_000)
    let path = rig.files.file("half.wav")
    // Silent for 3 s, then constant.
    try TimeCode.writeWAV(path: path, frameCount: 441_000, sampleRateHz: 44_100) { index in
      index < 132_300 ? .silence : StereoFrame(left: 16_384, right: 16_384)
    }
    let item = try item(rig, "a.mka", [loud.asset.path ?? "", path], ["-ac:a:1", "1"])
    let group = try await start(rig, item)
    await rig.advance(milliseconds: 2_000)
    try item.select(group.options[1], in: group)
    await rig.advance(milliseconds: 2_000)
    let frames = rig.heard.all
    let edge = frames.indices.last { frames[$0].left < 8_192 } ?? 0
    print("the step at 3 s is heard at frame \(edge)")
    #expect(abs(edge - 144_000) <= 2)
  }

  @Test func selectionInADecodedNextItemIsHeardFromItsStart() async throws {
    let rig = try await Rig()
    let items = [try twoTrackItem(rig, "a.mka", frames: 48_000), try twoTrackItem(rig, "b.mka", frames: 48_000)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 300)
    let group = try #require(items[1].mediaSelectionGroups.first)
    // It is already decoded.
    try items[1].select(group.options[1], in: group)
    await rig.advance(milliseconds: 2_000)
    let runs = decodableRuns(rig.heard.all)
    #expect(runs.map(\.file) == [1, 2] && runs.map(\.count) == [48_000, 48_000])
    #expect(items[1].copy().mediaSelectionSlot[.audible] == .track(1))
  }

  @Test func playerCriteriaApplyToItemsWithoutAnExplicitSelection() async throws {
    let rig = try await Rig()
    let items = try ["a.mka", "b.mka", "c.mka"].map { try twoTrackItem(rig, $0, frames: 48_000) }
    let german = MediaSelectionCriteria(preferredLanguages: ["de"])
    try await rig.run { player in
      let (applies, before) = (
        player.appliesMediaSelectionCriteriaAutomatically, player.mediaSelectionCriteria(for: .audible)
      )
      try player.setMediaSelectionCriteria(german, for: .audible)
      let after = player.mediaSelectionCriteria(for: .audible)
      #expect(applies && before == nil && after == german)
      try player.append(items)
    }
    await rig.settle()
    let group = try #require(items[1].mediaSelectionGroups.first)
    #expect(items[0].currentMediaSelection.selectedOption(in: group)?.trackID == 1)
    // An explicit choice stays.
    try items[1].select(group.options[0], in: group)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 4_000)
    let runs = decodableRuns(rig.heard.all)
    print(runs)
    #expect(runs.map(\.file) == [2, 1, 2] && runs.map(\.count) == [48_000, 48_000, 48_000])
    // A copy that is in no queue has the default of its file.
    #expect(items[0].copy().currentMediaSelection.selectedOption(in: group)?.trackID == 0)
  }

  @Test func changedCriteriaApplyAtOnceAtTheSameSample() async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, "a.mka")
    let group = try await start(rig, item)
    func selected() -> Int? { item.currentMediaSelection.selectedOption(in: group)?.trackID }
    let german = MediaSelectionCriteria(preferredLanguages: ["de"])
    await rig.advance(milliseconds: 500)
    try await rig.run { try $0.setMediaSelectionCriteria(german, for: .audible) }
    #expect(selected() == 1)
    await rig.advance(milliseconds: 500)
    await rig.run { $0.setAppliesMediaSelectionCriteriaAutomatically(false) }
    #expect(selected() == 0)
    await rig.advance(milliseconds: 500)
    await rig.run { $0.setAppliesMediaSelectionCriteriaAutomatically(true) }
    await rig.advance(milliseconds: 500)
    try await rig.run { try $0.setMediaSelectionCriteria(nil, for: .audible) }
    await rig.advance(milliseconds: 500)
    // An explicit choice overrides the criteria until it is withdrawn.
    try item.select(group.options[0], in: group)
    try await rig.run { try $0.setMediaSelectionCriteria(german, for: .audible) }
    await rig.advance(milliseconds: 500)
    try item.selectAutomatically(in: group)
    await rig.advance(milliseconds: 500)
    let runs = decodableRuns(rig.heard.all)
    print(runs)
    #expect(runs.map(\.file) == [1, 2, 1, 2, 1, 2])
    for run in runs { #expect(run.firstIndex == run.position) }
    #expect(!rig.dump.contains("timeJumped") && !rig.dump.contains("waiting"))
    let code = await rig.run { player in
      do throws(MediaError) {
        try player.setMediaSelectionCriteria(german, for: .describesVideo)
        return 0
      } catch { return error.code.rawValue }
    }
    #expect(code == 1001)
  }

  @Test func statement33_emptySelectionIsRejectedIfTheGroupForbidsIt() async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, "a.mka")
    let group = try await start(rig, item)
    #expect(!group.allowsEmptySelection)
    await rig.advance(milliseconds: 100)
    try item.select(group.options[1], in: group)
    await rig.advance(milliseconds: 100)
    expectError(.invalidState) { try item.select(nil, in: group) }
    #expect(item.currentMediaSelection.selectedOption(in: group) == group.options[1])
    await rig.advance(milliseconds: 300)
    #expect(decodableRuns(rig.heard.all).map(\.file) == [1, 2])
  }

  @Test func itemWithVideoAllowsAnEmptyAudioSelection() async throws {
    let rig = try await Rig()
    let path = rig.files.file("code-1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 96_000)
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=duration=2:size=64x48:rate=25", "-i",
      path,
      "-c:v", "mpeg4", "-c:a", "flac", rig.files.file("a.mkv"),
    ])
    let item = rig.item(rig.files.file("a.mkv"))
    let group = try await start(rig, item)
    #expect(group.allowsEmptySelection)
    await rig.advance(milliseconds: 500)
    try item.select(nil, in: group)
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { $0.currentTime() } == seconds(1))
    try item.selectAutomatically(in: group)
    await rig.advance(milliseconds: 500)
    let runs = decodableRuns(rig.heard.all)
    print(runs)
    #expect(runs.map(\.file) == [1, 1])
    for run in runs { #expect(run.firstIndex == run.position) }
    #expect(runs[1].position >= 48_000)
  }

  @Test func invalidSelectionsAreRejectedAndChangeNothing() async throws {
    let rig = try await Rig()
    let item = try twoTrackItem(rig, "a.mka")
    let other = try twoTrackItem(rig, "b.mka")
    let single = try rig.wav(file: 3, frames: 4_800)
    let group = try await start(rig, item)
    let otherGroup = try #require(try? other.asset.load().mediaSelectionGroup(for: .audible))
    let unloadedItem = rig.item(rig.files.file("a.mka"))
    let singleTrackGroup = try #require(try single.asset.load().mediaSelectionGroup(for: .audible))
    let rows: [(String, Int, () throws -> Void)] = [
      ("an option of another file", 1012, { try item.select(singleTrackGroup.options[0], in: group) }),
      ("another file's group", 1012, { try item.select(singleTrackGroup.options[0], in: singleTrackGroup) }),
      ("nothing, which is not allowed", 1003, { try item.select(nil, in: group) }),
      ("an item that is not loaded", 1003, { try unloadedItem.select(group.options[1], in: group) }),
      (
        "an unavailable language", 1012,
        {
          try item.select(matching: MediaSelectionCriteria(preferredLanguages: ["fr"]), in: group)
        }
      ),
      (
        "an unavailable characteristic", 1012,
        {
          try item.select(matching: MediaSelectionCriteria(preferredCharacteristics: [.describesVideo]), in: group)
        }
      ),
    ]
    for (name, code, body) in rows {
      var found = 0
      do { try body() } catch let error as MediaError { found = error.code.rawValue }
      print("\(name): \(found)")
      #expect(found == code, "\(name)")
      #expect(item.currentMediaSelection.selectedOption(in: group) == group.defaultOption)
    }
    #expect(otherGroup == group, "the same tracks")
  }
}
