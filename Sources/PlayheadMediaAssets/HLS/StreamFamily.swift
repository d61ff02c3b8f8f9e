import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import Synchronization

/// The state that all renditions of one stream share. Threading: any thread.
final class StreamFamily: Sendable {
  private struct State {
    /// The sessions, in the order in which reading them last began or ended.
    var renditions: [WeakSession] = []
    var stretches: [Int64: StreamStretch] = [:]
    var throughput = StreamThroughput()
    var loaded: [LoadedSegment] = []
    var loader: ObjectIdentifier?
  }

  private struct WeakSession {
    weak var session: StreamSession?
  }

  /// A segment of which some bytes are loaded.
  struct LoadedSegment: Sendable {
    let entry: HLSTimeline.Entry
    let source: any ByteSource

    /// The loaded part of the segment, estimated from the fraction of loaded bytes, in nanoseconds of the stream. Nil
    /// for a file, and if nothing is loaded.
    var range: Range<Int64>? {
      let first = entry.segment.byteRange?.start ?? 0
      guard let available = source.availableByteRange,
        let end = entry.segment.byteRange?.end ?? source.byteCount, end > first
      else { return nil }
      let fraction = Double(min(end, max(first, available.upperBound)) - first) / Double(end - first)
      let length = Int64(Double(entry.segment.durationNanoseconds) * fraction)
      return entry.startNanoseconds..<(entry.startNanoseconds + length)
    }
  }

  private let state = Mutex(State())

  private var renditions: [StreamSession] { state.withLock { $0.renditions.compactMap(\.session) } }

  /// The rendition with readers, whose playlist is the newest. Of several, the one whose reading began last. Nil if no
  /// rendition has readers.
  var renditionBeingRead: StreamSession? { renditions.last(where: \.isRead) }

  /// The rendition that is being read, or else the one that was read last. Nil before the first.
  var active: StreamSession? {
    let renditions = renditions
    return renditions.last(where: \.isRead) ?? renditions.last
  }

  /// Records that reading of a rendition began or ended.
  func recordUse(of session: StreamSession) {
    state.withLock { state in
      state.renditions.removeAll { $0.session == nil || $0.session === session }
      state.renditions.append(WeakSession(session: session))
    }
  }

  // MARK: - Throughput

  /// Adds the transfer of a segment. Returns the updated throughput.
  func addTransfer(_ statistics: TransferStatistics, audioNanoseconds: Int64) -> StreamThroughput {
    state.withLock { state in
      state.throughput.add(statistics, audioNanoseconds: audioNanoseconds)
      return state.throughput
    }
  }

  // MARK: - Loaded segments

  /// Sets the consecutive segments that a reader has loaded; empty if the reader is finished.
  func setLoaded(_ segments: [LoadedSegment], by loader: ObjectIdentifier) {
    state.withLock { state in
      guard !segments.isEmpty || state.loader == loader else { return }
      (state.loaded, state.loader) = (segments, segments.isEmpty ? nil : loader)
    }
  }

  /// The loaded range of the stream in nanoseconds; nil if nothing is loaded, or if the segments are files.
  var loadedRange: Range<Int64>? {
    var result: Range<Int64>?
    for segment in state.withLock({ $0.loaded }) {
      guard let range = segment.range else { break }
      if let before = result, range.lowerBound > before.upperBound { break }
      result = (result?.lowerBound ?? range.lowerBound)..<range.upperBound
      if range.upperBound < segment.entry.endNanoseconds { break }
    }
    return result.flatMap { $0.isEmpty ? nil : $0 }
  }

  // MARK: - Stretches of a live stream

  /// Returns a stretch that another rendition found, converted to a sample rate. Renditions should have the same
  /// timestamps (RFC 8216, section 6.2.4); the reader verifies that.
  func stretch(_ discontinuityNumber: Int64, sampleRateHz: Int) -> StreamStretch? {
    state.withLock { $0.stretches[discontinuityNumber] }?.converted(toSampleRateHz: sampleRateHz)
  }

  func setStretch(_ stretch: StreamStretch, _ discontinuityNumber: Int64) {
    state.withLock { state in
      if state.stretches.count > 64 { state.stretches = [:] }
      state.stretches[discontinuityNumber] = stretch
    }
  }

  /// Removes all stretches when they become invalid.
  func removeStretches() { state.withLock { $0.stretches = [:] } }
}

extension StreamStretch {
  /// Converts the stretch for another rendition, which may have another sample rate. The positions at which its codec
  /// frames begin are unknown.
  fileprivate func converted(toSampleRateHz rate: Int) -> StreamStretch? {
    func convertedFrame(_ frame: Int64) -> Int64? {
      MediaTime(frame: frame, rate: sampleRateHz).frameIndex(rate: rate, rounding: .halfAwayFromZero)
    }
    guard let origin = convertedFrame(originFrame), let start = convertedFrame(startFrame) else { return nil }
    return StreamStretch(
      sampleRateHz: rate, originFrame: origin, startFrame: start, isExact: isExact, isFromOtherRendition: true)
  }
}
