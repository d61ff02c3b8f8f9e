import MediaAssets
import MediaCore
import NetworkIO
import Playback
import Playlists
import SavedState

/// Conversion of queue entries to and from their saved form.
extension StoredEntry {
  /// Creates the saved form of an item. Threading: any.
  init(_ item: PlayerItem) {
    let location: Location
    switch item.asset.location {
    case .path(let path): location = .path(path)
    case .url(let url, _): location = .url(url.text)
    case .descriptor(let descriptor): location = .notRestorable(descriptor.name)
    case .source(let name, _): location = .notRestorable(name)
    case .data: location = .notRestorable("data")
    case .composition: location = .notRestorable(item.asset.displayPath)
    }
    self.init(id: item.id, location: location)
    if item.asset.prefersPreciseDuration { fields["precise"] = "true" }
    fields.put(item.asset.httpOptions)
    if let range = item.timeRange {
      fields["start"] = range.start.storedText
      fields["length"] = range.duration.storedText
    }
    if let entry = item.playlistEntry { fields.put(entry) }
    fields["title"] = item.title
    if item.timeRange == nil { fields.putTitles(of: item.asset) }
    fields.putSettings(of: item)
    if item.error?.code == .crashedWhileOpening { fields["crashed"] = "true" }
  }

  /// Whether an earlier daemon crashed while opening the entry, so that the entry has failed.
  var hasCrashedDaemon: Bool { fields["crashed"] == "true" }
}

extension StoredFields {
  // MARK: - Titles

  /// Saves the titles of a local file, with the version of the file.
  fileprivate mutating func putTitles(of asset: Asset) {
    guard let version = asset.titlesVersion, let titles = asset.titles, !titles.isEmpty else { return }
    self["tags.file"] = "\(version.byteCount) \(version.modificationNanoseconds)"
    self["tags.title"] = titles.title
    self["tags.artist"] = titles.artist
    self["tags.album"] = titles.album
  }

  /// Restores the saved titles of a local file.
  fileprivate func restoreTitles(of asset: Asset) {
    let words = self["tags.file"]?.split(separator: " ") ?? []
    guard words.count == 2, let byteCount = Int64(words[0]), let nanoseconds = Int64(words[1]) else { return }
    asset.restoreTitles(
      AssetTitles(title: self["tags.title"], artist: self["tags.artist"], album: self["tags.album"]),
      of: FileVersion(byteCount: byteCount, modificationNanoseconds: nanoseconds))
  }

  // MARK: - HTTP options

  fileprivate mutating func put(_ options: HTTPOptions) {
    let defaults = HTTPOptions()
    for (index, header) in options.headers.enumerated() {
      self["header.\(index)"] = "\(header.name): \(header.value)"
    }
    if options.headerScope == .any { self["header-for"] = "any" }
    self["user-agent"] = options.userAgent
    if !options.isNetworkAllowed { self["network"] = "false" }
    if !options.interfaces.isEmpty { self["interface"] = options.interfaces.joined(separator: ",") }
    if options.connectTimeout != defaults.connectTimeout {
      self["timeout"] = "\(options.connectTimeout.nanoseconds)"
    }
    self["peak-bit-rate"] = options.preferredPeakBitRate.map { "\($0)" }
  }

