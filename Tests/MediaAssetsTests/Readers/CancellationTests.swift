import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// `cancel()` ends a blocked read, and no data is lost when reading continues.
@Suite(.timeLimit(.minutes(2))) struct CancellationTests {
  @Test func cancellationEndsABlockedRead() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("fifo.wav")
    #expect(mkfifo(path, 0o600) == 0)
    // Open for reading and writing, the FIFO never ends; a thread writes to it.
    let descriptor = open(path, O_RDWR)
    #expect(descriptor >= 0)
    let bytes = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 441_000)
    let interrupt = Interrupt()
    let isFed = DispatchSemaphore(value: 0)
    let feeder = Thread {
      var rest = bytes.dropLast(40_000)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
      }
      isFed.signal()
    }
    feeder.start()
    let reader = try AudioTrackReader(
      asset: Asset(path: path), interrupt: interrupt, kinds: .regularFilesAndPipes)
    // At some time no data is left, and only cancellation ends the read.
    let canceller = Thread {
      isFed.wait()
      reader.cancel()
    }
    canceller.start()
    var frames = 0
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 2_048)
    defer { buffer.deallocate() }
    var result = try reader.read(into: buffer, capacityFrames: 1_024)
    while case .frames(let count, let position) = result {
      #expect(position == Int64(frames))
      frames += count
      result = try reader.read(into: buffer, capacityFrames: 1_024)
    }
    #expect(result == .cancelled)
    #expect(frames < 441_000)
    #expect(try reader.read(into: buffer, capacityFrames: 1_024) == .cancelled, "until it is reset")
    expectError(.cancelled) { try reader.seekExactly(to: .zero) }
    close(descriptor)
  }

  @Test func cancellationEndsABlockedOpening() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("fifo.wav")
    #expect(mkfifo(path, 0o600) == 0)
    let descriptor = open(path, O_RDWR)
    let interrupt = Interrupt()
    Thread { interrupt.cancel() }.start()
    let code = errorCode {
      _ = try AudioTrackReader(
        asset: Asset(path: path), interrupt: interrupt, kinds: .regularFilesAndPipes)
    }
    #expect(code == 6015)
    close(descriptor)
  }

  @Test(arguments: ["a.wav", "a.flac", "a.mp3"])
  func readingContinuesWithoutLossAfterCancellations(_ name: String) throws {
    let folder = try TemporaryFolder()
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 200_000)
    let source = try folder.write(wav, as: "a.wav")
    if name != "a.wav" { try Tool.ffmpeg("-i", source, folder.file(name)) }
    let expected = try AudioTrackReader(asset: Asset(path: folder.file(name))).readToEnd()

    let reader = try AudioTrackReader(asset: Asset(path: folder.file(name)))
    let finished = DispatchSemaphore(value: 0)
    do {
      let flag = DoneFlag()
      let canceller = Thread {
        while !flag.isDone.load(ordering: .acquiring) {
          reader.cancel()
          sched_yield()
        }
        finished.signal()
      }
      canceller.start()
      defer {
        flag.isDone.store(true, ordering: .releasing)
        finished.wait()
      }
      let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 2_000)
      defer { buffer.deallocate() }
      var samples: [Float] = []
      do {
        reading: while true {
          reader.resetCancellation()
          switch try reader.read(into: buffer, capacityFrames: 1_000) {
          case .frames(let count, let position):
            #expect(position == Int64(samples.count / 2))
            samples += UnsafeBufferPointer(start: buffer, count: 2 * count)
          case .cancelled: continue
          case .endOfTrack: break reading
          }
        }
      } catch {
        Issue.record(error)
      }
      // Compared outside #expect, which would print all samples.
      let isSame = samples == expected
      #expect(isSame && samples.count > 390_000)
    }
  }

  /// The number of openings is that of a single load.
  @Test func concurrentLoadsOfOneAssetOpenTheFileOnce() throws {
    let folder = try TemporaryFolder()
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 1_000)
    let path = try folder.write(wav, as: "a.wav")
    let openings = try OpeningCounter(path)
    _ = try Asset(path: path).load()
    let openingCount = openings.drain()
    #expect(openingCount > 0)
    let asset = Asset(path: path)
    #expect(asset.loaded == nil)
    let outcomes = ConditionMutex<[Int]>([])
    let isRunning = DispatchSemaphore(value: 0)
    // No load can end before all threads run.
    asset.state.loadingLock.withLock { _ in
      for _ in 0..<8 {
        Thread {
          isRunning.signal()
          let code = errorCode { _ = try asset.load() }
          outcomes.update { $0.append(code) }
        }.start()
      }
      for _ in 0..<8 { isRunning.wait() }
    }
    #expect(outcomes.wait { $0.count == 8 ? $0 : nil } == [Int](repeating: 0, count: 8))
    #expect(openings.drain() == openingCount)
    #expect(try asset.loaded?.get().duration == MediaTime(frame: 1_000, rate: 44_100))
  }
}

/// A flag that two threads share.
private final class DoneFlag: Sendable {
  let isDone = Atomic<Bool>(false)
}
