import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Assets from a web server, or from a custom byte source.
@Suite(.timeLimit(.minutes(5))) struct HTTPAssetTests {
  private static let frameCount = 44_100 * 40

  /// A server with 40 seconds of time-coded audio in some format.
  private func serve(_ name: String, _ arguments: [String] = []) throws -> HTTPServer {
    let server = try HTTPServer()
    let wav = server.files.file("source.wav")
    try server.write(
      IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount), to: "source.wav")
    if name != "source.wav" { try Tool.ffmpeg(arguments: ["-i", wav] + arguments + [server.files.file(name)]) }
    return server
  }

  private struct Row {
    var name: String
    var arguments: [String] = []
    /// Whether a seek's position is that of the local file.
    var isExact = true
    /// Whether the position is proved without reading the data before it.
    var isProven = true
    /// The maximum number of bytes that opening and 3 seeks load, as a multiple of the file's size. In addition, each
    /// request may load 1 MiB, because the transfer reads ahead.
    var maximumLoad: Int64 = 2
  }

  private static let rows = [
    Row(name: "source.wav", maximumLoad: 0), Row(name: "a.flac"), Row(name: "a.m4a", arguments: ["-aac_pns", "0"]),
    Row(name: "fast.m4a", arguments: ["-aac_pns", "0", "-movflags", "+faststart"]),
    Row(name: "a.ogg", arguments: ["-c:a", "libvorbis"]), Row(name: "a.opus"),
    // Only reading all packets would show that no timestamp jumps.
    Row(name: "a.mka", arguments: ["-c:a", "flac"], isProven: false),
    Row(name: "a.wv"), Row(name: "a.mp3", arguments: ["-b:a", "128k"], isExact: false, isProven: false),
    Row(name: "a.aac", arguments: ["-aac_pns", "0"], isExact: false, isProven: false),
  ]

  @Test func httpAssetHasTheSamplesOfTheFileAndSeeksLoadABoundedPart() throws {
    print("file | bytes | loaded by opening and 3 seeks | requests | position")
    for row in Self.rows {
      let server = try serve(row.name, row.arguments)
      let local = try AudioTrackReader(asset: Asset(path: server.files.file(row.name)))
      let asset = try Asset(url: "\(server.address)/\(row.name)")
      let remote = try AudioTrackReader(asset: asset)
      let byteCount = try readFile(server.files.file(row.name)).count
      #expect(try asset.load().byteCount == Int64(byteCount))
      #expect(try asset.load().isSeekable)
      for seconds in [30, 10, 20] {
        let time = MediaTime(value: Int64(seconds), timescale: 1)
        let reached = try remote.seekExactly(to: time)
        #expect((remote.positionDoubt == nil) == row.isProven, "\(row.name)")
        let localReached = try local.seekExactly(to: time)
        let (position, samples) = try remote.readFrames(2_000)
        let expected = try local.readFrames(2_000)
        if row.isExact {
          #expect(reached == localReached && position == expected.position, "\(row.name) at \(seconds)")
          #expect(samples == expected.samples, "\(row.name) at \(seconds)")
        } else {
          #expect(samples.count == 4_000)
        }
      }
      let log = asset.networkLog.accessEvents
      let bytes = log.reduce(0) { $0 + $1.numberOfBytesTransferred }
      let requests = log.reduce(0) { $0 + $1.numberOfMediaRequests }
      print("\(row.name) | \(byteCount) | \(bytes) | \(requests) | \(row.isProven ? "exact" : "estimated")")
      #expect(bytes > 0 && bytes <= row.maximumLoad * Int64(byteCount) + (Int64(requests) << 20), "\(row.name)")
      #expect(asset.networkLog.errorEvents.isEmpty)

      let whole = try AudioTrackReader(asset: try Asset(url: "\(server.address)/\(row.name)"))
      let fresh = try AudioTrackReader(asset: Asset(path: server.files.file(row.name)))
      #expect(try whole.readFrames(100_000).samples == fresh.readFrames(100_000).samples, "\(row.name)")
    }
  }

  /// Long files, in which a complete download would be noticeable.
  @Test func seekInALongFileLoadsLessThanHalfOfIt() throws {
    for (name, arguments, isEstimated) in [
      ("long.mp3", ["-b:a", "64k"], true), ("long.aac", ["-b:a", "64k", "-aac_pns", "0"], true),
      ("long.flac", ["-ac", "1", "-ar", "8000", "-af", "volume=0.02"], false),
    ] as [(String, [String], Bool)] {
      let server = try HTTPServer()
      let path = server.files.file(name)
      try Tool.ffmpeg(
        arguments: ["-f", "lavfi", "-i", "anoisesrc=d=600:r=44100:a=0.2:s=1", "-ac", "2"] + arguments + [path])
      let byteCount = try readFile(path).count
      let asset = try Asset(url: "\(server.address)/\(name)")
      let reader = try AudioTrackReader(asset: asset)
      _ = try reader.readFrames(44_100)
      let before = asset.networkLog.accessEvents.reduce(0) { $0 + $1.numberOfBytesTransferred }
      let reached = try reader.seekExactly(to: MediaTime(value: 500, timescale: 1))
      _ = try reader.readFrames(1_000)
      let loaded = asset.networkLog.accessEvents.reduce(0) { $0 + $1.numberOfBytesTransferred }
      print(
        "\(name): \(byteCount) bytes, \(before) before the seek, \(loaded - before) by it, reached \(reached.decimalDescription)"
      )
      #expect((reader.positionDoubt != nil) == isEstimated)
      #expect(loaded - before < Int64(byteCount / 2))
      #expect(abs(reached.seconds - 500) < 0.1)
    }
  }

  @Test func serverWithoutRangesIsReadForward() throws {
    let server = try serve("a.flac")
    let local = try AudioTrackReader(asset: Asset(path: server.files.file("a.flac")))
    for query in ["plain", "silent", "chunked"] {
      let reader = try AudioTrackReader(asset: try Asset(url: "\(server.address)/a.flac?\(query)"))
      _ = try local.seekExactly(to: .zero)
      #expect(try reader.readFrames(60_000).samples == local.readFrames(60_000).samples, "\(query)")
    }
  }

  @Test func unplayableURLReportsItsError() throws {
    let server = try HTTPServer()
    try server.write(Array(repeating: 65, count: 5_000), to: "text")
    try server.write([], to: "empty")
    for (path, code) in [
      ("/none", 2043), ("/text", 3002), ("/empty", 3001), ("/text?status=403", 2042), ("/text?redirect=loop", 2037),
    ] {
      let asset = try Asset(url: server.address + path)
      #expect(errorCode { _ = try asset.load() } == code, "\(path)")
      #expect(errorCode { _ = try asset.load() } == code, "\(path), stored")
    }
    var options = HTTPOptions()
    options.isNetworkAllowed = false
    expectError(.networkNotAllowed) { try Asset(url: try HTTPURL(server.address + "/text"), options: options).load() }
    expectError(.unsupportedLocation) { try Asset(url: "rtsp://127.0.0.1/a") }
    expectError(.invalidArgument) { try Asset(url: "http://") }
  }

  @Test func openingFromAnUnresponsiveServerIsCancelled() throws {
    let server = try serve("source.wav")
    let asset = try Asset(url: "\(server.address)/source.wav?hold=never")
    let opening = AssetOpening()
    let result = Mutex<Int?>(nil)
    let thread = NamedThread(name: "test") {
      let code = errorCode { _ = try opening.load(asset) }
      result.withLock { $0 = code }
    }
    try server.wait("gate never")
    opening.cancel()
    thread.join()
    #expect(result.withLock { $0 } == 6015)
    // The error is not stored.
    server.open(gate: "never")
    #expect(try asset.load().hasAudio)
  }

  /// A local playlist that refers to a server.
  @Test func openingThatWaitsForAServerDoesNotDelayOthers() throws {
    let server = try HTTPServer()
    let list =
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(server.address)/a.ts?hold=never\n#EXT-X-ENDLIST\n"
    try server.write(Array(list.utf8), to: "list.m3u8")
    let asset = Asset(path: server.files.file("list.m3u8"))
    let (waiting, cancelled) = (AssetOpening(), AssetOpening())
    let result = Mutex<Int?>(nil)
    let thread = NamedThread(name: "test") {
      let code = errorCode { _ = try waiting.load(asset) }
      result.withLock { $0 = code }
    }
    try server.wait("gate never")
    cancelled.cancel()
    expectError(.cancelled) { try cancelled.load(asset) }
    #expect(result.withLock { $0 } == nil, "the other one still waits")
    waiting.cancel()
    thread.join()
    #expect(result.withLock { $0 } == 6015)
  }

  @Test func radioStreamIsReadForwardAndReportsItsTitles() throws {
    let server = try serve("radio.mp3", ["-b:a", "128k"])
    func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined() }
    let titles = ["StreamTitle='One';", "StreamTitle='Two';"].map { "&title=\(hex($0))" }.joined()
    let asset = try Asset(url: "\(server.address)/radio.mp3?icy=16000\(titles)&gate=end&at=400000")
    let reader = try AudioTrackReader(asset: asset)
    let properties = try asset.load()
    #expect(!properties.isSeekable && properties.duration == .indefinite && !properties.providesPreciseDuration)
    #expect(asset.networkLog.station?.name == "Test Radio")
    let local = try AudioTrackReader(asset: Asset(path: server.files.file("radio.mp3")))
    let samples = try reader.readFrames(44_100 * 5).samples
    #expect(samples.count == 44_100 * 10)
    let found = reader.popTitles()
    print(found.map { "\($0.title.title) from \($0.time.decimalDescription)" })
    #expect(found.map(\.title.title) == ["One", "Two"])
    // 16,000 bytes at 128 kbit/s are one second.
    #expect(abs((found.first?.time.seconds ?? 0) - 1) < 0.1 && abs((found.last?.time.seconds ?? 0) - 2) < 0.1)
    // The station's first frame is the file's information frame. The two differ in the edges that it declares.
    _ = try local.seekExactly(to: .zero)
    // The stream cannot seek back, so reading continues at the current position.
    let reached = try reader.seekExactly(to: .zero)
    #expect(reached.seconds >= 4.9)
    #expect(asset.networkLog.accessEvents.count == 1, "one connection for opening and for reading")
  }

  @Test func stationHeadersBecomeMetadata() throws {
    let server = try serve("radio.mp3", ["-b:a", "128k", "-metadata", "genre=Jazz"])
    let asset = try Asset(url: "\(server.address)/radio.mp3?icy=16000&gate=end&at=100000")
    let metadata = try asset.loadMetadata(interrupt: Interrupt())
    let icy = metadata.metadata(forFormat: .icy)
    #expect(icy.map(\.identifier.rawValue) == ["icy/name", "icy/genre", "icy/url", "icy/br"])
    #expect(icy.map(\.value) == [.string("Test Radio"), .string("Test"), .string("http://radio.test/"), .number(128)])
    #expect(icy.map(\.commonKey) == [.title, .type, .relation, nil])
    #expect(metadata.strings(.title) == ["Test Radio"] && metadata.availableMetadataFormats.contains(.icy))
    #expect(asset.loadedTitles?.title == "Test Radio")
    // A file on a server is not a station.
    let file = try Asset(url: "\(server.address)/radio.mp3")
    #expect(try file.loadMetadata(interrupt: Interrupt()).metadata(forFormat: .icy) == [])
  }

  @Test func customByteSourceIsRead() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: 100_000), as: "a.wav")
    let bytes = try readFile(path)
    let asset = Asset(name: "mine") { () throws(MediaError) in CustomSource(bytes) }
    let reader = try AudioTrackReader(asset: asset)
    let local = try AudioTrackReader(asset: Asset(path: path))
    #expect(try reader.readFrames(100_000).samples == local.readFrames(100_000).samples)
    _ = try reader.seekExactly(to: MediaTime(value: 1, timescale: 1))
    #expect(try reader.readFrames(1).position == 44_100)
    #expect(asset.displayPath == "mine" && asset.pathBytes.isEmpty)

    let failing = Asset(name: "mine") { () throws(MediaError) in CustomSource(bytes, failsAt: 350_000) }
    let broken = try AudioTrackReader(asset: failing)
    expectError(.readFailed) { try broken.readFrames(100_000) }
    let none = Asset(name: "none") { () throws(MediaError) in throw MediaError(.permissionDenied, "not for you") }
    expectError(.permissionDenied) { try none.load() }
  }
}

/// Bytes delivered in chunks.
private final class CustomSource: ByteSource {
  private let bytes: [UInt8]
  private let limit: Int
  private let isCancelled = Mutex(false)

  init(_ bytes: [UInt8], failsAt limit: Int = .max) {
    self.bytes = bytes
    self.limit = limit
  }

  var byteCount: Int64? { Int64(bytes.count) }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    if isCancelled.withLock({ $0 }) { throw MediaError(.cancelled, "cancelled") }
    let start = min(Int(offset), bytes.count)
    guard start < limit else { throw MediaError(.readFailed, "the source is broken") }
    let count = min(buffer.count, 1_000, bytes.count - start, limit - start)
    buffer.copyBytes(from: bytes[start..<start + count])
    return count
  }

  func cancel() { isCancelled.withLock { $0 = true } }
  func resume() { isCancelled.withLock { $0 = false } }
}
