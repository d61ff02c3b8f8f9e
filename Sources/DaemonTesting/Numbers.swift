extension String {
  /// The line without the number at its end (`seq=`), for tests of the rest of the line.
  package var unnumbered: String {
    guard let start = ranges(of: " seq=").last, self[start.upperBound...].allSatisfy(\.isNumber) else { return self }
    return String(self[..<start.lowerBound])
  }
}

extension [String] {
  /// The lines without their numbers.
  package var unnumbered: [String] { map(\.unnumbered) }
}
