import MediaCore
import Playback
import WireProtocol

/// Commands that edit or list one player's queue.
extension Connection {
  /// Runs those that answer at once; nil is a plain ok.
  func run(_ command: QueueCommand, on target: NamedPlayer) throws(MediaError) -> Reply? {
    switch command {
    case .load, .append, .insert:
      return Self.edited(try edit(command, on: target), target)
    case .remove(let ids, let version):
      try check(version, of: target)
      try target.player.tryOnLoop { player throws(MediaError) in try player.remove(ids.map { UInt64($0) }) }
      return .ok(["version": .int(target.state.queueVersion)])
    case .clear:
      target.player.onLoop { $0.removeAllItems() }
      return .ok(["version": .int(target.state.queueVersion)])
    case .list(let offset, let limit): return list(target, offset: offset, limit: limit)
    case .next:
      guard target.state.currentItemID != nil else {
        throw MediaError(.noCurrentItem, "there is no current item to go on from", operation: "next")
      }
      target.player.onLoop { $0.advanceToNextItem() }
      return .ok(["item": target.state.currentItemID.map { .int($0) } ?? FieldValue.none])
    }
  }

  /// Begins an edit with `wait=ready`: answers when every new entry is ready, or with the first one's error.
  func begin(_ command: QueueCommand, on target: NamedPlayer, _ request: WaitingRequest) throws(MediaError) {
    let items = try edit(command, on: target)
    let reply = Self.edited(items, target)
    let wait = ReadinessWait(target, items: items.map(\.id)) { error in
      if let error { request.fail(error) } else { request.finish(reply) }
    }
    request.onEnd { wait.cancel() }
    wait.start()
  }

  private static func edited(_ items: [PlayerItem], _ target: NamedPlayer) -> Reply {
    .ok(["items": .integers(items.map(\.id)), "version": .int(target.state.queueVersion)])
  }

  /// Puts new entries into the queue and answers them. All checks come before the first change.
  private func edit(_ command: QueueCommand, on target: NamedPlayer) throws(MediaError) -> [PlayerItem] {
    let registry = server.registry
    let state = target.state
    switch command {
    case .load(let paths, _, let precise):
      try registry.checkLength(of: paths.count)
      let items = registry.makeItems(paths, precise: precise)
      try target.player.tryOnLoop { player throws(MediaError) in try player.replaceAll(with: items) }
      return items
    case .append(let paths, _, let version, let precise):
      try check(version, of: target)
      try registry.checkLength(of: state.itemCount + paths.count)
      let items = registry.makeItems(paths, precise: precise)
      try target.player.tryOnLoop { player throws(MediaError) in try player.append(items) }
      return items
    case .insert(let paths, let place, _, let version, let precise):
      try check(version, of: target)
      try registry.checkLength(of: state.itemCount + paths.count)
      try check(place, in: target, state)
      let items = registry.makeItems(paths, precise: precise)
      try target.player.tryOnLoop { player throws(MediaError) in
        switch place {
        case .next: try player.insert(items, after: state.currentItemID)
        case .after(let id): try player.insert(items, after: UInt64(id))
        case .before(let id): try player.insert(items, before: UInt64(id))
        }
      }
      return items
    case .remove, .clear, .list, .next: preconditionFailure("not a command that adds entries")
    }
  }

  private func check(_ version: Int?, of target: NamedPlayer) throws(MediaError) {
    let present = target.state.queueVersion
    guard let version, UInt64(version) != present else { return }
    throw MediaError(.versionMismatch, "the queue has version \(present), not \(version)")
  }

