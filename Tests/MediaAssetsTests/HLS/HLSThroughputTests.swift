import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// The choice of variants depends on the throughput of segments. The test advances the clock manually, and servers wait
/// at gates.
@Suite(.timeLimit(.minutes(5))) struct HLSThroughputTests {
  @Test func throughputIsTheSlowerOfTwoAverages() throws {
    // Segments of two seconds: kilobits, seconds of transfer, and the resulting estimate in kilobits a second.
    let rows: [(segments: [(Double, Double)], expected: Double)] = [
      ([(200, 1)], 200), ([(200, 1), (200, 1), (200, 1)], 200),
      // A slow segment after fast ones takes effect at once, ...
      ([(200, 0.1), (200, 0.1), (200, 0.1), (200, 10)], 50.43),
      // ... a fast one after slow ones does not.
      ([(200, 10), (200, 0.1)], 41.98), ([(200, 10)] + Array(repeating: (200, 0.1), count: 12), 447.0),
      // The average is weighted by bytes, not by segments.
      ([(400, 1), (100, 1)], 145.07), ([(0, 5), (200, 1)], 200),
    ]
    for (segments, expected) in rows {
      var throughput = StreamThroughput()
      for (kilobits, seconds) in segments {
        throughput.add(
          TransferStatistics(byteCount: Int64(kilobits * 125), nanoseconds: Int64(seconds * 1e9)),
          audioNanoseconds: 2_000_000_000)
      }
      #expect(throughput.capacity == throughput.bitsPerSecond, "no reply latency")
      let found = try #require(throughput.bitsPerSecond) / 1_000
      print("\(segments.count) segments: \(found) kbit/s")
      #expect(abs(found - expected) < expected / 100, "\(segments)")
    }
    #expect(StreamThroughput().bitsPerSecond == nil)
    var throughput = StreamThroughput()
    throughput.add(TransferStatistics(byteCount: 1_000, nanoseconds: 0), audioNanoseconds: .max)
    #expect(throughput.bitsPerSecond.map { $0.isFinite && $0 > 0 } == true)
  }

  /// Small segments with latency look slow, and give no good estimate for larger ones.
  @Test func replyLatencyDoesNotScaleWithSegmentSize() throws {
    // Two seconds at 64 kbit/s: a reply after 0.8 s, then 800 kbit/s.
    var throughput = StreamThroughput()
    for _ in 0..<5 {
      throughput.add(
        TransferStatistics(byteCount: 16_000, nanoseconds: 960_000_000, waitNanoseconds: 800_000_000),
        audioNanoseconds: 2_000_000_000)
    }
    let (found, capacity) = (try #require(throughput.bitsPerSecond), try #require(throughput.capacity))
    #expect(abs(found - 133_333) < 1 && abs(capacity - 480_000) < 1, "\(found) \(capacity)")
    // The bits that arrive just in time: 0.8 s and 1.2 s.
    #expect(abs(0.8 + capacity * 2 / 800_000 - 2) < 1e-6)
    for _ in 0..<20 {
      throughput.add(
        TransferStatistics(byteCount: 16_000, nanoseconds: 3_000_000_000, waitNanoseconds: 2_900_000_000),
        audioNanoseconds: 2_000_000_000)
    }
    #expect(throughput.capacity == 0)
  }

  /// The time to the first byte is measured separately from the transfer.
  @Test func replyLatencyIsMeasuredSeparately() throws {
    let server = try HTTPServer()
    try server.write([UInt8](repeating: 7, count: 30_000), to: "a")
    for (query, wait) in [("hold=first", 2), ("gate=body&at=1000", 0)] as [(String, Int64)] {
      let clock = ManualTime()
      let resource = HTTPResource(url: try HTTPURL("\(server.address)/a?\(query)"), clock: clock)
      func read(_ range: Range<Int>) throws {
        var (offset, chunk) = (range.lowerBound, [UInt8](repeating: 0, count: 4_096))
        while offset < range.upperBound {
          let count = try chunk.withUnsafeMutableBytes { buffer in
            let remaining = buffer.prefix(range.upperBound - offset)
            return try resource.read(into: UnsafeMutableRawBufferPointer(rebasing: remaining), at: Int64(offset))
          }
          guard count > 0 else { throw CancellationError() }
          offset += count
        }
      }
      try resource.start()
      try server.wait(wait > 0 ? "gate first" : "gate body")
      if wait == 0 { try read(0..<1_000) }
      clock.advance(seconds: 2)
      server.open(gate: wait > 0 ? "first" : "body")
      try read(1_000..<30_000)
      #expect(
        resource.statistics
          == TransferStatistics(
            byteCount: 30_000, nanoseconds: 2_000_000_000, waitNanoseconds: wait * 1_000_000_000))
    }
  }

  private func candidates(_ rates: [Int64], limit: Int64? = nil) throws -> [HLSVariantChoice.Candidate] {
    let lines = ["#EXTM3U"] + rates.flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=\($0)", "\($0).m3u8"] }
    let list = try HLSPlaylist(
      parsing: Array(lines.joined(separator: "\n").utf8), at: .url("http://a.example/m.m3u8"))
    guard case .master(let master) = list else { return [] }
    return HLSVariantChoice(master).candidates(peakBitRateLimit: limit)
  }

  @Test func betterVariantIsTriedOnlyAfterEnoughOfTheCurrentOne() throws {
    let second: Int64 = 1_000_000_000
    var variants = StreamVariants(try candidates([300, 200, 100]))
    var now = HostTime(nanoseconds: 0)
    func choice(_ throughput: Double?, capacity: Double? = nil, idle: Int64 = 0) -> Int? {
      variants.addSegment(
        byteCount: 10, audioNanoseconds: second, throughput: throughput, capacity: capacity, idleNanoseconds: idle,
        at: now)
    }
    let first = [choice(nil), choice(400), choice(320)]
    #expect(first == [nil, nil, 1], "the best one is sustained up to a tenth, and then the next one by three tenths")
    variants.activate(1)
    let second2 = [
      choice(10_000, idle: second), choice(10_000, idle: second), choice(10_000, idle: 0), choice(10_000, idle: second),
    ]
    #expect(second2 == [nil, nil, nil, 0], "after three segments, and when its reader had enough")
    let third = [choice(500, idle: second), choice(420, idle: second), choice(230, idle: second), choice(200)]
    #expect(third == [0, nil, nil, 2])
    variants.activate(2)
    #expect(choice(1) == nil, "no lower variant exists")
    variants.activate(0)
    variants.fail([1], at: now)
    #expect(choice(250) == 2, "a failed variant is not tried again at once")
    // The limit applies: a variant above it is not chosen, at any throughput.
    variants = StreamVariants(try candidates([300, 200, 100], limit: 250))
    #expect(variants.bandwidth == 200)
    for _ in 0..<5 { #expect(choice(1e9, idle: second) == nil) }
    // A variant that was too slow is tried again only after fast segments of the current one, or after a while.
    variants = StreamVariants(try candidates([300, 200, 100]))
    #expect(choice(150) == 2)
    variants.activate(2)
    let fourth = [choice(150, capacity: 1_000, idle: second), choice(150, capacity: 1_000, idle: second)]
    #expect(fourth == [nil, nil])
    #expect(choice(150, capacity: 1_000, idle: second) == 1)
    #expect(choice(430, capacity: 1_000, idle: second) == 0)
    now = now.advanced(byNanoseconds: 30 * second)
    #expect(choice(150, capacity: 1_000, idle: second) == 0)
  }

  @Test func failedVariantIsRetriedAfterGrowingDelays() throws {
    let second: Int64 = 1_000_000_000
    var variants = StreamVariants(try candidates([300, 200, 100]))
    var now = HostTime(nanoseconds: 0)
    func others() -> [Int] { variants.others(at: now) }
    func recordSegments(_ count: Int) {
      for _ in 0..<count {
        _ = variants.addSegment(
          byteCount: 10, audioNanoseconds: second, throughput: nil, idleNanoseconds: 0, at: now)
      }
    }
    variants.fail([0], at: now)
    variants.activate(1)
    for seconds in [30, 60, 120] as [Int64] {
      #expect(others() == [2])
      now = now.advanced(byNanoseconds: seconds * second - 1)
      #expect(others() == [2], "not yet")
      now = now.advanced(byNanoseconds: 1)
      #expect(others() == [2, 0])
      variants.fail([0], at: now)
    }
    // A reader that failed meanwhile does not count as a second failure.
    variants.fail([0], at: now)
    now = now.advanced(byNanoseconds: 240 * second)
    #expect(others() == [2, 0])
    // All failed, then the network recovers.
    variants.fail([0, 1, 2], at: now)
    #expect(others().isEmpty)
    recordSegments(2)
    #expect(others().isEmpty, "these segments may be older than the failure")
    recordSegments(1)
    #expect(others() == [2, 0])
    variants.fail([0], at: now)
    now = now.advanced(byNanoseconds: 30 * second)
    #expect(others() == [2, 0], "earlier failures are forgotten")
    // A variant that failed before enough data of the current one arrived is better than none.
    variants.activate(2)
    variants.fail([0, 1], at: now)
    recordSegments(2)
    #expect(others().isEmpty)
    recordSegments(1)
    #expect(others() == [0, 1])
    // A played variant has not failed.
    variants.activate(1)
    recordSegments(3)
    variants.activate(2)
    #expect(others() == [1])
    for _ in 0..<100 {
      variants.fail([1], at: now)
      now = now.advanced(byNanoseconds: 3_840 * second)
      #expect(others().contains(1), "the delay is limited")
    }
  }

  /// Separate audio, for which the master playlist gives only the total rate with video.
  @Test func audioBitRateIsAnAverageOfItsSegments() throws {
    var rate = AudioBitRate()
    #expect(rate.bitsPerSecond == nil)
    func add(_ kilobits: Int64, _ seconds: Double) -> Int64? {
      rate.add(byteCount: kilobits * 125, audioNanoseconds: Int64(seconds * 1e9))
      return rate.bitsPerSecond
    }
    for _ in 0..<10 { #expect(add(512, 4) == 128_000) }
    // A short segment before an advertisement.
    #expect(add(260, 0.2) == 128_000)
    #expect(add(800, 1) == 179_173)
    #expect(add(0, 4) == 179_173)
    for _ in 0..<10 { _ = add(512, 4) }
    #expect(add(512, 4).map { $0 < 130_000 } == true)
  }

  @Test func renditionsAreChosenByTheirAudioBitRateWithoutVideo() throws {
    let lines = [5_000, 2_500, 1_000].flatMap { rate in
      [
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\(rate)\",NAME=\"a\",DEFAULT=YES,URI=\"a\(rate).m3u8\"",
        "#EXT-X-STREAM-INF:BANDWIDTH=\(rate * 1_000),AUDIO=\"g\(rate)\"", "v\(rate).m3u8",
      ]
    }
    let list = try HLSPlaylist(
      parsing: Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8), at: .url("http://a.example/m.m3u8"))
    guard case .master(let master) = list else { throw CancellationError() }
    var variants = StreamVariants(HLSVariantChoice(master).candidates(peakBitRateLimit: nil))
    func choice(_ kilobits: Int64, _ throughput: Double, seconds: Double = 4) -> Int? {
      variants.addSegment(
        byteCount: kilobits * 125, audioNanoseconds: Int64(seconds * 1e9), throughput: throughput * 1_000,
        idleNanoseconds: 4_000_000_000, at: HostTime(nanoseconds: 0))
    }
    #expect(variants.first.count == 3)
    // 256, 128 and 64 kbit/s of audio.
    let first = [choice(1_024, 5_000), choice(260, 300, seconds: 0.2), choice(1_024, 200)]
    #expect(first == [nil, nil, 1], "a short segment does not count")
    variants.activate(1)
    let second = [choice(512, 200), choice(512, 200), choice(512, 200), choice(512, 400), choice(512, 130)]
    #expect(second == [nil, nil, nil, 0, 2])
    variants.activate(2)
    let third = [choice(256, 130), choice(256, 130), choice(256, 170), choice(256, 190), choice(256, 400)]
    #expect(third == [nil, nil, nil, 1, 0])
    // At most the rate in the playlist.
    variants = StreamVariants(HLSVariantChoice(master).candidates(peakBitRateLimit: nil))
    #expect(choice(100_000, 6_000) == nil)
  }

  /// Earlier network failures do not count indefinitely.
  @Test func failedVariantsAreUsableAgainAfterTheNetworkRecovers() throws {
    let rig = try HLSRig()
    let lines = [3, 2, 1].flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=\($0)", "\($0).m3u8"] }
    try rig.server.write(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8), to: "m.m3u8")
    func write(_ isAvailable: Bool) throws {
      for name in ["3.m3u8", "2.m3u8", "1.m3u8"] {
        if isAvailable { try rig.write(name, 0..<12) } else { try rig.server.write([0], to: name) }
      }
    }
    try write(true)
    let session = try rig.session("m.m3u8")
    func fallsBack() throws -> Bool {
      try session.fallBack(from: session.variantNumber, session.fetcher, interrupt: Interrupt())
    }
    try write(false)
    #expect(try !fallsBack())
    try write(true)
    #expect(try !fallsBack(), "all have failed just now")
    rig.clock.advance(seconds: 30)
    #expect(try fallsBack())
    #expect(session.location.displayText.hasSuffix("/2.m3u8"))
    // Once more, but now segments arrive again, as their readers detect.
    try write(false)
    #expect(try !fallsBack())
    try write(true)
    #expect(try !fallsBack())
    let entry = try #require(session.timeline.entry(0))
    for _ in 0..<StreamVariants.minimumSegmentCount {
      _ = session.addTransfer(
        TransferStatistics(byteCount: 1_000, nanoseconds: 1_000), entry.segment, variantNumber: session.variantNumber,
        idleNanoseconds: 0)
    }
    #expect(try fallsBack())
    #expect(session.location.displayText.hasSuffix("/1.m3u8"))
  }

  /// Replies take 0.8 s, then all data arrives at once. A better variant is sustainable although the small one looks
  /// slow.
  @Test func betterVariantIsReachedDespiteReplyLatency() throws {
    let rig = try HLSRig()
    try rig.server.write(
      Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=256000\na.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=64000\nb.m3u8\n".utf8),
      to: "m.m3u8")
    for name in ["a.m3u8", "b.m3u8"] { try rig.write(name, 0..<12) }
    let session = try rig.session("m.m3u8")
    let segment = try #require(session.timeline.entry(0)).segment
    func choice(_ kilobits: Int64, seconds: Double, wait: Double) -> Int? {
      session.addTransfer(
        TransferStatistics(
          byteCount: kilobits * 125, nanoseconds: Int64(seconds * 1e9), waitNanoseconds: Int64(wait * 1e9)), segment,
        variantNumber: session.variantNumber, idleNanoseconds: 2_000_000_000)
    }
    #expect(choice(512, seconds: 3, wait: 0.8) == 1)
    try session.switchVariant(to: 1, from: session.variantNumber, session.fetcher, interrupt: Interrupt())
    func climb() -> Int { (1...60).first { _ in choice(128, seconds: 0.9, wait: 0.8) == 0 } ?? 0 }
    // The variant that was too slow is not tried again for a while.
    #expect(climb() == 0)
    rig.clock.advance(seconds: 30)
    #expect(climb() == 1)
  }

  @Test func readerWaitingForALiveSegmentSwitchesToABetterVariant() throws {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "high"), (2, "low")] {
      try rig.encode(file, as: name)
      try rig.write(name, 0..<6, isEnded: false)
    }
    try rig.write(master: [
      "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"fLaC\"", "high.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"fLaC\"",
      "low.m3u8",
    ])
    let session = try rig.session()
    try session.switchVariant(to: 1, from: session.variantNumber, session.fetcher, interrupt: Interrupt())
    let reader = try rig.reader(session)
    _ = try reader.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    let start = Int(reader.position)
    let last = try #require(session.timeline.entry(5))
    let count = Int((last.endNanoseconds * 48_000 + 500_000_000) / 1_000_000_000) - start
    let heard = Mutex([Float]())
    let hasAll = ConditionMutex(false)
    let thread = CodeThread {
      defer { hasAll.update { $0 = true } }
      var samples = try reader.frames(count)
      hasAll.update { $0 = true }
      // In small chunks, as playback requests them.
      while true {
        let more = try reader.frames(4_096)
        if more.isEmpty { break }
        samples += more
      }
      heard.withLock { [samples] in $0 = samples }
    }
    let _: Bool? = hasAll.wait { $0 ? true : nil }
    for name in ["high", "low"] { try rig.write(name, 0..<9) }
    rig.clock.advance(seconds: 3)
    #expect(thread.code() == 0)
    let runs = CodedStreamRig.runs(heard.withLock { $0 })
    print(runs)
    #expect(runs.map(\.file) == [2, 1])
    for run in runs { #expect(run.firstIndex == run.position + start, "no sample is lost or repeated") }
    let next = try #require(session.timeline.entry(7)).startNanoseconds
    #expect(abs((runs.last?.firstIndex ?? 0) - Int(next * 48_000 / 1_000_000_000)) < 3)
    #expect(rig.log.errorEvents.isEmpty)
  }

  /// A stream with two variants, `high` and `low`. A segment of `high` takes ten seconds. The variants have different
  /// time codes, so that every sample identifies its variant.
  ///
  /// - Parameter range: the segments in the playlists; nil: all.
  /// - Returns: the rig, and the bit rate of the slow segment.
  private func slowStream(seconds: Int, _ range: Range<Int>? = nil) throws -> (CodedStreamRig, slow: Int) {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "high"), (2, "low")] { try rig.encode(file, as: name, seconds: seconds) }
    try rig.write("high", range, query: [2: "?gate=slow&at=1000"])
    try rig.write("low", range)
    let slow = try rig.byteCount("high", 2) * 8 / 10
    try rig.write(master: [
      "#EXT-X-STREAM-INF:BANDWIDTH=\(slow / 2),CODECS=\"fLaC\"", "low.m3u8",
      "#EXT-X-STREAM-INF:BANDWIDTH=\(slow * 7 / 2),CODECS=\"fLaC\"", "high.m3u8",
    ])
    return (rig, slow)
  }

  /// Reads up to `frameCount` frames. The server delays the segment with the gate `slow` for ten seconds.
  private func readWhileASegmentIsSlow(
    _ reader: SegmentedTrackReader, frameCount: Int, _ server: HTTPServer, _ clock: ManualTime
  ) throws -> [Float] {
    let heard = Mutex([Float]())
    let thread = CodeThread {
      let samples = try reader.frames(frameCount)
      heard.withLock { $0 = samples }
    }
    try server.wait("gate slow")
    clock.advance(seconds: 10)
    server.open(gate: "slow")
    #expect(thread.code() == 0)
    return heard.withLock { $0 }
  }

  @Test func slowVariantIsLeftAndResumedWithoutLosingASample() throws {
    let (rig, slow) = try slowStream(seconds: 24)
    let session = try rig.session()
    let reader = try rig.reader(session)
    var samples = try readWhileASegmentIsSlow(reader, frameCount: 48_000 * 5, rig.server, rig.clock)
    #expect(session.location.displayText.hasSuffix("low.m3u8"))
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 1)
    #expect(rig.log.accessEvents.last?.indicatedBitrate == Int64(slow / 2))
    // The reader has buffered enough: there is time between reads.
    while true {
      rig.clock.advance(seconds: 1)
      let more = try reader.frames(48_000)
      if more.isEmpty { break }
      samples += more
    }
    let runs = CodedStreamRig.runs(samples)
    print(runs)
    #expect(runs.map(\.file) == [1, 2, 1])
    for run in runs { #expect(run.firstIndex == run.position, "no sample is lost or repeated") }
    #expect(runs.last?.endIndex == 48_000 * 24)
    // At the boundaries of segments.
    let ends = (session.timeline.numbers).compactMap { session.timeline.entry($0)?.startNanoseconds }
    for run in runs.dropFirst() {
      let start = Int64(run.position) * 1_000_000_000 / 48_000
      #expect(ends.contains { abs($0 - start) < 50_000 }, "\(run)")
    }
    #expect(rig.log.accessEvents.last?.numberOfSwitches == 2 && rig.log.errorEvents.isEmpty)
    #expect(rig.log.accessEvents.last?.indicatedBitrate == Int64(slow * 7 / 2))
  }

  @Test func noVariantIsSwitchedToAfterTheLastSegment() throws {
    let (rig, _) = try slowStream(seconds: 4, 0..<3)
    let session = try rig.session()
    let reader = try rig.reader(session)
    let samples = try readWhileASegmentIsSlow(reader, frameCount: 48_000 * 5, rig.server, rig.clock)
    #expect(CodedStreamRig.runs(samples).map(\.file) == [1])
    #expect(session.location.displayText.hasSuffix("high.m3u8") && rig.log.accessEvents.last?.numberOfSwitches == 0)
  }

  /// Playlists have rounded or wrong segment lengths: after many segments their sum is off by several segments.
  @Test(arguments: [(1.2, 1.2), (0.9, 0.9), (1.2, 1), (0.9, 1), (1, 1.2), (1, 0.9)])
  func switchLosesNoSampleIfDeclaredLengthsAreWrong(_ highFactor: Double, _ lowFactor: Double) throws {
    let rig = try CodedStreamRig()
    for (file, name) in [(1, "high"), (2, "low")] { try rig.encode(file, as: name, seconds: 40) }
    let switching = 32
    try rig.write("high", query: [switching: "?gate=slow&at=1000"], lengthFactor: highFactor)
    try rig.write("low", lengthFactor: lowFactor)
    let rate = try rig.byteCount("high", switching) * 8
    try rig.write(master: [
      "#EXT-X-STREAM-INF:BANDWIDTH=\(rate / 40),CODECS=\"fLaC\"", "low.m3u8",
      "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),CODECS=\"fLaC\"", "high.m3u8",
    ])
    let reader = try rig.reader(try rig.session())
    let samples = try readWhileASegmentIsSlow(reader, frameCount: 48_000 * 41, rig.server, rig.clock)
    let runs = CodedStreamRig.runs(samples)
    print(highFactor, lowFactor, runs)
    #expect(runs.map(\.file) == [1, 2] && runs.last?.endIndex == 48_000 * 40)
    for run in runs { #expect(run.firstIndex == run.position, "no sample is lost or repeated") }
    #expect(reader.popWarning() == nil && rig.log.errorEvents.isEmpty)
    let requests = try rig.server.drain()
    let count = try #require(rig.segments["high"]?.count)
    let fetched = { (name: String) in requests.count { $0.hasPrefix("request GET /\(name)-") && $0.contains(".m4s") } }
    #expect(fetched("high") == switching + 1)
    // If both have the same lengths, the played audio determines the position; otherwise it is searched.
    let more = fetched("low") - (count - switching - 1)
    print("\(more) more than are heard")
    #expect((0...(highFactor == lowFactor ? 1 : 3)).contains(more))
  }

  /// AAC frames overlap: the new variant's decoder has converged before its audio is played.
  @Test func switchIsInaudibleInOverlappingAACFrames() throws {
    let rig = try HLSRig()
    let whole = try rig.audio(0..<12)
    try rig.write("high.m3u8", 0..<12, query: [2: "?gate=slow&at=1000"])
    try rig.write("low.m3u8", 0..<12)
    let slow = try rig.bytes(2..<3).count * 8 / 10
    let master =
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(slow / 2)\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=\(slow * 8)\nhigh.m3u8\n"
    try rig.server.write(Array(master.utf8), to: "m.m3u8")
    let session = try rig.session("m.m3u8")
    let reader = try rig.reader(session)
    let samples = try readWhileASegmentIsSlow(reader, frameCount: 2_000_000, rig.server, rig.clock)
    #expect(session.location.displayText.hasSuffix("low.m3u8") && rig.log.accessEvents.last?.numberOfSwitches == 1)
    #expect(samples == whole)
    #expect(reader.popWarning() == nil && rig.errorCodes.isEmpty)
  }

  @Test func loadedTimeRangeIsTheBufferedPartOfAStream() throws {
    let rig = try CodedStreamRig()
    try rig.encode(1, as: "a", seconds: 4)
    let half = try rig.byteCount("a", 1) / 2
    try rig.write("a", query: [1: "?gate=half&at=\(half)"])
    let asset = try Asset(url: "\(rig.server.address)/a.m3u8")
    #expect(asset.loadedTimeRange == nil)
    let reader = try AudioTrackReader(asset: asset)
    let timeline = try #require(asset.streamSession?.timeline)
    let next = try #require(timeline.entry(1))
    // The second segment is read, of which the server has sent only a part.
    let count = Int(next.startNanoseconds * 48_000 / 1_000_000_000) + 100
    #expect(try reader.readFrames(count, chunkFrames: count).samples.count == count * reader.format.channelCount)
    try rig.server.wait("gate half")
    let start = Double(next.startNanoseconds) / 1e9
    let share = Double(half) / Double(try rig.byteCount("a", 1))
    let range = try #require(asset.loadedTimeRange)
    #expect(abs(range.start.seconds - start) < 0.001)
    #expect(range.end.seconds > start && range.end.seconds < start + share * 1.1, "\(range)")
    let thread = CodeThread { _ = try reader.readToEnd() }
    rig.server.open(gate: "half")
    #expect(thread.code() == 0 && reader.end != nil)
    #expect(asset.loadedTimeRange == nil, "nothing is read any more")
  }
}
