import PlayheadMediaAssets
import PlayheadMediaCore

/// The audio of a file, decoded from start to end by the library's reader. All other checks compare with it.
struct DecodedAudio: Sendable {
  let format: AudioFormat
  let trackID: AssetTrack.ID
  let codecName: String
  let samples: SampleStore
  /// The error that ended the audio before the end of the file; nil if there was none.
  let error: MediaError?
  /// Whether packets could not be decoded, or the reader issued a warning.
  let hasFaults: Bool

  var frameCount: Int { samples.frameCount }

  /// The time of a frame.
  func time(ofFrame frame: Int) -> MediaTime { MediaTime(frame: Int64(frame), rate: format.sampleRateHz) }

  /// Whether decoding from any position returns exactly the same samples. The samples of other decoders may differ
  /// slightly after a seek, because of rounding, generated noise and decaying state.
  var isLossless: Bool {
    codecName.hasPrefix("pcm_")
      || ["flac", "alac", "wavpack", "tta", "truehd", "mlp", "ape", "wmalossless", "mp4als"].contains(codecName)
  }

  /// The maximum difference of a sample after a seek that does not count as a failure.
  var seekTolerance: Float { isLossless ? 0 : 1e-4 }
}

extension DecodedAudio {
  /// Codecs whose samples after a seek differ from those of a whole decode, because the decoder generates noise, or
  /// predicts from all earlier samples. The file does not contain that state.
  ///
  /// - noise: AAC's noise substitution (ISO/IEC 14496-3, 4.6.13), dither of AC-3 (ATSC A/52, 7.3.4)
  /// - prediction: speech codecs, and ADPCM whose blocks begin without the predictor or with a part of it
  private static let stateful: Set<String> = [
    "aac", "ac3", "eac3", "speex", "gsm", "gsm_ms", "g723_1", "ra_144", "nellymoser", "adpcm_g722", "adpcm_g726",
    "adpcm_g726le", "adpcm_ima_qt", "adpcm_yamaha",
  ]

  /// Whether samples after a seek differ only because of the state of a `stateful` decoder. This is true if the best
  /// match in the file is at the expected position, for both the first and the last audible samples, and if digital
  /// silence before and after them is at its position.
  ///
  /// - Parameters:
  ///   - heard: the interleaved samples after the seek.
  ///   - start: the frame at which `heard` should begin.
  func isNoise(_ heard: [Float], from start: Int) -> Bool {
    guard Self.stateful.contains(codecName), let first = heard.firstIndex(where: { $0 != 0 }),
      let last = heard.lastIndex(where: { $0 != 0 })
    else { return false }
    let channelCount = format.channelCount
    // Digital silence, which replaces missing packets, identifies no position.
    let audible = first / channelCount..<last / channelCount + 1
    let hasExpectedSilence = samples.withSamples { whole in
      let expected = whole.dropFirst(start * channelCount).prefix(heard.count)
      return expected.prefix(audible.lowerBound * channelCount).allSatisfy { $0 == 0 }
        && expected.dropFirst(audible.upperBound * channelCount).allSatisfy { $0 == 0 }
    }
    guard hasExpectedSilence else { return false }
    return [audible.lowerBound, max(audible.lowerBound, audible.upperBound - SampleSearch.frameCount)].allSatisfy {
      first in
      heard.withUnsafeBufferPointer { heard in
        let range = UnsafeBufferPointer(rebasing: heard[first * channelCount..<audible.upperBound * channelCount])
        return SampleSearch.offset(of: range, in: samples, near: start + first, noiseShare: 0.5) == 0
      }
    }
  }
}

/// Decodes whole files.
struct WholeDecode {
  let path: String
  let report: CheckReport

  /// Frames per read. No codec has this packet size, so reads end within packets.
  private static let readFrameCount = 4_000
  private static let repeatedReadFrameCount = 777

