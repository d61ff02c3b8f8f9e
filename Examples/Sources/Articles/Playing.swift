import Playhead

// The listings of Playhead.docc about players, queues, times, observers and seeks. `make consumer` compiles them, and a
// test compares each region with the article. The functions are not called.

func playFiles() async throws {
  // listing: play-files
  let items = [PlayerItem(path: "/music/one.flac"), PlayerItem(path: "/music/two.flac")]
  let player = try await QueuePlayer(items: items)
  await player.play()
  for await state in await player.states() where state.currentItemID == nil { break }
  // end of listing
}

func handleErrors() async throws {
  // listing: handle-errors
  do {
    let duration = try await Asset(path: "/music/one.flac").load(.duration)
    print(duration.seconds)
  } catch {
    switch error.code {
    case .fileNotFound: print("no such file")
    case .unknownFormat, .damagedFile: print("not a media file that Playhead can read")
    default: print(error)
    }
  }
  // end of listing
}

func makeEngine() {
  // listing: own-engine
  let loop = ThreadControlLoop(name: "announcements")
  let engine = PlaybackEngine(loop: loop, output: .automatic())
  engine.open()
  let player = QueuePlayer(engine: engine, name: "announcements")
  // end of listing
  _ = player
}

func makeTimes() {
  // listing: make-times
  let half = MediaTime(value: 1, timescale: 2)
  let frame = MediaTime(frame: 3_682_350, rate: 44_100)
  let quick: [MediaTime] = [.zero, .seconds(90), .seconds(0.5), .milliseconds(40)]
  let duration = Duration(half + frame)
  // end of listing
  _ = (quick, duration)
}

func countFrames() {
  // listing: count-frames
  let time = MediaTime(value: 3_682_350, timescale: 44_100)
  let sameInstant = time.convertScale(48_000)
  print(time.frameIndex(rate: 44_100, rounding: .towardNegativeInfinity) ?? 0)
  print(sameInstant.hasBeenRounded, time.decimalDescription, time.fractionDescription)
  // end of listing
}

func useSpecialTimes(item: PlayerItem) {
  // listing: special-times
  let duration = item.duration
  if duration.isNumeric {
    print(duration.seconds)
  } else if duration.isIndefinite {
    print("not known, for example because the item is a live stream")
  }
  // end of listing
}

func useRanges() {
  // listing: time-ranges
  let chorus = TimeRange(start: .seconds(60), end: .seconds(90))
  print(chorus.contains(.seconds(60)), chorus.contains(.seconds(90)))
  let part = TimeRange(start: .seconds(75), duration: .seconds(30)).intersection(chorus)
  print(part.duration)
  // end of listing
}

func parseTimes(duration: MediaTime) throws {
  // listing: parse-times
  let position = try TimeExpression(parsing: "1m30s")
  let time = try position.resolve(current: .zero, duration: duration)
  // end of listing
  _ = time
}

func parseDates() throws {
  // listing: parse-dates
  let evening = try DateExpression(parsing: "18:00")
  let christmas = try DateExpression(parsing: "2026-12-24T18:00:00+01:00")
  // end of listing
  _ = (evening, christmas)
}

func playStation() async throws {
  // listing: one-resource
  let radio = try await Player(url: "https://radio.example/live")
  await radio.play()
  print(await radio.timeControlStatus, await radio.rate, await radio.volume, await radio.isMuted)
  // end of listing
}

func setRates(player: QueuePlayer) async throws {
  // listing: set-rates
  try await player.setDefaultRate(1.25)
  try await player.setAudioTimePitchAlgorithm(.varispeed)
  await player.play()
  try await player.setRate(0.5)
  try await player.setRate(-1)
  // end of listing
}

func crossfadeItems(player: QueuePlayer) async throws {
  // listing: crossfade-items
  try await player.setCrossfade(Crossfade(duration: .seconds(5), curve: .equalPower))
  // end of listing
}

func editQueue(player: QueuePlayer, first: PlayerItem, second: PlayerItem, jingle: PlayerItem) async throws {
  // listing: edit-queue
  try await player.append([first, second])
  let version = try await player.edit([
    .move(second.id, to: .next),
    .insert([jingle], at: .after(second.id)),
  ])
  do {
    try await player.edit([.remove([first.id])], ifVersion: version)
  } catch  where error.code == .versionMismatch {
    print("another task changed the queue")
  }
  // end of listing
}

func navigateQueue(player: QueuePlayer, id: PlayerItem.ID) async throws {
  // listing: navigate-queue
  await player.advanceToNextItem()
  try await player.goToPreviousItem(restartingAfter: .seconds(3))
  try await player.jump(to: id)
  try await player.setRepeatMode(.all)
  let seed = await player.shuffle()
  await player.shuffle(seed: seed)
  // end of listing
}

