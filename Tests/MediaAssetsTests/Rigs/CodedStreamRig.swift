import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// A web server with time-coded audio in segments of about a second. Each sample identifies its audio file and its
/// position.
final class CodedStreamRig {
  typealias Code = RigSupport.TimeCode

  static let sampleRateHz = 48_000
  let server: HTTPServer
  let clock = ManualTime()
  let log = NetworkLog()
  private let eventCount = ConditionMutex(0)
  /// The segments of each audio file, in order: names and lengths.
  private(set) var segments: [String: [(name: String, length: String)]] = [:]

  init() throws {
    server = try HTTPServer()
    log.observe(key: .max) { [eventCount] _ in eventCount.update { $0 += 1 } }
  }

  /// Encodes a time-coded file with a number as `NAME-0.m4s` and so on.
  func encode(_ file: Int, as name: String, seconds: Int = 12) throws {
    let wav = server.files.file("\(name).wav")
    try Code.writeWAV(path: wav, file: file, frameCount: Self.sampleRateHz * seconds)
    try Tool.ffmpeg(
      arguments: [
        "-i", wav, "-c:a", "flac", "-strict", "-2", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod",
        "-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", "\(name)-init.mp4", "-hls_segment_filename",
        server.files.file("\(name)-%d.m4s"), server.files.file("\(name)-all.m3u8"),
      ])
    var (found, length) = ([(name: String, length: String)](), "")
    for line in String(decoding: try readFile(server.files.file("\(name)-all.m3u8")), as: UTF8.self).split(
      separator: "\n")
    {
      if line.hasPrefix("#EXTINF:") { length = String(line.dropFirst(8).prefix { $0 != "," }) }
      if !line.hasPrefix("#") { found.append((String(line), length)) }
    }
    segments[name] = found
  }

  /// The size of a segment in bytes.
  func byteCount(_ name: String, _ index: Int) throws -> Int {
    try readFile(server.files.file(segments[name]?[index].name ?? "")).count
  }

  /// Writes `NAME.m3u8` with some segments of an audio file.
  ///
  /// - Parameters:
  ///   - first: the number of the file's first segment.
  ///   - date: the date of the first segment, in seconds since 1970; nil: none.
  ///   - query: the URL query of some segments.
  ///   - factor: the ratio of declared to actual segment lengths.
  func write(
    _ name: String, _ range: Range<Int>? = nil, numberedFrom first: Int = 0, isEnded: Bool = true, date: Int? = nil,
    query: [Int: String] = [:], lengthFactor factor: Double = 1
  ) throws {
    let all = segments[name] ?? []
    let range = range ?? all.indices
    var lines = [
      "#EXTM3U", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:\(first + range.lowerBound)",
      "#EXT-X-MAP:URI=\"\(name)-init.mp4\"",
    ]
    if let date {
      let nanoseconds = all[..<range.lowerBound].reduce(0.0) { $0 + (Double($1.length) ?? 0) } * 1e9
      lines.append("#EXT-X-PROGRAM-DATE-TIME:\(ISODate.text(Int64(date) * 1_000_000_000 + Int64(nanoseconds)))")
    }
    for index in range {
      let length = factor == 1 ? all[index].length : "\((Double(all[index].length) ?? 0) * factor)"
      lines += ["#EXTINF:\(length),", all[index].name + (query[index] ?? "")]
    }
    if isEnded { lines.append("#EXT-X-ENDLIST") }
    try server.write(Array(lines.joined(separator: "\n").utf8), to: "\(name).m3u8")
  }

  /// Writes a master playlist.
  func write(master lines: [String]) throws {
    try server.write(Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8), to: "m.m3u8")
  }

  /// The stream of the master playlist, with the rig's clock.
  func session() throws -> StreamSession {
    let location = PlaylistLocation.url("\(server.address)/m.m3u8")
    var options = HTTPOptions()
    options.reconnectDelays = []
    return try StreamSession(
      playlist: try HLSPlaylist(parsing: try readFile(server.files.file("m.m3u8")), at: location), at: location,
      fetcher: StreamFetcher(options: options, log: log, session: log.startSession(uri: "m.m3u8"), clock: clock),
      interrupt: Interrupt())
  }

  func reader(_ session: StreamSession, trackID: Int? = nil) throws -> SegmentedTrackReader {
    try SegmentedTrackReader(
      session: session.rendition(trackID, fetcher: session.fetcher, interrupt: Interrupt()), fetcher: session.fetcher,
      interrupt: Interrupt(), trackID: trackID)
  }

  /// Waits until a condition is true. Checks it at each event of the log.
  func wait(until condition: () -> Bool) {
    let _: Bool? = eventCount.wait { _ in condition() ? true : nil }
  }

  /// The runs of time code in samples.
  static func runs(_ samples: [Float]) -> [Code.Run] { Code.runs(in: StereoFrame.frames(of: samples)) }
}
