import MediaCore
import NetworkIO
import Playlists
import Synchronization

/// What the renditions of one stream have in common. Threading: any.
final class StreamFamily: Sendable {
  private struct State {
    /// In the order in which somebody began to read them, or ended.
    var renditions: [Listed] = []
    var stretches: [Int64: StreamStretch] = [:]
    var throughput = StreamThroughput()
    var loaded: [LoadedSegment] = []
    var loader: ObjectIdentifier?
  }

  private struct Listed {
    weak var session: StreamSession?
  }

  /// A segment of which bytes are there.
  struct LoadedSegment: Sendable {
    let entry: HLSTimeline.Entry
    let source: any ByteSource

    /// What of it is there, by the share of its bytes, in nanoseconds of the stream; nil of a file, and when nothing is.
    var range: Range<Int64>? {
      let first = entry.segment.byteRange?.start ?? 0
      guard let present = source.presentBytes, let end = entry.segment.byteRange?.end ?? source.byteCount, end > first
      else { return nil }
      let share = Double(min(end, max(first, present.upperBound)) - first) / Double(end - first)
      let length = Int64(Double(entry.segment.durationNanoseconds) * share)
      return entry.startNanoseconds..<(entry.startNanoseconds + length)
    }
  }

  private let state = Mutex(State())

  private var renditions: [StreamSession] { state.withLock { $0.renditions.compactMap(\.session) } }

  /// The rendition that is read, whose playlist is the newest; of several the one that somebody began to read last; nil: none is.
  var read: StreamSession? { renditions.last(where: \.isRead) }

  /// The same; while none is read, the one that was last; nil before.
  var active: StreamSession? {
    let renditions = renditions
    return renditions.last(where: \.isRead) ?? renditions.last
  }

  /// Somebody began to read a rendition, or nobody reads it any more.
  func note(_ session: StreamSession) {
    state.withLock { state in
      state.renditions.removeAll { $0.session == nil || $0.session === session }
      state.renditions.append(Listed(session: session))
    }
  }

  // MARK: - How fast segments come

  /// A segment came. Answers how fast they come.
  func took(_ measure: TransferMeasure, soundNanoseconds: Int64) -> StreamThroughput {
    state.withLock { state in
      state.throughput.add(measure, soundNanoseconds: soundNanoseconds)
      return state.throughput
    }
  }

  // MARK: - What is there

  /// The segments that somebody reads, one behind another; none: that one reads no more.
  func setLoaded(_ segments: [LoadedSegment], by loader: ObjectIdentifier) {
    state.withLock { state in
      guard !segments.isEmpty || state.loader == loader else { return }
      (state.loaded, state.loader) = (segments, segments.isEmpty ? nil : loader)
    }
  }

  /// What of the stream is in memory, in nanoseconds; nil when nothing is, or it comes from files.
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

  // MARK: - Where stretches of a live stream lie

  /// What one of the renditions found out about a stretch, for who counts in frames of that rate: their timestamps are the same.
  func stretch(_ discontinuityNumber: Int64, sampleRateHz: Int) -> StreamStretch? {
    state.withLock { $0.stretches[discontinuityNumber] }?.borrowed(sampleRateHz: sampleRateHz)
  }

  func setStretch(_ stretch: StreamStretch, _ discontinuityNumber: Int64) {
    state.withLock { state in
      if state.stretches.count > 64 { state.stretches = [:] }
      state.stretches[discontinuityNumber] = stretch
    }
  }

  /// What was known does not hold any more.
  func forgetStretches() { state.withLock { $0.stretches = [:] } }
}

extension StreamStretch {
  /// The same for frames of another encoder, perhaps of another rate: where those begin is not known.
  fileprivate func borrowed(sampleRateHz rate: Int) -> StreamStretch? {
    func converted(_ frame: Int64) -> Int64? {
      MediaTime(frame: frame, rate: sampleRateHz).frameIndex(rate: rate, rounding: .halfAwayFromZero)
    }
    guard let origin = converted(originFrame), let start = converted(startFrame) else { return nil }
    return StreamStretch(
      sampleRateHz: rate, originFrame: origin, startFrame: start, isExact: isExact, isBorrowed: true)
  }
}
