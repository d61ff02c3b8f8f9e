import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback

/// Loading of playlists, in virtual time: a hanging one does not delay others.
@Suite(.timeLimit(.minutes(2))) struct PlaylistLoaderTests {
  private struct State {
    var requestedNames: [String] = []
    var areReleased = false
    var results: [String] = []
  }

  /// A loader that hangs, uninterruptibly, for locations that begin with `/hanging`.
  private final class LoaderRig: Sendable {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "lists"))
    let loader: PlaylistLoader
    private let state: ConditionMutex<State>
    private let files: TemporaryDirectory

    init(_ limits: WorkSlots.Limits) throws {
      files = try TemporaryDirectory("lists")
      try Data("a.flac\nb.flac\n".utf8).write(to: URL(fileURLWithPath: files.file("list.m3u")))
      let state = ConditionMutex(State())
      self.state = state
      loader = PlaylistLoader(loop: loop, limits: limits) {
        [list = Array(files.file("list.m3u").utf8)] (location, assumed, usage, reading) throws(MediaError) in
        let name = location.displayText
        state.update { $0.requestedNames.append(name) }
        if name.hasPrefix("/hanging") { _ = state.wait { $0.areReleased ? true : nil } as Bool? }
        return try Playlist(at: .file(list), assumed: assumed, usage: &usage, reading: reading)
      }
    }

    /// Reads playlists for one request and returns its number.
    func read(_ names: String...) async -> UInt64 {
      await onLoop { [loader, state] in
        loader.read(names.map { .file(Array($0.utf8)) }, assumed: nil) { result in
          let text =
            switch result {
            case .success(let lists): "\(lists.map(\.entries.count))"
            case .failure(let error): error.message
            }
          state.update { $0.results.append("\(names[0]): \(text)") }
        }
      }
    }

    func cancel(_ number: UInt64) async { await onLoop { [loader] in loader.cancel(number) } }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
      await withCheckedContinuation { done in loop.execute { done.resume(returning: body()) } }
    }

    func advance(seconds: Int64) async { await loop.advance(byNanoseconds: seconds * 1_000_000_000) }

    var results: [String] { state.withState { $0.results } }

    /// Waits for this number of requests, or results, and returns them.
    func waitForRequests(_ count: Int) throws -> [String] {
      try wait { $0.requestedNames.count >= count ? $0.requestedNames : nil }
    }
    func waitForResults(_ count: Int) throws -> [String] { try wait { $0.results.count >= count ? $0.results : nil } }

    private func wait(_ body: (State) -> [String]?) throws -> [String] {
      // Makes a faulty test fail instead of hanging.
      let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
      return try #require(state.wait(until: deadline) { body($0) }, "\(state.withState { $0 })")
    }

    func release() { state.update { $0.areReleased = true } }
  }

  @Test func hangingPlaylistsDelayNoOthersAndTimeOut() async throws {
    let rig = try LoaderRig(WorkSlots.Limits(slotCount: 2))
    defer { rig.release() }
    _ = await rig.read("/hanging-1", "/more")
    _ = await rig.read("/hanging-2")
    _ = try rig.waitForRequests(2)
    _ = await rig.read("/list")
    await rig.advance(seconds: 1)
    #expect(rig.results.isEmpty)
    await rig.advance(seconds: 1)
    #expect(try rig.waitForResults(1) == ["/list: [2]"])
    await rig.advance(seconds: 87)
    #expect(rig.results.count == 1)
    await rig.advance(seconds: 1)
    #expect(
      try rig.waitForResults(3).sorted() == [
        "/hanging-1: /hanging-1 could not be opened within 90 s",
        "/hanging-2: /hanging-2 could not be opened within 90 s",
        "/list: [2]",
      ])
  }

  @Test func cancelledPlaylistFreesItsSlotAtOnce() async throws {
    let rig = try LoaderRig(WorkSlots.Limits(slotCount: 1))
    defer { rig.release() }
    let number = await rig.read("/hanging")
    _ = try rig.waitForRequests(1)
    _ = await rig.read("/list")
    let waiting = await rig.read("/unwanted")
    await rig.cancel(waiting)
    await rig.cancel(number)
    #expect(try rig.waitForResults(1) == ["/list: [2]"])
    #expect(try rig.waitForRequests(2) == ["/hanging", "/list"])
  }

  @Test func requestsFailWhileAllThreadsHang() async throws {
    let rig = try LoaderRig(WorkSlots.Limits(slotCount: 2, threadCount: 2))
    for index in 1...2 {
      let number = await rig.read("/hanging-\(index)")
      _ = try rig.waitForRequests(index)
      await rig.cancel(number)
    }
    _ = await rig.read("/late")
    await rig.advance(seconds: 29)
    #expect(rig.results.isEmpty)
    await rig.advance(seconds: 1)
    #expect(try rig.waitForResults(1) == ["/late: /late cannot be opened while 2 other operations are blocked"])
    rig.release()
    _ = await rig.read("/again")
    #expect(try rig.waitForResults(2).last == "/again: [2]")
  }

  /// After a slow playlist, the next one of the same request waits for a slot and then comes first.
  @Test func playlistsOfARequestAreReadInOrder() async throws {
    let rig = try LoaderRig(WorkSlots.Limits(slotCount: 1))
    _ = await rig.read("/hanging", "/second", "/third")
    _ = try rig.waitForRequests(1)
    await rig.advance(seconds: 2)
    rig.release()
    #expect(try rig.waitForResults(1) == ["/hanging: [2, 2, 2]"])
    #expect(try rig.waitForRequests(3) == ["/hanging", "/second", "/third"])
  }
}
