import Playhead

// The listings of Playhead.docc about files, recordings, streams and mixing.

func loadProperties() async throws {
  // listing: load-properties
  let asset = Asset(path: "/music/one.flac")
  let (duration, tracks, metadata) = try await asset.load(.duration, .tracks, .commonMetadata)
  print(duration, tracks.count, metadata.count)
  // end of listing
}

func writeAudio(bytes: [UInt8]) throws {
  // listing: write-audio
  let writer = AssetWriter(path: "/music/new.flac", container: .flac)
  let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)
  let input = AssetWriterInput(settings: AudioOutputSettings(.flac), sourceFormat: format)
  try writer.add(input)
  try writer.startWriting()
  try writer.startSession(atSourceTime: .zero)
  try input.append(waiting: SampleBuffer(pcm: bytes, format: format, presentationTime: .zero))
  try writer.finishWriting()
  // end of listing
}

func writeVideo(pixels: PixelBuffer) throws {
  // listing: write-video
  var settings = VideoOutputSettings(.h264)
  (settings.constantQuality, settings.keyFrameInterval) = (20, 48)
  let frames = AssetWriterInput(settings: settings, sourceFormat: .pixels(.bgra, width: 1_280, height: 720))
  let adaptor = try AssetWriterInputPixelBufferAdaptor(assetWriterInput: frames)
  try adaptor.append(waiting: pixels, withPresentationTime: MediaTime(value: 1, timescale: 24))
  // end of listing
}

func readAudio(use: ([UInt8], MediaTime) -> Void) throws {
  // listing: read-audio
  let reader = AssetReader(asset: Asset(path: "/music/one.flac"))
  try reader.setTimeRange(TimeRange(start: .seconds(90), end: .seconds(95)))
  let output = AssetReaderTrackOutput(settings: AudioReadSettings(.signed16))
  try reader.add(output)
  try reader.startReading()
  while let buffer = output.copyNextSampleBuffer() { use(buffer.data, buffer.presentationTime) }
  if let error = reader.error { throw error }
  // end of listing
}

func exportPart() async throws {
  // listing: export
  var settings = ExportSettings(.m4a)
  settings.timeRange = TimeRange(start: .seconds(60), end: .seconds(90))
  let export = AssetExportSession(Asset(path: "/music/one.flac"), to: "/music/part.m4a", settings)
  let outcome = try await export.outcome { print($0 ?? 0) }
  print(outcome.duration, outcome.byteCount)
  // end of listing
}

func compose() throws {
  // listing: compose
  var composition = Composition()
  try composition.insertTimeRange(
    TimeRange(start: .zero, end: .seconds(10)), of: Asset(path: "/music/one.flac"), at: .zero)
  try composition.insertTimeRange(
    TimeRange(start: .seconds(10), end: .seconds(60)), of: Asset(path: "/music/two.mp3"), at: composition.duration)
  let item = PlayerItem(asset: Asset(composition: composition))
  // end of listing
  _ = item
}

func record(session: AudioSession) throws {
  // listing: record
  var options = AudioRecorder.Options()
  options.session = session
  let recorder = AudioRecorder(
    location: RecordingLocation(path: "/memos/idea.flac"), options: options
  ) { PulseSource() }
  try recorder.record(forDuration: .seconds(60))
  try recorder.pause()
  try recorder.record()
  recorder.updateMeters()
  print(recorder.currentTime, recorder.peakPower(forChannel: 0))
  let outcome = try recorder.stop()
  print(outcome.duration, outcome.byteCount)
  // end of listing
}

func capture() async throws {
  // listing: capture
  for try await buffer in AudioCapture(maximumDelay: .seconds(2), source: { PulseSource() }) {
    print(buffer.hostTime, buffer.samples.presentationTime, buffer.lostFrameCount)
  }
  // end of listing
}

