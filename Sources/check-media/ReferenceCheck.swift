import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore

/// The audio of a file from another decoder: raw samples in a file.
struct ReferenceAudio: Sendable {
  /// Formats of samples; little-endian.
  enum Format: String, Sendable {
    case u8, s16, s24, s32, f32

    var byteCount: Int {
      switch self {
      case .u8: 1
      case .s16: 2
      case .s24: 3
      case .s32, .f32: 4
      }
    }
  }

  /// The name of the decoder.
  var name: String
  var format: Format
  var audioFormat: AudioFormat
  /// The first byte of the samples, and their number of bytes.
  var offset: Int
  var byteCount: Int
  /// The tolerance for a sample, in steps of 16 bits.
  var steps: Float
  var path: String

  var frameCount: Int { byteCount / (format.byteCount * audioFormat.channelCount) }

  /// Parses `NAME,FORMAT,RATE,CHANNELS,OFFSET,BYTES,STEPS,PATH`.
  init?(argument: String) {
    let parts = argument.split(separator: ",", maxSplits: 7, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 8, let format = Format(rawValue: parts[1]), let rate = Int(parts[2]),
      let channelCount = Int(parts[3]), let offset = Int(parts[4]), let byteCount = Int(parts[5]),
      let steps = Float(parts[6]), rate > 0, (1...64).contains(channelCount), offset >= 0, byteCount >= 0
    else { return nil }
    (name, self.format, path) = (parts[0], format, parts[7])
    audioFormat = AudioFormat(sampleRateHz: rate, channelCount: channelCount)
    (self.offset, self.byteCount, self.steps) = (offset, byteCount, steps)
  }

  /// Reads the samples.
  func samples() throws(MediaError) -> SampleStore {
    let store = try SampleStore(channelCount: audioFormat.channelCount)
    guard let file = fopen(path, "r") else {
      throw MediaError(.fileNotFound, "the reference cannot be read: \(path)", operation: "fopen")
    }
    defer { fclose(file) }
    fseek(file, offset, SEEK_SET)
    let frameByteCount = format.byteCount * audioFormat.channelCount
    let blockFrameCount = 4_096
    var bytes = [UInt8](repeating: 0, count: blockFrameCount * frameByteCount)
    var remaining = frameCount
    while remaining > 0 {
      let count = fread(&bytes, frameByteCount, min(remaining, blockFrameCount), file)
      guard count > 0 else { break }
      let values = floats(bytes, count: count * audioFormat.channelCount)
      let result = values.withUnsafeBufferPointer { values -> Result<Void, MediaError> in
        guard let base = values.baseAddress else { return .success(()) }
        do throws(MediaError) { return .success(try store.append(base, frameCount: count)) } catch {
          return .failure(error)
        }
      }
      try result.get()
      remaining -= count
    }
    try store.seal()
    return store
  }

  private func floats(_ bytes: [UInt8], count: Int) -> [Float] {
    bytes.withUnsafeBytes { bytes in
      (0..<count).map { index in
        let offset = index * format.byteCount
        switch format {
        case .u8: return (Float(bytes[offset]) - 128) / 128
        case .s16: return Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)) / 32_768
        case .s24:
          let low = Int32(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
          let high = Int32(bytes.loadUnaligned(fromByteOffset: offset + 2, as: Int8.self))
          return Float(high << 16 | low) / 8_388_608
        case .s32: return Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)) / 2_147_483_648
        case .f32: return bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)
        }
      }
    }
  }
}

/// Compares the whole decode with the audio of other decoders. At least one decoder must agree.
struct ReferenceCheck {
  let references: [ReferenceAudio]
  let whole: DecodedAudio
  let properties: AssetProperties
  let report: CheckReport

  /// FFmpeg 5.1 cuts the last packet of a movie file at the end of the media, not of the edit list.
  private static let movieEndFrameCount = 4_096

  /// A disagreement as text.
  private struct Mismatch {
    var expected: String
    var found: String
  }

  func run() {
    report.countComparison()
    var first: Mismatch?
    for reference in references {
      guard let mismatch = compare(with: reference) else { return }
      first = first ?? Mismatch(expected: "\(reference.name): \(mismatch.expected)", found: mismatch.found)
    }
    if let first { report.fail(.reference, expected: first.expected, found: first.found) }
  }

  private func compare(with reference: ReferenceAudio) -> Mismatch? {
    guard reference.audioFormat == whole.format else {
      return Mismatch(expected: WholeDecode.text(reference.audioFormat), found: WholeDecode.text(whole.format))
    }
    do throws(MediaError) {
      return compare(reference, try reference.samples())
    } catch {
      return Mismatch(expected: "a reference", found: "\(error)")
    }
  }

  private func compare(_ reference: ReferenceAudio, _ expected: SampleStore) -> Mismatch? {
    let channelCount = whole.format.channelCount
    // Some lossy decoders return integers, which cannot exceed full scale.
    let clips = reference.steps > 0
    let difference = whole.samples.withSamples { samples in
      expected.withSamples { expectedSamples -> (String, String)? in
        let (found, expectedSamples) = (Clipped(samples, clips), Clipped(expectedSamples, clips))
        return found.withSamples { found in
          expectedSamples.withSamples { expectedSamples in
            SampleDifference(
              expected: expectedSamples, found: found, channelCount: channelCount, tolerance: reference.steps / 32_768
            ).map { ($0.expectedText(from: 0), $0.foundText(found, in: expected, from: 0)) }
          }
        }
      }
    }
    if expected.frameCount != whole.frameCount {
      let excess = expected.frameCount - whole.frameCount
      if reference.name.hasPrefix("ffmpeg"), difference == nil, (0..<Self.movieEndFrameCount).contains(excess),
        isMovie, properties.providesPreciseDuration || properties.formatName == "hls"
      {
        report.note("ffmpeg decodes \(excess) frames after the end of the edit list")
        return nil
      }
      let rest = difference.map { "; expected \($0.0), found \($0.1)" } ?? "; the common frames agree"
      return Mismatch(expected: "\(expected.frameCount) frames", found: "\(whole.frameCount)\(rest)")
    }
    return difference.map { Mismatch(expected: $0.0, found: $0.1) }
  }

  private var isMovie: Bool { properties.formatName.contains("mp4") || properties.formatName == "hls" }
}

/// Samples unchanged, or limited to full scale of 16 bits.
private struct Clipped {
  private let samples: UnsafeBufferPointer<Float>
  private let clipped: [Float]?

  init(_ samples: UnsafeBufferPointer<Float>, _ clips: Bool) {
    let limit: Float = 32_767 / 32_768
    self.samples = samples
    clipped = clips ? samples.map { min(max($0, -limit), limit) } : nil
  }

  func withSamples<Result>(_ body: (UnsafeBufferPointer<Float>) -> Result) -> Result {
    clipped.map { $0.withUnsafeBufferPointer(body) } ?? body(samples)
  }
}