  /// The options of HTTP requests for the entry.
  fileprivate var httpOptions: HTTPOptions {
    var options = HTTPOptions()
    options.headers = numbered("header").compactMap { line in
      guard let colon = line.firstRange(of: ": ") else { return nil }
      return HTTPOptions.Header(name: String(line[..<colon.lowerBound]), value: String(line[colon.upperBound...]))
    }
    options.headerScope = self["header-for"] == "any" ? .any : .origin
    options.userAgent = self["user-agent"]
    options.isNetworkAllowed = self["network"] != "false"
    options.interfaces = self["interface"].map { $0.split(separator: ",").map(String.init) } ?? []
    if let nanoseconds = self["timeout"].flatMap({ Int64($0) }) {
      let timeout = Duration.nanoseconds(nanoseconds)
      (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (timeout, timeout, timeout)
    }
    options.preferredPeakBitRate = self["peak-bit-rate"].flatMap { Int64($0) }
    return options
  }

  /// The values of `name.0`, `name.1`, and so on.
  fileprivate func numbered(_ name: String) -> [String] {
    var values: [String] = []
    while let value = self["\(name).\(values.count)"] { values.append(value) }
    return values
  }

  // MARK: - Playlist entries

  fileprivate mutating func put(_ entry: PlaylistEntry) {
    self["list"] = "true"
    self["list.title"] = entry.title
    self["list.duration"] = entry.duration?.storedText
    for (key, value) in entry.metadata { self["list.\(key.rawValue)"] = value }
  }

  fileprivate func playlistEntry(_ location: StoredEntry.Location, _ range: TimeRange?) -> PlaylistEntry? {
    guard self["list"] != nil else { return nil }
    let listed: PlaylistLocation
    switch location {
    case .path(let path): listed = .file(path)
    case .url(let text): listed = .url(text)
    case .notRestorable: return nil
    }
    var entry = PlaylistEntry(
      location: listed, title: self["list.title"], duration: self["list.duration"].flatMap(MediaTime.init(stored:)),
      range: range)
    for key in PlaylistMetadataKey.allCases { entry.metadata[key] = self["list.\(key.rawValue)"] }
    return entry
  }

  // MARK: - Playback settings

  fileprivate mutating func putSettings(of item: PlayerItem) {
    for (index, ramp) in (item.audioMix?.volumeRamps ?? []).enumerated() {
      self["mix.\(index)"] =
        "\(ramp.timeRange.start.storedText) \(ramp.timeRange.duration.storedText) \(ramp.startVolume) \(ramp.endVolume)"
    }
    self["pitch"] = item.ownAudioTimePitchAlgorithm?.rawValue
    self["resume"] = item.resumeTime?.storedText
    self["end.forward"] = item.forwardPlaybackEndTime?.storedText
    self["end.reverse"] = item.reversePlaybackEndTime?.storedText
    if item.preferredForwardBufferDuration > .zero { self["buffer"] = item.preferredForwardBufferDuration.storedText }
    for (group, choice) in item.trackChoices {
      switch choice {
      case .none: self["tracks.\(group.rawValue)"] = "none"
      case .track(let id): self["tracks.\(group.rawValue)"] = "\(id)"
      }
    }
    if let gain = item.measuredReplayGain {
      self["gain.track"] = gain.trackGainDecibels.map { "\($0)" }
      self["gain.track-peak"] = gain.trackPeak.map { "\($0)" }
      self["gain.album"] = gain.albumGainDecibels.map { "\($0)" }
      self["gain.album-peak"] = gain.albumPeak.map { "\($0)" }
    }
  }

  /// Applies saved settings to an item. Ignores settings that are no longer valid.
  fileprivate func applySettings(to item: PlayerItem) {
    item.resumeTime = self["resume"].flatMap(MediaTime.init(stored:))
    var mix = AudioMix()
    for text in numbered("mix") {
      let words = text.split(separator: " ").map(String.init)
      guard words.count == 4, let start = MediaTime(stored: words[0]), let duration = MediaTime(stored: words[1]),
        let startVolume = Float(words[2]), let endVolume = Float(words[3])
      else { continue }
      if duration > .zero {
        try? mix.setVolumeRamp(
          fromStartVolume: startVolume, toEndVolume: endVolume, timeRange: TimeRange(start: start, duration: duration))
      } else {
        try? mix.setVolume(startVolume, at: start)
      }
    }
    if !mix.volumeRamps.isEmpty { item.audioMix = mix }
    if let pitch = self["pitch"].flatMap({ AudioTimePitchAlgorithm(rawValue: $0) }) {
      try? item.setAudioTimePitchAlgorithm(pitch)
    }
    if let end = self["end.forward"].flatMap(MediaTime.init(stored:)) { try? item.setForwardPlaybackEndTime(end) }
    if let end = self["end.reverse"].flatMap(MediaTime.init(stored:)) { try? item.setReversePlaybackEndTime(end) }
    if let duration = self["buffer"].flatMap(MediaTime.init(stored:)) {
      try? item.setPreferredForwardBufferDuration(duration)
    }
    for group in MediaCharacteristic.allCases {
      guard let choice = self["tracks.\(group.rawValue)"] else { continue }
      if choice == "none" {
        item.trackChoices = [group: .none]
      } else if let id = AssetTrack.ID(choice) {
        item.trackChoices = [group: .track(id)]
      }
    }
    var gain = ReplayGain()
    gain.trackGainDecibels = self["gain.track"].flatMap { Double($0) }
    gain.trackPeak = self["gain.track-peak"].flatMap { Double($0) }
    gain.albumGainDecibels = self["gain.album"].flatMap { Double($0) }
    gain.albumPeak = self["gain.album-peak"].flatMap { Double($0) }
    if !gain.isEmpty { item.measuredReplayGain = gain }
  }
}

/// Creates queue entries from their saved form. Entries that are parts of one file share an asset.
struct EntryMaker {
  private let policy: ServerPolicy
  /// The assets of entries that are parts of a file, by location.
  private var sharedAssets: [StoredEntry.Location: Asset] = [:]

