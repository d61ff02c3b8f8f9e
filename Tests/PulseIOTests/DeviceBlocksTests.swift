import Testing

@testable import PlayheadPulseIO

@Suite("DeviceBlocks")
struct DeviceBlocksTests {
  /// A server that passes written chunks to its device one by one, never two at once.
  private struct Server {
    let block: Int
    let capacity: Int
    var chunks: [Int] = []
    /// The frame counts of the device's reads, in order.
    var readCounts: [Int] = []

    var room: Int { capacity - chunks.reduce(0, +) }

    mutating func readBlock() {
      guard let first = chunks.first else { return }
      let count = min(first, block)
      readCounts.append(count)
      if count == first { chunks.removeFirst() } else { chunks[0] -= count }
    }
  }

  private func play(_ server: inout Server, _ blocks: inout DeviceBlocks, readCount: Int) {
    for _ in 0..<readCount {
      server.readBlock()
      _ = blocks.recordRead(room: server.room)
      let count = blocks.frameCountToWrite(room: server.room, minimum: 0, bufferFrameCount: server.capacity)
      if count > 0 { server.chunks.append(count) }
    }
  }

  @Test(
    "a first chunk of a fractional block count causes at most one short read",
    arguments: [(1_023, 3_777), (1_023, 4_800), (480, 4_801), (1_024, 3_072)])
  func firstChunkOfFractionalBlocksCausesAtMostOneShortRead(_ block: Int, _ capacity: Int) {
    var (server, blocks) = (Server(block: block, capacity: capacity), DeviceBlocks())
    server.chunks = [blocks.frameCountToWrite(room: capacity, minimum: 0, bufferFrameCount: capacity)]
    #expect(server.chunks == [capacity])
    play(&server, &blocks, readCount: 100)
    let short = server.readCounts.filter { $0 != block }
    #expect(short.count <= 1 && server.readCounts.count == 100)
    #expect(blocks.frameCount == block)
    #expect(server.room < 2 * block, "the server underruns: \(server.chunks)")
  }

  /// Without whole blocks, the rest of the first chunk recurs indefinitely.
  @Test("writing exactly the free space causes short reads indefinitely")
  func writingExactlyTheFreeSpaceCausesShortReadsIndefinitely() {
    var server = Server(block: 1_023, capacity: 3_777, chunks: [3_777])
    for _ in 0..<100 {
      server.readBlock()
      if server.room > 0 { server.chunks.append(server.room) }
    }
    #expect(server.readCounts.filter { $0 != 1_023 }.count > 20)
  }

  private func learnBlockSize(_ block: Int, _ blocks: inout DeviceBlocks) {
    for _ in 0..<2 {
      _ = blocks.recordRead(room: block)
      _ = blocks.frameCountToWrite(room: block, minimum: 0, bufferFrameCount: 10 * block)
    }
  }

  @Test("queued audio is overwritten to its end in whole blocks") func queuedAudioIsOverwrittenToItsEndInWholeBlocks() {
    var blocks = DeviceBlocks()
    learnBlockSize(1_000, &blocks)
    #expect(blocks.frameCount == 1_000)
    #expect(blocks.frameCountToWrite(room: 3_900, minimum: 3_100, bufferFrameCount: 4_000) == 4_000)
    #expect(blocks.frameCountToWrite(room: 3_900, minimum: 2_900, bufferFrameCount: 4_000) == 3_000)
    #expect(blocks.frameCountToWrite(room: 900, minimum: 0, bufferFrameCount: 4_000) == 0)
    // Frames that were not written are not counted twice.
    #expect(blocks.recordRead(room: 1_900) == 1_000)
    #expect(blocks.recordRead(room: 2_900) == 1_000)
  }

  @Test("frames written beyond the free space count once the device has read them")
  func framesBeyondTheFreeSpaceCountOnceReadByTheDevice() {
    var blocks = DeviceBlocks()
    learnBlockSize(1_000, &blocks)
    #expect(blocks.frameCountToWrite(room: 3_900, minimum: 3_800, bufferFrameCount: 4_000) == 4_000)
    #expect(blocks.outstandingCount == -100)
    #expect(blocks.recordRead(room: 900) == 1_000)
  }

