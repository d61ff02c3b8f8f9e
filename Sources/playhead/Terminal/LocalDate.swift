import Glibc

/// Dates in the time zone of the user.
enum LocalDate {
  /// A number of seconds since 1970 as a date and a time of day, such as `2026-11-27 22:01`. Nil for another text.
  static func text(ofSeconds seconds: String) -> String? {
    guard var time = time_t(seconds) else { return nil }
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M", &parts)
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
