import PlayheadMediaCore
import PlayheadWholeFiles

extension RGBColor {
  /// `#rrggbb`.
  var text: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The mean of two colours.
  func mixed(with other: RGBColor) -> RGBColor {
    func mean(_ one: UInt8, _ other: UInt8) -> UInt8 { UInt8((Int(one) + Int(other)) / 2) }
    return RGBColor(
      red: mean(red, other.red), green: mean(green, other.green), blue: mean(blue, other.blue))
  }
}

/// The format of a waveform file.
public enum WaveformFormat: String, Sendable, Hashable, CaseIterable {
  /// audiowaveform's JSON, with the additional fields `rms`, `first_sample` and `sample_count`.
  case json
  /// audiowaveform's binary format, version 2.
  case dat
  /// An image in PNG format.
  case png
  /// An image in SVG format.
  case svg

  /// Whether the format is an image.
  public var isImage: Bool { self == .png || self == .svg }
}

/// The destination and format of a waveform file.
public struct WaveformOutput: Sendable {
  /// The file.
  package var file: WholeFile
  /// The format of the file.
  public var format: WaveformFormat
  /// The appearance of the waveform.
  public var style: WaveformStyle

  /// Describes a file.
  package init(_ file: WholeFile, _ format: WaveformFormat, _ style: WaveformStyle = WaveformStyle()) {
    (self.file, self.format, self.style) = (file, format, style)
  }

  /// A file at a path that is absolute or relative to the working directory.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format of the file.
  ///   - style: The appearance of the waveform.
  ///   - replacesFile: whether an existing file is replaced. Default: false, an error.
  public init(
    path: String, _ format: WaveformFormat, _ style: WaveformStyle = WaveformStyle(), replacesFile: Bool = false
  ) { self.init(WholeFile(path: path, replaces: replacesFile), format, style) }
}

/// The appearance of a waveform file.
public struct WaveformStyle: Sendable, Hashable {
  /// The widths that an image may have, in pixels.
  public static let widths = 16...8_192
  /// The heights that an image may have, in pixels.
  public static let heights = 16...2_048

  /// The width of an image in pixels.
  public var width = 800
  /// The height of an image in pixels.
  public var height = 200
  /// The colour from the minimum to the maximum sample. RMS is drawn in the mean of this colour and the background.
  public var color = RGBColor(red: 0x30, green: 0x70, blue: 0xb0)
  /// The colour of the background. Default: white.
  public var background = RGBColor(red: 0xff, green: 0xff, blue: 0xff)
  /// Whether an image has time labels.
  public var hasAxis = true
  /// The number of bits of a value in JSON and `.dat`: 8 or 16.
  public var bits = 16

  /// Creates the default style.
  public init() {}

  /// - Throws: `invalidArgument`.
  func check() throws(MediaError) {
    guard Self.widths.contains(width), Self.heights.contains(height) else {
      throw MediaError(
        .invalidArgument,
        "image size must be between \(Self.widths.lowerBound)x\(Self.heights.lowerBound) and"
          + " \(Self.widths.upperBound)x\(Self.heights.upperBound) (got \(width)x\(height))")
    }
    guard bits == 8 || bits == 16 else { throw MediaError(.invalidArgument, "bits must be 8 or 16 (got \(bits))") }
  }
}
