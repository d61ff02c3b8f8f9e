import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore

/// Exports a file, decodes the result, and compares it with the whole decode.
struct ExportCheck: Sendable {
  let options: CheckOptions
  let whole: DecodedAudio
  let properties: AssetProperties
  let report: CheckReport

  /// Exports everything to a WAV file of 32-bit floating-point numbers.
  func wav() async {
    await export(.exportWAV, Self.floatingPoint, name: "whole.wav", range: nil, tolerance: 0)
  }

  /// Exports a random range to a WAV file.
  func range() async {
    var random = options.random(for: .exportRange)
    let start = Int.random(in: 0..<whole.frameCount, using: &random)
    let end = Int.random(in: start + 1...whole.frameCount, using: &random)
    await export(
      .exportRange, Self.floatingPoint, name: "range.wav", range: start..<end, tolerance: whole.seekTolerance)
  }

  /// Copies the packets into another file, if a container of the library supports the codec.
  func copy() async {
    guard properties.formatName != "hls" else { return report.note("streams are not copied") }
    guard let (container, name) = Self.copies[whole.codecName] else {
      return report.note("no container for a copy of \(whole.codecName)")
    }
    var settings = ExportSettings.passthrough(container)
    settings.video = .none
    settings.audioTrackID = whole.trackID
    await export(.exportCopy, settings, name: name, range: nil, tolerance: whole.seekTolerance)
  }

  private static let floatingPoint = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))

  /// Containers for copies, by FFmpeg's names of codecs.
  private static let copies: [String: (WritableContainer, String)] = [
    "flac": (.flac, "copy.flac"), "mp3": (.mp3, "copy.mp3"), "opus": (.ogg, "copy.opus"), "vorbis": (.ogg, "copy.ogg"),
    "speex": (.ogg, "copy.ogg"), "aac": (.m4a, "copy.m4a"), "alac": (.m4a, "copy.m4a"), "ac3": (.mp4, "copy.mp4"),
    "eac3": (.mp4, "copy.mp4"), "dts": (.mp4, "copy.mp4"), "mp2": (.matroska, "copy.mka"),
    "truehd": (.matroska, "copy.mka"), "wavpack": (.matroska, "copy.mka"), "tta": (.matroska, "copy.mka"),
    "pcm_alaw": (.wav, "copy.wav"), "pcm_mulaw": (.wav, "copy.wav"), "adpcm_ima_qt": (.caf, "copy.caf"),
  ]

  private func export(
    _ check: Check, _ settings: ExportSettings, name: String, range: Range<Int>?, tolerance: Float
  ) async {
    report.countComparison()
    let path = "\(options.scratch)/\(name)"
    defer { unlink(path) }
    var settings = settings
    settings.metadataFilter = .none
    let (start, end) = (range?.lowerBound ?? 0, range?.upperBound ?? whole.frameCount)
    if range != nil {
      settings.timeRange = TimeRange(start: whole.time(ofFrame: start), end: whole.time(ofFrame: end))
    }
    do throws(MediaError) {
      let session = AssetExportSession(Asset(path: options.path), to: path, settings, replacesFile: true)
      _ = try await session.outcome()
      let exported = try WholeDecode.decode(Asset(path: path))
      if let error = exported.error {
        return report.fail(check, expected: "a complete file", found: "\(error)")
      }
      WholeDecode.compare(
        exported, with: whole, from: start, to: end, as: check, tolerance: tolerance, report)
    } catch {
      // The export of a truncated file fails with the error of its whole decode.
      if let known = whole.error, known.code == error.code { return }
      // Most containers cannot hold a copy of damaged packets, nor of gaps between packets.
      if check == .exportCopy, whole.hasFaults { return report.note("no copy of a damaged file: \(error)") }
      report.fail(
        check, expected: "\(end - start) frames" + (range == nil ? "" : " from frame \(start) on"), found: "\(error)")
    }
  }
}
