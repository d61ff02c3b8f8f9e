import LibAV
import MediaCore

/// What pictures are written as.
public struct VideoOutputSettings: Sendable, Hashable, Codable {
  /// How pictures are coded.
  public enum Codec: Sendable, Hashable, Codable {
    /// H.264, by x264; 4:2:0, 8 bits.
    case h264

    /// FFmpeg's name of the codec.
    var codecName: String { "h264" }
  }

  /// What of H.264 a decoder has to know.
  public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
    /// What is written is Constrained Baseline: no pictures out of their order.
    case baseline
    case main, high
  }

  /// How thorough the encoder is: x264's words. Slower ones need fewer bits for the same.
  public enum Preset: String, Sendable, Hashable, Codable, CaseIterable {
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow
  }

  /// How they are coded.
  public var codec: Codec
  /// Pixels in a row, an even number; nil: as they come. Other sizes than the source's are scaled.
  public var width: Int?
  /// Rows, an even number; nil: as they come.
  public var height: Int?
  /// Most pictures from a key frame to the next; nil: the encoder's choice, 250.
  public var keyFrameInterval: Int?
  /// Longest time from a key frame to the next; invalid: only `keyFrameInterval` counts.
  public var keyFrameIntervalDuration = MediaTime.invalid
  /// Bits a second, on average; nil: `constantQuality` decides.
  public var bitRate: Int?
  /// x264's rate factor (CRF): 0, without loss, to 51; not together with `bitRate`. Nil, and no bit rate: 23.
  public var constantQuality: Double?
  /// Nil: what the encoder comes to use.
  public var profile: Profile?
  /// H.264's level, such as `4.1`; nil: the least that does.
  public var level: String?
  /// How thorough the encoder is.
  public var preset = Preset.medium
  /// How wide a pixel is for its height; nil: as the source says, which is right when width and height are scaled alike.
  public var pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
  /// The part of the coded picture that is to be shown. It is said by H.264's own cropping, which every decoder follows, and is
  /// lost for them then: FFmpeg 5.1 does not write a `clap`. So edges are multiples of two pixels. Nil: all of it, or, of
  /// pictures that are not scaled, what the source says.
  public var cleanAperture: FormatDescription.Video.CleanAperture?
  /// What the numbers mean; nil: as the source says. Pictures that come otherwise are converted. BGRA that does not say it becomes
  /// BT.709, or BT.601 below 720 rows.
  public var color: FormatDescription.Video.Color?
  /// B-frames, which are coded in another order than they are shown in; true unless the profile has none.
  public var allowsFrameReordering = true
  /// Most threads of the encoder; nil: as many as it likes.
  public var maximumThreadCount: Int?

  /// H.264 with what comes.
  public init(_ codec: Codec = .h264) { self.codec = codec }

  // MARK: - Checks

  /// x264's names of the levels.
  private static let levels: Set<String> = [
    "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5", "5.1", "5.2", "6",
    "6.1",
    "6.2",
  ]

  /// Errors: `invalidArgument` for what is no picture, what the codec does not have, and what does not fit together.
  func check(for source: FormatDescription) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "add") }
    guard let video = source.video, source.codecName == FormatDescription.pixelsCodecName,
      let name = video.pixelFormatName, let format = PixelFormat(name: name)
    else {
      throw refuse("only pictures in BGRA, NV12 or I420 can be coded, not \(source.codecName)")
    }
    guard format.byteCount(width: video.width, height: video.height) > 0 else {
      throw refuse("there is no picture of \(video.width) x \(video.height) pixels")
    }
    let (width, height) = (width ?? video.width, height ?? video.height)
    guard PixelBuffer.supportedSizes.contains(width), PixelBuffer.supportedSizes.contains(height) else {
      throw refuse("there is no picture of \(width) x \(height) pixels")
    }
    guard width % 2 == 0, height % 2 == 0 else {
      throw refuse(
        "\(width) x \(height) pixels have no chroma of half the size: width and height of the settings are even numbers"
      )
    }
    guard bitRate == nil || constantQuality == nil else {
      throw refuse("a bit rate, or constant quality, but not both")
    }
    guard bitRate.map({ (1_000...1_000_000_000).contains($0) }) ?? true else {
      throw refuse("a bit rate is from 1000 to 1000000000")
    }
    guard constantQuality.map({ (0...51).contains($0) }) ?? true else {
      throw refuse("constant quality is from 0 to 51")
    }
    guard keyFrameInterval.map({ (1...1_000_000).contains($0) }) ?? true,
      !keyFrameIntervalDuration.isValid || keyFrameIntervalDuration.isNumeric && keyFrameIntervalDuration > .zero
    else { throw refuse("key frames come after at least one picture, and some time") }
    guard level.map(Self.levels.contains) ?? true else { throw refuse("H.264 has no level \(level ?? "")") }
    guard maximumThreadCount.map({ (1...64).contains($0) }) ?? true else {
      throw refuse("there are from 1 to 64 threads")
    }
    let ratio = pixelAspectRatio ?? video.pixelAspectRatio
    guard ratio.map({ (1...65_535).contains($0.horizontal) && (1...65_535).contains($0.vertical) }) ?? true else {
      throw refuse("a pixel's width and height are from 1 to 65535")
    }
    let numbers = [color, video.color].compactMap(\.self).flatMap { [$0.primaries, $0.transfer, $0.matrix] }
    guard numbers.allSatisfy((0...22).contains) else { throw refuse("there are no such colours in H.273") }
    _ = try cropping(of: video)
  }

  /// The edges that the clean aperture leaves.
  ///
  /// Errors: `invalidArgument` for one that is not within the picture, or at odd places.
  func cropping(of video: FormatDescription.Video) throws(MediaError) -> VideoEncoder.Cropping? {
    let (width, height) = (width ?? video.width, height ?? video.height)
    let isScaled = width != video.width || height != video.height
    guard let aperture = cleanAperture ?? (isScaled ? nil : video.cleanAperture) else { return nil }
    guard aperture.width > 0, aperture.height > 0, aperture.width <= width, aperture.height <= height,
      abs(aperture.horizontalOffset) <= width, abs(aperture.verticalOffset) <= height
    else { throw Self.unfitAperture }
    // Twice the edges, for the middle may lie between two pixels.
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
    .invalidArgument, "a clean aperture lies within the picture, with an even number of pixels on every side",
    operation: "add")

  // MARK: - What the encoder is told

  /// What the encoder is told, of settings that have been checked.
  func encoderSettings(for source: FormatDescription, timescale: Int32) -> VideoEncoder.Settings {
    let video = source.video ?? FormatDescription.Video(width: 1, height: 1)
    let name = video.pixelFormatName ?? PixelFormat.i420.name
    let (width, height) = (width ?? video.width, height ?? video.height)
    let isScaled = width != video.width || height != video.height
    let written = outputColor(for: video, height: height)
    var given = video.color
    if given.matrix == 2 || name == PixelFormat.bgra.name { given = written }
    given.isFullRange = video.color.isFullRange ?? false
    // x264 takes NV12 as it is.
    let isConverted = isScaled || name == PixelFormat.bgra.name || !Self.areAlike(given, written)
    let input = PictureLayout(
      pixelFormatName: name, width: video.width, height: video.height, color: isConverted ? given : written)
    let output = PictureLayout(
      pixelFormatName: isConverted ? PixelFormat.i420.name : name, width: width, height: height, color: written)
    // Times of a scale of its own are said exactly, whatever it is.
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

  /// Whether numbers need no conversion: primaries and transfer are only told.
  private static func areAlike(_ one: FormatDescription.Video.Color, _ other: FormatDescription.Video.Color) -> Bool {
    one.matrix == other.matrix && (one.isFullRange ?? false) == (other.isFullRange ?? false)
  }

  private func outputColor(for video: FormatDescription.Video, height: Int) -> FormatDescription.Video.Color {
    var result = color ?? video.color
    let isRGB = video.pixelFormatName == PixelFormat.bgra.name
    if color == nil, isRGB { result.isFullRange = false }
    // Red, green and blue have no matrix (0), and what is written has one.
    if isRGB, result.matrix == 2 || result.matrix == 0 {
      let usual = height >= 720 ? 1 : 6
      result.matrix = usual
      if result.primaries == 2 { result.primaries = usual }
      if result.transfer == 2 { result.transfer = usual }
    }
    result.isFullRange = result.isFullRange ?? false
    return result
  }
}