  private func check(
    _ place: QueueCommand.QueuePlace, in target: NamedPlayer, _ state: PlayerState
  ) throws(MediaError) {
    let id: Int
    switch place {
    case .next: return
    case .after(let item): id = item
    case .before(let item):
      id = item
      if state.currentItemID == UInt64(item) {
        throw MediaError(.invalidArgument, "nothing can be put before the current entry", operation: "insert")
      }
    }
    guard target.player.onLoop({ $0.item(UInt64(id)) }) != nil else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "insert")
    }
  }

  // MARK: - Listing

  /// The most bytes that a byte of a path becomes in a reply (JSON's `\u001f`), and those of the other fields.
  private static let bytesPerPathByte = 6
  private static let bytesPerRow = 256

  /// A part of the queue, no larger than may wait for the peer and than takes a moment to write; `next` says where the rest
  /// begins.
  private func list(_ target: NamedPlayer, offset: Int, limit: Int) -> Reply {
    let state = target.state
    let start = min(offset, state.itemCount)
    let items = target.player.onLoop { $0.items(in: start..<start + min(limit, state.itemCount - start)) }
    var rows: [Fields] = []
    rows.reserveCapacity(items.count)
    var byteCount = 0
    for (position, item) in items.enumerated() {
      byteCount += item.asset.path.count * Self.bytesPerPathByte + Self.bytesPerRow
      // One row always fits: a path came in a line.
      if byteCount > server.limits.outputByteCount / 2, position > 0 { break }
      rows.append(Self.row(item, index: start + position))
    }
    let next = start + rows.count
    return .ok(
      [
        "count": .int(state.itemCount), "version": .int(state.queueVersion),
        "next": next < state.itemCount ? .int(next) : FieldValue.none,
      ], rows: rows)
  }

  private static func row(_ item: PlayerItem, index: Int) -> Fields {
    var fields: Fields = ["item": .int(item.id), "index": .int(index), "path": item.wirePath]
    let status = item.status
    fields.append("status", .string(status.name))
    fields.append("duration", .time(item.duration))
    fields.append("current", .bool(index == 0))
    fields.append("error", ifPresent: status.error.map { .string($0.code.name) })
    return fields
  }

  // MARK: - One entry

  func run(_ command: ItemCommand, on target: NamedPlayer) throws(MediaError) -> Reply? {
    switch command {
    case .status(let id):
      guard let item = target.player.onLoop({ $0.item(UInt64(id)) }) else {
        throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item.status")
      }
      let status = item.status
      var fields: Fields = [
        "item": .int(item.id), "path": item.wirePath, "status": .string(status.name),
        "duration": .time(item.duration), "providesPreciseDuration": .bool(item.providesPreciseDuration),
        "current": .bool(target.state.currentItemID == item.id),
      ]
      if let error = status.error {
        fields.append("error", .string(error.code.name))
        fields.append("message", .string(error.message))
      }
      return .ok(fields)
    case .volume(let id, let change):
      guard let item = target.player.onLoop({ $0.item(UInt64(id)) }) else {
        throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item.volume")
      }
      return try changeMix(of: item, change)
    case .pitch(let id, let change):
      guard let item = target.player.onLoop({ $0.item(UInt64(id)) }) else {
        throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item.pitch")
      }
      switch change {
      case nil: break
      case .player: try item.setAudioTimePitchAlgorithm(nil)
      case .own(let algorithm): try item.setAudioTimePitchAlgorithm(AudioTimePitchAlgorithm(algorithm))
      }
      return .ok(["item": .int(item.id), "pitch": .string(item.audioTimePitchAlgorithm.rawValue)])
    }
  }

  /// The most points and ramps that a connection may give an entry.
  private static let mixStepLimit = 1_024

  private func changeMix(of item: PlayerItem, _ change: ItemCommand.MixChange) throws(MediaError) -> Reply {
    var mix = change.clears ? AudioMix() : item.audioMix ?? AudioMix()
    if let step = change.step {
      if let ramp = step.ramp {
        try mix.setVolumeRamp(
          fromStartVolume: Float(step.volume), toEndVolume: Float(ramp.volume),
          timeRange: TimeRange(start: step.time, duration: ramp.duration))
      } else {
        try mix.setVolume(Float(step.volume), at: step.time)
      }
    }
    guard mix.volumeRamps.count <= Self.mixStepLimit else {
      throw MediaError(
        .invalidArgument, "an entry's volume has at most \(Self.mixStepLimit) points and ramps",
        operation: "item.volume")
    }
    if change.clears || change.step != nil { item.audioMix = mix.volumeRamps.isEmpty ? nil : mix }
    let rows = mix.volumeRamps.map { ramp -> Fields in
      var fields: Fields = ["at": .time(ramp.timeRange.start), "volume": .float(ramp.startVolume)]
      if ramp.timeRange.duration > .zero {
        fields.append("to", .float(ramp.endVolume))
        fields.append("over", .time(ramp.timeRange.duration))
      }
      return fields
    }
    return .ok(["item": .int(item.id), "count": .int(rows.count)], rows: rows)
  }
}
