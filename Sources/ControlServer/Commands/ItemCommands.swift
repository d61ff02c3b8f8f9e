import MediaCore
import NetworkIO
import Playback
import PlayerModel
import WireProtocol

/// Commands about one entry of a queue.
extension Connection {
  /// The entry with this id or at this position.
  ///
  /// - Throws: `no-such-item`.
  func item(_ reference: EntryReference, of target: NamedPlayer, _ command: CommandName) throws(MediaError)
    -> PlayerItem
  {
    let id = try target.itemID(reference)
    guard let item = target.player.onLoop({ $0.item(id) }) else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: command.rawValue)
    }
    return item
  }

  /// The state of an entry.
  func itemStatus(_ reference: EntryReference, of target: NamedPlayer) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemStatus)
    let loaded = try target.player.tryOnLoop { player throws(MediaError) in try player.loadedTimeRanges(of: item.id) }
    let status = item.status
    var fields: Fields = [
      "item": .int(item.id), "path": item.wirePath, "status": .string(status.name),
      "duration": .time(item.shownDuration), "providesPreciseDuration": .bool(item.providesPreciseDuration),
      "current": .bool(target.state.currentItemID == item.id),
    ]
    appendEnds(of: item, to: &fields)
    fields.append("preferredForwardBufferDuration", .time(item.preferredForwardBufferDuration))
    fields.append("canPlayFastForward", .bool(item.canPlayFastForward))
    fields.append("canPlaySlowForward", .bool(item.canPlaySlowForward))
    fields.append("canPlayReverse", .bool(item.canPlayReverse))
    fields.append("canPlaySlowReverse", .bool(item.canPlaySlowReverse))
    fields.append("canPlayFastReverse", .bool(item.canPlayFastReverse))
    fields.append("canStepForward", .bool(item.canStepForward))
    fields.append("canStepBackward", .bool(item.canStepBackward))
    fields.append("seekableTimeRanges", Self.value(item.seekableTimeRanges))
    fields.append("loadedTimeRanges", Self.value(loaded))
    fields.append("isPlaybackLikelyToKeepUp", .bool(item.isPlaybackLikelyToKeepUp))
    fields.append("isPlaybackBufferFull", .bool(item.isPlaybackBufferFull))
    fields.append("isPlaybackBufferEmpty", .bool(item.isPlaybackBufferEmpty))
    let window = item.liveWindow
    fields.append("live", .bool(window != nil))
    fields.append("liveEdge", ifPresent: window.map { .time($0.edge) })
    if target.state.currentItemID == item.id {
      let date = target.player.onLoop { $0.currentDate() }
      fields.append("date", ifPresent: date.map { .string(ISODate.text($0)) })
    }
    fields.append("audioTimePitchAlgorithm", .string(item.audioTimePitchAlgorithm.rawValue))
    fields.append(
      "ownAudioTimePitchAlgorithm", item.ownAudioTimePitchAlgorithm.map { .string($0.rawValue) } ?? FieldValue.none)
    let gain = try target.player.tryOnLoop { player throws(MediaError) in try player.appliedGain(of: item.id) }
    fields.append("gain", Self.decibels(gain))
    fields.append("gainSource", gain?.source.map { .string($0.rawValue) } ?? FieldValue.none)
    fields.append("gainLimited", gain.map { .bool($0.isLimitedByPeak) } ?? FieldValue.none)
    item.appendTitlesAndRange(to: &fields)
    item.appendStreamTitle(to: &fields)
    if let error = status.error { Self.append(error, to: &fields) }
    return .ok(fields)
  }

  /// The network log of an entry.
  func itemLog(_ reference: EntryReference, of target: NamedPlayer) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemLog)
    let log = item.networkLog
    let rows = log.accessEvents.map(Self.row) + log.errorEvents.map(Self.row)
    var fields: Fields = ["item": .int(item.id), "count": .int(rows.count)]
    let station = log.station
    fields.append("stationName", ifPresent: station?.name.map { .string($0) })
    fields.append("stationGenre", ifPresent: station?.genre.map { .string($0) })
    fields.append("stationDescription", ifPresent: station?.description.map { .string($0) })
    fields.append("stationUrl", ifPresent: station?.url.map { .string($0) })
    fields.append("stationBitrate", ifPresent: log.accessEvents.last?.indicatedBitrate.map { .int($0) })
    return .ok(fields, rows: rows)
  }

  private static func row(_ event: AccessLogEvent) -> Fields {
    var row: Fields = [
      "kind": "access", "uri": .string(event.uri), "address": .string(event.serverAddress),
      "type": .string(event.playbackType),
    ]
    row.append("startup", ifPresent: event.startupNanoseconds.map { .seconds(nanoseconds: $0) })
    row.append("requests", .int(event.numberOfMediaRequests))
    row.append("bytes", .int(event.numberOfBytesTransferred))
    row.append("observedBitrate", ifPresent: event.observedBitrate.map { .int($0) })
    row.append("indicatedBitrate", ifPresent: event.indicatedBitrate.map { .int($0) })
    row.append("reconnects", .int(event.numberOfReconnects))
    row.append("addressChanges", .int(event.numberOfServerAddressChanges))
    row.append("switches", .int(event.numberOfSwitches))
    row.append("stalls", .int(event.numberOfStalls))
    row.append("stallDuration", .seconds(nanoseconds: event.stallNanoseconds))
    return row
  }

  private static func row(_ event: ErrorLogEvent) -> Fields {
    [
      "kind": "error", "uri": .string(event.uri), "address": .string(event.serverAddress),
      "status": .int(event.statusCode),
      "retried": .bool(event.isRetried), "code": .int(event.error.code.rawValue),
      "name": .string(event.error.code.name),
      "message": .string(event.error.message),
    ]
  }

  /// Inserts a copy of an entry into the queue.
  func copy(
    _ reference: EntryReference, to position: QueueCommand.QueuePosition, ifVersion version: Int?,
    on target: NamedPlayer
  ) throws(MediaError) -> Reply {
    guard transaction?.target !== target else {
      throw MediaError(.invalidState, "an entry cannot be copied between queue.begin and queue.commit")
    }
    try checkVersion(version, of: target)
    let registry = server.registry
    let position = try target.resolved(position, target.state.queueVersion)
    let copy = registry.makeCopy(of: try item(reference, of: target, .itemCopy))
    do throws(MediaError) {
      try registry.checkLength(of: target.state.itemCount + 1) { _ in
        target.player.onLoop { $0.queuedByteCount } + copy.descriptionByteCount
      }
      _ = try target.player.tryOnLoop { player throws(MediaError) in
        try player.edit([.insert([copy], at: position.queuePosition)])
      }
    } catch {
      registry.discard(copy)
      throw error
    }
    return Self.editReply(IntegerList([copy.id]), version: target.state.queueVersion)
  }

  /// Sets the given end times of an entry, and returns both. An invalid time removes an end time. Nil leaves it
  /// unchanged.
  func setEnds(
    of reference: EntryReference, forward: MediaTime?, reverse: MediaTime?, on target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemEndTime)
    if let forward { try item.setForwardPlaybackEndTime(forward) }
    if let reverse { try item.setReversePlaybackEndTime(reverse) }
    var fields: Fields = ["item": .int(item.id)]
    appendEnds(of: item, to: &fields)
    return .ok(fields)
  }

  /// Sets the preferred forward buffer duration of an entry, if given, and returns it.
  func setBuffer(
    of reference: EntryReference, _ duration: MediaTime?, on target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemBuffer)
    if let duration { try item.setPreferredForwardBufferDuration(duration) }
    return .ok([
      "item": .int(item.id), "preferredForwardBufferDuration": .time(item.preferredForwardBufferDuration),
    ])
  }

  private func appendEnds(of item: PlayerItem, to fields: inout Fields) {
    fields.append("forwardPlaybackEndTime", item.forwardPlaybackEndTime.map { .time($0) } ?? FieldValue.none)
    fields.append("reversePlaybackEndTime", item.reversePlaybackEndTime.map { .time($0) } ?? FieldValue.none)
  }

  private static func value(_ ranges: [TimeRange]) -> FieldValue {
    guard !ranges.isEmpty else { return .none }
    return .strings(ranges.map(\.wireText))
  }
}

extension PlayerItem {
  /// Appends the stream title that a station reports, if any.
  func appendStreamTitle(to fields: inout Fields) {
    let title = streamTitle?.title
    fields.append("streamTitle", ifPresent: title.map { .string($0.title) })
    fields.append("streamUrl", ifPresent: title?.url.map { .string($0) })
  }
}

extension TimeRange {
  /// The text form: start and end in seconds, such as `70-83.5`. The end is `inf` for a range without an end.
  var wireText: String { "\(start.decimalDescription)-\(end.isNumeric ? end.decimalDescription : "inf")" }
}
