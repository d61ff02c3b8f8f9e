import PlayheadTesting

// The listings of doc comments that no article has.

func makeImage() throws {
  // listing: make-image
  let generator = AssetImageGenerator(asset: Asset(path: "/films/one.mkv"))
  let (image, actualTime) = try generator.image(at: .seconds(60))
  print(image.width, image.height, actualTime)
  // end of listing
}

func exportImages() {
  // listing: export-images
  let images = [(time: MediaTime.seconds(60), path: "/films/one.png")]
  ImageExport(Asset(path: "/films/one.mkv"), .images(images)).start { result in print(result) }
  // end of listing
}

func drawWaveform() async throws {
  // listing: draw-waveform
  let scan = WaveformScan(Asset(path: "/music/one.flac"), output: WaveformOutput(path: "/music/one.svg", .svg))
  let result = try await scan.result()
  print(result.waveform.duration)
  // end of listing
}

func measureLoudness() async throws {
  // listing: measure-loudness
  let report = try await LoudnessScan([Asset(path: "/music/one.flac")]).report()
  for file in report.files { print(try file.get().gainDecibels ?? 0) }
  // end of listing
}

func selectTrack(item: PlayerItem) throws {
  // listing: select-track
  for group in item.mediaSelectionGroups where group.characteristic == .audible {
    try item.select(matching: MediaSelectionCriteria(preferredLanguages: ["fr", "en"]), in: group)
  }
  // end of listing
}

func readTags() async throws {
  // listing: read-tags
  let tags = try await Asset(path: "/music/one.flac").load(.commonMetadata)
  let titles = MetadataItem.items(from: tags, filteredByCommonKey: .title)
  print(titles.first?.stringValue ?? "")
  // end of listing
}

func loadPlaylist(player: QueuePlayer) async throws {
  // listing: load-playlist
  let (items, skippedCount) = try await PlayerItem.items(ofPlaylistAt: "/music/evening.m3u8")
  try await player.append(items)
  print(skippedCount)
  // end of listing
}

func makeSampleBuffer(bytes: [UInt8]) throws {
  // listing: make-sample-buffer
  let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)
  let buffer = try SampleBuffer(pcm: bytes, format: format, presentationTime: .zero)
  print(buffer.sampleCount, buffer.endTime)
  // end of listing
}

func makePixelBuffer() throws {
  // listing: make-pixel-buffer
  let black = [UInt8](repeating: 0, count: PixelFormat.bgra.byteCount(width: 64, height: 48))
  let frame = try PixelBuffer(.bgra, width: 64, height: 48, data: black)
  // end of listing
  _ = frame
}

func selectOutput(engine: PlaybackEngine) async throws {
  // listing: select-output
  for device in await engine.devices?.outputs ?? [] { print(device.name, device.description) }
  try await engine.selectOutput(OutputSelection(.device("alsa_output.usb"), lostPolicy: .hold))
  // end of listing
}

func chooseRecordingFormat() {
  // listing: recording-settings
  var settings = RecordingSettings()
  (settings.format, settings.quality, settings.channelCount) = (.aac, .high, 1)
  // end of listing
  _ = settings
}

func advanceClock(test: VirtualEngine) async throws {
  // listing: advance-clock
  try await test.clock.advance(by: .milliseconds(250))
  print(test.clock.now, test.output.frameCount)
  // end of listing
}

func verifyOutput(test: VirtualEngine) {
  // listing: verify-output
  let peak = test.output.samples.map(abs).max() ?? 0
  print(peak, test.output.timeCodeRuns)
  // end of listing
}

func playTest(path: String) async throws {
  // listing: virtual-test
  let test = try await PlaybackEngine.virtual()
  let player = try await Player(engine: test.engine, playerItem: PlayerItem(path: path))
  await player.play()
  try await test.clock.advance(by: .seconds(1))
  precondition(test.output.frameCount == 48_000)
  // end of listing
}

func playPart(player: QueuePlayer) async throws {
  // listing: play-range
  let outcome = try await player.playRange(TimeRange(start: .seconds(30), duration: .seconds(2)))
  print(outcome == .finished)
  // end of listing
}

func readPosition(player: QueuePlayer) async {
  // listing: timebase-anchor
  let anchor = await player.timebaseAnchor
  let soon = anchor.time(at: HostTime.now.advanced(byNanoseconds: 16_000_000))
  // end of listing
  _ = soon
}

func configureOutput() {
  // listing: output-configuration
  let configuration = OutputConfiguration.automatic(selection: OutputSelection(preferred: ["alsa_output.usb"]))
  // end of listing
  _ = configuration
}

func seekToTime(player: QueuePlayer) async throws {
  // listing: seek
  let result = try await player.seek(to: .seconds(83.5), toleranceBefore: .zero, toleranceAfter: .zero)
  print(result.finished, result.time)
  // end of listing
}

func observeTimesWithHandler(player: QueuePlayer) async throws {
  // listing: periodic-observer
  let token = try await player.addPeriodicTimeObserver(forInterval: .seconds(0.5)) { print($0.time, $0.reason) }
  // end of listing
  _ = token
}

func makeRules() {
  // listing: network-rules
  let rules = try? NetworkRules(allow: ["radio.example", ".music.example"], deny: [])
  // end of listing
  _ = rules
}

// listing: half-volume
final class Half: AudioProcessor {
  func prepare(format: AudioFormat, maximumFrameCount: Int) {}
  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
    for index in samples.indices { samples[index] *= 0.5 }
  }
}
// end of listing
