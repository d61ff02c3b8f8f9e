/// Time labels below an image: their positions and texts. Pure.
struct TimeAxis {
  struct Mark: Equatable {
    /// The position in pixels from the left.
    var x: Int
    var label: String
  }

  /// The marks in order of position.
  let marks: [Mark]

  /// Creates marks at round times, as many as fit.
  ///
  /// - Parameters:
  ///   - start: the start of the drawn range, in seconds.
  ///   - duration: the duration of the drawn range, in seconds.
  ///   - spacing: minimum distance between two marks, in pixels.
  init(start: Double, duration: Double, width: Int, spacing: Int = 90) {
    guard duration > 0, width > 0 else {
      marks = []
      return
    }
    let minimumStep = duration * Double(spacing) / Double(width)
    let steps = [
      0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800,
    ]
    let step = steps.first { $0 >= minimumStep } ?? 3_600 * (minimumStep / 3_600).rounded(.up)
    var marks: [Mark] = []
    var index = (start / step).rounded(.up)
    while index * step < start + duration, marks.count < width {
      let time = index * step
      marks.append(
        Mark(x: Int((time - start) / duration * Double(width)), label: Self.label(time, isFine: step < 1)))
      index += 1
    }
    self.marks = marks
  }

  /// Formats a time: `1:05`, `2:00:00`; with `isFine` also milliseconds: `1:05.250`.
  static func label(_ seconds: Double, isFine: Bool = false) -> String {
    let milliseconds = Int((seconds * 1_000).rounded())
    func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let whole = milliseconds / 1_000
    let (hours, minutes) = (whole / 3_600, whole / 60 % 60)
    let secondDigits = twoDigits(whole % 60)
    let text = hours > 0 ? "\(hours):\(twoDigits(minutes)):\(secondDigits)" : "\(minutes):\(secondDigits)"
    guard isFine else { return text }
    let rest = milliseconds % 1_000
    return text + "." + (rest < 100 ? "0" : "") + twoDigits(rest)
  }
}
