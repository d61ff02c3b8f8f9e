import PlayheadMediaCore

/// The settings of a player or entry as the schemas 1 to 3 have them: a line `name=value` for each. In values, `%`, LF
/// and NUL are percent-encoded. Only migration 4 reads this form.
struct FieldText {
  private let fields: [String: String]

  /// Reads fields. Nil for malformed text.
  init?(_ text: String) {
    var fields: [String: String] = [:]
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let end = line.firstIndex(of: UInt8(ascii: "=")), let name = String(line[..<end]), !name.isEmpty,
        let value = Self.unescaped(line[line.index(after: end)...])
      else { return nil }
      fields[name] = value
    }
    self.fields = fields
  }

  private static func unescaped(_ value: Substring.UTF8View) -> String? {
    guard value.contains(UInt8(ascii: "%")) else { return String(Substring(value)) }
    var bytes: [UInt8] = []
    var rest = value
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      switch String(Substring(rest.prefix(2))) {
      case "25": bytes.append(UInt8(ascii: "%"))
      case "0A": bytes.append(UInt8(ascii: "\n"))
      case "00": bytes.append(0)
      default: return nil
      }
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  // MARK: - Values

  /// The values of `name.0`, `name.1`, and so on.
  private func numbered(_ name: String) -> [String] {
    var values: [String] = []
    while let value = fields["\(name).\(values.count)"] { values.append(value) }
    return values
  }

  private func words(_ name: String) -> [String]? { fields[name]?.split(separator: " ").map(String.init) }

  private func value<Value: LosslessStringConvertible>(_ name: String) -> Value? { fields[name].flatMap { Value($0) } }

  private func time(_ name: String) -> MediaTime? { fields[name].flatMap(Self.time) }

  private static func time(_ text: String) -> MediaTime? {
    MediaTime(fraction: text)
      ?? [MediaTime.indefinite, .positiveInfinity, .negativeInfinity].first { $0.decimalDescription == text }
  }

  private func range(_ start: String, _ duration: String) -> TimeRange? {
    guard let start = time(start), let duration = time(duration) else { return nil }
    return TimeRange(start: start, duration: duration)
  }

  // MARK: - Players

  /// The settings of a player.
  var playerSettings: StoredPlayer.Settings {
    var settings = StoredPlayer.Settings()
    settings.volume = value("volume")
    settings.isMuted = value("muted")
    settings.pan = value("pan")
    settings.rate = value("rate")
    settings.defaultRate = value("default-rate")
    settings.rateForNextPlay = value("next-rate")
    settings.repeatMode = fields["repeat"]
    settings.actionAtItemEnd = fields["end-action"]
    settings.itemFailurePolicy = fields["on-failure"]
    settings.automaticallyWaitsToMinimizeStalling = value("auto-wait")
    settings.audioTimePitchAlgorithm = fields["pitch"]
    var gain = StoredPlayer.ReplayGain()
    gain.mode = fields["gain.mode"]
    gain.preampDecibels = value("gain.preamp")
    gain.fallbackDecibels = value("gain.fallback")
    gain.preventsClipping = value("gain.prevents-clipping")
    settings.replayGain = gain
    settings.appliesMediaSelectionCriteriaAutomatically = value("criteria.applied")
    for group in ["audible", "legible"] {
      guard let languages = words("criteria.\(group).languages") else { continue }
      settings.mediaSelectionCriteria = settings.mediaSelectionCriteria ?? [:]
      settings.mediaSelectionCriteria?[group] = StoredPlayer.MediaSelectionCriteria(
        preferredLanguages: languages, preferredCharacteristics: words("criteria.\(group).preferred") ?? [],
        principalCharacteristics: words("criteria.\(group).principal") ?? [])
    }
    settings.queueVersion = value("version")
    let shuffle = words("shuffle") ?? []
    if shuffle.count == 4, let seed = UInt64(shuffle[0]), let round = UInt64(shuffle[1]),
      let remaining = Int(shuffle[2]), let generatorState = UInt64(shuffle[3])
    {
      settings.shuffle = StoredPlayer.Shuffle(
        seed: seed, round: round, remainingCount: remaining, generatorState: generatorState)
    }
    if let range = range("loop.start", "loop.length") {
      settings.loop = StoredPlayer.Loop(
        range: range, remainingCount: value("loop.remaining"), loopCount: value("loop.count") ?? 0,
        isArmed: value("loop.armed") ?? true, isFinishing: value("loop.finishing") ?? false)
    }
    return settings
  }

  // MARK: - Entries

  /// The settings of an entry.
  var entrySettings: StoredEntry.Settings {
    var settings = StoredEntry.Settings()
    settings.prefersPreciseDuration = value("precise")
    settings.timeRange = range("start", "length")
    settings.title = fields["title"]
    settings.titles = titles
    settings.playlistEntry = playlistEntry
    settings.httpOptions = httpOptions
    settings.hasCrashedDaemon = value("crashed")
    settings.resumeTime = time("resume")
    settings.forwardPlaybackEndTime = time("end.forward")
    settings.reversePlaybackEndTime = time("end.reverse")
    settings.preferredForwardBufferDuration = time("buffer")
    settings.audioTimePitchAlgorithm = fields["pitch"]
    for (name, value) in fields where name.hasPrefix("tracks.") {
      settings.trackChoices = settings.trackChoices ?? [:]
      settings.trackChoices?[String(name.dropFirst("tracks.".count))] = .some(Int(value))
    }
    let ramps = numbered("mix").compactMap(Self.volumeRamp)
    settings.volumeRamps = ramps.isEmpty ? nil : ramps
    var gain = StoredEntry.ReplayGain()
    gain.trackGainDecibels = value("gain.track")
    gain.trackPeak = value("gain.track-peak")
    gain.albumGainDecibels = value("gain.album")
    gain.albumPeak = value("gain.album-peak")
    settings.measuredReplayGain = gain == StoredEntry.ReplayGain() ? nil : gain
    return settings
  }

  private var titles: StoredEntry.Titles? {
    let version = words("tags.file") ?? []
    guard version.count == 2, let byteCount = Int64(version[0]), let nanoseconds = Int64(version[1]) else { return nil }
    return StoredEntry.Titles(
      byteCount: byteCount, modificationNanoseconds: nanoseconds, title: fields["tags.title"],
      artist: fields["tags.artist"], album: fields["tags.album"])
  }

  private var playlistEntry: StoredEntry.PlaylistEntry? {
    guard fields["list"] != nil else { return nil }
    var entry = StoredEntry.PlaylistEntry()
    entry.title = fields["list.title"]
    entry.duration = time("list.duration")
    let metadata = fields.compactMap { name, value in
      name.hasPrefix("list.") && name != "list.title" && name != "list.duration"
        ? (String(name.dropFirst("list.".count)), value) : nil
    }
    entry.metadata = metadata.isEmpty ? nil : Dictionary(uniqueKeysWithValues: metadata)
    return entry
  }

  private var httpOptions: StoredEntry.HTTPOptions? {
    var options = StoredEntry.HTTPOptions()
    let headers = numbered("header").compactMap { line in
      line.firstRange(of: ": ").map {
        StoredEntry.HTTPOptions.Header(
          name: String(line[..<$0.lowerBound]), value: String(line[$0.upperBound...]))
      }
    }
    options.headers = headers.isEmpty ? nil : headers
    options.headerScope = fields["header-for"]
    options.userAgent = fields["user-agent"]
    options.isNetworkAllowed = value("network")
    options.interfaces = fields["interface"].map { $0.split(separator: ",").map(String.init) }
    options.timeoutNanoseconds = value("timeout")
    options.preferredPeakBitRate = value("peak-bit-rate")
    return options == StoredEntry.HTTPOptions() ? nil : options
  }

  private static func volumeRamp(_ text: String) -> StoredEntry.VolumeRamp? {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 4, let start = time(words[0]), let duration = time(words[1]),
      let startVolume = Float(words[2]), let endVolume = Float(words[3])
    else { return nil }
    return StoredEntry.VolumeRamp(
      timeRange: TimeRange(start: start, duration: duration), startVolume: startVolume, endVolume: endVolume)
  }
}
