import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

extension ManualTime: NetworkClock {}

/// A web server with 24 seconds of audio in segments of 2 seconds: `s0.ts` to `s11.ts`, or others.
final class HLSRig {
  let server: HTTPServer
  let clock = ManualTime()
  let log = NetworkLog()
  private let eventCount = ConditionMutex(0)
  /// The segments of FFmpeg's muxer, with their lengths.
  private(set) var segments: [(name: String, length: String)] = []
  let frameCount = 44_100 * 24

  init(_ arguments: [String] = ["-c:a", "aac", "-aac_pns", "0"], name: String = "s%d.ts") throws {
    server = try HTTPServer()
    log.observe(key: .max) { [eventCount] _ in eventCount.update { $0 += 1 } }
    try Fixtures.files(["HLSRig \(frameCount)", name] + arguments, in: server.files.path) { folder in
      let source = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: frameCount)
      try writeFile(source, at: Array("\(folder)/source.wav".utf8))
      try Tool.ffmpeg(
        arguments: ["-i", "\(folder)/source.wav"] + arguments + [
          "-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod", "-hls_segment_filename", "\(folder)/\(name)",
          "\(folder)/vod.m3u8",
        ])
    }
    var length = ""
    for line in String(decoding: try readFile(server.files.file("vod.m3u8")), as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix("#EXTINF:") { length = line.dropFirst(8).trimmingCommas }
      if !line.hasPrefix("#") { segments.append((String(line), length)) }
    }
  }

  /// The concatenated bytes of some segments.
  func bytes(_ range: Range<Int>) throws -> [UInt8] {
    try segments[range].flatMap { try readFile(server.files.file($0.name)) }
  }

  /// The audio of some segments in one file, read from its start.
  func audio(_ range: Range<Int>, ending: String = "ts") throws -> [Float] {
    try server.write(try bytes(range), to: "part.\(ending)")
    return try AudioTrackReader(asset: Asset(path: server.files.file("part.\(ending)"))).readToEnd()
  }

  /// Writes a playlist of some segments. `before` has lines that precede a segment.
  func write(
    _ name: String, _ range: Range<Int>, isEnded: Bool = true, before: [Int: String] = [:], query: [Int: String] = [:]
  ) throws {
    var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)"]
    for index in range {
      if let text = before[index] { lines.append(text) }
      lines += ["#EXTINF:\(segments[index].length),", segments[index].name + (query[index] ?? "")]
    }
    if isEnded { lines.append("#EXT-X-ENDLIST") }
    try server.write(Array(lines.joined(separator: "\n").utf8), to: name)
  }

  /// The stream of a playlist, with the rig's clock.
  func session(_ name: String, _ isolation: Asset.Isolation = .none) throws -> StreamSession {
    let row = log.startSession(uri: name)
    var options = HTTPOptions()
    options.reconnectDelays = []
    let location = PlaylistLocation.url("\(server.address)/\(name)")
    return try StreamSession(
      playlist: try HLSPlaylist(parsing: try readFile(server.files.file(name)), at: location), at: location,
      fetcher: StreamFetcher(options: options, log: log, session: row, clock: clock, isolation: isolation),
      interrupt: Interrupt())
  }

  func reader(_ session: StreamSession) throws -> SegmentedTrackReader {
    try SegmentedTrackReader(
      session: session, fetcher: session.fetcher, interrupt: Interrupt(), trackID: nil)
  }

  /// Waits until a condition is true. Checks it at each event of the log.
  func wait(until condition: () -> Bool) {
    let _: Bool? = eventCount.wait { _ in condition() ? true : nil }
  }

  /// The codes of the errors in the log, in order.
  var errorCodes: [Int] { log.errorEvents.map(\.error.code.rawValue) }
}

extension Substring {
  fileprivate var trimmingCommas: String { String(prefix { $0 != "," }) }
}

extension AudioReader {
  /// Reads `count` frames, fewer at the end.
  func frames(_ count: Int) throws -> [Float] {
    var samples = [Float](repeating: 0, count: count * format.channelCount)
    var filled = 0
    while filled < count {
      let result = try samples.withUnsafeMutableBufferPointer { buffer -> AudioTrackReader.ReadResult in
        guard let base = buffer.baseAddress else { return .endOfTrack }
        return try read(
          into: base + filled * format.channelCount, capacityFrames: Swift.min(4_096, count - filled))
      }
      guard case .frames(let more, _) = result else { break }
      filled += more
    }
    return Array(samples[..<(filled * format.channelCount)])
  }

  func seek(toFrame frame: Int64) throws {
    _ = try seek(
      to: MediaTime(frame: frame, rate: format.sampleRateHz), toleranceBefore: .zero, toleranceAfter: .zero)
  }
}
