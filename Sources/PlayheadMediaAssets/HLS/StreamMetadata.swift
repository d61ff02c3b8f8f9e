// Timed metadata of a stream: ID3 tags in its segments, and the date ranges of its playlist. It is retained until the
// audio at its time has been delivered.
import PlayheadMediaCore
import PlayheadPlaylists
import PlayheadTags

/// An ID3 tag of a segment.
struct SegmentTag: Sendable, Hashable {
  /// The time at which a tag becomes valid.
  enum Time: Sendable, Hashable {
    /// A timestamp on the audio's scale.
    case timestamp(MediaTime)
    /// Nanoseconds on the playlist's timeline.
    case position(Int64)
    /// The time of the audio that is being decoded.
    case now
  }

  var time: Time
  var bytes: [UInt8]

  /// Maximum size of a tag in bytes.
  static let maximumByteCount = 256 << 10

  /// The items of the tag in the key space `id3`, without the timestamp of packed audio.
  var items: [MetadataItem] {
    var limits = TagLimits()
    limits.byteCount = 1 << 20
    limits.dataByteCount = Self.maximumByteCount
    limits.itemCount = 256
    limits.valueCount = 64
    limits.textByteCount = Self.maximumByteCount
    limits.readCount = 10_000
    return TagReader.read(.edges, data: bytes, limits: limits).items.compactMap { tag in
      guard tag.space == .id3v2, tag.owner != "com.apple.streaming.transportStreamTimestamp" else { return nil }
      return MetadataItem(tag)
    }
  }
}

/// Queues the timed metadata of segments until the audio at its time has been delivered. A pure value. Frames have the
/// reader's sample rate.
struct StreamMetadata {
  private struct Pending {
    var frame: Int64
    var items: [MetadataItem]
    var byteCount: Int
  }

  private var pending: [Pending] = []
  private var byteCount = 0
  /// The groups delivered last, so that a tag that is read twice is delivered once.
  private var delivered: [Pending] = []
  /// The frame at which the current reading began.
  var startFrame: Int64
  /// The date ranges delivered since reading began. A range whose attributes change is delivered again.
  private var reportedRanges: [String: HLSDateRange] = [:]
  private var version: Int?

  /// Maximum number and size of pending tags. The first tags are dropped beyond these limits.
  static let maximumCount = 256
  static let maximumByteCount = 2 << 20
  private static let maximumDeliveredCount = 32

  /// Begins reading at a frame, and removes all state.
  mutating func restart(atFrame frame: Int64) { self = StreamMetadata(startFrame: frame) }

  init(startFrame: Int64 = 0) { self.startFrame = startFrame }

  /// Adds a tag that becomes valid at a frame.
  mutating func add(_ tag: SegmentTag, atFrame frame: Int64) {
    let items = tag.items
    guard !items.isEmpty, !(pending + delivered).contains(where: { $0.frame == frame && $0.items == items }) else {
      return
    }
    let index = pending.lastIndex { $0.frame <= frame }.map { $0 + 1 } ?? 0
    pending.insert(Pending(frame: frame, items: items, byteCount: tag.bytes.count), at: index)
    byteCount += tag.bytes.count
    while pending.count > Self.maximumCount || byteCount > Self.maximumByteCount {
      byteCount -= pending.removeFirst().byteCount
    }
  }

  /// Removes and returns the pending metadata that becomes valid before `end`, in order.
  mutating func drain(before end: Int64, sampleRateHz: Int, _ timeline: () -> HLSTimeline) -> [TimedMetadataGroup] {
    var groups: [TimedMetadataGroup] = []
    let count = pending.prefix { $0.frame < end }.count
    if count > 0 {
      let due = pending[..<count]
      // Of the tags before the start of reading, the last one is still valid.
      let carriedOver = due.last { $0.frame < startFrame }
      for tag in (carriedOver.map { [$0] } ?? []) + due.filter({ $0.frame >= startFrame }) {
        let isCarriedOver = tag.frame < startFrame
        groups.append(
          TimedMetadataGroup(
            items: tag.items, time: MediaTime(frame: tag.frame, rate: sampleRateHz), isCarriedOver: isCarriedOver))
      }
      delivered = (delivered + due).suffix(Self.maximumDeliveredCount)
      pending.removeFirst(count)
      byteCount = pending.reduce(0) { $0 + $1.byteCount }
    }
    groups += drainDateRanges(before: end, sampleRateHz: sampleRateHz, timeline())
    return groups.sorted { $0.time < $1.time }
  }

  private mutating func drainDateRanges(
    before end: Int64, sampleRateHz: Int, _ timeline: HLSTimeline
  ) -> [TimedMetadataGroup] {
    guard !timeline.dateRanges.isEmpty || !reportedRanges.isEmpty else { return [] }
    func frame(_ nanoseconds: Int64) -> Int64 {
      MediaTime(value: nanoseconds, timescale: 1_000_000_000).frameIndex(
        rate: sampleRateHz, rounding: .halfAwayFromZero) ?? .max
    }
    if version != timeline.dateRangeVersion {
      version = timeline.dateRangeVersion
      // Forget the date ranges that have left the playlist.
      let ids = Set(timeline.dateRanges.lazy.map(\.range.id))
      reportedRanges = reportedRanges.filter { ids.contains($0.key) }
    }
    var groups: [TimedMetadataGroup] = []
    for dateRange in timeline.dateRanges {
      let start = frame(dateRange.startNanoseconds)
      guard start < end else { break }
      guard reportedRanges[dateRange.range.id] != dateRange.range else { continue }
      let isCarriedOver = start < startFrame
      if isCarriedOver, dateRange.endNanoseconds.map({ frame($0) <= startFrame }) ?? true { continue }
      reportedRanges[dateRange.range.id] = dateRange.range
      groups.append(DateRangeMetadata.group(dateRange, isCarriedOver: isCarriedOver))
    }
    return groups
  }
}

/// Converts date ranges to the key space `hls`.
enum DateRangeMetadata {
  /// Returns a date range as timed metadata: one item for each attribute, `hls/ID` first.
  static func group(_ dateRange: HLSTimeline.DateRange, isCarriedOver: Bool = false) -> TimedMetadataGroup {
    let range = dateRange.range
    let names = ["ID"] + range.attributes.keys.filter { $0 != "ID" }.sorted()
    let items = names.compactMap { name in
      range.attributes[name].map { attribute in
        MetadataItem(
          keySpace: .hls, key: name, value: value(attribute, name), extraAttributes: [.info: range.id])
      }
    }
    return TimedMetadataGroup(
      items: items, time: Asset.time(dateRange.startNanoseconds),
      duration: dateRange.endNanoseconds.map { Asset.time($0 - dateRange.startNanoseconds) },
      isCarriedOver: isCarriedOver)
  }

  private static func value(_ value: HLSDateRange.Value, _ name: String) -> MetadataItem.Value {
    switch value {
    case .text(let text) where name == "START-DATE" || name == "END-DATE":
      MetadataDate(text).map { .date($0) } ?? .string(text)
    case .text(let text): .string(text)
    case .number(let text): Int64(text).map { .number($0) } ?? .string(text)
    case .data(let bytes): .data(bytes)
    }
  }
}