  /// - Parameter policy: The current policy. It applies instead of the policy at the time of saving.
  init(_ policy: ServerPolicy) { self.policy = policy }

  /// Creates an entry with this id. Opens no file.
  mutating func makeItem(_ stored: StoredEntry, id: PlayerItem.ID) -> PlayerItem {
    var range: TimeRange?
    if let start = stored.fields["start"].flatMap(MediaTime.init(stored:)),
      let length = stored.fields["length"].flatMap(MediaTime.init(stored:))
    {
      range = TimeRange(start: start, duration: length)
    }
    let asset: Asset
    if range != nil, let shared = sharedAssets[stored.location] {
      asset = shared
    } else {
      asset = makeAsset(stored)
      if range != nil { sharedAssets[stored.location] = asset }
    }
    let item = PlayerItem(
      asset: asset, timeRange: range, playlistEntry: stored.fields.playlistEntry(stored.location, range),
      title: stored.fields["title"], id: id)
    stored.fields.applySettings(to: item)
    return item
  }

  private func makeAsset(_ stored: StoredEntry) -> Asset {
    let prefersPreciseDuration = stored.fields["precise"] == "true"
    var options = stored.fields.httpOptions
    options.certificateAuthorityFile = policy.certificateAuthorityFile
    options.isNetworkForbidden = !policy.isNetworkAllowed
    options.networkRules = policy.networkRules
    switch stored.location {
    case .path(let path):
      let asset = Asset(path: path, options: options, prefersPreciseDuration: prefersPreciseDuration)
      stored.fields.restoreTitles(of: asset)
      return asset
    case .url(let text):
      do throws(MediaError) {
        return Asset(url: try HTTPURL(text), options: options, prefersPreciseDuration: prefersPreciseDuration)
      } catch {
        return Asset(name: "an address") { () throws(MediaError) in throw error }
      }
    case .notRestorable(let name):
      let error = MediaError(
        .notRestorable, "\(name) was a descriptor passed to an earlier playheadd; it cannot be opened again")
      return Asset(name: name) { () throws(MediaError) in throw error }
    }
  }
}

extension MediaTime {
  /// The exact saved form of the time.
  var storedText: String { isNumeric ? fractionDescription : decimalDescription }

  /// Parses the saved form. Returns nil for any other text.
  init?(stored text: String) {
    if let time = MediaTime(fraction: text) {
      self = time
      return
    }
    for special in [MediaTime.indefinite, .positiveInfinity, .negativeInfinity] where special.storedText == text {
      self = special
      return
    }
    return nil
  }
}
