extension AudioTrackReader {
  /// The maximum length of audio that a measurement decodes if the duration of the file is
  /// unknown, in seconds: 4 hours.
  ///
  /// Some formats describe audio without an end. A measurement of such a file ends with `mediaLimitExceeded`.
  package static let maximumUnknownDurationSeconds = 14_400
}
