import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Chapters during playback: reported when their first sample is heard, and as targets of seeks.
@Suite struct ChapterTests {
  private func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1_000) }

  /// An item of 20 s with chapters that start at 0, 4, 8.25 and 12 s.
  private func item(_ rig: Rig, _ name: String = "a.mka", starts: [Int] = [0, 4_000, 8_250, 12_000], ends: [Int] = [])
    throws -> PlayerItem
  {
    let path = rig.files.file("code-1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 960_000)
    var text = ";FFMETADATA1\n"
    for (index, start) in starts.enumerated() {
      let end = index < ends.count ? ends[index] : index + 1 < starts.count ? starts[index + 1] : 20_000
      text += "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(start)\nEND=\(end)\ntitle=C\(index + 1)\n"
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: rig.files.file("chapters.txt")))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-i", path, "-i", rig.files.file("chapters.txt"), "-map_metadata", "1",
      "-c:a", "flac", rig.files.file(name),
    ])
    return rig.item(rig.files.file(name))
  }

  private func chapterEvents(_ rig: Rig) -> [String] {
    rig.dump.split(separator: "\n").filter { $0.contains("event chapter") }.map { String($0.dropFirst("event ".count)) }
  }

  /// Seeks to the next or the previous chapter, and returns the time of the seek.
  private func seekToChapter(_ rig: Rig, next: Bool) async throws -> MediaTime? {
    let result = Mutex<SeekResult?>(nil)
    try await rig.run { player in
      if next {
        try player.seekToNextChapter { found in result.withLock { $0 = found } }
      } else {
        try player.seekToPreviousChapter { found in result.withLock { $0 = found } }
      }
    }
    await rig.settle()
    return result.withLock { $0?.unfinishedReason == nil ? $0?.time : nil }
  }

  @Test func chapterIsReportedWhenItsFirstSampleIsHeard() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.append([try item(rig)]) }
    await rig.settle()
    #expect(chapterEvents(rig) == ["chapter item 1 at 0: 1 of 4 C1"])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 3_999)
    #expect(chapterEvents(rig).count == 1)
    await rig.advance(milliseconds: 1)
    #expect(chapterEvents(rig).last == "chapter item 1 at 4: 2 of 4 C2")
    #expect(await rig.run { $0.currentChapter?.number } == 2)
    await rig.advance(milliseconds: 16_000)
    #expect(
      chapterEvents(rig) == [
        "chapter item 1 at 0: 1 of 4 C1", "chapter item 1 at 4: 2 of 4 C2", "chapter item 1 at 8.25: 3 of 4 C3",
        "chapter item 1 at 12: 4 of 4 C4",
      ])
    print(chapterEvents(rig))
  }

  /// Chapters from 2 s to 6 s, from 10 s to 15 s, and from 15.05 s to 18 s. The gap before the third counts as none.
  @Test func currentChapterIsNilAfterItsEnd() async throws {
    let rig = try await Rig()
    let item = try item(rig, starts: [2_000, 10_000, 15_050], ends: [6_000, 15_000, 18_000])
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 8_000)
    #expect(await rig.run { $0.currentChapter } == nil)
    await rig.advance(milliseconds: 11_000)
    let expectedEvents = [
      "chapter item 1 at 0: none", "chapter item 1 at 2: 1 of 3 C1", "chapter item 1 at 6: none",
      "chapter item 1 at 10: 2 of 3 C2", "chapter item 1 at 15.05: 3 of 3 C3", "chapter item 1 at 18: none",
    ]
    print(chapterEvents(rig))
    #expect(chapterEvents(rig) == expectedEvents)
    #expect(await rig.run { $0.currentChapter } == nil)
    // Outside of chapters, the next and previous ones are by position.
    #expect(try await seekToChapter(rig, next: false) == seconds(15.05))
    try await rig.run { try $0.seek(to: seconds(8), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(chapterEvents(rig).last == "chapter item 1 at 8: none")
    #expect(try await seekToChapter(rig, next: true) == seconds(10))
    // In reverse the end belongs to the chapter.
    try await rig.run { try $0.seek(to: seconds(7), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 2_000)
    #expect(chapterEvents(rig).last == "chapter item 1 at 6: 1 of 3 C1")
  }

  /// Records the calls of a chapter observer.
  private final class ObserverCalls: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ observation: TimeObservation) {
      let chapter = observation.chapter.map { "\($0.number) \($0.chapter.title ?? "-")" } ?? "none"
      let direction = observation.reason == .skipped ? observation.isBackward ? " back" : " on" : ""
      let line =
        "\(observation.reason)\(direction) \(observation.itemID) \(observation.time.decimalDescription) \(chapter)"
      lines.withLock { $0.append(line) }
    }

    /// Returns and removes the calls so far.
    func drain() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  @Test func observerReportsEachChapterStartOfTheCurrentItemOncePerPass() async throws {
    let rig = try await Rig()
    let (all, second) = (ObserverCalls(), ObserverCalls())
    let isEnded = Mutex(false)
    try await rig.run { player in
      _ = try player.addChapterTimeObserver(includesSeeks: true) { all.add($0) }
      try player.append([try item(rig), try item(rig, "b.mka", starts: [0, 1_500])])
      _ = try player.addChapterTimeObserver(itemID: 2, onEnd: { isEnded.withLock { $0 = true } }) { second.add($0) }
    }
    await rig.settle()
    #expect(all.drain() == [])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    #expect(all.drain() == ["crossed 1 0 1 C1"])
    await rig.advance(milliseconds: 3_899)
    #expect(all.drain() == [])
    await rig.advance(milliseconds: 1)
    #expect(all.drain() == ["crossed 1 4 2 C2"])
    // A seek skips one start, and ends before the other.
    try await rig.run { try $0.seek(to: seconds(12), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(all.drain() == ["skipped on 1 8.25 3 C3", "crossed 1 12 4 C4"])
    await rig.advance(milliseconds: 200)
    #expect(all.drain() == [])
    try await rig.run { try $0.seek(to: seconds(8), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(all.drain() == ["skipped back 1 12 4 C4", "skipped back 1 8.25 3 C3"])
    #expect(second.drain() == [])
    // The next item follows without a gap.
    try await rig.run { try $0.seek(to: seconds(19), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(all.drain() == ["skipped on 1 8.25 3 C3", "skipped on 1 12 4 C4"])
    await rig.advance(milliseconds: 3_000)
    #expect(all.drain() == ["crossed 2 0 1 C1", "crossed 2 1.5 2 C2"])
    #expect(second.drain() == ["crossed 2 0 1 C1", "crossed 2 1.5 2 C2"])
    // In reverse a start is reached when its chapter ends.
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 3_000)
    #expect(all.drain() == ["crossed 2 1.5 2 C2", "crossed 2 0 1 C1"])
    await rig.run { player in try? player.remove([2]) }
    #expect(isEnded.withLock { $0 } && second.drain().last == "crossed 2 0 1 C1")
  }

  @Test func observerAddedDuringPlaybackReportsOnlyLaterChapters() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.append([try item(rig)]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 5_000)
    let calls = ObserverCalls()
    let token = Mutex<ObserverToken?>(nil)
    try await rig.run { player in
      let added = try player.addChapterTimeObserver { calls.add($0) }
      token.withLock { $0 = added }
    }
    await rig.advance(milliseconds: 3_251)
    #expect(calls.drain() == ["crossed 1 8.25 3 C3"])
    try await rig.run { player in
      if let token = token.withLock({ $0 }) { try player.removeTimeObserver(token) }
      expectError(.noSuchItem) { try player.addChapterTimeObserver(itemID: 9) { _ in } }
    }
    await rig.advance(milliseconds: 5_000)
    #expect(calls.drain() == [])
  }

  /// A part from 6 s to 13 s: the second chapter begins before it, and the fourth continues after it.
  @Test func chaptersAreClippedToTheTimeRangeOfTheItem() async throws {
    let rig = try await Rig()
    let whole = try item(rig)
    let part = PlayerItem(
      asset: whole.asset, timeRange: TimeRange(start: seconds(6), end: seconds(13)), id: whole.id)
    #expect(part.chapters == [])
    try await rig.run { try $0.append([part]) }
    await rig.settle()
    let expected = [(0, 2.25), (2.25, 6), (6, 7)].map { TimeRange(start: seconds($0), end: seconds($1)) }
    #expect(part.chapters.map(\.timeRange) == expected)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 7_500)
    #expect(
      chapterEvents(rig) == [
        "chapter item 1 at 0: 1 of 3 C2", "chapter item 1 at 2.25: 2 of 3 C3", "chapter item 1 at 6: 3 of 3 C4",
      ])
  }

  @Test func seeksToTheNextAndPreviousChapterLandAtChapterStarts() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.append([try item(rig)]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_000)
    #expect(try await seekToChapter(rig, next: true) == seconds(4))
    #expect(try await seekToChapter(rig, next: true) == seconds(8.25))
    await rig.advance(milliseconds: 2_500)
    // 2.5 s into the chapter: seeks to the previous one.
    #expect(try await seekToChapter(rig, next: false) == seconds(4))
    await rig.advance(milliseconds: 3_100)
    // More than 3 s into the chapter: seeks to its start.
    #expect(try await seekToChapter(rig, next: false) == seconds(4))
    #expect(try await seekToChapter(rig, next: false) == .zero)
    #expect(try await seekToChapter(rig, next: false) == .zero)
    for start in [4, 8.25, 12] { #expect(try await seekToChapter(rig, next: true) == seconds(start)) }
    var code = 0
    do { _ = try await seekToChapter(rig, next: true) } catch let error as MediaError { code = error.code.rawValue }
    #expect(code == 1013)
    #expect(await rig.run { $0.currentChapter?.chapter.title } == "C4")
    #expect(chapterEvents(rig).last == "chapter item 1 at 12: 4 of 4 C4")
    print(chapterEvents(rig))
  }

  @Test func chapterChangesAreReportedAfterSeeksInReverseAndInLoops() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.append([try item(rig)]) }
    await rig.settle()
    try await rig.run { try $0.seek(to: seconds(9), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    #expect(chapterEvents(rig).last == "chapter item 1 at 9: 3 of 4 C3")
    try await rig.run { player in
      try player.setRate(-1)
    }
    await rig.advance(milliseconds: 1_500)
    #expect(chapterEvents(rig).last == "chapter item 1 at 8.25: 2 of 4 C2")
    try await rig.run { player in
      player.pause()
      try player.seek(to: seconds(3.5), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.settle()
    #expect(chapterEvents(rig).last == "chapter item 1 at 3.5: 1 of 4 C1")
    try await rig.run { player in
      try player.setLoop(TimeRange(start: seconds(3.75), end: seconds(4.25)))
      try player.setRate(1)
    }
    await rig.advance(milliseconds: 1_900)
    print(chapterEvents(rig))
    #expect(
      chapterEvents(rig).suffix(4) == [
        "chapter item 1 at 4: 2 of 4 C2", "chapter item 1 at 3.75: 1 of 4 C1", "chapter item 1 at 4: 2 of 4 C2",
        "chapter item 1 at 3.75: 1 of 4 C1",
      ])
  }

  @Test func noChapterIsCurrentBeforeTheFirstOrInItemsWithoutChapters() async throws {
    let rig = try await Rig()
    let plain = try rig.wav(file: 2, frames: 48_000)
    try await rig.run { try $0.append([try item(rig, starts: [5_000, 10_000]), plain]) }
    await rig.settle()
    #expect(chapterEvents(rig) == ["chapter item 2 at 0: none"])
    #expect(await rig.run { $0.currentChapter } == nil)
    var code = 0
    do { _ = try await seekToChapter(rig, next: false) } catch let error as MediaError { code = error.code.rawValue }
    #expect(code == 1013)
    #expect(try await seekToChapter(rig, next: true) == seconds(5))
    await rig.run { $0.advanceToNextItem() }
    await rig.settle()
    code = 0
    do { _ = try await seekToChapter(rig, next: true) } catch let error as MediaError { code = error.code.rawValue }
    #expect(code == 1013, "the item has none")
    await rig.run { $0.removeAllItems() }
    code = 0
    do { _ = try await seekToChapter(rig, next: true) } catch let error as MediaError { code = error.code.rawValue }
    #expect(code == 1004)
  }
}
