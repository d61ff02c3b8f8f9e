import PlayheadLibAV
import PlayheadMediaCore

/// The format in which video is written.
public struct VideoOutputSettings: Sendable, Hashable, Codable {
  /// A video codec.
  public enum Codec: Sendable, Hashable, Codable {
    /// H.264, encoded by x264; 4:2:0, 8 bits.
    case h264

    /// FFmpeg's name of the codec.
    var codecName: String { "h264" }
  }

  /// The H.264 profile, which states the features that a decoder must support.
  public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
    /// Written as Constrained Baseline: without frame reordering.
    case baseline
    /// The Main or the High profile of H.264.
    case main, high
  }

  /// The effort of the encoder, by x264's names. Slower presets need fewer bits for the same quality.
  public enum Preset: String, Sendable, Hashable, Codable, CaseIterable {
    /// The preset of x264 with this name.
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow
  }

  /// The codec.
  public var codec: Codec
  /// Pixels per row, an even number. Default: nil, the width of the source. Video of another size is scaled.
  public var width: Int?
  /// The number of rows, an even number. Default: nil, the height of the source.
  public var height: Int?
  /// Maximum number of frames between key frames. Default: nil, the choice of the encoder (250).
  public var keyFrameInterval: Int?
  /// Maximum time between key frames. Default: invalid, only ``keyFrameInterval`` applies.
  public var keyFrameIntervalDuration = MediaTime.invalid
  /// Average bits per second, 1,000 to 1,000,000,000. Default: nil, ``constantQuality`` applies.
  public var bitRate: Int?
  /// The rate factor (CRF) of x264, from 0 (lossless) to 51. Cannot be combined with ``bitRate``. Default: nil, 23 if
  /// there is no bit rate.
  public var constantQuality: Double?
  /// The profile. Default: nil, the choice of the encoder.
  public var profile: Profile?
  /// The H.264 level, such as `4.1`. Default: nil, the lowest sufficient level.
  public var level: String?
  /// The effort of the encoder. Default: `medium`.
  public var preset = Preset.medium
  /// The width of a pixel relative to its height. Default: nil, the ratio of the source, which stays correct if width
  /// and height are scaled equally.
  public var pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
  /// The part of the coded frame that is shown. Default: nil, the clean aperture of the source if frames are not
  /// scaled, otherwise the whole frame.
  ///
  /// It is stored as H.264 cropping, which every decoder applies, so the cropped pixels are lost. FFmpeg 5.1 does not
  /// write a `clap` atom. The edges must be multiples of two pixels.
  public var cleanAperture: FormatDescription.Video.CleanAperture?
  /// The colour description. Default: nil, that of the source. Frames with another description are converted. BGRA
  /// without a description becomes BT.709, or BT.601 below 720 rows.
  public var color: FormatDescription.Video.ColorProperties?
  /// Whether the encoder may use B-frames, which are coded in another order than they are shown. Default: true. The
  /// Baseline profile has none.
  public var allowsFrameReordering = true
  /// Maximum number of encoder threads, 1 to 64. Default: nil, the choice of the encoder.
  public var maximumThreadCount: Int?

  /// Creates settings that keep the size and colour of the source.
  public init(_ codec: Codec = .h264) { self.codec = codec }

  // MARK: - Checks

  /// The names of x264's levels.
  private static let levels: Set<String> = [
    "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5", "5.1", "5.2", "6",
    "6.1",
    "6.2",
  ]

  /// - Throws: `invalidArgument` for an invalid size, a value that the codec does not support, and settings that
  ///   contradict each other.
  func check(for source: FormatDescription) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "add") }
    guard let video = source.video, source.codecName == FormatDescription.pixelsCodecName,
      let name = video.pixelFormatName, let format = PixelFormat(name: name)
    else {
      throw refuse("only video frames in BGRA, NV12 or I420 can be encoded (got \(source.codecName))")
    }
    guard format.byteCount(width: video.width, height: video.height) > 0 else {
      throw refuse("unsupported frame size: \(video.width) x \(video.height) pixels")
    }
    let (width, height) = (width ?? video.width, height ?? video.height)
    guard PixelBuffer.supportedSizes.contains(width), PixelBuffer.supportedSizes.contains(height) else {
      throw refuse("unsupported frame size: \(width) x \(height) pixels")
    }
    guard width % 2 == 0, height % 2 == 0 else {
      throw refuse(
        "width and height of the settings must be even (got \(width) x \(height)), because chroma has half the size"
      )
    }
    guard bitRate == nil || constantQuality == nil else {
      throw refuse("bit rate and constant quality cannot be combined")
    }
    guard bitRate.map({ (1_000...1_000_000_000).contains($0) }) ?? true else {
      throw refuse("the bit rate must be between 1000 and 1000000000")
    }
    guard constantQuality.map({ (0...51).contains($0) }) ?? true else {
      throw refuse("constant quality must be between 0 and 51")
    }
    guard keyFrameInterval.map({ (1...1_000_000).contains($0) }) ?? true,
      !keyFrameIntervalDuration.isValid || keyFrameIntervalDuration.isNumeric && keyFrameIntervalDuration > .zero
    else { throw refuse("the key frame interval must be 1 to 1000000 frames, and its duration positive") }
    guard level.map(Self.levels.contains) ?? true else { throw refuse("unknown H.264 level: \(level ?? "")") }
    guard maximumThreadCount.map({ (1...64).contains($0) }) ?? true else {
      throw refuse("the number of threads must be between 1 and 64")
    }
    let ratio = pixelAspectRatio ?? video.pixelAspectRatio
    guard ratio.map({ (1...65_535).contains($0.horizontal) && (1...65_535).contains($0.vertical) }) ?? true else {
      throw refuse("the width and height of a pixel must be between 1 and 65535")
    }
    let numbers = [color, video.color].compactMap(\.self).flatMap { [$0.primaries, $0.transfer, $0.matrix] }
    guard numbers.allSatisfy((0...22).contains) else { throw refuse("colour numbers (H.273) must be between 0 and 22") }
    _ = try cropping(of: video)
  }

  /// Returns the edges outside the clean aperture; nil if there are none.
  ///
  /// - Throws: `invalidArgument` for an aperture that is not within the frame or whose edges are not even.
  func cropping(of video: FormatDescription.Video) throws(MediaError) -> VideoEncoder.Cropping? {
    let (width, height) = (width ?? video.width, height ?? video.height)
    let isScaled = width != video.width || height != video.height
    guard let aperture = cleanAperture ?? (isScaled ? nil : video.cleanAperture) else { return nil }
    guard aperture.width > 0, aperture.height > 0, aperture.width <= width, aperture.height <= height,
      abs(aperture.horizontalOffset) <= width, abs(aperture.verticalOffset) <= height
    else { throw Self.unfitAperture }
    // The edges are doubled, because the center may be between two pixels.
    let (doubleLeft, doubleTop) = (
      width - aperture.width + 2 * aperture.horizontalOffset, height - aperture.height + 2 * aperture.verticalOffset
    )
    let (left, top) = (doubleLeft / 2, doubleTop / 2)
    let (right, bottom) = (width - aperture.width - left, height - aperture.height - top)
    guard doubleLeft % 2 == 0, doubleTop % 2 == 0, [left, top, right, bottom].allSatisfy({ $0 >= 0 && $0 % 2 == 0 })
    else { throw Self.unfitAperture }
    return left + top + right + bottom == 0
      ? nil : VideoEncoder.Cropping(left: left, top: top, right: right, bottom: bottom)
  }

  private static let unfitAperture = MediaError(
    .invalidArgument, "a clean aperture must be within the frame, with an even number of pixels on every side",
    operation: "add")

  // MARK: - Encoder settings

  /// Returns the settings of the encoder. `check(for:)` must have succeeded.
  func encoderSettings(for source: FormatDescription, timescale: Int32) -> VideoEncoder.Settings {
    let video = source.video ?? FormatDescription.Video(width: 1, height: 1)
    let name = video.pixelFormatName ?? PixelFormat.i420.name
    let (width, height) = (width ?? video.width, height ?? video.height)
    let isScaled = width != video.width || height != video.height
    let targetColor = outputColor(for: video, height: height)
    var inputColor = video.color
    if inputColor.matrix == 2 || name == PixelFormat.bgra.name { inputColor = targetColor }
    inputColor.isFullRange = video.color.isFullRange ?? false
    // x264 accepts NV12 without conversion.
    let isConverted = isScaled || name == PixelFormat.bgra.name || !Self.areEqual(inputColor, targetColor)
    let input = ImageLayout(
      pixelFormatName: name, width: video.width, height: video.height, color: isConverted ? inputColor : targetColor)
    let output = ImageLayout(
      pixelFormatName: isConverted ? PixelFormat.i420.name : name, width: width, height: height, color: targetColor)
    let timeBase = TimeBase(numerator: 1, denominator: timescale) ?? .microseconds
    var settings = VideoEncoder.Settings(from: input, to: output, timeBase: timeBase)
    settings.frameDuration = video.frameTimeBase ?? TimeBase(numerator: 1, denominator: 30)
    settings.keyFrameInterval = keyFrameInterval
    settings.bitRate = bitRate
    settings.constantQuality = bitRate == nil ? constantQuality ?? 23 : nil
    settings.profile = profile?.rawValue
    settings.level = level
    settings.preset = preset.rawValue
    settings.pixelAspectRatio = pixelAspectRatio ?? video.pixelAspectRatio
    settings.cropping = (try? cropping(of: video)) ?? nil
    settings.allowsReordering = allowsFrameReordering && profile != .baseline
    settings.maximumThreadCount = maximumThreadCount
    return settings
  }

  /// Returns whether samples need no conversion. Primaries and transfer function do not change the samples.
  private static func areEqual(
    _ one: FormatDescription.Video.ColorProperties, _ other: FormatDescription.Video.ColorProperties
  ) -> Bool {
    one.matrix == other.matrix && (one.isFullRange ?? false) == (other.isFullRange ?? false)
  }

  private func outputColor(for video: FormatDescription.Video, height: Int) -> FormatDescription.Video.ColorProperties {
    var result = color ?? video.color
    let isRGB = video.pixelFormatName == PixelFormat.bgra.name
    if color == nil, isRGB { result.isFullRange = false }
    // RGB has no matrix (0), but the encoded video needs one.
    if isRGB, result.matrix == 2 || result.matrix == 0 {
      let standardMatrix = height >= 720 ? 1 : 6
      result.matrix = standardMatrix
      if result.primaries == 2 { result.primaries = standardMatrix }
      if result.transfer == 2 { result.transfer = standardMatrix }
    }
    result.isFullRange = result.isFullRange ?? false
    return result
  }
}
