import Playhead

// The listings of README.md and docs/guide/swift-library.md, which are compiled here. A test compares each region with
// the document. The functions are not called.

func firstListing() async throws {
  // listing: first-player
  let player = try await QueuePlayer(items: [PlayerItem(path: "/music/one.flac"), PlayerItem(path: "/music/two.flac")])
  _ = try await player.addPeriodicTimeObserver(forInterval: .seconds(0.5)) { print($0.time, $0.reason) }
  await player.play()
  let result = try await player.seek(
    to: MediaTime(value: 3_682_350, timescale: 44_100), toleranceBefore: .zero, toleranceAfter: .zero)
  print(result.finished, result.time)
  for await state in await player.states() where state.currentItemID == nil { break }
  // end of listing
}

func playStation() async throws {
  // listing: one-resource
  let radio = try await Player(url: "https://radio.example/live")
  await radio.play()
  print(await radio.timeControlStatus, await radio.rate, await radio.volume, await radio.isMuted)
  // end of listing
}

func startTogether(engine: PlaybackEngine, drums: Player, bass: Player, keys: Player) async throws {
  // listing: start-together
  let start = try await engine.start([drums, bass, keys], at: .after(MediaTime(value: 1, timescale: 2)))
  print(start.outputFrame)
  // end of listing
}

func playChime(bytes: [UInt8]) throws {
  // listing: audio-player
  let chime = try AudioPlayer(data: bytes)
  chime.numberOfLoops = 2
  chime.play()
  // end of listing
}

func playInStep(drums: AudioPlayer, bass: AudioPlayer, keys: AudioPlayer) throws {
  // listing: audio-players-in-step
  let time = drums.deviceCurrentTime + MediaTime(value: 1, timescale: 100)
  for player in [drums, bass, keys] { player.play(atTime: time) }
  for player in [drums, bass, keys] { try player.setRate(1.25) }
  // end of listing
}

func useSession() async throws {
  // listing: session
  let session = PlaybackEngine.shared.session
  try await session.setCategory(.playAndRecord, mode: .spokenAudio)
  _ = await session.observeEvents { print($0) }
  // end of listing
}

func writeAudio(bytes: [UInt8]) throws {
  // listing: write-audio
  let writer = AssetWriter(path: Array("/music/new.flac".utf8), container: .flac)
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
  try reader.setTimeRange(
    TimeRange(start: MediaTime(value: 90, timescale: 1), end: MediaTime(value: 95, timescale: 1)))
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
  settings.timeRange = TimeRange(start: MediaTime(value: 60, timescale: 1), end: MediaTime(value: 90, timescale: 1))
  let export = AssetExportSession(Asset(path: "/music/one.flac"), to: Array("/music/part.m4a".utf8), settings)
  let outcome = try await export.outcome { print($0 ?? 0) }
  print(outcome.duration, outcome.byteCount)
  // end of listing
}

func compose() throws {
  // listing: compose
  let tenSeconds = MediaTime(value: 10, timescale: 1)
  let minute = MediaTime(value: 60, timescale: 1)
  var composition = Composition()
  try composition.insertTimeRange(
    TimeRange(start: .zero, end: tenSeconds), of: Asset(path: "/music/one.flac"), at: .zero)
  try composition.insertTimeRange(
    TimeRange(start: tenSeconds, end: minute), of: Asset(path: "/music/two.mp3"), at: composition.duration)
  let item = PlayerItem(asset: Asset(composition: composition))
  // end of listing
  _ = item
}

func record(session: AudioSession) throws {
  // listing: record
  var options = AudioRecorder.Options()
  options.session = session
  let recorder = AudioRecorder(
    location: RecordingLocation(path: Array("/memos/idea.flac".utf8)), options: options
  ) { PulseSource() }
  try recorder.record(forDuration: MediaTime(value: 60, timescale: 1))
  try recorder.pause()
  try recorder.record()
  recorder.updateMeters()
  print(recorder.currentTime, recorder.peakPower(forChannel: 0))
  let outcome = try recorder.stop()
  print(outcome.duration, outcome.byteCount)
  // end of listing
}
