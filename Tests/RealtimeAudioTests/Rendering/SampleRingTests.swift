import Glibc
import MediaTesting
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct SampleRingTests {
  /// A copyable wrapper of the ring, which `#expect` requires.
  private final class Ring: Sendable {
    let ring: SampleRing

    init(capacityFrames: Int, channelCount: Int) {
      ring = SampleRing(capacityFrames: capacityFrames, channelCount: channelCount)
    }

    var capacityFrames: Int { ring.capacityFrames }
    var writtenFrame: Int64 { ring.writtenFrame }
    var releasedFrame: Int64 { ring.releasedFrame }
    var writableFrameCount: Int { ring.writableFrameCount }

    func write(_ samples: [Float], frameCount: Int) -> Int { ring.write(samples, frameCount: frameCount) }
    func release(before frame: Int64) { ring.release(before: frame) }

    func read(from frame: Int64, count: Int) -> [Float] {
      var samples: [Float] = []
      var done = 0
      while done < count {
        let region = ring.readableRegion(from: frame + Int64(done), atMost: count - done)
        samples += UnsafeBufferPointer(start: region.samples, count: region.count * ring.channelCount)
        done += region.count
      }
      return samples
    }
  }

  @Test func capacityIsRoundedUpToAPowerOfTwo() {
    #expect(Ring(capacityFrames: 5, channelCount: 1).capacityFrames == 8)
    #expect(Ring(capacityFrames: 8, channelCount: 2).capacityFrames == 8)
    #expect(Ring(capacityFrames: 1, channelCount: 64).capacityFrames == 1)
  }

  @Test func framesStayReadableUntilTheyAreReleased() {
    let ring = Ring(capacityFrames: 8, channelCount: 2)
    #expect(ring.write(ramp(12), frameCount: 6) == 6)
    #expect(ring.writtenFrame == 6)
    #expect(ring.read(from: 0, count: 6) == ramp(12))
    #expect(ring.read(from: 2, count: 3) == ramp(6, from: 5))
    #expect(ring.read(from: 0, count: 6) == ramp(12))
    #expect(ring.writableFrameCount == 2)
  }

  @Test func fullRingAcceptsOnlyTheFramesThatFit() {
    let ring = Ring(capacityFrames: 8, channelCount: 1)
    #expect(ring.write(ramp(20), frameCount: 20) == 8)
    let region = ring.ring.writableRegion(atMost: 1)
    #expect(region == nil)
    #expect(ring.write(ramp(1), frameCount: 1) == 0)
    ring.release(before: 3)
    #expect(ring.writableFrameCount == 3)
    #expect(ring.write(ramp(20, from: 9), frameCount: 12) == 3)
    #expect(ring.read(from: 3, count: 8) == ramp(8, from: 4))
  }

  @Test func regionsEndAtTheEndOfTheMemory() {
    let ring = Ring(capacityFrames: 8, channelCount: 1)
    #expect(ring.write(ramp(6), frameCount: 6) == 6)
    ring.release(before: 6)
    let regionCount = ring.ring.writableRegion(atMost: 8)?.count
    #expect(regionCount == 2)
    ring.ring.commit(frameCount: 0)
    #expect(ring.write(ramp(5, from: 7), frameCount: 5) == 5)
    let regionCounts = (
      ring.ring.readableRegion(from: 6, atMost: 5).count, ring.ring.readableRegion(from: 8, atMost: 3).count
    )
    #expect(regionCounts == (2, 3))
    #expect(ring.read(from: 6, count: 5) == ramp(5, from: 7))
  }

  @Test func regionCanBeCommittedPartially() throws {
    let ring = Ring(capacityFrames: 8, channelCount: 1)
    let writable = ring.ring.writableRegion(atMost: 100)
    let region = try #require(writable)
    #expect(region.count == 8)
    region.samples.update(from: ramp(8), count: 8)
    ring.ring.commit(frameCount: 3)
    #expect(ring.writtenFrame == 3)
    #expect(ring.writableFrameCount == 5)
    #expect(ring.write(ramp(1, from: 4), frameCount: 1) == 1)
    #expect(ring.read(from: 0, count: 4) == ramp(4))
  }

  @Test func releasedFrameNeverDecreases() {
    let ring = Ring(capacityFrames: 8, channelCount: 1)
    #expect(ring.write(ramp(8), frameCount: 8) == 8)
    ring.release(before: 5)
    ring.release(before: 2)
    #expect(ring.releasedFrame == 5)
    #expect(ring.writableFrameCount == 5)
  }

  @Test func twoThreadsTransferEveryFrameIntact() {
    let total: Int64 = 400_000
    let shared = Ring(capacityFrames: 512, channelCount: 2)
    let broken = ConditionMutex(-1)
    let writer = NamedThread(name: "writer") {
      var random = SeededGenerator(seed: 1)
      var frame: Int64 = 0
      while frame < total {
        let requestedCount = Int(min(Int64.random(in: 1...300, using: &random), total - frame))
        guard let region = shared.ring.writableRegion(atMost: requestedCount) else {
          sched_yield()
          continue
        }
        for index in 0..<region.count {
          let value = Float((frame + Int64(index)) & 0xFF_FFFF)
          region.samples[index * 2] = value
          region.samples[index * 2 + 1] = -value
        }
        shared.ring.commit(frameCount: region.count)
        frame += Int64(region.count)
      }
    }
    let reader = NamedThread(name: "reader") {
      var random = SeededGenerator(seed: 2)
      var frame: Int64 = 0
      var brokenCount = 0
      while frame < total {
        let available = shared.ring.writtenFrame - frame
        guard available > 0 else {
          sched_yield()
          continue
        }
        let requestedCount = Int(min(available, Int64.random(in: 1...300, using: &random)))
        // Some frames are read again before they are released, as after a rewind.
        let first = max(shared.ring.releasedFrame, frame - Int64.random(in: 0...50, using: &random))
        let region = shared.ring.readableRegion(from: first, atMost: Int(frame - first) + requestedCount)
        for index in 0..<region.count {
          let value = Float((first + Int64(index)) & 0xFF_FFFF)
          if region.samples[index * 2] != value || region.samples[index * 2 + 1] != -value { brokenCount += 1 }
        }
        frame = max(frame, first + Int64(region.count))
        shared.ring.release(before: frame - min(50, frame))
      }
      broken.update { [brokenCount] in $0 = brokenCount }
    }
    writer.join()
    reader.join()
    #expect(broken.withState { $0 } == 0)
  }
}
