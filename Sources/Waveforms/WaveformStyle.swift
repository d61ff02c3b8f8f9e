import MediaCore
import WholeFiles

/// A colour without transparency.
public struct WaveformColor: Sendable, Hashable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// `#rrggbb`, or without the `#`. Errors: `invalidArgument`.
  public init(_ text: String) throws(MediaError) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
      throw MediaError(.invalidArgument, "a colour is six hexadecimal digits such as #3070b0: \(text)")
    }
    self.init(
      red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xff), blue: UInt8(value & 0xff))
  }

  /// `#rrggbb`.
  var text: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Half way to another.
  func mixed(with other: WaveformColor) -> WaveformColor {
    func mean(_ one: UInt8, _ other: UInt8) -> UInt8 { UInt8((Int(one) + Int(other)) / 2) }
    return WaveformColor(
      red: mean(red, other.red), green: mean(green, other.green), blue: mean(blue, other.blue))
  }
}

/// How a waveform is written.
public enum WaveformForm: String, Sendable, Hashable, CaseIterable {
  /// audiowaveform's JSON, with `rms`, and the place of the first sample.
  case json
  /// audiowaveform's binary form, version 2.
  case dat
  case png
  case svg

  /// Whether it is a picture, of columns.
  public var isPicture: Bool { self == .png || self == .svg }
}

/// Where a waveform is written.
public struct WaveformOutput: Sendable {
  public var file: WholeFile
  public var form: WaveformForm
  public var style: WaveformStyle

  public init(_ file: WholeFile, _ form: WaveformForm, _ style: WaveformStyle = WaveformStyle()) {
    (self.file, self.form, self.style) = (file, form, style)
  }

  /// A file at an absolute path, or at one relative to the working directory.
  ///
  /// - Parameter replacesFile: Whether an existing file is replaced. Default: it is an error.
  public init(
    path: String, _ form: WaveformForm, _ style: WaveformStyle = WaveformStyle(), replacesFile: Bool = false
  ) { self.init(WholeFile(path: path, replaces: replacesFile), form, style) }
}

/// What a waveform looks like when it is written.
public struct WaveformStyle: Sendable, Hashable {
  public static let widths = 16...8_192
  public static let heights = 16...2_048

  /// Of a picture, in pixels.
  public var width = 800
  public var height = 200
  /// What reaches from the least to the greatest sample is drawn in it; RMS in a mean of it and the background.
  public var color = WaveformColor(red: 0x30, green: 0x70, blue: 0xb0)
  public var background = WaveformColor(red: 0xff, green: 0xff, blue: 0xff)
  /// Times below a picture.
  public var hasAxis = true
  /// Of a value in JSON and `.dat`: 8 or 16.
  public var bits = 16

  public init() {}

  /// Errors: `invalidArgument`.
  func check() throws(MediaError) {
    guard Self.widths.contains(width), Self.heights.contains(height) else {
      throw MediaError(
        .invalidArgument,
        "a picture is \(Self.widths.lowerBound) to \(Self.widths.upperBound) wide and \(Self.heights.lowerBound) to \(Self.heights.upperBound) high"
      )
    }
    guard bits == 8 || bits == 16 else { throw MediaError(.invalidArgument, "a value has 8 or 16 bits") }
  }
}
