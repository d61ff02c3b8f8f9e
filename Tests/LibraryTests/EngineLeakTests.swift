import CAllocationProbe
import PlayheadTesting
import RigSupport
import Testing

/// Engines that a program makes and releases.
@Suite struct EngineLeakTests {
  /// Makes and releases engines. Every fourth plays a file. Returns when their threads have ended.
  private static func makeEngines(_ count: Int, path: String) async throws {
    for number in 0..<count {
      let test = try await PlaybackEngine.virtual()
      guard number.isMultiple(of: 4) else { continue }
      let player = try await Player(engine: test.engine, playerItem: PlayerItem(path: path))
      await player.play()
      try await test.clock.advance(by: .milliseconds(20))
      precondition(test.output.frameCount == 960, "the engine did not play")
    }
    while threadCount(named: "virtual") + threadCount(named: "decode-main") > 0 { await Task.yield() }
  }

  /// In a process of its own, so that other tests do not use the heap.
  @Test func thousandEnginesLeaveNoThreadAndNoMemory() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      let files = try TemporaryDirectory("engines")
      let path = files.file("a.wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 4_800)
      // What is made once stays, such as the pool of worker threads.
      try await EngineLeakTests.makeEngines(100, path: path)
      let before = Int(allocation_probe_heap_byte_count())
      try await EngineLeakTests.makeEngines(1_000, path: path)
      let growth = Int(allocation_probe_heap_byte_count()) - before
      print("1,000 engines: the heap grew by \(growth) bytes")
      precondition(growth < 500_000, "1,000 engines left \(growth) bytes")
    }
    print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).suffix(200))
    print(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).suffix(600))
  }
}
