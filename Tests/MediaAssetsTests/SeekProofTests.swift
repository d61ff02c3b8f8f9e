import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Files in which a seek is hard to prove. A read after a seek equals a read from the start, or the seek reports a
/// doubt. Exports always equal a read from the start.
@Suite struct SeekProofTests {
  /// The options for a file, and an edit of its bytes.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    /// A call of a function of `mediapatch`; `data` is the file.
    var edit: String?
    /// Whether every seek is exact.
    var isProven = true
    /// A program that encodes FFmpeg's file; the input and the output follow these words.
    var encoder: [String] = []
    var testDescription: String { "\(name) \(edit ?? "")" }
  }

  private static let aac = ["-c:a", "aac", "-aac_pns", "0"]

  private static let clusters = ["-cluster_time_limit", "500"]
  private static let video = ["-f", "lavfi", "-i", "testsrc=d=6:s=64x48:r=10", "-c:v", "mpeg4"]

  static let rows = [
    Row(name: "gap.mka", options: aac, edit: "matroska_gap(data, 200)", isProven: false),
    Row(
      name: "lost.vorbis.webm", options: ["-c:a", "libvorbis"], edit: "matroska_without_blocks(data, 0.3, 1)",
      isProven: false),
    Row(
      name: "lost.vorbis.mka", options: ["-c:a", "libvorbis"], edit: "matroska_without_blocks(data, 0.4, 5)",
      isProven: false),
    Row(
      name: "lost.opus.webm", options: ["-c:a", "libopus", "-frame_duration", "10"],
      edit: "matroska_without_blocks(data, 0.4, 1)", isProven: false),
    Row(
      name: "lost.short.webm", options: ["-c:a", "libopus", "-frame_duration", "2.5"],
      edit: "matroska_without_blocks(data, 0.4, 2)", isProven: false),
    Row(name: "back.opus.webm", options: ["-c:a", "libopus"], edit: "matroska_gap(data, -300)", isProven: false),
    Row(name: "back.vorbis.webm", options: ["-c:a", "libvorbis", "-t", "4"], edit: "matroska_gap(data, -300)"),
    Row(name: "gap.flac.mka", options: ["-c:a", "flac"], edit: "matroska_gap(data, 64)"),
    Row(name: "gap.ac3.mka", options: ["-c:a", "ac3"], edit: "matroska_gap(data, 21)"),
    Row(
      name: "step.flac.mka", options: ["-c:a", "flac"] + clusters, edit: "matroska_step(data, 0.4, -1000)",
      isProven: false),
    Row(
      name: "step.opus.webm", options: ["-c:a", "libopus"] + clusters, edit: "matroska_step(data, 0.3, -1000)",
      isProven: false),
    Row(
      name: "step-on.aac.mka", options: aac + clusters, edit: "matroska_step(data, 0.4, 12000)", isProven: false),
    Row(
      name: "step-video.mkv", options: video + ["-c:a", "flac"] + clusters, edit: "matroska_step(data, 0.4, -1000)",
      isProven: false),
    Row(name: "video.mkv", options: video + ["-c:a", "flac"] + clusters),
    Row(name: "gap.m4a", options: aac, edit: "mp4_gap(data, 40, 3000)"),
    Row(name: "gap.mp3.mp4", options: ["-c:a", "libmp3lame"], edit: "mp4_gap(data, 40, 1024)"),
    Row(
      name: "dts.ts", options: ["-c:a", "dca", "-strict", "-2", "-ar", "48000"], edit: "ts_step(data, 5, -45000)",
      isProven: false),
    Row(name: "opus.ts", options: ["-c:a", "libopus"], edit: "ts_step(data, 5, -45000)"),
    Row(name: "first-delta-1.m4a", options: aac, edit: "mp4_first_delta(data, 1)"),
    Row(name: "first-delta.m4a", options: aac, edit: "mp4_first_delta(data, 1023)"),
    Row(name: "late.oga", options: ["-c:a", "flac"], edit: "ogg_granules(data, 40000)"),
    Row(name: "hole.oga", options: ["-c:a", "flac"], edit: "ogg_without_pages(data, -3, 1)", isProven: false),
    Row(name: "low.ogg", options: ["-c:a", "libvorbis"], edit: "ogg_granule(data, 5, 1000)"),
    Row(name: "low.opus", options: ["-c:a", "libopus"], edit: "ogg_granule(data, 5, 1000)", isProven: false),
    Row(name: "low-end.ogg", options: ["-c:a", "libvorbis"], edit: "ogg_granule(data, -1, 1000)"),
    Row(name: "low-end.oga", options: ["-c:a", "flac"], edit: "ogg_granule(data, -1, 1000)"),
    Row(name: "chain.opus", options: ["-c:a", "libopus"], edit: "chain(ogg_serial(data, 7), ogg_serial(data, 8))"),
    Row(
      name: "same-serial.ogg", options: ["-c:a", "libvorbis"],
      edit: "chain(ogg_serial(data, 2), ogg_serial(data, 2))"),
    Row(name: "swapped.ts", options: aac, edit: "swap_blocks(data, 0.4, 0.6, 3000)", isProven: false),
    Row(name: "step-back.ts", options: aac, edit: "ts_step(data, 4, -90000)"),
    Row(name: "groups.wma", options: ["-c:a", "wmav2", "-b:a", "32k"], edit: "asf_packet_times(data)"),
    Row(name: "flac.wma", options: ["-c:a", "flac"], isProven: false),
    Row(name: "vorbis.wma", options: ["-c:a", "libvorbis"]),
    Row(name: "a.rm", options: ["-c:a", "aac", "-b:a", "96k"]),
    Row(name: "dts.vob", options: ["-c:a", "dca", "-strict", "-2", "-f", "vob", "-ar", "48000"], isProven: false),
    Row(name: "short.flac", options: ["-c:a", "flac"], edit: "flac_sample_count(data, 50000)"),
    // Frames that are shorter than the rounding of timestamps.
    Row(name: "tiny.mka", options: ["-c:a", "flac", "-frame_size", "32", "-t", "6"]),
    Row(name: "a.dff", options: ["-f", "wav", "-t", "1"], edit: "dsdiff(data)"),
    Row(name: "a.ape", options: ["-f", "wav"], edit: "monkeys_audio(data, 73728)"),
    Row(name: "short.ape", options: ["-f", "wav", "-t", "3"], edit: "monkeys_audio(data, 4096)"),
    Row(name: "a.mpc", options: ["-f", "wav"], encoder: ["mpcenc", "--silent"]),
    Row(name: "stereo.mpc", options: ["-f", "wav", "-ac", "2"], encoder: ["mpcenc", "--silent", "--insane"]),
  ]

  /// Noise and a sweep: no two parts are alike.
  private static let source = "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=6:s=44100"

  private static func make(_ row: Row, in folder: TemporaryFolder) throws -> String {
    // mpcenc reads only files whose names end with `.wav`.
    let original = folder.file(row.encoder.isEmpty ? "original-\(row.name)" : "original.wav")
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + row.options + [original])
    if let program = row.encoder.first {
      try Tool.run(program, row.encoder.dropFirst() + [original, folder.file(row.name)])
      return folder.file(row.name)
    }
    guard let edit = row.edit else { return original }
    try MediaPatch.apply(edit, from: original, to: folder.file(row.name))
    return folder.file(row.name)
  }

  @Test(arguments: rows)
  func seeksClaimOnlyWhatTheyProve(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let asset = Asset(path: path)
    let whole = try AudioTrackReader(asset: asset).readToEnd()
    let doubts = try Self.doubts(row, whole, asset, reopen: { Asset(path: path) })
    if row.isProven { #expect(doubts.isEmpty) }
  }

  /// A remote file is neither counted nor decoded from its start. A cancelled read leaves the reader at an unknown
  /// position.
  @Test(arguments: rows)
  func remoteSeeksAfterACancelledReadClaimOnlyWhatTheyProve(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    let fileBytes = try readFile(path)
    let bytes = ClosableBytes(fileBytes)
    var cancelledCount = 0
    func open() -> Asset { Asset(location: .source(name: row.name) { () throws(MediaError) in bytes }) }
    _ = try Self.doubts(
      row, whole, open(), reopen: open,
      beforeSeek: { number, reader in
        guard number % 3 == 1 else { return }
        bytes.onBlocked { reader.cancel() }
        bytes.close()
        // After a seek without a proof, the end of the file may be too early.
        _ = errorCode { _ = try reader.readToEnd() }
        bytes.open()
        if bytes.isCancelled { cancelledCount += 1 }
        reader.resetCancellation()
      })
    print("\(row.name): \(cancelledCount) cancelled reads")
    // Smaller files may be read completely when they are opened.
    #expect(cancelledCount > 0 || fileBytes.count < 400_000)
    let counter = try AudioTrackReader(asset: open())
    let counted = try counter.exactFrameCount()
    // The number of packets is not the number of frames that damaged packets decode to.
    if row.name != "swapped.ts" { #expect(counted == Int64(whole.count / counter.format.channelCount)) }
  }

  /// Seeks 40 times. Compares the audio after each seek without a doubt with `whole`, and returns the doubts.
  ///
  /// - Parameters:
  ///   - reopen: opens the file again.
  ///   - beforeSeek: called with the number of the next seek.
  private static func doubts(
    _ row: Row, _ whole: [Float], _ asset: Asset, reopen: () -> Asset,
    beforeSeek: (Int, AudioTrackReader) throws -> Void = { _, _ in }
  ) throws -> [PositionDoubt] {
    var reader = try AudioTrackReader(asset: asset)
    let (rate, channels) = (reader.format.sampleRateHz, reader.format.channelCount)
    let frameCount = whole.count / channels
    var random = SplitMix64(state: 31)
    var doubts: [PositionDoubt] = []
    for number in 0..<40 {
      if number % 4 == 3 { reader = try AudioTrackReader(asset: number % 8 == 7 ? reopen() : asset) }
      try beforeSeek(number, reader)
      let target = Int.random(in: 0..<frameCount, using: &random)
      // A seek proves nothing about audio after later damage.
      let readsToEnd = number % 5 == 4 && row.name != "swapped.ts"
      let count = readsToEnd ? frameCount - target : min(4_000, frameCount - target)
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      if let doubt = reader.positionDoubt {
        doubts.append(doubt)
        continue
      }
      #expect(landed == MediaTime(frame: Int64(target), rate: rate))
      let (position, samples) = try reader.readFrames(count)
      #expect(position == Int64(target) && samples.count == count * channels)
      let worst = SampleComparison.largestDifference(samples, whole[(target * channels)...])
      #expect(worst <= 1e-4, "target \(target): \(worst)")
    }
    print("\(row.name): \(doubts.count) of 40 seeks without proof \(Set(doubts.map(\.rawValue)).sorted())")
    return doubts
  }

  /// The decoder of Speex depends on all earlier audio, and only an exact seek decodes it.
  @Test func tolerantSeekInSpeexReportsTheUnknownState() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.spx")
    try Tool.ffmpeg("-f", "lavfi", "-i", Self.source, "-ar", "16000", "-c:a", "libspeex", path)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let second = MediaTime(value: 1, timescale: 1)
    let target = MediaTime(value: 4, timescale: 1)
    _ = try reader.seek(to: target, toleranceBefore: second, toleranceAfter: second)
    #expect(reader.positionDoubt == .decoderState)
    try reader.seekExactly(to: target)
    #expect(reader.positionDoubt == nil)
  }

  /// A remote file is neither counted nor decoded from its start.
  @Test(arguments: [
    ("a.mpc", PositionDoubt.decoderState), ("stereo.mpc", .decoderState), ("gap.m4a", .irregularTimestamps),
    ("tiny.mka", .coarseTimestamps), ("hole.oga", .damage), ("video.mkv", .estimated),
  ])
  func remoteSeeksReportTheReasonOfTheirDoubt(_ name: String, _ doubt: PositionDoubt) throws {
    let row = try #require(Self.rows.first { $0.name == name })
    let (folder, server) = (try TemporaryFolder(), try HTTPServer())
    try server.write(readFile(Self.make(row, in: folder)), to: name)
    let reader = try AudioTrackReader(asset: Asset(url: "\(server.address)/\(name)"))
    var doubts: Set<PositionDoubt> = []
    for second in [1, 4, 2, 5, 3] as [Int64] {
      try reader.seekExactly(to: MediaTime(value: 10 * second + 3, timescale: 10))
      if let doubt = reader.positionDoubt { doubts.insert(doubt) }
    }
    print("\(name) over HTTP: \(doubts.map(\.rawValue).sorted())")
    #expect(doubts.contains(doubt))
  }

  /// A first seek that is cancelled ends before the reader knows whether the timestamps are right.
  @Test(arguments: [
    ("a.mka", [], true, PositionDoubt?.none), ("a.m4a", ["-use_editlist", "0"], true, nil),
    ("a.m4a", ["-use_editlist", "0"], false, .irregularTimestamps),
  ])
  func seeksAfterACancelledSeekClaimOnlyWhatTheyProve(
    _ name: String, _ options: [String], _ isLocal: Bool, _ doubt: PositionDoubt?
  ) throws {
    let folder = try TemporaryFolder()
    let (original, path) = (folder.file("original-\(name)"), folder.file(name))
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.source] + Self.aac + options + [original])
    let edit = name == "a.mka" ? "matroska_jitter(data, 0, 1)" : "mp4_jitter(data, 300, 1)"
    try MediaPatch.apply(edit, from: original, to: path)
    let bytes = ClosableBytes(try readFile(path))
    let source = Asset(location: .source(name: name) { () throws(MediaError) in bytes })
    // A seek is cancelled at another moment each time, or has ended before. On a busy machine most have.
    var cancelledCount = 0
    for attempt in 0..<6_000 where attempt < 300 || cancelledCount == 0 {
      let delay = attempt % 300
      let reader = try AudioTrackReader(asset: isLocal ? Asset(path: path) : source)
      let (started, finished) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isSeeking = Atomic(false)
      Thread {
        started.signal()
        // A short seek would end before a thread that waits for a lock runs.
        while !isSeeking.load(ordering: .acquiring) {}
        for _ in 0..<delay * 4 { sched_yield() }
        reader.cancel()
        finished.signal()
      }.start()
      started.wait()
      isSeeking.store(true, ordering: .releasing)
      let code = errorCode { try reader.seekExactly(to: MediaTime(value: 3, timescale: 1)) }
      finished.wait()
      reader.resetCancellation()
      if code == 6015 { cancelledCount += 1 }
      try reader.seekExactly(to: MediaTime(value: 5, timescale: 1))
      #expect(reader.positionDoubt == doubt, "after \(delay): \(code)")
    }
    print("\(name) \(isLocal): \(cancelledCount) cancelled")
    #expect(cancelledCount > 0)
  }

  /// A range begins at the right sample, even where a seek has no proof.
  @Test(arguments: rows)
  func exportedRangesEqualARead(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let (rate, channels) = (reader.format.sampleRateHz, reader.format.channelCount)
    let whole = try reader.readToEnd()
    let frameCount = whole.count / channels
    let target = folder.file("out.wav")
    for start in [1_000, frameCount / 2 + 137, frameCount - 9_000] {
      var settings = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))
      settings.timeRange = TimeRange(
        start: MediaTime(frame: Int64(start), rate: rate), duration: MediaTime(frame: 8_000, rate: rate))
      _ = try await AssetExportSession(Asset(path: path), to: target, settings, replacesFile: true)
        .outcome()
      let exported = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
      let worst = SampleComparison.largestDifference(exported, whole[(start * channels)...])
      #expect(exported.count == 8_000 * channels && worst <= 1e-4, "start \(start): \(worst)")
    }
  }
}
