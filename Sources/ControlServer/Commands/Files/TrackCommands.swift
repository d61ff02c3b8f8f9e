import MediaAssets
import MediaCore
import Playback
import WireProtocol

/// Commands about an entry's tracks and chapters.
extension Connection {
  /// The tracks of an entry.
  ///
  /// - Throws: `no-such-item`, `invalid-state` before the entry is ready, or the error of the entry.
  func itemTracks(_ reference: EntryReference, of target: NamedPlayer) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemTracks)
    let properties = try Self.properties(of: item.asset, .itemTracks)
    let selection = item.currentMediaSelection
    let selected = Set(item.mediaSelectionGroups.compactMap { selection.selectedOption(in: $0)?.trackID })
    let rows = properties.tracks.map { track in
      var row = Self.row(track)
      row.append("selected", .bool(selected.contains(track.id)))
      return row
    }
    var fields: Fields = ["item": .int(item.id), "count": .int(rows.count)]
    appendSelection(of: item, to: &fields)
    return .ok(fields, rows: rows)
  }

  /// The media selection groups of an entry, and the selected option of each group.
  ///
  /// - Throws: `no-such-item`, `invalid-state` before the entry is ready, or the error of the entry.
  func itemSelection(_ reference: EntryReference, of target: NamedPlayer) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemSelection)
    _ = try Self.properties(of: item.asset, .itemSelection)
    let (selection, groups) = (item.currentMediaSelection, item.mediaSelectionGroups)
    var fields: Fields = ["item": .int(item.id)]
    appendSelection(of: item, to: &fields)
    return .ok(fields, rows: groups.flatMap { Self.rows($0, selected: .some(selection.selectedOption(in: $0))) })
  }

  /// The rows for a group and its options.
  ///
  /// - Parameter selected: The selected option. An inner nil means that none is selected, an outer nil that the rows
  ///   have no `selected` field.
  static func rows(_ group: MediaSelectionGroup, selected: MediaSelectionOption?? = nil) -> [Fields] {
    let name = FieldValue.string(group.characteristic.rawValue)
    let head: Fields = [
      "group": name, "allowsEmptySelection": .bool(group.allowsEmptySelection), "options": .int(group.options.count),
    ]
    let options = group.options.map { option in
      var row: Fields = ["group": name, "track": .int(option.trackID)]
      row.append("language", ifPresent: option.languageCode.map { .string($0) })
      row.append("title", ifPresent: option.title.map { .string($0) })
      let otherCharacteristics = option.characteristics.subtracting([.audible, .legible]).map(\.rawValue).sorted()
      row.append("characteristics", .strings([group.characteristic.rawValue] + otherCharacteristics))
      row.append("playable", .bool(option.isPlayable))
      row.append("default", .bool(option == group.defaultOption))
      row.append("selected", ifPresent: selected.map { .bool($0 == option) })
      return row
    }
    return [head] + options
  }

  /// The chapters of an entry.
  ///
  /// - Throws: `no-such-item`, `invalid-state` before the entry is ready, or the error of the entry.
  func itemChapters(
    _ reference: EntryReference, from offset: Int, languages: WireList<String>, of target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemChapters)
    if let error = item.error { throw error }
    guard item.status == .readyToPlay else {
      throw MediaError(.invalidState, "item \(item.id) is not ready yet", operation: CommandName.itemChapters.rawValue)
    }
    let properties = try Self.properties(of: item.asset, .itemChapters)
    return chapters(
      item.chapters, properties.chapterFault, head: ["item": .int(item.id)], from: offset, languages: languages)
  }

  /// The maximum number of reply bytes for one byte of a title or language code: JSON escapes a control
  /// character as `\u001f`.
  private static let bytesPerTextByte = 6
  /// The approximate number of bytes of the other fields of a row.
  private static let bytesPerRow = 256
  /// The maximum number of listed languages of a chapter.
  private static let maximumLanguageCount = 64

  /// The chapters from `offset` on, limited to the output buffer of the peer.
  func chapters(
    _ chapters: [AssetChapter], _ fault: MediaError?, head: Fields, from offset: Int, languages: WireList<String>
  ) -> Reply {
    let start = min(offset, chapters.count)
    var rows: [Fields] = []
    var byteCount = 0
    let preferredLanguages = Array(languages)
    for (index, chapter) in chapters.enumerated().dropFirst(start) {
      let chapter = preferredLanguages.isEmpty ? chapter : chapter.bestMatching(preferredLanguages: preferredLanguages)
      byteCount += (chapter.title?.utf8.count ?? 0) * Self.bytesPerTextByte + Self.bytesPerRow
      if byteCount > server.limits.outputByteCount / 2, !rows.isEmpty { break }
      var row: Fields = [
        "chapter": .int(index + 1), "start": .time(chapter.timeRange.start), "end": .time(chapter.timeRange.end),
      ]
      row.append("title", ifPresent: chapter.title.map { .string($0) })
      row.append("language", ifPresent: chapter.languageCode.map { .string($0) })
      if chapter.titles.count > 1 {
        let codes = Array(chapter.languageCodes.prefix(Self.maximumLanguageCount))
        byteCount += codes.reduce(0) { $0 + $1.utf8.count * Self.bytesPerTextByte }
        row.append("languages", .strings(codes))
      }
      rows.append(row)
    }
    let next = start + rows.count
    var fields = head
    fields.append("count", .int(chapters.count))
    fields.append("next", next < chapters.count ? .int(next) : FieldValue.none)
    if let fault {
      fields.append("fault", .string(fault.code.name))
      fields.append("message", .string(fault.message))
    }
    return .ok(fields, rows: rows)
  }

  /// Selects the given tracks, if any, and returns the selected tracks. After an error the selection is unchanged.
  func select(
    audio: ItemCommand.TrackChoice?, subtitles: ItemCommand.TrackChoice?, in reference: EntryReference,
    of target: NamedPlayer
  ) throws(MediaError) -> Reply {
    let item = try item(reference, of: target, .itemSelect)
    var fields: Fields = ["item": .int(item.id)]
    guard audio != nil || subtitles != nil else {
      appendSelection(of: item, to: &fields)
      return .ok(fields)
    }
    let properties = try Self.properties(of: item.asset, .itemSelect)
    let previousSelection = item.currentMediaSelection
    let legible = properties.mediaSelectionGroup(for: .legible)
    if let subtitles { try Self.select(subtitles, of: .legible, in: item, properties) }
    do throws(MediaError) {
      if let audio { try Self.select(audio, of: .audible, in: item, properties) }
    } catch {
      // Restores the subtitles, which were already changed.
      if subtitles != nil, let legible { try? item.select(previousSelection.selectedOption(in: legible), in: legible) }
      throw error
    }
    appendSelection(of: item, to: &fields)
    return .ok(fields)
  }

  private static func select(
    _ choice: ItemCommand.TrackChoice, of characteristic: MediaCharacteristic, in item: PlayerItem,
    _ properties: AssetProperties
  ) throws(MediaError) {
    guard let group = properties.mediaSelectionGroup(for: characteristic) else {
      if choice == .none || choice == .automatic { return }
      throw MediaError(
        .noSuchTrack, "item \(item.id) has no \(characteristic.rawValue) tracks",
        operation: CommandName.itemSelect.rawValue)
    }
    switch choice {
    case .none: try item.select(nil, in: group)
    case .automatic: try item.selectAutomatically(in: group)
    case .language(let code): try item.select(matching: MediaSelectionCriteria(preferredLanguages: [code]), in: group)
    case .track(let id):
      guard let option = group.option(trackID: id) else {
        throw MediaError(
          .noSuchTrack, "item \(item.id) has no \(characteristic.rawValue) track \(id)",
          operation: CommandName.itemSelect.rawValue)
      }
      try item.select(option, in: group)
    }
  }

  private func appendSelection(of item: PlayerItem, to fields: inout Fields) {
    let (selection, groups) = (item.currentMediaSelection, item.mediaSelectionGroups)
    for (name, characteristic) in [("audio", MediaCharacteristic.audible), ("subtitles", .legible)] {
      let option = groups.first { $0.characteristic == characteristic }.flatMap { selection.selectedOption(in: $0) }
      fields.append(name, option.map { .int($0.trackID) } ?? FieldValue.none)
    }
  }

  /// The properties of an asset.
  ///
  /// - Throws: `invalid-state` before the asset is loaded, or the error of loading it.
  static func properties(of asset: Asset, _ command: CommandName) throws(MediaError) -> AssetProperties {
    guard let loaded = asset.loaded else {
      throw MediaError(.invalidState, "the asset is not loaded yet", operation: command.rawValue)
    }
    return try loaded.get()
  }

  /// The row for a track.
  static func row(_ track: AssetTrack) -> Fields {
    var row: Fields = [
      "track": .int(track.id), "type": .string(track.mediaType.rawValue), "codec": .string(track.codecName),
      "playable": .bool(track.mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected),
      "enabled": .bool(track.isEnabled), "default": .bool(track.isDefault), "start": .time(track.timeRange.start),
      "duration": .time(track.timeRange.duration),
    ]
    row.append("precise", .bool(track.providesPreciseDuration))
    row.append("protected", .bool(track.isProtected))
    row.append("format", ifPresent: track.codecTag.map { .string($0) })
    row.append("sampleFormat", ifPresent: track.sampleFormatName.map { .string($0) })
    row.append("sampleRate", ifPresent: track.audioFormat.map { .int($0.sampleRateHz) })
    row.append("channels", ifPresent: track.audioFormat.map { .int($0.channelCount) })
    row.append("layout", ifPresent: track.channelLayoutName.map { .string($0) })
    row.append("bitsPerSample", ifPresent: track.bitsPerSample.map { .int($0) })
    row.append("bitRate", ifPresent: track.bitRate.map { .int($0) })
    row.append("width", ifPresent: track.naturalSize.map { .int($0.width) })
    row.append("height", ifPresent: track.naturalSize.map { .int($0.height) })
    row.append("codedWidth", ifPresent: track.codedWidth.map { .int($0) })
    row.append("codedHeight", ifPresent: track.codedHeight.map { .int($0) })
    row.append("rotation", ifPresent: track.rotationDegrees.map { .int($0) })
    row.append("frameRate", ifPresent: track.frameRate.map { .string($0.description) })
    row.append("language", ifPresent: track.languageCode.map { .string($0) })
    row.append("title", ifPresent: track.title.map { .string($0) })
    if !track.closedCaptions.isEmpty {
      row.append("closedCaptions", .strings(track.closedCaptions.map(\.rawValue)))
    }
    if !track.characteristics.isEmpty {
      row.append("characteristics", .strings(track.characteristics.map(\.rawValue).sorted()))
    }
    return row
  }
}
