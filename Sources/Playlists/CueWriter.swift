import MediaCore

/// Writes CUE sheets.
struct CueWriter {
  let playlist: Playlist
  let names: PlaceWriter

  /// Errors: `invalidArgument` for what a sheet cannot say.
  func lines() throws(MediaError) -> [String] {
    var lines: [String] = []
    func append(_ word: String, _ text: String?, indent: String = "", quoted: Bool = true) {
      guard let text = text.flatMap(Playlist.line) else { return }
      lines.append(quoted ? "\(indent)\(word) \"\(text)\"" : "\(indent)\(word) \(text)")
    }
    let common = playlist.metadata
    for (word, key) in Self.remarks { append("REM \(word)", common[key]) }
    append("CATALOG", common[.catalog], quoted: false)
    append("PERFORMER", common[.creator])
    append("SONGWRITER", common[.songwriter])
    append("TITLE", playlist.title)
    guard !playlist.entries.isEmpty else { throw MediaError(.invalidArgument, "a CUE sheet has a track at least") }
    var previous: (place: PlaylistPlace, end: MediaTime)?
    var number = 0
    for (index, entry) in playlist.entries.enumerated() {
      let start = entry.range?.start ?? .zero
      let time = try Self.time(start, entry: index)
      if previous?.place != entry.place || previous?.end.isNumeric != true {
        try checkEnd(previous?.end, before: index)
        let type = entry.metadata[.fileType].flatMap(Playlist.line) ?? "WAVE"
        lines.append("FILE \"\(try names.name(of: entry.place))\" \(type)")
      } else if previous?.end != start {
        throw Self.failure(index, "does not begin where the part before it ends")
      }
      number = max(
        number + 1, entry.metadata[.trackNumber].flatMap { Int($0) }.flatMap { $0 < 1_000_000 ? $0 : nil } ?? 0)
      lines.append("  TRACK \(number < 10 ? "0" : "")\(number) AUDIO")
      let own = entry.metadata
      append("FLAGS", own[.flags], indent: "    ", quoted: false)
      append("ISRC", own[.isrc], indent: "    ", quoted: false)
      append("TITLE", entry.title, indent: "    ")
      append("PERFORMER", own[.creator], indent: "    ")
      append("SONGWRITER", own[.songwriter], indent: "    ")
      for (word, key) in Self.remarks { append("REM \(word)", own[key], indent: "    ") }
      append("PREGAP", own[.pregap], indent: "    ", quoted: false)
      lines.append("    INDEX 01 \(time)")
      append("POSTGAP", own[.postgap], indent: "    ", quoted: false)
      let end = entry.range?.end ?? .positiveInfinity
      guard end > start else { throw Self.failure(index, "has no length") }
      previous = (entry.place, end)
    }
    try checkEnd(previous?.end, before: playlist.entries.count)
    return lines
  }

  private static let remarks: [(String, PlaylistMetadataKey)] = [
    ("GENRE", .genre), ("DATE", .date), ("DISCID", .discID), ("COMMENT", .annotation),
    ("REPLAYGAIN_ALBUM_GAIN", .replayGainAlbumGain), ("REPLAYGAIN_ALBUM_PEAK", .replayGainAlbumPeak),
    ("REPLAYGAIN_TRACK_GAIN", .replayGainTrackGain), ("REPLAYGAIN_TRACK_PEAK", .replayGainTrackPeak),
  ]

  /// The last part of a file goes on to its end: a sheet has no word for another one.
  private func checkEnd(_ end: MediaTime?, before index: Int) throws(MediaError) {
    guard let end, end.isNumeric else { return }
    throw Self.failure(index - 1, "ends before its file does, where nothing of that file follows")
  }

  private static func failure(_ index: Int, _ what: String) -> MediaError {
    MediaError(.invalidArgument, "entry \(index + 1) \(what), which CUE cannot say")
  }

  private static func time(_ time: MediaTime, entry index: Int) throws(MediaError) -> String {
    let scaled = time.convertScale(75)
    guard scaled.isNumeric, scaled >= .zero, scaled == time else {
      throw failure(index, "begins at \(time.decimalDescription) s, not at a 75th of a second")
    }
    let (seconds, frames) = scaled.value.quotientAndRemainder(dividingBy: 75)
    guard seconds / 60 < 1_000_000_000 else { throw failure(index, "begins too late") }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
    return "\(two(seconds / 60)):\(two(seconds % 60)):\(two(frames))"
  }
}