func recordSamples(samples: [Float]) throws {
  // listing: record-samples
  let source = ManualSource(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
  let recorder = AudioRecorder(location: RecordingLocation(path: "/memos/tone.flac")) { source }
  try recorder.record()
  source.deliver(samples)
  try recorder.stop()
  // end of listing
}

func useSession() async throws {
  // listing: session
  let session = PlaybackEngine.shared.session
  try await session.setCategory(.playAndRecord, mode: .spokenAudio)
  let token = await session.addEventObserver { event in
    if case .interruptionEnded(_, let shouldResume) = event { print(shouldResume) }
  }
  // end of listing
  _ = token
}

func observeRoutes() async {
  // listing: observe-routes
  let token = await PlaybackEngine.shared.addRouteObserver { event in
    if case .route(let change) = event { print(change.reason, change.current.output?.port?.portType ?? .unknown) }
  }
  // end of listing
  _ = token
}

func startTogether(engine: PlaybackEngine, drums: Player, bass: Player, keys: Player) async throws {
  // listing: start-together
  let start = try await engine.start([drums, bass, keys], at: .after(.milliseconds(500)))
  print(start.outputFrame, start.lateFrameCount, start.spreadFrameCount)
  // end of listing
}

func changeRatesTogether(engine: PlaybackEngine, drums: Player, bass: Player) async throws {
  // listing: change-rates-together
  let change = try await engine.setRate(1.25, of: [drums, bass])
  print(change.spreadFrameCount)
  // end of listing
}

func playInStep(drums: AudioPlayer, bass: AudioPlayer, keys: AudioPlayer) throws {
  // listing: audio-players-in-step
  for player in [drums, bass, keys] { player.enableRate = true }
  let time = drums.deviceCurrentTime + .milliseconds(200)
  for player in [drums, bass, keys] { player.play(atTime: time) }
  for player in [drums, bass, keys] { try player.setRate(1.25) }
  // end of listing
}

func startAtHostTime(player: Player) async throws {
  // listing: start-at-host-time
  await player.setAutomaticallyWaitsToMinimizeStalling(false)
  try await player.setRate(1, time: .zero, atHostTime: HostTime.now.advanced(byNanoseconds: 500_000_000))
  // end of listing
}

func startTogetherAtDate(engine: PlaybackEngine, drums: Player, bass: Player) async throws {
  // listing: start-together-at-date
  let evening = try DateExpression(parsing: "18:00")
  let start = try await engine.start([drums, bass], at: .date(evening))
  print(start.outputFrame)
  // end of listing
}

func startAtDate(player: Player) async throws {
  // listing: start-at-date
  await player.setAutomaticallyWaitsToMinimizeStalling(false)
  try await player.setRate(1, time: .zero, atDate: DateExpression(parsing: "2026-12-24T18:00:00+01:00"))
  // end of listing
}

func fade(player: Player) async throws {
  // listing: fade
  try await player.setVolume(0)
  await player.play()
  try await player.fade(to: 1, duration: .seconds(2))
  // end of listing
}

func fadeOut(player: Player) async throws {
  // listing: fade-out
  try await player.fade(to: 0, duration: .seconds(3), endAction: .pause) { outcome in print(outcome) }
  // end of listing
}

func mix(item: PlayerItem) throws {
  // listing: audio-mix
  var mix = AudioMix()
  try mix.setVolumeRamp(fromStartVolume: 0, toEndVolume: 1, timeRange: TimeRange(start: .zero, end: .seconds(2)))
  try mix.setVolume(0.5, at: .seconds(30))
  item.audioMix = mix
  // end of listing
}

// listing: audio-processor
/// Reduces the difference between the channels.
final class Narrow: AudioProcessor {
  private var channelCount = 2

  func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError) {
    channelCount = format.channelCount
  }

  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    guard channelCount == 2 else { return }
    for index in stride(from: 0, to: samples.count, by: 2) {
      let middle = (samples[index] + samples[index + 1]) / 2
      samples[index] = (samples[index] + middle) / 2
      samples[index + 1] = (samples[index + 1] + middle) / 2
    }
  }
}
// end of listing

