import Glibc
import PlayheadMediaCore

/// A volume as a request states it.
package enum VolumeSetting: Sendable, Hashable {
  /// A volume from 0 to 1.
  case absolute(Double)
  /// A change, in units of the full volume.
  case change(Double)
  /// A change in decibels.
  case gain(decibels: Double)

  /// The volume from 0 to 1 that follows from the present one.
  package func volume(from present: Double) -> Double {
    switch self {
    case .absolute(let volume): volume
    case .change(let change): min(max(present + change, 0), 1)
    case .gain(let decibels): min(max(present * pow(10, decibels / 20), 0), 1)
    }
  }

  static let accepted = "a number from 0 to 1, a percentage such as 50%, or a change such as +5%, -0.1 or -6dB"

  /// The forms as a pattern of JSON Schema.
  static let pattern = "^[+-]?[0-9.]+(e[+-]?[0-9]+)?(%|dB)?$"

  /// The maximum change in decibels: more than the range of 24 bits.
  private static let maximumDecibels = 200.0

  /// Reads `0.5`, `50%`, and with a sign a change: `+0.1`, `-5%`, `+3dB`. Nil for other texts and values out of range.
  init?(_ text: ArraySlice<UInt8>) {
    let isChange = text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-")
    var digits = isChange ? text.dropFirst() : text
    let isPercentage = digits.last == UInt8(ascii: "%")
    let isGain = digits.suffix(2).elementsEqual("dB".utf8)
    digits = digits.dropLast(isPercentage ? 1 : isGain ? 2 : 0)
    guard let number = Self.number(digits), isChange || !isGain else { return nil }
    let signed = text.first == UInt8(ascii: "-") ? -number : number
    if isGain {
      guard number <= Self.maximumDecibels else { return nil }
      self = .gain(decibels: signed)
    } else {
      let volume = isPercentage ? signed / 100 : signed
      guard (-1...1).contains(volume) else { return nil }
      self = isChange ? .change(volume) : .absolute(volume)
    }
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Double? {
    let isShort = digits.first == UInt8(ascii: ".")
    guard
      isShort ? digits.count > 1 && ASCII.isJSONNumber(digits.dropFirst(), fraction: true) : ASCII.isJSONNumber(digits),
      digits.first != UInt8(ascii: "-")
    else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    return Double(isShort ? "0\(text)" : text)
  }
}
