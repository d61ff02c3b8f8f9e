import Glibc

/// Conversion between gains as factors and gains in dB.
enum Decibels {
  /// The factor of the amplitude that corresponds to `decibels`.
  static func factor(_ decibels: Double) -> Double { decibels == 0 ? 1 : exp(decibels * log(10) / 20) }

  /// The gain in dB that corresponds to a factor of the amplitude; -infinity for 0.
  static func decibels(_ factor: Double) -> Double { 20 * log10(factor) }
}

extension Float {
  /// The sample, or 0 if it is infinite or NaN: a filter would keep such a value indefinitely.
  var finiteOrZero: Float { isFinite ? self : 0 }
}
