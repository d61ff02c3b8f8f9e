import PlayheadMediaCore
import Testing

@testable import PlayheadSavedState

extension StoredPlayer.Settings {
  /// Settings without a default value.
  static var sample: Self { sampleOfVersion3.withLaterSettings }

  /// Those of them that the text format of version 3 has.
  static var sampleOfVersion3: Self {
    var settings = Self()
    settings.volume = 0.1
    settings.isMuted = true
    settings.pan = -0.5
    settings.rate = 1.5
    settings.defaultRate = 0.75
    settings.rateForNextPlay = -1
    settings.repeatMode = "all"
    settings.actionAtItemEnd = "pause"
    settings.itemFailurePolicy = "skip"
    settings.automaticallyWaitsToMinimizeStalling = false
    settings.audioTimePitchAlgorithm = "varispeed"
    var gain = StoredPlayer.ReplayGain()
    (gain.mode, gain.preampDecibels, gain.fallbackDecibels, gain.preventsClipping) = ("album", -3.5, -6, false)
    settings.replayGain = gain
    settings.appliesMediaSelectionCriteriaAutomatically = false
    settings.mediaSelectionCriteria = [
      "audible": StoredPlayer.MediaSelectionCriteria(
        preferredLanguages: ["de", "en"], preferredCharacteristics: ["describes-video"],
        principalCharacteristics: ["is-original-content"])
    ]
    settings.queueVersion = 17
    settings.shuffle = StoredPlayer.Shuffle(seed: .max, round: 1, remainingCount: 40, generatorState: .max - 1)
    settings.loop = StoredPlayer.Loop(
      range: TimeRange(start: MediaTime(value: 1, timescale: 3), duration: MediaTime(value: 441, timescale: 44_100)),
      remainingCount: 2, loopCount: 5, isArmed: false, isFinishing: true)
    return settings
  }

  /// These settings, with those that were added after version 3.
  private var withLaterSettings: Self {
    var settings = self
    settings.silenceDuration = MediaTime(value: 5, timescale: 2)
    settings.silenceThreshold = -48.5
    settings.crossfade = StoredPlayer.Crossfade(
      duration: MediaTime(value: 5, timescale: 1), fadeOutDuration: MediaTime(value: 5, timescale: 2),
      fadeInDuration: .zero, curve: "s-curve")
    var effects = StoredPlayer.Effects()
    effects.channelMix = StoredPlayer.Effects.ChannelMix(name: "mono", matrix: [[0.5, 0.5], [0, 1]])
    effects.equalizer = StoredPlayer.Effects.Equalizer(
      bands: [StoredPlayer.Effects.Band(kind: "peak", frequencyHz: 1_000, gainDecibels: -3, qFactor: 1.4)],
      outputGainDecibels: -2)
    effects.compressor = StoredPlayer.Effects.Compressor(
      thresholdDecibels: -20, ratio: 4, kneeDecibels: 6, attack: MediaTime(value: 1, timescale: 100),
      release: MediaTime(value: 1, timescale: 5), makeUpGainDecibels: 3)
    effects.limiter = StoredPlayer.Effects.Limiter(
      ceilingDecibels: -1, lookAhead: MediaTime(value: 5, timescale: 1_000), release: MediaTime(value: 1, timescale: 10)
    )
    settings.effects = effects
    return settings
  }
}

extension StoredEntry.Settings {
  /// Settings without a default value, with texts that need escapes.
  static var sample: Self {
    var settings = Self()
    settings.prefersPreciseDuration = true
    settings.timeRange = TimeRange(start: MediaTime(value: 1, timescale: 1), duration: .indefinite)
    settings.title = "100% = a\nb\0c \"d\" \\ e\u{301} \u{1F3B5}"
    settings.titles = StoredEntry.Titles(
      byteCount: 5_000_000_000, modificationNanoseconds: -1, title: "Title", artist: "Zoë", album: "%0A")
    var entry = StoredEntry.PlaylistEntry()
    (entry.title, entry.duration) = ("Listed", MediaTime(value: 7, timescale: 2))
    entry.metadata = ["performer": "Group"]
    settings.playlistEntry = entry
    var options = StoredEntry.HTTPOptions()
    options.headers = [.init(name: "X-Key", value: "a: b"), .init(name: "Accept", value: "")]
    options.headerScope = "any"
    options.userAgent = "Radio/1"
    options.isNetworkAllowed = false
    options.interfaces = ["eth0", "wlan0"]
    (options.timeoutNanoseconds, options.preferredPeakBitRate) = (2_500_000_000, 128_000)
    settings.httpOptions = options
    settings.hasCrashedDaemon = true
    settings.resumeTime = MediaTime(value: 441_000, timescale: 44_100)
    settings.forwardPlaybackEndTime = MediaTime(value: 9, timescale: 1)
    settings.reversePlaybackEndTime = MediaTime(value: 1, timescale: 3)
    settings.preferredForwardBufferDuration = MediaTime(value: 20, timescale: 1)
    settings.audioTimePitchAlgorithm = "spectral"
    settings.trackChoices = ["audible": 3, "legible": nil]
    settings.volumeRamps = [
      StoredEntry.VolumeRamp(
        timeRange: TimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 2)), startVolume: 0, endVolume: 0.3)
    ]
    var gain = StoredEntry.ReplayGain()
    (gain.trackGainDecibels, gain.trackPeak, gain.albumGainDecibels, gain.albumPeak) = (-7.25, 0.9, -6.5, 1.1)
    settings.measuredReplayGain = gain
    return settings
  }
}

/// Settings as JSON in the database.
@Suite struct StoredSettingsTests {
  /// A property without a sample value would be nil, and the mirror finds it.
  @Test func settingsSurviveEncodingAndDecoding() throws {
    func check(_ settings: some StoredSettings) throws {
      for child in Mirror(reflecting: settings).children {
        #expect("\(child.value)" != "nil", "\(child.label ?? "") has no value")
      }
      #expect(StoredSettingsJSON.decode(try StoredSettingsJSON.encode(settings)) == settings)
    }
    try check(StoredPlayer.Settings.sample)
    try check(StoredEntry.Settings.sample)
  }

  @Test func defaultSettingsAreAnEmptyObject() throws {
    #expect(try StoredSettingsJSON.encode(StoredEntry.Settings()) == "{}")
    #expect(try StoredSettingsJSON.encode(StoredPlayer.Settings()) == "{}")
    #expect(StoredSettingsJSON.decode("{}") == StoredEntry.Settings())
    #expect(
      StoredSettingsJSON.decode(#"{"fromALaterVersion":[1],"title":"a"}"#, as: StoredEntry.Settings.self)?.title == "a")
  }

  @Test(arguments: [
    "", "nonsense", "null", "[]", "1", "{", #"{"title":1}"#, #"{"resumeTime":"1/3"}"#, #"{"resumeTime":[1]}"#,
    #"{"resumeTime":[1,2,3,99999999999999999999]}"#, #"{"trackChoices":{"audible":"three"}}"#, #"{"httpOptions":[]}"#,
    #"{"volumeRamps":[{}]}"#, "title=a\n", String(repeating: "[", count: 100_000),
  ])
  func otherTextIsRejected(_ text: String) {
    #expect(StoredSettingsJSON.decode(text, as: StoredEntry.Settings.self) == nil)
  }
}
