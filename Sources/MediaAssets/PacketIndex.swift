// Where the packets of one file's sound lie, learnt while reading and walking, and shared by every reader of the asset. Any
// thread may look up and add; the mutex is held for a binary search or an append, never during I/O.
import LibAV
import Synchronization

/// Places in a file at which a packet begins and whose frame is known, about one for each second of sound.
///
/// Frames are counted from the first packet's first one, before any trimming. Memory: 16 bytes a place, at most
/// `maximumPlaceCount` of them; the spacing doubles when there would be more.
final class PacketIndex: Sendable {
  struct Place: Sendable, Hashable {
    /// Where the packet begins in the file.
    var byte: Int64
    /// Its first frame.
    var frame: Int64
  }

  static let maximumPlaceCount = 65_536

  /// What was indexed.
  let identity: FileIdentity
  let streamIndex: Int
  /// Where the first packet begins.
  let firstByte: Int64
  private let state: Mutex<State>

  private struct State {
    /// In order; never empty.
    var places: [Place]
    var spacingFrames: Int64
    /// The first packet whose timestamp does not agree with the lengths of the packets before it; nil if none is known.
    var irregularFrame: Int64?
    var oggStreams: OggStreams??
  }

  /// - Parameters:
  ///   - firstByte: where the first packet begins.
  ///   - spacingFrames: places closer than this to the last are not kept.
  init(identity: FileIdentity, streamIndex: Int, firstByte: Int64, spacingFrames: Int64) {
    self.identity = identity
    self.streamIndex = streamIndex
    self.firstByte = firstByte
    state = Mutex(State(places: [Place(byte: firstByte, frame: 0)], spacingFrames: max(1, spacingFrames)))
  }

  /// The last place not after `frame`; the first packet's for everything before it.
  func place(atOrBefore frame: Int64) -> Place {
    state.withLock { state in
      var low = 0
      var high = state.places.count
      while high - low > 1 {
        let middle = (low + high) / 2
        if state.places[middle].frame <= frame { low = middle } else { high = middle }
      }
      return state.places[low]
    }
  }

  /// The furthest place, and how far the next one to be kept must be from it.
  var reach: (last: Place, spacingFrames: Int64) {
    state.withLock { ($0.places[$0.places.count - 1], $0.spacingFrames) }
  }

  /// Adds a place if it goes on from the furthest one. Those between known places are not needed.
  func note(_ place: Place) {
    state.withLock { state in
      let last = state.places[state.places.count - 1]
      guard place.byte > last.byte, place.frame - last.frame >= state.spacingFrames else { return }
      state.places.append(place)
      guard state.places.count >= Self.maximumPlaceCount else { return }
      state.places = stride(from: 0, to: state.places.count, by: 2).map { state.places[$0] }
      state.spacingFrames *= 2
    }
  }

  /// Notes that the timestamp of the packet at `frame` does not agree with the lengths of the packets before it.
  func noteIrregularTimestamp(at frame: Int64) {
    state.withLock { $0.irregularFrame = min($0.irregularFrame ?? .max, frame) }
  }

  /// Whether a packet before `frame` has a timestamp that does not agree with the lengths of the packets before it.
  func hasIrregularTimestamps(before frame: Int64) -> Bool {
    state.withLock { state in state.irregularFrame.map { $0 < frame } ?? false }
  }

  /// An Ogg file's streams, looked up once; nil when it has none that positions can be looked up in. Blocks the first time.
  func oggStreams(in source: FileSource) throws(AVFailure) -> OggStreams? {
    if let known = state.withLock({ $0.oggStreams }) { return known }
    let found = try OggStreams.find(source: source, firstByte: firstByte, byteCount: identity.byteCount)
    state.withLock { $0.oggStreams = .some(found) }
    return found
  }

  /// How many places are kept.
  var placeCount: Int { state.withLock { $0.places.count } }
}
