extension AudioTrackReader {
  /// The longest audio, in seconds, that a measurement of a whole file decodes when the file's duration is unknown: 4 hours.
  ///
  /// Some formats describe audio without an end. A measurement of such a file ends with `mediaLimitExceeded`.
  public static let maximumUnknownDurationSeconds = 14_400
}