  /// Decodes the file; nil on failure, after a report.
  func run() -> DecodedAudio? {
    report.countComparison()
    do throws(MediaError) {
      let decoded = try Self.decode(Asset(path: path), readFrameCount: Self.readFrameCount) { frame, position in
        report.fail(.decode, expected: "a read at frame \(frame)", found: "frame \(position)")
      }
      if let error = decoded.error { report.note("the audio ends early: \(error)") }
      guard decoded.frameCount > 0 else {
        report.note("the file has no audio frames")
        return nil
      }
      return decoded
    } catch {
      report.fail(.decode, expected: "audio", found: "\(error)")
      return nil
    }
  }

  /// Decodes the file again with reads of another size, and compares.
  func compareRepeated(with whole: DecodedAudio) {
    report.countComparison()
    do throws(MediaError) {
      let again = try Self.decode(Asset(path: path), readFrameCount: Self.repeatedReadFrameCount)
      Self.compare(again, with: whole, as: .repeat, tolerance: 0, report)
    } catch {
      report.fail(.repeat, expected: "\(whole.frameCount) frames", found: "\(error)")
    }
  }

  /// Decodes an asset from its start. Throws the errors of opening it; later errors end the audio and are part of the
  /// result.
  static func decode(
    _ asset: Asset, readFrameCount: Int = readFrameCount, onGap: (_ frame: Int, _ position: Int64) -> Void = { _, _ in }
  ) throws(MediaError) -> DecodedAudio {
    let reader = try AudioTrackReader(asset: asset)
    let format = reader.format
    let store = try SampleStore(channelCount: format.channelCount)
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: readFrameCount * format.channelCount)
    defer { buffer.deallocate() }
    var failure: MediaError?
    var hasFaults = false
    reading: while true {
      let result: AudioTrackReader.ReadResult
      do throws(MediaError) {
        result = try reader.read(into: buffer, capacityFrames: readFrameCount)
      } catch {
        failure = error
        break
      }
      switch result {
      case .frames(let count, let position):
        if position != Int64(store.frameCount) { onGap(store.frameCount, position) }
        try store.append(buffer, frameCount: count)
      case .endOfTrack, .cancelled: break reading
      }
      if reader.popSkippedPackets() != nil || reader.popWarning() != nil { hasFaults = true }
    }
    if reader.popSkippedPackets() != nil || reader.popWarning() != nil { hasFaults = true }
    try store.seal()
    let track = try asset.load().tracks.first { $0.id == reader.trackID }
    return DecodedAudio(
      format: format, trackID: reader.trackID, codecName: track?.codecName ?? "none", samples: store, error: failure,
      hasFaults: hasFaults)
  }

  /// Compares two whole decodes. Returns whether they agree.
  ///
  /// - Parameters:
  ///   - start: the frame of `whole` that corresponds to the first frame of `other`.
  ///   - end: the frame of `whole` that corresponds to the end of `other`.
  @discardableResult
  static func compare(
    _ other: DecodedAudio, with whole: DecodedAudio, from start: Int = 0, to end: Int? = nil, as check: Check,
    tolerance: Float, _ report: CheckReport
  ) -> Bool {
    let end = end ?? whole.frameCount
    guard other.format == whole.format else {
      report.fail(check, expected: text(whole.format), found: text(other.format))
      return false
    }
    let channelCount = whole.format.channelCount
    let difference = whole.samples.withSamples { all in
      other.samples.withSamples { found -> (String, String)? in
        let expected = UnsafeBufferPointer(rebasing: all[min(start, end) * channelCount..<end * channelCount])
        return SampleDifference(
          expected: expected, found: found, channelCount: channelCount, tolerance: tolerance
        ).map { ($0.expectedText(from: start), $0.foundText(found, in: whole.samples, from: start)) }
      }
    }
    if other.frameCount != end - start {
      report.fail(
        check, expected: "\(end - start) frames",
        found: "\(other.frameCount)" + (difference.map { "; expected \($0.0), found \($0.1)" } ?? ""))
      return false
    }
    guard let difference else { return true }
    if start > 0, whole.isNoise(other.samples.withSamples { Array($0) }, from: start) {
      report.noise(check, expected: difference.0, found: difference.1)
    } else {
      report.fail(check, expected: difference.0, found: difference.1)
    }
    return false
  }

  /// A format as text.
  static func text(_ format: AudioFormat) -> String { "\(format.channelCount) × \(format.sampleRateHz) Hz" }
}
