import Testing

@testable import PulseIO

@Suite("DeviceBlocks")
struct DeviceBlocksTests {
  /// A server that passes written chunks to its device one by one, never two at once.
  private struct Server {
    let block: Int
    let capacity: Int
    var pieces: [Int] = []
    /// The frame counts of the device's reads, in order.
    var taken: [Int] = []

    var room: Int { capacity - pieces.reduce(0, +) }

    mutating func take() {
      guard let first = pieces.first else { return }
      let count = min(first, block)
      taken.append(count)
      if count == first { pieces.removeFirst() } else { pieces[0] -= count }
    }
  }

  private func play(_ server: inout Server, _ blocks: inout DeviceBlocks, takes: Int) {
    for _ in 0..<takes {
      server.take()
      _ = blocks.deviceTook(room: server.room)
      let count = blocks.write(room: server.room, least: 0, bufferFrameCount: server.capacity)
      if count > 0 { server.pieces.append(count) }
    }
  }

  @Test(
    "a first piece that is no whole number of blocks leaves one short one, and no more",
    arguments: [(1_023, 3_777), (1_023, 4_800), (480, 4_801), (1_024, 3_072)])
  func endsInWholeBlocks(_ block: Int, _ capacity: Int) {
    var (server, blocks) = (Server(block: block, capacity: capacity), DeviceBlocks())
    server.pieces = [blocks.write(room: capacity, least: 0, bufferFrameCount: capacity)]
    #expect(server.pieces == [capacity])
    play(&server, &blocks, takes: 100)
    let short = server.taken.filter { $0 != block }
    #expect(short.count <= 1 && server.taken.count == 100)
    #expect(blocks.frameCount == block)
    #expect(server.room < 2 * block, "the server starves: \(server.pieces)")
  }

  /// Without whole blocks, the rest of the first chunk recurs indefinitely.
  @Test("what is written as it is asked for never comes in step") func wouldNotEndByItself() {
    var server = Server(block: 1_023, capacity: 3_777, pieces: [3_777])
    for _ in 0..<100 {
      server.take()
      if server.room > 0 { server.pieces.append(server.room) }
    }
    #expect(server.taken.filter { $0 != 1_023 }.count > 20)
  }

  private func learn(_ block: Int, _ blocks: inout DeviceBlocks) {
    for _ in 0..<2 {
      _ = blocks.deviceTook(room: block)
      _ = blocks.write(room: block, least: 0, bufferFrameCount: 10 * block)
    }
  }

  @Test("what is queued is overwritten to its end, by whole blocks") func overwrites() {
    var blocks = DeviceBlocks()
    learn(1_000, &blocks)
    #expect(blocks.frameCount == 1_000)
    #expect(blocks.write(room: 3_900, least: 3_100, bufferFrameCount: 4_000) == 4_000)
    #expect(blocks.write(room: 3_900, least: 2_900, bufferFrameCount: 4_000) == 3_000)
    #expect(blocks.write(room: 900, least: 0, bufferFrameCount: 4_000) == 0)
    // Frames that were not written are not counted twice.
    #expect(blocks.deviceTook(room: 1_900) == 1_000)
    #expect(blocks.deviceTook(room: 2_900) == 1_000)
  }

  @Test("what was written beyond the room counts when the device has taken it") func countsWhatWasTooMuch() {
    var blocks = DeviceBlocks()
    learn(1_000, &blocks)
    #expect(blocks.write(room: 3_900, least: 3_800, bufferFrameCount: 4_000) == 4_000)
    #expect(blocks.owedCount == -100)
    #expect(blocks.deviceTook(room: 900) == 1_000)
  }

  @Test("a device that has other ways is learned anew, or is known to have none") func unlearns() {
    var blocks = DeviceBlocks()
    func take(_ count: Int) {
      #expect(blocks.deviceTook(room: blocks.owedCount + count) == count)
      _ = blocks.write(room: blocks.owedCount, least: 0, bufferFrameCount: 10_000)
    }
    [1_200, 1_200].forEach(take)
    #expect(blocks.frameCount == 1_200)
    // A command cuts a block in two.
    [500, 1_200, 2_400].forEach(take)
    #expect(blocks.frameCount == 1_200)
    [1_187, 1_213, 1_190].forEach(take)
    #expect(blocks.frameCount == 0 && blocks.owedCount == 0)
    [480, 480].forEach(take)
    #expect(blocks.frameCount == 480)
  }

  @Test("a device that takes now so much and now so much is given all at once") func leavesOthersAlone() {
    var blocks = DeviceBlocks()
    for room in [700, 900, 1_100, 800] {
      #expect(blocks.deviceTook(room: room) == room)
      #expect(blocks.write(room: room, least: 0, bufferFrameCount: 10_000) == room)
    }
    #expect(blocks.frameCount == 0)
  }

  @Test("two blocks that fill the server are no reason to leave it half empty") func fillsSmallServers() {
    var blocks = DeviceBlocks()
    for _ in 0..<2 {
      _ = blocks.deviceTook(room: 1_000)
      #expect(blocks.write(room: 1_000, least: 0, bufferFrameCount: 2_500) == 1_000)
    }
    #expect(blocks.write(room: 1_900, least: 0, bufferFrameCount: 2_500) == 1_900)
  }

  @Test("memory for less than all is used in whole blocks") func piecesAreWholeBlocks() {
    var blocks = DeviceBlocks()
    #expect(blocks.piece(of: 5_000, room: 4_096) == 4_096)
    learn(1_000, &blocks)
    #expect(blocks.piece(of: 5_000, room: 4_096) == 4_000)
    #expect(blocks.piece(of: 4_050, room: 4_096) == 4_050)
    #expect(blocks.piece(of: 5_000, room: 900) == 900)
    blocks.forget()
    #expect(blocks.frameCount == 0)
  }

  @Test("what is taken beyond the device's part is less than a block, and nothing once all pieces are whole blocks")
  func overtaken() {
    var blocks = DeviceBlocks()
    #expect(blocks.overtakenCount(heldCount: 4_800, whereUnknown: 480) == 480)
    _ = blocks.write(room: 4_800, least: 0, bufferFrameCount: 4_800)
    for _ in 0..<2 {
      _ = blocks.deviceTook(room: 960)
      _ = blocks.write(room: 960, least: 0, bufferFrameCount: 4_800)
    }
    #expect(blocks.overtakenCount(heldCount: 4_800, whereUnknown: 480) == 960)
    for _ in 0..<12 {
      _ = blocks.deviceTook(room: 960)
      _ = blocks.write(room: 960, least: 0, bufferFrameCount: 4_800)
    }
    #expect(blocks.overtakenCount(heldCount: 4_800, whereUnknown: 480) == 0)
    // Buffered audio is overwritten from a position within a block on.
    _ = blocks.write(room: 960, least: 500, bufferFrameCount: 4_800)
    #expect(blocks.overtakenCount(heldCount: 4_800, whereUnknown: 480) == 960)
  }
}
