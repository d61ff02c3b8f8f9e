// The positions of the packets of one file's audio, collected while reading and walking, and shared by every reader of
// the asset. Any thread may look up and add. The mutex is locked for a binary search or an append, never during I/O.
import PlayheadLibAV
import Synchronization

/// The bytes in a file at which packets with known frame numbers begin, about one for each second of audio.
///
/// Frames are counted from the first frame of the first packet, before any trimming. Memory: 16 bytes an entry, at most
/// `maximumEntryCount` entries. At the limit the spacing doubles.
final class PacketIndex: Sendable {
  struct Entry: Sendable, Hashable {
    /// The byte at which the packet begins.
    var byte: Int64
    /// The first frame of the packet.
    var frame: Int64
  }

  static let maximumEntryCount = 65_536

  /// The identity of the indexed file.
  let identity: FileIdentity
  let streamIndex: Int
  /// The byte at which the first packet begins.
  let firstByte: Int64
  private let state: Mutex<State>

  private struct State {
    /// The entries in order; never empty.
    var entries: [Entry]
    var spacingFrames: Int64
    /// The first packet whose timestamp disagrees with the lengths of the packets before it; nil if none is known.
    var irregularFrame: Int64?
    /// The first packet that the demuxer marked as damaged; nil if none is known.
    var damagedFrame: Int64?
    var oggStreams: OggStreams??
  }

  /// - Parameters:
  ///   - firstByte: the byte at which the first packet begins.
  ///   - spacingFrames: the minimum distance between entries.
  init(identity: FileIdentity, streamIndex: Int, firstByte: Int64, spacingFrames: Int64) {
    self.identity = identity
    self.streamIndex = streamIndex
    self.firstByte = firstByte
    state = Mutex(State(entries: [Entry(byte: firstByte, frame: 0)], spacingFrames: max(1, spacingFrames)))
  }

  /// Returns the last entry at or before `frame`; the first packet's entry if there is none.
  func entry(atOrBefore frame: Int64) -> Entry {
    state.withLock { state in
      var low = 0
      var high = state.entries.count
      while high - low > 1 {
        let middle = (low + high) / 2
        if state.entries[middle].frame <= frame { low = middle } else { high = middle }
      }
      return state.entries[low]
    }
  }

  /// The last entry, and the minimum distance of the next one from it.
  var tail: (last: Entry, spacingFrames: Int64) {
    state.withLock { ($0.entries[$0.entries.count - 1], $0.spacingFrames) }
  }

  /// Adds an entry if it follows the last one. Entries between known ones are not needed.
  func add(_ entry: Entry) {
    state.withLock { state in
      let last = state.entries[state.entries.count - 1]
      guard entry.byte > last.byte, entry.frame - last.frame >= state.spacingFrames else { return }
      state.entries.append(entry)
      guard state.entries.count >= Self.maximumEntryCount else { return }
      state.entries = stride(from: 0, to: state.entries.count, by: 2).map { state.entries[$0] }
      state.spacingFrames *= 2
    }
  }

  /// Records that the timestamp of the packet at `frame` disagrees with the lengths of the packets before it.
  func noteIrregularTimestamp(at frame: Int64) {
    state.withLock { $0.irregularFrame = min($0.irregularFrame ?? .max, frame) }
  }

  /// Whether a packet before `frame` has a timestamp that disagrees with the lengths of the packets before it.
  func hasIrregularTimestamps(before frame: Int64) -> Bool {
    state.withLock { state in state.irregularFrame.map { $0 < frame } ?? false }
  }

  /// Records that the demuxer found missing or wrong bytes in the packet at `frame`.
  func noteDamage(at frame: Int64) { state.withLock { $0.damagedFrame = min($0.damagedFrame ?? .max, frame) } }

  /// Whether a packet before `frame` is damaged. Decoding loses such packets, and counting does not.
  func hasDamage(before frame: Int64) -> Bool {
    state.withLock { state in state.damagedFrame.map { $0 < frame } ?? false }
  }

  /// Returns the streams of an Ogg file, found once; nil if their positions cannot be looked up. Blocks the first time.
  func oggStreams(in source: FileSource) throws(AVFailure) -> OggStreams? {
    if let known = state.withLock({ $0.oggStreams }) { return known }
    let found = try OggStreams.find(source: source, firstByte: firstByte, byteCount: identity.byteCount)
    state.withLock { $0.oggStreams = .some(found) }
    return found
  }

  /// The number of entries.
  var entryCount: Int { state.withLock { $0.entries.count } }
}