  @Test("a changed block size is learned again, and irregular reads have none")
  func changedBlockSizeIsLearnedAgainAndIrregularReadsHaveNone() {
    var blocks = DeviceBlocks()
    func read(_ count: Int) {
      #expect(blocks.recordRead(room: blocks.outstandingCount + count) == count)
      _ = blocks.frameCountToWrite(room: blocks.outstandingCount, minimum: 0, bufferFrameCount: 10_000)
    }
    [1_200, 1_200].forEach(read)
    #expect(blocks.frameCount == 1_200)
    // A command cuts a block in two.
    [500, 1_200, 2_400].forEach(read)
    #expect(blocks.frameCount == 1_200)
    [1_187, 1_213, 1_190].forEach(read)
    #expect(blocks.frameCount == 0 && blocks.outstandingCount == 0)
    [480, 480].forEach(read)
    #expect(blocks.frameCount == 480)
  }

  @Test("a device that reads irregular counts gets all free space")
  func deviceThatReadsIrregularCountsGetsAllFreeSpace() {
    var blocks = DeviceBlocks()
    for room in [700, 900, 1_100, 800] {
      #expect(blocks.recordRead(room: room) == room)
      #expect(blocks.frameCountToWrite(room: room, minimum: 0, bufferFrameCount: 10_000) == room)
    }
    #expect(blocks.frameCount == 0)
  }

  @Test("a server buffer of two blocks is filled completely") func serverBufferOfTwoBlocksIsFilledCompletely() {
    var blocks = DeviceBlocks()
    for _ in 0..<2 {
      _ = blocks.recordRead(room: 1_000)
      #expect(blocks.frameCountToWrite(room: 1_000, minimum: 0, bufferFrameCount: 2_500) == 1_000)
    }
    #expect(blocks.frameCountToWrite(room: 1_900, minimum: 0, bufferFrameCount: 2_500) == 1_900)
  }

  @Test("partial memory is used in whole blocks") func partialMemoryIsUsedInWholeBlocks() {
    var blocks = DeviceBlocks()
    #expect(blocks.chunkFrameCount(of: 5_000, room: 4_096) == 4_096)
    learnBlockSize(1_000, &blocks)
    #expect(blocks.chunkFrameCount(of: 5_000, room: 4_096) == 4_000)
    #expect(blocks.chunkFrameCount(of: 4_050, room: 4_096) == 4_050)
    #expect(blocks.chunkFrameCount(of: 5_000, room: 900) == 900)
    blocks.reset()
    #expect(blocks.frameCount == 0)
  }

  @Test("frames read beyond the device's part are fewer than a block, and none for whole blocks")
  func overtakenFramesAreFewerThanABlockAndNoneForWholeBlocks() {
    var blocks = DeviceBlocks()
    #expect(blocks.inTransitCount(bufferFrameCount: 4_800, fallback: 480) == 480)
    _ = blocks.frameCountToWrite(room: 4_800, minimum: 0, bufferFrameCount: 4_800)
    for _ in 0..<2 {
      _ = blocks.recordRead(room: 960)
      _ = blocks.frameCountToWrite(room: 960, minimum: 0, bufferFrameCount: 4_800)
    }
    #expect(blocks.inTransitCount(bufferFrameCount: 4_800, fallback: 480) == 960)
    for _ in 0..<12 {
      _ = blocks.recordRead(room: 960)
      _ = blocks.frameCountToWrite(room: 960, minimum: 0, bufferFrameCount: 4_800)
    }
    #expect(blocks.inTransitCount(bufferFrameCount: 4_800, fallback: 480) == 0)
    // Buffered audio is overwritten from a position within a block on.
    _ = blocks.frameCountToWrite(room: 960, minimum: 500, bufferFrameCount: 4_800)
    #expect(blocks.inTransitCount(bufferFrameCount: 4_800, fallback: 480) == 960)
  }
}
