import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Locations that return no data until the test opens them, and that record the order of requests.
final class HangingLocations: Sendable {
  fileprivate struct State {
    var requested: [String] = []
    var cancelled: [String] = []
    var open: Set<String> = []
    var areAllOpen = false
  }

  fileprivate let state = ConditionMutex(State())
  fileprivate let bytes: [UInt8]
  /// Whether reading ignores cancellation, like a file whose server is gone.
  fileprivate let ignoresCancellation: Bool

  /// - Parameter bytes: the data at each location.
  init(bytes: [UInt8], ignoresCancellation: Bool = false) {
    (self.bytes, self.ignoresCancellation) = (bytes, ignoresCancellation)
  }

  /// Creates an item at a location.
  func item(_ name: String, prefersPreciseDuration: Bool = false) -> PlayerItem {
    PlayerItem(
      asset: Asset(name: name, prefersPreciseDuration: prefersPreciseDuration) { [self] () throws(MediaError) in
        HangingSource(name, self)
      })
  }

  /// Makes the data at a location available.
  func open(_ name: String) { state.update { _ = $0.open.insert(name) } }
  func openAll() { state.update { $0.areAllOpen = true } }

  /// The locations that were requested, in order.
  var requested: [String] { state.withState { $0.requested } }

  /// Waits for this number of requests.
  func waitUntilRequested(_ count: Int) throws -> [String] {
    try #require(
      state.wait(until: deadline) { $0.requested.count >= count ? $0.requested : nil }, "\(requested) were requested")
  }

  /// Waits for this number of cancellations.
  func waitUntilCancelled(_ count: Int) throws -> [String] {
    try #require(state.wait(until: deadline) { $0.cancelled.count >= count ? $0.cancelled : nil })
  }

  /// Makes a faulty test fail instead of hanging.
  private var deadline: HostTime { HostTime.now.advanced(byNanoseconds: 60_000_000_000) }
}

private final class HangingSource: ByteSource {
  private let name: String
  private let locations: HangingLocations
  private let isCancelled = ConditionMutex(false)

  init(_ name: String, _ locations: HangingLocations) { (self.name, self.locations) = (name, locations) }

  var byteCount: Int64? { Int64(locations.bytes.count) }
  var isSeekable: Bool { true }

  func open() throws(MediaError) {
    let (name, ignoresCancellation, isCancelled) = (name, locations.ignoresCancellation, isCancelled)
    locations.state.update { $0.requested.append(name) }
    let isOpen: Bool? = locations.state.wait { state in
      if state.areAllOpen || state.open.contains(name) { return true }
      return !ignoresCancellation && isCancelled.withState { $0 } ? false : nil
    }
    if isOpen != true { throw MediaError(.cancelled, "cancelled") }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    if isCancelled.withState({ $0 }) { throw MediaError(.cancelled, "cancelled") }
    let rest = locations.bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    for (index, byte) in rest.enumerated() { buffer[index] = byte }
    return rest.count
  }

  func cancel() {
    isCancelled.withState { $0 = true }
    locations.state.update { $0.cancelled.append(name) }
  }

  func resume() { isCancelled.withState { $0 = false } }
}
