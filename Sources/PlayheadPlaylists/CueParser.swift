import PlayheadMediaCore

/// Parses CUE sheets. A track is a part of a file, with times in 75ths of a second.
///
/// - A track begins at its INDEX 01. It ends at the INDEX 01 of the next track in the same FILE, or at the end of the
///   file.
/// - Audio between INDEX 00 and 01 belongs to the previous track, so that no audio is lost. Before a track that is not
///   AUDIO, the previous track ends at INDEX 00.
/// - PREGAP and POSTGAP are silence that the file does not contain. They are retained as metadata.
/// - Tracks that are not AUDIO are omitted.
struct CueParser {
  private struct Track {
    var number: Int
    var line: Int
    var isAudio: Bool
    var title: String?
    var metadata: [PlaylistMetadataKey: String] = [:]
    /// The positions of INDEX 00 and 01: the index of the FILE, and the time in it.
    var pregapStart: (file: Int, time: MediaTime)?
    var start: (file: Int, time: MediaTime)?
    /// INDEX 02 and higher.
    var points: [(file: Int, text: String)] = []
  }

  /// Audio of at least this length before INDEX 01 of the first track is a hidden track, not a pause.
  private static let hiddenTrackDuration = MediaTime(value: 4, timescale: 1)

  private static let keywords = [
    "REM", "FILE", "TRACK", "INDEX", "TITLE", "PERFORMER", "SONGWRITER", "ISRC", "CATALOG", "FLAGS", "PREGAP",
    "POSTGAP",
    "CDTEXTFILE",
  ]
  /// The supported REM fields and their metadata keys.
  private static let remarks: [(name: String, key: PlaylistMetadataKey)] = [
    ("GENRE", .genre), ("DATE", .date), ("DISCID", .discID), ("COMMENT", .annotation),
    ("REPLAYGAIN_ALBUM_GAIN", .replayGainAlbumGain), ("REPLAYGAIN_ALBUM_PEAK", .replayGainAlbumPeak),
    ("REPLAYGAIN_TRACK_GAIN", .replayGainTrackGain), ("REPLAYGAIN_TRACK_PEAK", .replayGainTrackPeak),
  ]
  /// CD frames per second. Times are in CD frames.
  private static let framesPerSecond: Int32 = 75

  private let text: PlaylistText
  /// The files of the FILE lines; the location is nil when the name is invalid.
  private var files: [(location: PlaylistLocation?, type: String)] = []
  private var tracks: [Track] = []

  private init(_ text: PlaylistText) { self.text = text }

  /// Whether a text begins like a CUE sheet: only known keywords, up to and including a TRACK.
  static func recognizes(_ text: PlaylistText) -> Bool {
    var lines = text.lines()
    while let line = lines.next() {
      if line.bytes.isEmpty { continue }
      let (word, rest) = split(line.bytes)
      guard keywords.contains(where: { word.equals(ignoringCase: $0) }) else { return false }
      if word.equals(ignoringCase: "TRACK") { return split(rest).word.smallNumber != nil }
    }
    return false
  }

  static func parse(_ text: PlaylistText, into builder: inout PlaylistBuilder) throws(MediaError) {
    var parser = CueParser(text)
    var lines = text.lines()
    while let line = lines.next() { if !line.bytes.isEmpty { try parser.parse(line, &builder) } }
    try parser.finish(&builder)
  }

  // MARK: - Lines

