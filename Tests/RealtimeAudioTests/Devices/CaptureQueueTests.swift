import MediaTesting
import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadRealtimeAudio

/// The queue of audio between a source and a recorder.
@Suite struct CaptureQueueTests {
  private static let format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)

  /// Reads everything in the queue: the samples, and the losses before each chunk.
  private static func readAll(_ queue: CaptureQueue) -> (samples: [Float], losses: [Int64]) {
    var (samples, losses): ([Float], [Int64]) = ([], [])
    while queue.readChunk({ memory, count, chunk, isFirst in
      if isFirst { losses.append(chunk.lostFrameCount) }
      samples += UnsafeBufferPointer(start: memory, count: count)
    }) {}
    return (samples, losses)
  }

  @Test func lostFramesAreReportedWithTheNextChunk() {
    let queue = CaptureQueue(format: Self.format, capacityFrames: 8)
    let source = (0..<32).map(Float.init)
    source.withUnsafeBufferPointer { source in
      guard let base = source.baseAddress else { return }
      queue.write(base, frameCount: 6, hostTime: HostTime(nanoseconds: 1))
      // Two frames fit.
      queue.write(base + 6, frameCount: 6, hostTime: HostTime(nanoseconds: 2))
      queue.write(base + 12, frameCount: 6, hostTime: HostTime(nanoseconds: 3))
      #expect(queue.lostFrameCount == 10)
      let first = Self.readAll(queue)
      #expect(first.samples == (0..<8).map(Float.init) && first.losses == [0, 0])
      queue.recordLoss(frameCount: 3)
      // Across the ring's end.
      queue.write(base + 21, frameCount: 7, hostTime: HostTime(nanoseconds: 4))
      let second = Self.readAll(queue)
      #expect(second.samples == (21..<28).map(Float.init) && second.losses == [13])
      #expect(queue.lostFrameCount == 13 && queue.writtenFrameCount == 15)
    }
  }

  @Test func chunksKeepTheirHostTimes() {
    let queue = CaptureQueue(format: Self.format, capacityFrames: 64)
    var sample: Float = 0
    for time in 1...3 { queue.write(&sample, frameCount: 1, hostTime: HostTime(nanoseconds: Int64(time))) }
    var times: [Int64] = []
    while queue.readChunk({ _, _, chunk, _ in times.append(chunk.hostTime.nanoseconds) }) {}
    #expect(times == [1, 2, 3])
  }

  @Test func writingNeitherAllocatesNorLocks() {
    let queue = CaptureQueue(format: Self.format, capacityFrames: 1_024)
    let samples = [Float](repeating: 0.5, count: 600)
    let counts = samples.withUnsafeBufferPointer { samples in
      func deliver(_ queue: CaptureQueue) {
        guard let base = samples.baseAddress else { return }
        for _ in 0..<4 { queue.write(base, frameCount: 600, hostTime: HostTime(nanoseconds: 1)) }
        queue.recordLoss(frameCount: 5)
        queue.wake()
      }
      // Swift's metadata for a generic type is created at first use, so use it once before.
      deliver(CaptureQueue(format: Self.format, capacityFrames: 1_024))
      return AllocationProbe.count { deliver(queue) }
    }
    #expect(counts == .none)
    #expect(queue.lostFrameCount == 2_400 - 1_024 + 5)
  }

  @Test func readerThreadReceivesAllFramesThatFitInOrder() {
    let queue = CaptureQueue(format: Self.format, capacityFrames: 512)
    let received = Mutex<(count: Int, next: Float, isInOrder: Bool)>((0, 0, true))
    let total = 100_000
    let reader = NamedThread(name: "taker") {
      var isDone = false
      while !isDone {
        queue.wait()
        while queue.readChunk({ memory, count, chunk, isFirst in
          received.withLock { received in
            if isFirst { received.next += Float(chunk.lostFrameCount) }
            for index in 0..<count {
              received.isInOrder = received.isInOrder && memory[index] == received.next
              received.next += 1
            }
            received.count += count
            isDone = memory[count - 1] == Float(total - 1)
          }
        }) {}
      }
    }
    let samples = (0..<total).map(Float.init)
    samples.withUnsafeBufferPointer { samples in
      guard let base = samples.baseAddress else { return }
      var index = 0
      while index < total {
        let count = min(37, total - index)
        // The last frames must not be lost.
        if total - index <= 37 { while queue.writtenFrameCount > received.withLock({ Int64($0.count) }) {} }
        queue.write(base + index, frameCount: count, hostTime: HostTime(nanoseconds: 1))
        index += count
      }
    }
    reader.join()
    let result = received.withLock { $0 }
    #expect(result.isInOrder)
    #expect(Int64(result.count) + queue.lostFrameCount == Int64(total))
  }
}