func process(item: PlayerItem, player: QueuePlayer) async {
  // listing: set-processors
  let narrow = AudioProcessorFactory { Narrow() }
  item.audioProcessors = [narrow]
  await player.setAudioProcessors([narrow])
  // end of listing
}

func equalize(player: QueuePlayer) async throws {
  // listing: equalizer
  var settings = EqualizerSettings()
  settings.bands = [
    EqualizerBand(.lowShelf, frequencyHz: 100, gainDecibels: 4),
    EqualizerBand(.peak, frequencyHz: 3_000, gainDecibels: -3, qFactor: 1.4),
  ]
  settings.outputGainDecibels = -4
  await player.setAudioProcessors([try .parametricEqualizer(settings)])
  // end of listing
}

func mixChannels(item: PlayerItem) throws {
  // listing: channel-matrix
  item.audioProcessors = [try .channelMatrix(.mono)]
  // The left channel receives both channels, the right channel is silent.
  item.audioProcessors = [try .channelMatrix(.matrix([[0.5, 0.5], [0, 0]]))]
  // end of listing
}

func compress(player: QueuePlayer) async throws {
  // listing: compressor
  var settings = CompressorSettings()
  (settings.thresholdDecibels, settings.ratio, settings.makeUpGainDecibels) = (-30, 3, 8)
  await player.setAudioProcessors([try .compressor(settings), try .peakLimiter(LimiterSettings())])
  // end of listing
}

func applyEffects(player: QueuePlayer, item: PlayerItem) async throws {
  // listing: effects
  let bass = EqualizerBand(.lowShelf, frequencyHz: 100, gainDecibels: 6)
  let equalizer = try AudioProcessorFactory.parametricEqualizer(EqualizerSettings(bands: [bass]))
  let limiter = try AudioProcessorFactory.peakLimiter(LimiterSettings())
  item.audioProcessors = [try .channelMatrix(.mono)]
  await player.setAudioProcessors([equalizer, limiter])
  // end of listing
}

func normalize(player: QueuePlayer) async throws {
  // listing: replay-gain
  var settings = ReplayGainSettings()
  settings.mode = .auto
  settings.fallbackDecibels = -6
  try await player.setReplayGain(settings)
  // end of listing
}

func playWithOptions() throws {
  // listing: http-options
  var options = HTTPOptions()
  options.headers = [HTTPOptions.Header(name: "Authorization", value: "Bearer x")]
  options.connectTimeout = .seconds(5)
  options.networkRules = try NetworkRules(allow: ["radio.example"], deny: [])
  let asset = Asset(url: try HTTPURL("https://radio.example/live"), options: options)
  let item = PlayerItem(asset: asset)
  // end of listing
  _ = item
}

func observeTitles(radio: Player) async {
  // listing: stream-titles
  for await event in await radio.events() {
    if case .streamTitle(_, let time, let title) = event { print(time, title.title) }
  }
  // end of listing
}

func seekLive(player: Player, item: PlayerItem) async throws {
  // listing: seek-live
  if let window = item.liveWindow { print(window.seekable, window.edge) }
  try await player.seek(to: .end)
  // end of listing
}

func readLog(item: PlayerItem) {
  // listing: network-log
  for event in item.networkLog.accessEvents { print(event) }
  // end of listing
}

// listing: byte-source
/// The bytes of a download that is stored in memory.
final class StoredDownload: ByteSource {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var byteCount: Int64? { Int64(bytes.count) }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard offset < bytes.count else { return 0 }
    let part = bytes[Int(offset)...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }

  func cancel() {}
  func resume() {}
}
// end of listing

func playSource(bytes: [UInt8]) {
  // listing: use-byte-source
  let asset = Asset(name: "episode.mp3") { StoredDownload(bytes) }
  // end of listing
  _ = asset
}