  private mutating func parse(_ line: PlaylistText.Line, _ builder: inout PlaylistBuilder) throws(MediaError) {
    let (word, rest) = Self.split(line.bytes)
    func isWord(_ name: String) -> Bool { word.equals(ignoringCase: name) }
    if isWord("FILE") {
      let (name, type) = Self.fileName(rest)
      let location = name.isEmpty ? nil : builder.location(ofName: name, line: line.number)
      let isValidType = !type.isEmpty && type.allSatisfy { Self.isTypeByte($0) }
      files.append((location, isValidType ? String(decoding: type, as: UTF8.self).uppercased() : ""))
    } else if isWord("TRACK") {
      try addTrack(rest, line.number, builder)
    } else if isWord("INDEX") {
      try addIndex(rest, line.number, &builder)
    } else if isWord("TITLE") {
      let title = text.nonEmptyString(Self.unquoted(rest))
      if tracks.isEmpty { builder.setTitle(title) } else { tracks[tracks.count - 1].title = title }
    } else if isWord("PERFORMER") {
      set(.creator, Self.unquoted(rest), &builder)
    } else if isWord("SONGWRITER") {
      set(.songwriter, Self.unquoted(rest), &builder)
    } else if isWord("ISRC") {
      set(.isrc, Self.unquoted(rest), &builder)
    } else if isWord("CATALOG") {
      set(.catalog, Self.unquoted(rest), &builder)
    } else if isWord("FLAGS") {
      set(.flags, rest, &builder)
    } else if isWord("PREGAP") || isWord("POSTGAP") {
      guard Self.time(rest) != nil else {
        throw builder.damaged("a time must have the form MM:SS:FF", line: line.number)
      }
      set(isWord("PREGAP") ? .pregap : .postgap, rest, &builder)
    } else if isWord("REM") {
      let (name, value) = Self.split(rest)
      for remark in Self.remarks where name.equals(ignoringCase: remark.name) {
        set(remark.key, Self.unquoted(value), &builder)
      }
    } else if !isWord("CDTEXTFILE") {
      builder.warn(
        MediaError(.damagedPlaylist, "unknown CUE command \(LocationResolver.excerpt(word))"), line: line.number)
    }
  }

  private mutating func set(
    _ key: PlaylistMetadataKey, _ value: ArraySlice<UInt8>, _ builder: inout PlaylistBuilder
  ) {
    let value = text.nonEmptyString(value)
    if tracks.isEmpty { builder.set(key, value) } else { tracks[tracks.count - 1].metadata[key] = value }
  }

  private mutating func addTrack(
    _ rest: ArraySlice<UInt8>, _ line: Int, _ builder: PlaylistBuilder
  ) throws(MediaError) {
    let (number, type) = Self.split(rest)
    guard let number = number.smallNumber else { throw builder.damaged("a TRACK without a number", line: line) }
    guard !files.isEmpty else { throw builder.damaged("a TRACK before any FILE", line: line) }
    guard tracks.count < PlaylistLimits.entryCount else { throw PlaylistBuilder.tooManyEntries(builder.displayText) }
    tracks.append(
      Track(number: number, line: line, isAudio: type.isEmpty || type.equals(ignoringCase: "AUDIO")))
  }

  private mutating func addIndex(
    _ rest: ArraySlice<UInt8>, _ line: Int, _ builder: inout PlaylistBuilder
  ) throws(MediaError) {
    let (number, value) = Self.split(rest)
    guard let index = number.smallNumber, let time = Self.time(value) else {
      throw builder.damaged("an INDEX must have the form NN MM:SS:FF", line: line)
    }
    guard !tracks.isEmpty else { throw builder.damaged("an INDEX before any TRACK", line: line) }
    let position = (file: files.count - 1, time: time)
    if index == 0 { tracks[tracks.count - 1].pregapStart = position }
    if index > 1, tracks[tracks.count - 1].points.count < 98 {
      tracks[tracks.count - 1].points.append((position.file, "\(index) \(Self.timeText(time))"))
    }
    if index == 1, tracks[tracks.count - 1].start == nil { tracks[tracks.count - 1].start = position }
  }

  // MARK: - Entries

