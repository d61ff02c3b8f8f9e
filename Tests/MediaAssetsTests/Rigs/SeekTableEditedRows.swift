import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// An edit list (ISO/IEC 14496-12, 8.6.6), and its effect on a track's media, computed independently of the player.
struct EditList: Sendable {
  /// Durations in the movie's ticks, starts in the media's, which are frames here; -1: silence.
  var edits: [(duration: Int, start: Int)]
  /// The movie's ticks per second.
  var timescale: Int

  /// The start of each edit and the end of the last, in frames: the sum of the ticks, rounded to the nearest frame.
  func bounds(sampleRateHz: Int) -> [Int] {
    var sum = 0
    return [0]
      + edits.map { edit in
        sum += edit.duration
        return (2 * sum * sampleRateHz + timescale) / (2 * timescale)
      }
  }

  /// Applies the edit list to media that was decoded without it.
  ///
  /// - Parameter lead: frames of media that the decoder does not return at its start.
  func applied(to media: [Float], channelCount: Int, sampleRateHz: Int, lead: Int) throws -> [Float] {
    let bounds = bounds(sampleRateHz: sampleRateHz)
    return try zip(edits, zip(bounds, bounds.dropFirst())).flatMap { edit, bounds in
      let count = (bounds.1 - bounds.0) * channelCount
      if edit.start < 0 { return [Float](repeating: 0, count: count) }
      let start = (edit.start - lead) * channelCount
      try #require(start >= 0 && start + count <= media.count)
      return Array(media[start..<(start + count)])
    }
  }

  /// The audio that FFmpeg decodes when it ignores edit lists.
  static func media(of path: String) throws -> [Float] {
    try Tool.decode(path, ["-ignore_editlist", "1"])
  }
}

/// Tracks with several ranges of their media.
extension SeekRow {
  private static func edited(
    _ name: String, of source: Music = Music(), _ step: Step, _ edits: [(Int, Int)], timescale: Int = 44_100,
    lead: Int = 0, is expectation: Expectation = .bitExact, packet: (frames: Int, priming: Int) = (1_024, 0)
  ) -> SeekRow {
    let list = EditList(edits: edits.map { (duration: $0.0, start: $0.1) }, timescale: timescale)
    let text = edits.map { "\($0.0)@\($0.1)" }.joined(separator: " ")
    let edit = Step.edit("edits \(text), in 1/\(timescale) s, by this test", makes: "edited.mp4") { bytes, _ in
      try MovieBoxes.withEdits(edits, in: bytes)
    }
    var row = SeekRow(name, [.severalEdits], of: source, step, edit, is: expectation, packet: packet)
    row.expected = { path in
      try list.applied(
        to: EditList.media(of: path), channelCount: source.channelCount, sampleRateHz: source.sampleRateHz, lead: lead)
    }
    row.extraTargets = list.bounds(sampleRateHz: source.sampleRateHz)
    return row
  }

  static let edited: [SeekRow] = [
    edited(
      "aac in mp4, three edits", ff("-c:a aac -aac_pns 0 -movie_timescale 44100", "a.m4a"),
      [(100_000, 1_024), (77_777, 300_001), (150_003, 20_000)]),
    edited(
      "aac in mp4, silence and two edits", ff("-c:a aac -aac_pns 0 -movie_timescale 44100", "a.m4a"),
      [(12_345, -1), (100_001, 200_123), (90_000, 1_029)]),
    edited(
      "aac in mp4, edits in milliseconds", ff("-c:a aac -aac_pns 0", "a.m4a"),
      [(2_345, 50_000), (1_111, -1), (3_333, 210_007), (777, 1_024), (1_001, 1_025)], timescale: 1_000),
    edited(
      "aac in mp4, one edit from the middle", ff("-c:a aac -aac_pns 0 -movie_timescale 44100", "a.m4a"),
      [(200_000, 123_456)]),
    edited(
      "aac in mp4, silence, one edit, silence", ff("-c:a aac -aac_pns 0 -movie_timescale 44100", "a.m4a"),
      [(4_321, -1), (200_000, 123_456), (5_000, -1)]),
    edited(
      "aac in mp4 with video, two edits", of: at48k,
      video("-map 1:a -map 0:v -c:v mpeg4 -c:a aac -aac_pns 0 -movie_timescale 48000", "a.mp4"),
      [(123_457, 240_001), (100_003, 7_777)], timescale: 48_000),
    edited(
      "aac in fragments, two edits",
      ff(
        "-c:a aac -aac_pns 0 -movie_timescale 44100 -movflags +empty_moov+delay_moov+default_base_moof -frag_duration 1000000",
        "a.mp4"),
      [(99_999, 200_001), (100_001, 5_000)]),
    edited(
      "alac in mp4, a frame here and there", ff("-c:a alac -movie_timescale 44100", "a.m4a"),
      [(100_000, 3), (1, 400_000), (1, 77), (65_536, 4_096), (44_101, 4_095), (65_000, 333_333)],
      packet: (4_096, 0)),
    edited(
      "pcm in mov, two edits", ff("-c:a pcm_s16le -movie_timescale 44100", "a.mov"),
      [(200_000, 100_001), (100_001, 7)]),
    edited(
      "opus in mp4, two edits", of: at48k, ff("-c:a libopus -movie_timescale 48000", "a.mp4"),
      [(100_000, 200_000), (120_001, 312)], timescale: 48_000, lead: 312, is: .within(steps: 1), packet: (960, 0)),
    edited(
      "mp3 in mp4, two edits", ff("-c:a libmp3lame -movie_timescale 44100", "a.mp4"),
      [(100_000, 200_000), (120_001, 1_105)], packet: (1_152, 0)),
  ]
}
