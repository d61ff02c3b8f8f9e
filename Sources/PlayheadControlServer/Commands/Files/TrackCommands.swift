import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension AssetTracksCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let properties = try asset(arguments, context).loadedProperties(for: name)
    return Reply(asset: arguments.id, rows: properties.tracks.map(TrackRow.init))
  }
}

extension AssetSelectionCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let groups = try asset(arguments, context).loadedProperties(for: name).mediaSelectionGroups
    return Reply(
      asset: arguments.id, count: groups.count,
      rows: groups.flatMap { SelectionRow.rows($0) { _ in nil } })
  }
}

extension ItemTracksCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    let properties = try item.asset.loadedProperties(for: name)
    let selection = item.currentMediaSelection
    let selected = Set(item.mediaSelectionGroups.compactMap { selection.selectedOption(in: $0)?.trackID })
    return Reply(
      item: item.id, presented: PresentedTracks(of: item),
      rows: properties.tracks.map { Row(track: TrackRow($0), isSelected: selected.contains($0.id)) })
  }
}

extension ItemSelectionCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    _ = try item.asset.loadedProperties(for: name)
    let selection = item.currentMediaSelection
    let rows = item.mediaSelectionGroups.flatMap { group in
      let selected = selection.selectedOption(in: group)
      return SelectionRow.rows(group) { $0 == selected }
    }
    return Reply(item: item.id, presented: PresentedTracks(of: item), rows: rows.map(Row.init))
  }
}

extension ItemSelectCommand: ImmediateHandler {
  /// Selects the given tracks, if any. After an error the selection is unchanged.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    guard let requested = try arguments.requestedTracks() else {
      return Reply(item: item.id, presented: PresentedTracks(of: item))
    }
    let (audio, subtitles) = (requested.audible, requested.legible)
    let properties = try item.asset.loadedProperties(for: name)
    let previousSelection = item.currentMediaSelection
    let legible = properties.mediaSelectionGroup(for: .legible)
    if let subtitles { try select(subtitles, of: .legible, in: item, properties) }
    do throws(MediaError) {
      if let audio { try select(audio, of: .audible, in: item, properties) }
    } catch {
      // Restores the subtitles, which were already changed.
      if subtitles != nil, let legible { try? item.select(previousSelection.selectedOption(in: legible), in: legible) }
      throw error
    }
    return Reply(item: item.id, presented: PresentedTracks(of: item))
  }

  private static func select(
    _ choice: TrackChoice, of characteristic: MediaCharacteristic, in item: PlayerItem, _ properties: AssetProperties
  ) throws(MediaError) {
    guard let group = properties.mediaSelectionGroup(for: characteristic) else {
      if choice == .none || choice == .automatic { return }
      throw MediaError(
        .noSuchTrack, "item \(item.id) has no \(characteristic.rawValue) tracks", operation: name.rawValue)
    }
    switch choice {
    case .none: try item.select(nil, in: group)
    case .automatic: try item.selectAutomatically(in: group)
    case .language(let code): try item.select(matching: MediaSelectionCriteria(preferredLanguages: [code]), in: group)
    case .track(let id):
      guard let option = group.option(trackID: id) else {
        throw MediaError(
          .noSuchTrack, "item \(item.id) has no \(characteristic.rawValue) track \(id)", operation: name.rawValue)
      }
      try item.select(option, in: group)
    }
  }
}

extension PresentedTracks {
  fileprivate init(of item: PlayerItem) {
    let (selection, groups) = (item.currentMediaSelection, item.mediaSelectionGroups)
    func track(_ characteristic: MediaCharacteristic) -> Int? {
      groups.first { $0.characteristic == characteristic }.flatMap { selection.selectedOption(in: $0) }?.trackID
    }
    self.init(audio: track(.audible), subtitles: track(.legible))
  }
}

extension SelectionRow {
  /// The rows for a group and its options.
  ///
  /// - Parameter isSelected: Whether an option is selected. Nil if nothing can be selected.
  fileprivate static func rows(
    _ group: MediaSelectionGroup, isSelected: (MediaSelectionOption) -> Bool?
  ) -> [SelectionRow] {
    let name = MediaSelectionCommand.Group(sameWordAs: group.characteristic)
    let head = SelectionRow(
      group: name,
      content: .group(allowsEmptySelection: group.allowsEmptySelection, optionCount: group.options.count))
    let options = group.options.map { option in
      let otherCharacteristics = option.characteristics.subtracting([.audible, .legible]).map(\.rawValue).sorted()
      return SelectionRow(
        group: name,
        content: .option(
          Option(
            track: option.trackID, language: option.languageCode, title: option.title,
            characteristics: [group.characteristic.rawValue] + otherCharacteristics, isPlayable: option.isPlayable,
            isDefault: option == group.defaultOption, isSelected: isSelected(option))))
    }
    return [head] + options
  }
}

extension TrackRow {
  fileprivate init(_ track: AssetTrack) {
    self.init(
      track: track.id, type: track.mediaType.rawValue, codec: track.codecName,
      isPlayable: track.mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected,
      isEnabled: track.isEnabled, isDefault: track.isDefault, start: track.timeRange.start,
      duration: track.timeRange.duration, isPrecise: track.providesPreciseDuration, isProtected: track.isProtected,
      format: track.codecTag,
      audio: Audio(
        sampleFormat: track.sampleFormatName, sampleRateHz: track.audioFormat?.sampleRateHz,
        channelCount: track.audioFormat?.channelCount, layout: track.channelLayoutName,
        bitsPerSample: track.bitsPerSample),
      bitRate: track.bitRate,
      video: Video(
        width: track.naturalSize?.width, height: track.naturalSize?.height, codedWidth: track.codedWidth,
        codedHeight: track.codedHeight, rotation: track.rotationDegrees, frameRate: track.frameRate?.description),
      language: track.languageCode, title: track.title, closedCaptions: track.closedCaptions.map(\.rawValue),
      characteristics: track.characteristics.map(\.rawValue).sorted())
  }
}

extension Asset {
  /// The properties, once loaded.
  ///
  /// - Throws: `invalid-state` before the asset is loaded, or the error of loading it.
  func loadedProperties(for command: CommandName) throws(MediaError) -> AssetProperties {
    guard let loaded else {
      throw MediaError(.invalidState, "the asset is not loaded yet", operation: command.rawValue)
    }
    return try loaded.get()
  }
}
