/// The names of the events.
package enum EventName: String, Sendable, Hashable, CaseIterable {
  case at
  case changed
  case chapterChanged = "chapter-changed"
  case closing
  case failedToPlayToEnd = "failed-to-play-to-end"
  case interruption
  case itemSkipped = "item-skipped"
  case meter
  case newAccessLogEntry = "new-access-log-entry"
  case newErrorLogEntry = "new-error-log-entry"
  case overflow
  case packetsSkipped = "packets-skipped"
  case playedToEnd = "played-to-end"
  case recordMeter = "record-meter"
  case recording
  case removed
  case routeChanged = "route-changed"
  case scanProgress = "scan-progress"
  case secondaryAudioHint = "secondary-audio-hint"
  case silence
  case stalled
  case streamTitle = "stream-title"
  case tick
  case timeJumped = "time-jumped"
  case timedMetadata = "timed-metadata"
  case transition
}
