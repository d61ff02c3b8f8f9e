extension String {
  /// The line without the number that ends it (`seq=`), for tests that are about the rest.
  package var unnumbered: String {
    guard let start = ranges(of: " seq=").last, self[start.upperBound...].allSatisfy(\.isNumber) else { return self }
    return String(self[..<start.lowerBound])
  }
}

extension [String] {
  /// Each without its number.
  package var unnumbered: [String] { map(\.unnumbered) }
}
