import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayback
import PlayheadWireProtocol

extension Command where Parameters: EntryParameters {
  /// The entry that a request names.
  ///
  /// - Throws: `no-such-player`, `no-such-item`.
  static func item(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> PlayerItem {
    try context.client.item(arguments.id, of: try context.server.registry.player(arguments.player), name)
  }
}

extension Client {
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
}

extension ItemLogCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    let log = item.networkLog
    let station = log.station.map {
      Reply.Station(name: $0.name, genre: $0.genre, description: $0.description, url: $0.url)
    }
    return Reply(
      item: item.id, station: station, stationBitrate: log.accessEvents.last?.indicatedBitrate,
      rows: log.accessEvents.map(Row.init) + log.errorEvents.map(Row.init))
  }
}

extension ItemLogCommand.Row {
  fileprivate init(_ event: AccessLogEvent) {
    let access = Access(
      type: event.playbackType, startupNanoseconds: event.startupNanoseconds,
      requestCount: UInt64(event.numberOfMediaRequests), byteCount: event.numberOfBytesTransferred,
      observedBitrate: event.observedBitrate, indicatedBitrate: event.indicatedBitrate,
      reconnectCount: event.numberOfReconnects, addressChangeCount: event.numberOfServerAddressChanges,
      switchCount: event.numberOfSwitches, stallCount: event.numberOfStalls, stallNanoseconds: event.stallNanoseconds)
    self.init(uri: event.uri, address: event.serverAddress, content: .access(access))
  }

  fileprivate init(_ event: ErrorLogEvent) {
    self.init(
      uri: event.uri, address: event.serverAddress,
      content: .error(status: event.statusCode, isRetried: event.isRetried, event.error))
  }
}

extension ItemCopyCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (client, registry) = (context.client, context.server.registry)
    let target = try registry.player(arguments.player)
    guard client.transaction?.target !== target else {
      throw MediaError(.invalidState, "an entry cannot be copied between queue.begin and queue.commit")
    }
    try client.checkVersion(arguments.ifVersion, of: target)
    let position = try target.resolved(try arguments.position(), target.state.queueVersion)
    let copy = registry.makeCopy(of: try client.item(arguments.id, of: target, name))
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
    return Reply(item: copy.id, version: target.state.queueVersion)
  }
}

extension ItemPitchCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    if let setting = arguments.algorithm {
      try item.setAudioTimePitchAlgorithm(setting.algorithm.map(AudioTimePitchAlgorithm.init(sameWordAs:)))
    }
    return Reply(item: item.id, algorithm: .init(sameWordAs: item.audioTimePitchAlgorithm))
  }
}

extension ItemEndTimeCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    if let forward = arguments.forward { try item.setForwardPlaybackEndTime(forward) }
    if let reverse = arguments.reverse { try item.setReversePlaybackEndTime(reverse) }
    return Reply(item: item.id, forward: item.forwardPlaybackEndTime, reverse: item.reversePlaybackEndTime)
  }
}

extension ItemBufferCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    if let duration = arguments.duration { try item.setPreferredForwardBufferDuration(duration) }
    return Reply(item: item.id, duration: item.preferredForwardBufferDuration)
  }
}

extension ItemVolumeCommand: ImmediateHandler {
  /// The maximum number of volume points and ramps of one entry.
  private static let stepLimit = 1_024

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (item, step) = (try item(arguments, context), try arguments.step())
    var mix = arguments.clear ? AudioMix() : item.audioMix ?? AudioMix()
    if let step {
      if let ramp = step.ramp {
        try mix.setVolumeRamp(
          fromStartVolume: Float(step.volume), toEndVolume: Float(ramp.volume),
          timeRange: TimeRange(start: step.time, duration: ramp.duration))
      } else {
        try mix.setVolume(Float(step.volume), at: step.time)
      }
    }
    guard mix.volumeRamps.count <= stepLimit else {
      throw MediaError(
        .invalidArgument, "the volume of an entry can have at most \(stepLimit) points and ramps",
        operation: name.rawValue)
    }
    if arguments.clear || step != nil { item.audioMix = mix.volumeRamps.isEmpty ? nil : mix }
    let rows = mix.volumeRamps.map { ramp in
      let duration = ramp.timeRange.duration
      return Row(
        at: ramp.timeRange.start, volume: ramp.startVolume,
        ramp: duration > .zero ? Row.Ramp(volume: ramp.endVolume, duration: duration) : nil)
    }
    return Reply(item: item.id, rows: rows)
  }
}

extension TimeRange {
  /// The text form: start and end in seconds, such as `70-83.5`. The end is `inf` for a range without an end.
  var wireText: String { "\(start.decimalDescription)-\(end.isNumeric ? end.decimalDescription : "inf")" }

  /// Parses the text form. Nil for another text.
  init?(wireText text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = MediaTime(decimal: String(parts[0])) else { return nil }
    guard let end = parts[1] == "inf" ? .positiveInfinity : MediaTime(decimal: String(parts[1])) else { return nil }
    self.init(start: start, end: end)
  }
}
