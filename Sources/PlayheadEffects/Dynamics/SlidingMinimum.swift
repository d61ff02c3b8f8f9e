/// The minimum of the last values, in constant time on average.
///
/// A ring buffer keeps only the values that can still become the minimum: in order of arrival, each greater than the
/// one before it. Memory is allocated by the initializer only.
struct SlidingMinimum {
  private var values: [Double]
  /// The positions of `values` in the sequence of all values.
  private var positions: [Int]
  private var firstIndex = 0
  private var count = 0
  private var nextPosition = 0

  /// - Parameter length: The number of values in the window, at least 1.
  init(length: Int) {
    values = Array(repeating: 0, count: length)
    positions = Array(repeating: 0, count: length)
  }

  /// Adds a value, and returns the minimum of the window that ends with it.
  mutating func minimum(adding value: Double) -> Double {
    let length = values.count
    if count > 0, positions[firstIndex] == nextPosition - length {
      firstIndex = (firstIndex + 1) % length
      count -= 1
    }
    while count > 0, values[(firstIndex + count - 1) % length] >= value { count -= 1 }
    let index = (firstIndex + count) % length
    (values[index], positions[index]) = (value, nextPosition)
    count += 1
    nextPosition += 1
    return values[firstIndex]
  }

  /// Removes all values.
  mutating func removeAll() { (firstIndex, count, nextPosition) = (0, 0, 0) }
}
