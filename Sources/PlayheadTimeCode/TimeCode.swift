/// One stereo frame of signed 16-bit samples.
public struct StereoFrame: Hashable, Sendable {
  /// The sample of the left channel.
  public var left: Int16
  /// The sample of the right channel.
  public var right: Int16

  /// Makes a frame.
  public init(left: Int16, right: Int16) {
    self.left = left
    self.right = right
  }

  /// Makes a frame of samples with full scale 1: rounded to nearest and clipped. NaN becomes 0.
  public init(rounding left: Float, _ right: Float) {
    func sample(_ value: Float) -> Int16 {
      value.isNaN ? 0 : Int16(max(-32_768, min(32_767, (value * 32_768).rounded())))
    }
    self.init(left: sample(left), right: sample(right))
  }

  /// Both samples are 0.
  public static let silence = StereoFrame(left: 0, right: 0)

  /// The frames of interleaved 16-bit samples, little endian.
  public static func frames(of bytes: UnsafeRawBufferPointer) -> [StereoFrame] {
    (0..<bytes.count / 4).map { index in
      StereoFrame(
        left: Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int16.self)),
        right: Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index + 2, as: Int16.self)))
    }
  }

  /// The frames of interleaved samples with full scale 1.
  public static func frames(of samples: [Float]) -> [StereoFrame] {
    (0..<samples.count / 2).map { index in
      StereoFrame(rounding: samples[2 * index], samples[2 * index + 1])
    }
  }
}

/// Audio in which every frame encodes its file and its index.
///
/// <!-- listing: virtual-engine -->
/// ```swift
/// try TimeCode.writeWAV(path: folder + "/one.wav", file: 1, frameCount: 48_000)
/// try TimeCode.writeWAV(path: folder + "/two.wav", file: 2, frameCount: 24_000)
///
/// let test = try await PlaybackEngine.virtual()
/// let player = try await QueuePlayer(
///   engine: test.engine, items: [PlayerItem(path: folder + "/one.wav"), PlayerItem(path: folder + "/two.wav")])
/// await player.play()
/// try await test.clock.advance(by: .seconds(1.5))
///
/// precondition(
///   test.output.timeCodeRuns == [
///     TimeCode.Run(file: 1, firstIndex: 0, count: 48_000, position: 0),
///     TimeCode.Run(file: 2, firstIndex: 0, count: 24_000, position: 48_000),
///   ])
/// ```
///
/// - Left: the 15 low bits of the index.
/// - Right: bit 14 is the marker (always 1), bits 10 to 13 the file's number, bits 0 to 9 the high bits of the index.
///
/// No sample is negative, and the marker is never 0, so no code is silence. Audio processing that is exact for 16 bits
/// changes no code.
public enum TimeCode {
  /// The numbers that files may have.
  public static let fileNumbers = 1...15
  /// The number of frames that a file may have.
  public static let indexLimit = 1 << 25

  /// The frame number `index` of file number `file`.
  public static func frame(file: Int, index: Int) -> StereoFrame {
    precondition(
      fileNumbers.contains(file) && (0..<indexLimit).contains(index),
      "out of the range of a time code")
    return StereoFrame(
      left: Int16(truncatingIfNeeded: index & 0x7fff),
      right: Int16(truncatingIfNeeded: 0x4000 | file << 10 | index >> 15))
  }

  /// The file and index of a frame; nil if it is not a time code.
  public static func decode(_ frame: StereoFrame) -> (file: Int, index: Int)? {
    guard frame.left >= 0, frame.right & 0x4000 != 0, frame.right >= 0 else { return nil }
    let file = Int(frame.right) >> 10 & 0xf
    guard file != 0 else { return nil }
    return (file, (Int(frame.right) & 0x3ff) << 15 | Int(frame.left))
  }

  /// A continuous range of one file in a capture.
  public struct Run: Hashable, Sendable, CustomStringConvertible {
    /// The file's number; 0 for audio that is not a time code.
    public var file: Int
    /// The index of the first frame.
    public var firstIndex: Int
    /// The number of frames.
    public var count: Int
    /// The start of the run in the capture.
    public var position: Int

    /// Makes a run.
    public init(file: Int, firstIndex: Int, count: Int, position: Int) {
      self.file = file
      self.firstIndex = firstIndex
      self.count = count
      self.position = position
    }

    /// The index after the last frame.
    public var endIndex: Int { firstIndex + count }
    /// The position in the capture after the last frame.
    public var endPosition: Int { position + count }
    public var description: String { "file \(file) [\(firstIndex) ..< \(endIndex)] at \(position)" }
  }

  /// The coverage of the range from the first to the last index of these runs. `missing` is the number of frames that
  /// no run contains. `repeated` is the number of frames in excess of one play each.
  public static func coverage(of runs: [Run]) -> (missing: Int, repeated: Int) {
    var (end, missing, played) = (runs.map(\.firstIndex).min() ?? 0, 0, 0)
    let first = end
    for run in runs.sorted(by: { $0.firstIndex < $1.firstIndex }) {
      missing += max(0, run.firstIndex - end)
      end = max(end, run.endIndex)
      played += run.count
    }
    return (missing, played - (end - first - missing))
  }

  /// The runs of a capture, in order. Silence ends a run and is not a run itself.
  public static func runs(in frames: [StereoFrame]) -> [Run] {
    var runs: [Run] = []
    var current: Run?
    var position = 0
    for frame in frames {
      defer { position += 1 }
      if frame == .silence {
        if let run = current { runs.append(run) }
        current = nil
        continue
      }
      let code = decode(frame) ?? (file: 0, index: 0)
      if var run = current, run.file == code.file, code.file == 0 || run.endIndex == code.index {
        run.count += 1
        current = run
      } else {
        if let run = current { runs.append(run) }
        current = Run(file: code.file, firstIndex: code.index, count: 1, position: position)
      }
    }
    if let run = current { runs.append(run) }
    return runs
  }
}
