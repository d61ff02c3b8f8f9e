import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Values of an asset, which are loaded on request.
@Suite(.timeLimit(.minutes(2))) struct AssetKeyTests {
  /// Blocks one of the threads until it is opened.
  private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func block(_ workers: AssetWorkers) {
      workers.run(forNanoseconds: .max) { _ in
        self.semaphore.wait()
      } timedOut: { _ in
      }
    }
    func open() { semaphore.signal() }
  }

  private final class Counts: Sendable {
    let requested = Atomic<Int>(0)
    let completed = Atomic<Int>(0)
    let withdrawn = Atomic<Int>(0)
  }

  private func audioFile(_ folder: TemporaryFolder, frameCount: Int = 4_800) throws -> String {
    try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: frameCount), as: "a.wav")
  }

  private func durationStatus(_ asset: Asset) -> String { asset.status(of: .duration).name }

  @Test func statusOfAKeyDoesNotLoadIt() async throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 1)
    let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
    for key in AssetKey.allCases { #expect(asset.status(of: key).name == "unknown") }
    #expect(workers.waitingCount == 0 && asset.loaded == nil)
    let (duration, tracks) = try await asset.load(.duration, .tracks)
    #expect(duration == MediaTime(value: 1, timescale: 10))
    #expect(tracks.map(\.codecName) == ["pcm_s16le"])
    #expect(asset.status(of: .duration) == .loaded(duration))
    let tags: [AssetKey] = [.metadata, .commonMetadata, .availableMetadataFormats]
    for key in AssetKey.allCases { #expect(asset.status(of: key).name == (tags.contains(key) ? "unknown" : "loaded")) }
    #expect(try await asset.load(.isPlayable))
    let (rate, volume) = try await asset.load(.preferredRate, .preferredVolume)
    #expect(rate == 1 && volume == 1)
    let (readable, composable, protected, precise, chapters) = try await asset.load(
      .isReadable, .isComposable, .hasProtectedContent, .providesPreciseDuration, .chapters)
    #expect(readable && composable && !protected && precise && chapters.isEmpty)
  }

  @Test func hundredRequestsShareOneLoadAndCompleteOnceEach() throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 1)
    let gate = Gate()
    gate.block(workers)
    let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
    let counts = Mutex([Int](repeating: 0, count: 100))
    let done = DispatchSemaphore(value: 0)
    for number in 0..<100 {
      asset.loadValues(forKeys: number % 2 == 0 ? [.duration] : AssetKey.allCases) { status in
        #expect(status.name == "loaded")
        counts.withLock { $0[number] += 1 }
        done.signal()
      }
    }
    #expect(durationStatus(asset) == "loading")
    #expect(workers.waitingCount <= 3, "the gate, and one load of each part")
    gate.open()
    for _ in 0..<100 { done.wait() }
    #expect(counts.withLock { $0 } == [Int](repeating: 1, count: 100))
    // Known values are reported immediately.
    var isReported = false
    withUnsafeMutablePointer(to: &isReported) { pointer in
      nonisolated(unsafe) let flag = pointer
      asset.loadValues(forKeys: [.tracks]) { _ in flag.pointee = true }
    }
    #expect(isReported)
    print("100 requests: one load, \(counts.withLock { $0.reduce(0, +) }) completions")
  }

  @Test func slowFileDoesNotDelayOtherFiles() async throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 4)
    let gate = Gate()
    for _ in 0..<3 { gate.block(workers) }
    defer { for _ in 0..<3 { gate.open() } }
    for _ in 0..<10 {
      let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
      #expect(try await asset.load(.duration) == MediaTime(value: 1, timescale: 10))
    }
  }

  @Test func tagsAndOtherKeysLoadTogether() async throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-metadata", "title=A song", "-metadata", "artist=Somebody",
      folder.file("a.mp3"))
    let asset = Asset(path: folder.file("a.mp3"))
    let (tags, common, formats, duration) = try await asset.load(
      .metadata, .commonMetadata, .availableMetadataFormats, .duration)
    print(
      tags.count, common.map { "\($0.commonKey?.rawValue ?? "-")=\($0.stringValue ?? "-")" }, formats.map(\.rawValue))
    #expect(common.contains { $0.commonKey == .title && $0.stringValue == "A song" })
    #expect(common.contains { $0.commonKey == .artist && $0.stringValue == "Somebody" })
    #expect(!formats.isEmpty && duration.isNumeric)
    for key in AssetKey.allCases { #expect(asset.status(of: key).name == "loaded") }
    asset.cancelLoading()
    #expect(asset.status(of: .metadata).value?.count == tags.count)
  }

  @Test func cancelledTaskStopsWaitingAndOtherTasksGetTheirValue() async throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 1)
    let gate = Gate()
    gate.block(workers)
    let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
    let cancelledTask = Task { try await asset.load(.duration) }
    let otherTask = Task { try await asset.load(.duration) }
    cancelledTask.cancel()
    let result = await cancelledTask.result
    expectError(.cancelled) { try result.get() }
    if case .failure(let error as MediaError) = result { #expect(error.code == .cancelled) }
    gate.open()
    #expect(try await otherTask.value == MediaTime(value: 1, timescale: 10))
  }

  @Test func cancelLoadingEndsAllRequestsAndANewRequestLoads() async throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 1)
    let gate = Gate()
    gate.block(workers)
    let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
    let names = Mutex<[String]>([])
    for _ in 0..<3 { asset.loadValues(forKeys: [.tracks]) { status in names.withLock { $0.append(status.name) } } }
    asset.cancelLoading()
    #expect(names.withLock { $0 } == ["cancelled", "cancelled", "cancelled"])
    #expect(durationStatus(asset) == "cancelled")
    let again = Task { try await asset.load(.duration) }
    gate.open()
    #expect(try await again.value == MediaTime(value: 1, timescale: 10))
    #expect(durationStatus(asset) == "loaded")
    #expect(names.withLock { $0.count } == 3)
    asset.cancelLoading()
    #expect(durationStatus(asset) == "loaded", "a loaded value stays loaded")
  }

  @Test func cancellingAKeyCancelsOnlyTheKeysReadWithIt() async throws {
    let folder = try TemporaryFolder()
    let workers = AssetWorkers(threadLimit: 1)
    let gate = Gate()
    gate.block(workers)
    let asset = Asset(path: Array(try audioFile(folder).utf8), workers: workers)
    let names = ConditionMutex<[String]>([])
    asset.loadValues(forKeys: [.tracks]) { status in names.update { $0.append("tracks \(status.name)") } }
    asset.loadValues(forKeys: [.metadata]) { status in names.update { $0.append("metadata \(status.name)") } }
    asset.loadValues(forKeys: [.metadata, .tracks]) { status in names.update { $0.append("both \(status.name)") } }
    asset.cancelLoading([.commonMetadata])
    #expect(names.withState { $0 } == ["metadata cancelled"])
    #expect(asset.status(of: .metadata).name == "cancelled" && asset.status(of: .duration).name == "loading")
    asset.cancelLoading([])
    gate.open()
    _ = names.wait { $0.count == 3 ? true : nil } as Bool?
    #expect(Set(names.withState { $0 }) == ["metadata cancelled", "tracks loaded", "both cancelled"])
    #expect(try await asset.load(.metadata).isEmpty)
    asset.cancelLoading([.metadata, .duration])
    #expect(asset.status(of: .metadata).name == "loaded" && asset.status(of: .duration).name == "loaded")
  }

  @Test(arguments: [AssetKey.duration, .metadata])
  func cancelLoadingAbandonsAReadInProgress(_ key: AssetKey) async throws {
    let bytes = HangingBytes()
    let asset = bytes.asset()
    let names = ConditionMutex<[String]>([])
    asset.loadValues(forKeys: [key]) { status in names.update { $0.append(status.name) } }
    bytes.waitUntilRead(1)
    asset.cancelLoading()
    #expect(names.withState { $0 } == ["cancelled"])
    bytes.waitUntilEnded(1)
    #expect(asset.status(of: key).name == "cancelled")
    // A new request reads again.
    asset.loadValues(forKeys: [key]) { _ in }
    bytes.waitUntilRead(2)
  }

  @Test(arguments: [AssetKey.duration, .metadata]) func releasedAssetAbandonsItsLoad(_ key: AssetKey) throws {
    let bytes = HangingBytes()
    let names = ConditionMutex<[String]>([])
    var asset: Asset? = bytes.asset()
    asset?.loadValues(forKeys: [key]) { status in names.update { $0.append(status.name) } }
    bytes.waitUntilRead(1)
    #expect(names.withState { $0 }.isEmpty)
    asset = nil
    bytes.waitUntilEnded(1)
    #expect(names.wait { $0.isEmpty ? nil : $0 } == ["cancelled"])
  }

  /// The last cancelled waiter cancels loading.
  @Test(arguments: [AssetKey.duration, .metadata]) func loadIsCancelledWithItsLastRequest(_ key: AssetKey) throws {
    let bytes = HangingBytes()
    let asset = bytes.asset()
    let requests = (0..<3).map { _ in asset.loadValues(forKeys: [key]) { _ in Issue.record("it was completed") } }
    bytes.waitUntilRead(1)
    #expect(requests[0].cancel() && requests[2].cancel())
    #expect(asset.status(of: key).name == "loading" && bytes.endedReadCount == 0)
    #expect(requests[1].cancel())
    bytes.waitUntilEnded(1)
    #expect(asset.status(of: key).name == "cancelled")
  }

  @Test func cancelLoadingAbandonsAnArtworkRead() throws {
    let bytes = HangingBytes()
    let asset = bytes.asset()
    let code = ConditionMutex<Int?>(nil)
    Thread { code.update { $0 = errorCode { _ = try asset.loadArtwork() } } }.start()
    bytes.waitUntilRead(1)
    asset.cancelLoading()
    #expect(code.wait { $0 } == 6015)
  }

  @Test func loadedTagsAreNotReadAgain() async throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try audioFile(folder))
    _ = try await asset.load(.metadata)
    try FileManager.default.removeItem(atPath: folder.file("a.wav"))
    #expect(try asset.loadMetadata(interrupt: Interrupt()).items.isEmpty)
  }

  /// Concurrent loads and cancellations: each request is completed once, and none waits indefinitely.
  @Test func everyRequestCompletesOrIsWithdrawnExactlyOnce() throws {
    let folder = try TemporaryFolder()
    let path = Array(try audioFile(folder).utf8)
    let workers = AssetWorkers(threadLimit: 2)
    let counts = Counts()
    for round in 0..<50 {
      let asset = Asset(path: path, workers: workers)
      let done = DispatchGroup()
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for turn in 0..<5 {
          done.enter()
          counts.requested.wrappingAdd(1, ordering: .relaxed)
          let request = asset.loadValues(forKeys: [.duration]) { _ in
            counts.completed.wrappingAdd(1, ordering: .relaxed)
            done.leave()
          }
          if (thread + turn + round) % 3 == 0, request.cancel() {
            counts.withdrawn.wrappingAdd(1, ordering: .relaxed)
            done.leave()
          }
          if (thread + turn) % 4 == 0 { asset.cancelLoading() }
        }
      }
      done.wait()
    }
    let (requested, completed) = (counts.requested.load(ordering: .relaxed), counts.completed.load(ordering: .relaxed))
    let withdrawn = counts.withdrawn.load(ordering: .relaxed)
    print("requested \(requested), completed \(completed), withdrawn \(withdrawn)")
    #expect(requested == 2_000 && requested == completed + withdrawn)
  }

  /// A file that is not media fails with its error for every key, on each request.
  @Test func inputThatIsNotMediaFailsForEveryKeyWithTheSameError() async throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.file("fifo"), 0o600) == 0)
    let rows: [(String, String, Int)] = [
      ("missing", folder.file("none.wav"), 2001), ("folder", folder.path, 2002), ("FIFO", folder.file("fifo"), 2002),
      ("/dev/zero", "/dev/zero", 2002), ("empty", try folder.write([], as: "empty.wav"), 3001),
      ("text", try folder.write(Array("some words\n".utf8), as: "a.txt"), 3002),
    ]
    for (input, path, code) in rows {
      let asset = Asset(path: path)
      var codes: Set<Int> = []
      for _ in 0..<2 {
        do {
          _ = try await asset.load(.duration, .tracks, .metadata)
        } catch {
          codes.insert(error.code.rawValue)
        }
      }
      for key in AssetKey.allCases {
        guard case .failed(let error) = asset.status(of: key) else {
          Issue.record("\(input): \(key) is \(asset.status(of: key).name)")
          continue
        }
        codes.insert(error.code.rawValue)
      }
      print("\(input): \(codes.sorted())")
      #expect(codes == [code])
    }
  }
}
