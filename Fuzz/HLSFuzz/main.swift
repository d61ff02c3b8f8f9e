import Fuzzing
import PlayheadMediaCore
import PlayheadPlaylists

/// Parses any bytes as an HLS playlist, and stops when a property is violated.
///
/// Properties:
/// - no trap
/// - errors have the numbers of streams
/// - names that are relative to a server stay on a server
/// - every segment can be found by its number and its time
/// - an update with the same playlist changes nothing
/// - every later playlist of the server is accepted
func check(_ input: UnsafeRawBufferPointer) {
  let bytes = Array(input)
  let playlist: HLSPlaylist
  let location = PlaylistLocation.url("http://a.example/live/list.m3u8?x=1")
  do throws(MediaError) { playlist = try HLSPlaylist(parsing: bytes, at: location) } catch {
    precondition((2_060...2_063).contains(error.code.rawValue), "unexpected error: \(error)")
    return
  }
  func checkNotLocal(_ location: PlaylistLocation?) {
    if case .file? = location { preconditionFailure("a local file in a remote playlist") }
  }
  switch playlist {
  case .master(let master):
    for candidate in HLSVariantChoice(master).candidates(peakBitRateLimit: 100_000) {
      checkNotLocal(candidate.location)
    }
  case .media(let media):
    for key in media.keys { checkNotLocal(key.location) }
    for map in media.maps { checkNotLocal(map.location) }
    var timeline = HLSTimeline(media)
    for number in timeline.numbers {
      guard let entry = timeline.entry(number) else { preconditionFailure("a segment is missing") }
      checkNotLocal(entry.segment.location)
      precondition(
        entry.segment.durationNanoseconds >= 0 && entry.endNanoseconds <= timeline.endNanoseconds,
        "invalid segment duration")
      if entry.segment.durationNanoseconds > 0 {
        precondition(timeline.number(atNanoseconds: entry.startNanoseconds) == number, "a segment is not found")
      }
      if let date = timeline.date(atNanoseconds: entry.startNanoseconds) { _ = timeline.time(ofDate: date) }
    }
    precondition(
      (timeline.startNanoseconds...timeline.endNanoseconds).contains(timeline.playStartNanoseconds),
      "the start is outside the timeline")
    let end = timeline.endNanoseconds
    precondition(
      timeline.update(media) == .unchanged && timeline.endNanoseconds == end,
      "an unchanged playlist changes the timeline")
    // The text from the second `#EXTM3U` on is the server's next playlist.
    let header = Array("#EXTM3U".utf8)
    if let next = bytes.dropFirst().firstRange(of: header)?.lowerBound,
      case .media(let newer)? = try? HLSPlaylist(parsing: Array(bytes[next...]), at: location)
    {
      for _ in 0..<3 {
        _ = timeline.update(newer)
        for date in [Int64.min, 0, .max] { _ = timeline.time(ofDate: date) }
        _ = timeline.date(atNanoseconds: timeline.endNanoseconds)
        _ = timeline.playStartNanoseconds
        _ = timeline.update(media)
      }
    }
  }
}

fuzz(check)
