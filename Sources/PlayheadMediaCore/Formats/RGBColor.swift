/// A colour with alpha, in 8 bits per component, not premultiplied.
public struct RGBColor: Sendable, Hashable, Codable {
  /// The red component, from 0 to 255.
  public var red: UInt8
  /// The green component, from 0 to 255.
  public var green: UInt8
  /// The blue component, from 0 to 255.
  public var blue: UInt8
  /// The opacity, from 0 (transparent) to 255 (opaque).
  public var alpha: UInt8

  /// Creates a colour, by default an opaque one.
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// Creates the opaque colour of a text such as `#3070b0` or `3070b0`.
  ///
  /// - Throws: `invalidArgument`.
  public init(_ text: String) throws(MediaError) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
      throw MediaError(.invalidArgument, "colour must be six hexadecimal digits such as #3070b0 (got \(text))")
    }
    self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xff), blue: UInt8(value & 0xff))
  }

  /// Opaque black.
  public static let black = RGBColor(red: 0, green: 0, blue: 0)
}