func loopItem(player: QueuePlayer, item: PlayerItem) throws {
  // listing: loop-item
  let looper = try PlayerLooper(player: player, item: item, timeRange: TimeRange(start: .zero, end: .seconds(4)))
  // end of listing
  _ = looper
}

func playChime(bytes: [UInt8]) throws {
  // listing: audio-player
  let chime = try AudioPlayer(data: bytes)
  chime.numberOfLoops = 2
  chime.handlers.didFinishPlaying = { hasFinished in print(hasFinished) }
  chime.play()
  // end of listing
}

func readState(player: QueuePlayer) async {
  // listing: read-state
  let state = await player.state
  print(state.timeControlStatus, state.rate, state.timebaseRate, state.itemDuration)
  // end of listing
}

func observeChanges(player: QueuePlayer) async {
  // listing: observe-changes
  for await change in await player.changes(of: \.timeControlStatus) {
    print(change.new, change.cause as Any)
  }
  // end of listing
}

func observeItem(item: PlayerItem) async {
  // listing: observe-item
  for await change in item.changes(of: \.status) where change.new != .unknown {
    if let error = change.new.error { print(error) }
    break
  }
  // end of listing
}

func observeTimes(player: QueuePlayer) async throws {
  // listing: observe-times
  for await observation in try await player.times(forInterval: .seconds(0.5)) {
    print(observation.time, observation.reason)
  }
  // end of listing
}

func observeBoundaries(player: QueuePlayer) async throws {
  // listing: observe-boundaries
  let cue = try await player.addBoundaryTimeObserver(forTimes: [.seconds(10), .seconds(20)]) { observation in
    print(observation.itemID, observation.time, observation.lateNanoseconds)
  }
  try await player.removeTimeObserver(cue)
  // end of listing
}

@MainActor func showTime(_ time: MediaTime) {}

func observeOnMainActor(player: QueuePlayer) async throws {
  // listing: observe-main-actor
  let observation = try await player.times(forInterval: .milliseconds(100)).observe(onMainActor: { observation in
    showTime(observation.time)
  })
  observation.cancel()
  // end of listing
}

func observeEvents(player: QueuePlayer) async {
  // listing: observe-events
  for await event in await player.events() {
    switch event {
    case .playedToEnd(let id, let time): print("played", id, time)
    case .itemFailed(let id, let error): print("failed", id, error)
    case .stalled(let id, let time): print("stalled", id, time)
    default: break
    }
  }
  // end of listing
}

func detectSilence(player: QueuePlayer) async throws {
  // listing: detect-silence
  try await player.setSilenceDetection(SilenceDetection(duration: .seconds(10), threshold: -50))
  for await event in await player.events() {
    if case .silence(let silence) = event { print(silence.phase, silence.hostTime) }
  }
  // end of listing
}

func observeMeters(player: QueuePlayer) async throws {
  // listing: observe-meters
  let token = try await player.addMeterObserver(rate: 20) { observation in print(observation.levels) }
  // end of listing
  _ = token
}

func seekExactly(player: QueuePlayer) async throws {
  // listing: seek-exactly
  let result = try await player.seek(to: .seconds(83.5), toleranceBefore: .zero, toleranceAfter: .zero)
  switch result.outcome {
  case .finished: print(result.time, result.isExact, result.isClamped)
  case .unfinished(let reason): print(reason)
  }
  // end of listing
}

func scrub(player: QueuePlayer, positions: AsyncStream<MediaTime>) async throws {
  // listing: scrub
  for await position in positions {
    try await player.seek(to: position, mode: .chase) { _ in }
  }
  // end of listing
}

func seekRelatively(player: QueuePlayer) async throws {
  // listing: seek-relatively
  try await player.seek(to: .relative(.seconds(-10)), toleranceBefore: .zero, toleranceAfter: .zero)
  try await player.seek(to: .percent(numerator: 1, denominator: 2))
  // end of listing
}

func loopRange(player: QueuePlayer) async throws {
  // listing: loop-range
  try await player.setLoop(TimeRange(start: .seconds(12), end: .seconds(16)), count: 3)
  let outcome = try await player.playRange(TimeRange(start: .seconds(30), duration: .seconds(2)))
  print(outcome == .finished)
  // end of listing
}

func setEnds(item: PlayerItem) throws {
  // listing: set-ends
  item.resumeTime = .seconds(5)
  try item.setForwardPlaybackEndTime(.seconds(65))
  // end of listing
}

func useStep(player: QueuePlayer) async throws {
  // listing: step
  await player.pause()
  let result = try await player.step(byCount: -5)
  print(result.time)
  // end of listing
}
