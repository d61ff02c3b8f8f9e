import LibAV
import MediaCore

/// How pictures of an asset are made.
public struct ImageSettings: Sendable, Hashable, Codable {
  /// Which part of a picture is taken, and in which shape.
  public enum ApertureMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// What the file says is to be shown, where it says so, else all of it; with square pixels.
    case cleanAperture
    /// All of it, with square pixels.
    case productionAperture
    /// All of it, as the pixels lie.
    case encodedPixels
  }

  /// The most pixels in a row and rows that an image has, as it stands upright; it keeps its shape. 0 or nil: as many as there are. An image is
  /// never made larger than it is.
  public var maximumWidth: Int?
  public var maximumHeight: Int?
  /// How much earlier, or later, than asked for an image may be. Where that saves decoding, a key frame is taken; with zero for both
  /// it is the picture that is shown at the very time.
  public var toleranceBefore = MediaTime.positiveInfinity
  public var toleranceAfter = MediaTime.positiveInfinity
  /// The image is turned by the 90, 180 or 270 degrees by which the track says that it is to be.
  public var appliesPreferredTrackTransform = false
  public var apertureMode = ApertureMode.cleanAperture

  /// As AVAssetImageGenerator: near the time, as large as it is, and not turned.
  public init() {}

  /// Errors: `invalidTime` for tolerances below zero, `invalidArgument` for sizes below zero.
  func check() throws(MediaError) {
    for tolerance in [toleranceBefore, toleranceAfter] {
      guard tolerance >= .zero, tolerance.isNumeric || tolerance.isPositiveInfinity else {
        throw MediaError(.invalidTime, "a tolerance is a time from 0 on, or infinite", operation: "image")
      }
    }
    for limit in [maximumWidth, maximumHeight].compactMap({ $0 }) where limit < 0 {
      throw MediaError(.invalidArgument, "an image has no \(limit) pixels", operation: "image")
    }
  }
}

/// As what file an image is written.
public enum ImageForm: Sendable, Hashable, Codable {
  /// Without loss.
  case png
  /// From 1, the smallest, to 100, the best.
  case jpeg(quality: Int = 90)
}

extension PixelBuffer {
  /// The bytes of a file with this picture. Blocks while it computes.
  ///
  /// Consuming: without another owner, the memory of the pixels is free before the file is compressed.
  ///
  /// - Parameter color: what the numbers of a picture with luma and chroma mean.
  /// Errors: `invalidArgument` for a quality that is none; `mediaLimitExceeded` where memory does not suffice; `conversionFailed`.
  public consuming func encoded(
    as form: ImageForm, color: FormatDescription.Video.Color = .init()
  ) throws(MediaError) -> [UInt8] {
    if case .jpeg(let quality) = form, !(1...100).contains(quality) {
      throw MediaError(.invalidArgument, "the quality of a JPEG goes from 1 to 100", operation: "image")
    }
    let encoding: PictureEncoder.Form =
      switch form {
      case .png: .png
      case .jpeg(let quality): .jpeg(quality: quality)
      }
    do throws(AVFailure) { return try PictureEncoder.encode(consume self, as: encoding, color: color) } catch {
      throw MediaError(
        error.kind == .limit ? .mediaLimitExceeded : .conversionFailed, "the image cannot be encoded",
        operation: error.call, underlying: error.reason)
    }
  }
}
