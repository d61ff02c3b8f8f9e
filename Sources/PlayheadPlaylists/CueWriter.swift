import PlayheadMediaCore

/// Writes CUE sheets.
struct CueWriter {
  let locationWriter: LocationWriter

  private static let remarks: [(String, PlaylistMetadataKey)] = [
    ("GENRE", .genre), ("DATE", .date), ("DISCID", .discID), ("COMMENT", .annotation),
    ("REPLAYGAIN_ALBUM_GAIN", .replayGainAlbumGain), ("REPLAYGAIN_ALBUM_PEAK", .replayGainAlbumPeak),
    ("REPLAYGAIN_TRACK_GAIN", .replayGainTrackGain), ("REPLAYGAIN_TRACK_PEAK", .replayGainTrackPeak),
  ]

  func head(title: String?, metadata: [PlaylistMetadataKey: String]) -> [String] {
    Self.remarks.compactMap { Self.line("REM \($0)", metadata[$1]) }
      + [
        Self.line("CATALOG", metadata[.catalog], quoted: false), Self.line("PERFORMER", metadata[.creator]),
        Self.line("SONGWRITER", metadata[.songwriter]), Self.line("TITLE", title),
      ].compactMap(\.self)
  }

  /// The lines of a track, with a FILE line when the file changes.
  ///
  /// - Throws: `invalidArgument` for entries that a sheet cannot represent.
  func lines(of entry: PlaylistEntry, index: Int, after previous: PlaylistEntry?) throws(MediaError) -> [String] {
    var lines: [String] = []
    let start = entry.range?.start ?? .zero
    guard (entry.range?.end ?? .positiveInfinity) > start else { throw Self.failure(index, "has no length") }
    let end = previous?.range?.end
    if let previous, let end, end.isNumeric, previous.location == entry.location {
      guard end == start else { throw Self.failure(index, "does not begin at the end of the previous part") }
    } else {
      try checkEnd(count: index, last: previous)
      let type = entry.metadata[.fileType].flatMap {
        $0.utf8.allSatisfy(CueParser.isTypeByte) && !$0.isEmpty ? $0 : nil
      }
      lines.append("FILE \"\(try locationWriter.name(of: entry.location))\" \(type ?? "WAVE")")
    }
    let metadata = entry.metadata
    let number =
      metadata[.trackNumber].flatMap { Int($0) }.flatMap { (0..<1_000_000).contains($0) ? $0 : nil } ?? index + 1
    lines.append("  TRACK \(Self.twoDigits(Int64(number))) AUDIO")
    let parts = [
      Self.line("FLAGS", metadata[.flags], quoted: false), Self.line("ISRC", metadata[.isrc], quoted: false),
      Self.line("TITLE", entry.title), Self.line("PERFORMER", metadata[.creator]),
      Self.line("SONGWRITER", metadata[.songwriter]),
    ]
    let gaps = (
      Self.line("PREGAP", metadata[.pregap], quoted: false), Self.line("POSTGAP", metadata[.postgap], quoted: false)
    )
    let index01 = "INDEX 01 \(try Self.time(start, entry: index))"
    let remarks = Self.remarks.map { Self.line("REM \($0)", metadata[$1]) }
    let all = parts + remarks + [gaps.0, index01] + points(of: entry) + [gaps.1]
    return lines + all.compactMap { $0.map { "    \($0)" } }
  }

  /// The lines for INDEX 02 and higher that are within the entry's range.
  private func points(of entry: PlaylistEntry) -> [String?] {
    guard let text = entry.metadata[.indexPoints] else { return [] }
    return text.split(separator: ",").prefix(97).compactMap { point in
      let words = point.split(separator: " ")
      guard words.count == 2, let number = Int(words[0]), (2...99).contains(number), words[1].utf8.count <= 20,
        words[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: ":")).contains($0) })
      else { return nil }
      return "INDEX \(Self.twoDigits(Int64(number))) \(words[1])"
    }
  }

  /// Checks that the last part of a file extends to the file's end, because a sheet cannot represent another end.
  func checkEnd(count: Int, last: PlaylistEntry?) throws(MediaError) {
    guard let last, last.range?.end.isNumeric == true else { return }
    throw Self.failure(count - 1, "ends before the end of its file, and the next entry is not from that file")
  }

  private static func line(_ word: String, _ text: String?, quoted: Bool = true) -> String? {
    text.flatMap(PlaylistWriter.line).map { quoted ? "\(word) \"\($0)\"" : "\(word) \($0)" }
  }

  private static func failure(_ index: Int, _ problem: String) -> MediaError {
    MediaError(.invalidArgument, "entry \(index + 1) \(problem), which CUE cannot represent")
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }

  private static func time(_ time: MediaTime, entry index: Int) throws(MediaError) -> String {
    let scaled = time.convertScale(75)
    guard scaled.isNumeric, scaled >= .zero, scaled == time else {
      throw failure(index, "begins at \(time.decimalDescription) s, not at a 75th of a second")
    }
    let (seconds, frames) = scaled.value.quotientAndRemainder(dividingBy: 75)
    guard seconds / 60 < 1_000_000_000 else { throw failure(index, "begins too late") }
    return "\(twoDigits(seconds / 60)):\(twoDigits(seconds % 60)):\(twoDigits(frames))"
  }
}
