import PlayheadLibAV
import PlayheadMediaCore

/// The settings of images of an asset.
public struct ImageSettings: Sendable, Hashable, Codable {
  /// The part and the aspect ratio of the video frame that is used.
  public enum ApertureMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// The clean aperture of the file, or the whole frame if there is none; with square pixels.
    case cleanAperture
    /// The whole frame, with square pixels.
    case productionAperture
    /// The whole frame, without a correction of the pixel aspect ratio.
    case encodedPixels
  }

  /// The maximum width of an image in pixels, after rotation. Default: nil; nil and 0 mean unlimited. Images keep their
  /// aspect ratio and are never enlarged. ``maximumHeight`` limits the height in the same way.
  public var maximumWidth: Int?
  /// The maximum height of an image in pixels, after rotation. Default: nil; nil and 0 mean unlimited.
  public var maximumHeight: Int?
  /// The maximum time by which an image may be earlier than requested. Default: infinite. Within the tolerances, a key
  /// frame is used if that saves decoding. If both tolerances are zero, the image shows the frame at exactly that time.
  public var toleranceBefore = MediaTime.positiveInfinity
  /// The maximum time by which an image may be later than requested. Default: infinite.
  public var toleranceAfter = MediaTime.positiveInfinity
  /// Whether the image is rotated by the track's 90, 180 or 270 degrees. Default: false.
  public var appliesPreferredTrackTransform = false
  /// The part and the aspect ratio of the video frame that is used. Default: the clean aperture.
  public var apertureMode = ApertureMode.cleanAperture

  /// Creates settings with the defaults of AVAssetImageGenerator: infinite tolerances, full size, and no rotation.
  public init() {}

  /// - Throws: `invalidTime` for negative tolerances, `invalidArgument` for negative sizes.
  func check() throws(MediaError) {
    for tolerance in [toleranceBefore, toleranceAfter] {
      guard tolerance >= .zero, tolerance.isNumeric || tolerance.isPositiveInfinity else {
        throw MediaError(.invalidTime, "a tolerance must be at least 0, or infinite", operation: "image")
      }
    }
    for limit in [maximumWidth, maximumHeight].compactMap({ $0 }) where limit < 0 {
      throw MediaError(
        .invalidArgument, "the width and height of an image must not be negative (got \(limit))", operation: "image")
    }
  }
}

/// The file format of an image.
public enum ImageFileFormat: Sendable, Hashable, Codable {
  /// Lossless.
  case png
  /// JPEG. `quality` is from 1 (smallest) to 100 (best). Default: 90.
  case jpeg(quality: Int = 90)
}

extension PixelBuffer {
  /// Encodes the image as a file. Blocks while it computes.
  ///
  /// The method consumes the buffer: without another owner, the memory of the pixels is released before the file is
  /// compressed.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - color: The color description of an image with luma and chroma.
  /// - Throws: `invalidArgument` for an invalid quality; `mediaLimitExceeded` without sufficient memory;
  ///   `conversionFailed`.
  public consuming func encoded(
    as format: ImageFileFormat, color: FormatDescription.Video.ColorProperties = .init()
  ) throws(MediaError) -> [UInt8] {
    if case .jpeg(let quality) = format, !(1...100).contains(quality) {
      throw MediaError(.invalidArgument, "JPEG quality must be between 1 and 100 (got \(quality))", operation: "image")
    }
    let encoding: ImageEncoder.FileFormat =
      switch format {
      case .png: .png
      case .jpeg(let quality): .jpeg(quality: quality)
      }
    do throws(AVFailure) { return try ImageEncoder.encode(consume self, as: encoding, color: color) } catch {
      throw MediaError(
        error.kind == .limit ? .mediaLimitExceeded : .conversionFailed, "the image cannot be encoded",
        operation: error.call, underlying: error.reason)
    }
  }
}
