import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayback
import PlayheadPlaylists
import PlayheadSavedState

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
    self.init(id: item.id, location: location, settings: Settings(item))
  }
}

extension StoredEntry.Settings {
  fileprivate init(_ item: PlayerItem) {
    self.init()
    let asset = item.asset
    if asset.prefersPreciseDuration { prefersPreciseDuration = true }
    timeRange = item.timeRange
    title = item.title
    // The tags of a file are not those of its parts.
    if item.timeRange == nil { titles = StoredEntry.Titles(asset) }
    playlistEntry = item.playlistEntry.map { StoredEntry.PlaylistEntry($0) }
    httpOptions = StoredEntry.HTTPOptions(asset.httpOptions)
    if item.error?.code == .crashedWhileOpening { hasCrashedDaemon = true }
    resumeTime = item.resumeTime
    forwardPlaybackEndTime = item.forwardPlaybackEndTime
    reversePlaybackEndTime = item.reversePlaybackEndTime
    if item.preferredForwardBufferDuration > .zero {
      preferredForwardBufferDuration = item.preferredForwardBufferDuration
    }
    audioTimePitchAlgorithm = item.ownAudioTimePitchAlgorithm?.rawValue
    if !item.trackChoices.isEmpty {
      trackChoices = Dictionary(uniqueKeysWithValues: item.trackChoices.map { ($0.rawValue, $1.trackID) })
    }
    if let ramps = item.audioMix?.volumeRamps, !ramps.isEmpty {
      volumeRamps = ramps.map {
        StoredEntry.VolumeRamp(timeRange: $0.timeRange, startVolume: $0.startVolume, endVolume: $0.endVolume)
      }
    }
    measuredReplayGain = item.measuredReplayGain.map { StoredEntry.ReplayGain($0) }
  }

  /// Applies saved settings to an item. Ignores settings that are no longer valid.
  fileprivate func apply(to item: PlayerItem) {
    item.resumeTime = resumeTime.flatMap { $0.isValid ? $0 : nil }
    var mix = AudioMix()
    for ramp in volumeRamps ?? [] {
      if ramp.timeRange.duration > .zero {
        try? mix.setVolumeRamp(
          fromStartVolume: ramp.startVolume, toEndVolume: ramp.endVolume, timeRange: ramp.timeRange)
      } else {
        try? mix.setVolume(ramp.startVolume, at: ramp.timeRange.start)
      }
    }
    if !mix.volumeRamps.isEmpty { item.audioMix = mix }
    if let pitch = audioTimePitchAlgorithm.flatMap(AudioTimePitchAlgorithm.init) {
      try? item.setAudioTimePitchAlgorithm(pitch)
    }
    if let end = forwardPlaybackEndTime { try? item.setForwardPlaybackEndTime(end) }
    if let end = reversePlaybackEndTime { try? item.setReversePlaybackEndTime(end) }
    if let duration = preferredForwardBufferDuration { try? item.setPreferredForwardBufferDuration(duration) }
    for (name, trackID) in trackChoices ?? [:] {
      guard let group = MediaCharacteristic(rawValue: name) else { continue }
      item.trackChoices[group] = trackID.map { .track($0) } ?? PlayerItem.TrackChoice.none
    }
    if let gain = measuredReplayGain.map({ ReplayGain($0) }), !gain.isEmpty { item.measuredReplayGain = gain }
  }
}

extension PlayerItem.TrackChoice {
  /// The number of the chosen track; nil for none.
  fileprivate var trackID: AssetTrack.ID? {
    switch self {
    case .none: nil
    case .track(let id): id
    }
  }
}

extension StoredEntry.Titles {
  /// Creates the saved titles of a local file; nil while they are not known.
  fileprivate init?(_ asset: Asset) {
    guard let version = asset.titlesVersion, let titles = asset.titles, !titles.isEmpty else { return nil }
    self.init(
      byteCount: version.byteCount, modificationNanoseconds: version.modificationNanoseconds, title: titles.title,
      artist: titles.artist, album: titles.album)
  }

  fileprivate func restore(to asset: Asset) {
    asset.restoreTitles(
      AssetTitles(title: title, artist: artist, album: album),
      of: FileVersion(byteCount: byteCount, modificationNanoseconds: modificationNanoseconds))
  }
}