  private func finish(_ builder: inout PlaylistBuilder) throws(MediaError) {
    guard !tracks.isEmpty else {
      throw MediaError(.damagedPlaylist, "a CUE sheet without a TRACK: \(builder.displayText)")
    }
    for (index, track) in tracks.enumerated() {
      func skip(_ problem: String) {
        builder.skip(MediaError(.invalidArgument, "track \(track.number) \(problem)"), line: track.line)
      }
      guard track.isAudio else {
        skip("is not audio")
        continue
      }
      guard let start = track.start else {
        skip("has no INDEX 01")
        continue
      }
      guard let location = files[start.file].location else {
        skip("has no file")
        continue
      }
      let end = end(of: index, in: start.file)
      if let end, end < start.time {
        throw builder.damaged("the start times must not decrease", line: tracks[index + 1].line)
      }
      if end == start.time {
        skip("has no length")
        continue
      }
      for key in [PlaylistMetadataKey.pregap, .postgap] where track.metadata[key] != nil {
        builder.warn(
          MediaError(
            .silenceLeftOut,
            "track \(track.number): the \(key.rawValue) is silence outside the file and is not played"),
          line: track.line)
      }
      if index == 0, let pregapStart = track.pregapStart, pregapStart.file == start.file,
        start.time - pregapStart.time >= Self.hiddenTrackDuration
      {
        try builder.append(
          hiddenTrack(from: pregapStart.time, to: start.time, at: location, type: files[start.file].type))
      }
      var entry = PlaylistEntry(location: location, title: track.title, metadata: track.metadata)
      let points = track.points.filter { $0.file == start.file }.map(\.text)
      if !points.isEmpty { entry.metadata[.indexPoints] = points.joined(separator: ", ") }
      entry.metadata[.trackNumber] = String(track.number)
      if files[start.file].type != "WAVE", !files[start.file].type.isEmpty {
        entry.metadata[.fileType] = files[start.file].type
      }
      if let end {
        entry.range = TimeRange(start: start.time, end: end)
        entry.duration = entry.range?.duration
      } else if start.time > .zero {
        entry.range = TimeRange(start: start.time, duration: .positiveInfinity)
      }
      try builder.append(entry)
    }
  }

  /// The entry of the hidden track before the first track, with track number 0.
  private func hiddenTrack(
    from start: MediaTime, to end: MediaTime, at location: PlaylistLocation, type: String
  ) -> PlaylistEntry {
    var entry = PlaylistEntry(location: location, title: nil, metadata: [.trackNumber: "0"])
    if type != "WAVE", !type.isEmpty { entry.metadata[.fileType] = type }
    entry.range = TimeRange(start: start, end: end)
    entry.duration = entry.range?.duration
    return entry
  }

  /// The end of a track that begins in this file; nil for the end of the file.
  private func end(of index: Int, in file: Int) -> MediaTime? {
    guard index + 1 < tracks.count else { return nil }
    let next = tracks[index + 1]
    if !next.isAudio, let pregapStart = next.pregapStart, pregapStart.file == file { return pregapStart.time }
    if let start = next.start, start.file == file { return start.time }
    if next.start == nil, let pregapStart = next.pregapStart, pregapStart.file == file { return pregapStart.time }
    return nil
  }

  // MARK: - Keywords

  private static func split(_ line: ArraySlice<UInt8>) -> (word: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
    let word = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return (word, line[word.endIndex...].trimmed())
  }

  /// The text between the first and the last quote. CUE has no escapes.
  private static func unquoted(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard value.first == UInt8(ascii: "\""), let last = value.lastIndex(of: UInt8(ascii: "\"")) else { return value }
    return last > value.startIndex ? value[(value.startIndex + 1)..<last] : value.dropFirst()
  }

  /// Whether a byte is permitted in a file type.
  static func isTypeByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte.asciiLowercased)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func fileName(
    _ rest: ArraySlice<UInt8>
  ) -> (name: ArraySlice<UInt8>, type: ArraySlice<UInt8>) {
    if rest.first == UInt8(ascii: "\""), let last = rest.lastIndex(of: UInt8(ascii: "\"")), last > rest.startIndex {
      return (rest[(rest.startIndex + 1)..<last], rest[(last + 1)...].trimmed())
    }
    guard let blank = rest.lastIndex(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else {
      return (rest, [])
    }
    return (rest[..<blank].trimmed(), rest[(blank + 1)...])
  }

  /// The text form of a parsed time.
  private static func timeText(_ time: MediaTime) -> String {
    let (seconds, frames) = time.value.quotientAndRemainder(dividingBy: Int64(framesPerSecond))
    return [seconds / 60, seconds % 60, frames].map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":")
  }

  /// Parses `MM:SS:FF`: minutes, which may exceed 99; seconds; 75ths.
  private static func time(_ text: ArraySlice<UInt8>) -> MediaTime? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 3, let minutes = parts[0].smallNumber, let seconds = parts[1].smallNumber,
      let frames = parts[2].smallNumber, seconds < 60, frames < framesPerSecond
    else { return nil }
    return MediaTime(value: Int64((minutes * 60 + seconds) * Int(framesPerSecond) + frames), timescale: framesPerSecond)
  }
}
