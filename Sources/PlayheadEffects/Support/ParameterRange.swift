import PlayheadMediaCore

/// The accepted values of a parameter. NaN is not accepted.
struct ParameterRange {
  /// The lowest and the highest accepted value.
  let values: ClosedRange<Double>
  /// The unit in messages; empty for a ratio.
  let unit: String

  init(_ values: ClosedRange<Double>, _ unit: String = "") {
    self.values = values
    self.unit = unit
  }

  /// Checks a number.
  ///
  /// - Throws: `invalidArgument` with the name, the value and the accepted range.
  func check(_ value: Double, _ name: String, operation: String) throws(MediaError) {
    guard !values.contains(value) else { return }
    throw error(name, Self.text(value), operation)
  }

  /// Checks a time in seconds. Special times, such as `indefinite`, are not accepted.
  ///
  /// - Throws: `invalidArgument` with the name, the value and the accepted range.
  func check(_ time: MediaTime, _ name: String, operation: String) throws(MediaError) {
    guard !(time.isNumeric && values.contains(time.seconds)) else { return }
    throw error(name, time.decimalDescription, operation)
  }

  private func error(_ name: String, _ value: String, _ operation: String) -> MediaError {
    let range = "\(Self.text(values.lowerBound)) and \(Self.text(values.upperBound))"
    let suffix = unit.isEmpty ? "" : " \(unit)"
    return MediaError(
      .invalidArgument, "\(name) must be between \(range)\(suffix) (got \(value))", operation: operation)
  }

  /// A number without a fraction of 0: `20`, `0.1`, `inf`.
  private static func text(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