extension StoredEntry.HTTPOptions {
  /// Creates the saved form of options; nil for the default ones.
  fileprivate init?(_ options: HTTPOptions) {
    self.init()
    if !options.headers.isEmpty { headers = options.headers.map { Header(name: $0.name, value: $0.value) } }
    if options.headerScope != .origin { headerScope = options.headerScope.rawValue }
    userAgent = options.userAgent
    if !options.isNetworkAllowed { isNetworkAllowed = false }
    if !options.interfaces.isEmpty { interfaces = options.interfaces }
    if options.connectTimeout != HTTPOptions().connectTimeout {
      timeoutNanoseconds = options.connectTimeout.nanoseconds
    }
    preferredPeakBitRate = options.preferredPeakBitRate
    if self == StoredEntry.HTTPOptions() { return nil }
  }
}

extension HTTPOptions {
  fileprivate init(_ stored: StoredEntry.HTTPOptions) {
    self.init()
    headers = (stored.headers ?? []).map { Header(name: $0.name, value: $0.value) }
    headerScope = stored.headerScope.flatMap(HeaderScope.init) ?? .origin
    userAgent = stored.userAgent
    isNetworkAllowed = stored.isNetworkAllowed ?? true
    interfaces = stored.interfaces ?? []
    if let timeout = stored.timeoutNanoseconds.map({ Duration.nanoseconds($0) }) {
      (connectTimeout, firstByteTimeout, stallTimeout) = (timeout, timeout, timeout)
    }
    preferredPeakBitRate = stored.preferredPeakBitRate
  }
}

extension StoredEntry.PlaylistEntry {
  fileprivate init(_ entry: PlaylistEntry) {
    self.init()
    title = entry.title
    duration = entry.duration
    if !entry.metadata.isEmpty {
      metadata = Dictionary(uniqueKeysWithValues: entry.metadata.map { ($0.rawValue, $1) })
    }
  }
}

extension PlaylistEntry {
  /// Nil for a location that cannot be opened again.
  fileprivate init?(_ stored: StoredEntry.PlaylistEntry, _ location: StoredEntry.Location, _ range: TimeRange?) {
    let listed: PlaylistLocation
    switch location {
    case .path(let path): listed = .file(path)
    case .url(let text): listed = .url(text)
    case .notRestorable: return nil
    }
    self.init(location: listed, title: stored.title, duration: stored.duration, range: range)
    for (name, value) in stored.metadata ?? [:] {
      if let key = PlaylistMetadataKey(rawValue: name) { metadata[key] = value }
    }
  }
}

extension StoredEntry.ReplayGain {
  fileprivate init(_ gain: ReplayGain) {
    self.init()
    trackGainDecibels = gain.trackGainDecibels
    trackPeak = gain.trackPeak
    albumGainDecibels = gain.albumGainDecibels
    albumPeak = gain.albumPeak
  }
}

extension ReplayGain {
  fileprivate init(_ stored: StoredEntry.ReplayGain) {
    self.init()
    trackGainDecibels = stored.trackGainDecibels
    trackPeak = stored.trackPeak
    albumGainDecibels = stored.albumGainDecibels
    albumPeak = stored.albumPeak
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
    let settings = stored.settings
    let range = settings.timeRange.flatMap { $0.isValid ? $0 : nil }
    let asset: Asset
    if range != nil, let shared = sharedAssets[stored.location] {
      asset = shared
    } else {
      asset = makeAsset(stored.location, settings)
      if range != nil { sharedAssets[stored.location] = asset }
    }
    let item = PlayerItem(
      asset: asset, timeRange: range,
      playlistEntry: settings.playlistEntry.flatMap { PlaylistEntry($0, stored.location, range) },
      title: settings.title, id: id)
    settings.apply(to: item)
    return item
  }

  private func makeAsset(_ location: StoredEntry.Location, _ settings: StoredEntry.Settings) -> Asset {
    let prefersPreciseDuration = settings.prefersPreciseDuration ?? false
    var options = settings.httpOptions.map { HTTPOptions($0) } ?? HTTPOptions()
    options.certificateAuthorityFile = policy.certificateAuthorityFile
    options.isNetworkForbidden = !policy.isNetworkAllowed
    options.networkRules = policy.networkRules
    switch location {
    case .path(let path):
      let asset = Asset(path: path, options: options, prefersPreciseDuration: prefersPreciseDuration)
      settings.titles?.restore(to: asset)
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
