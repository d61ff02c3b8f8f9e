import MediaCore

/// The fields of replies, rows and events, by name.
extension FieldSpec {
  static let address = FieldSpec(FieldKey.address)
  static let after = FieldSpec(FieldKey.after)
  static let album = FieldSpec(FieldKey.album)
  static let artist = FieldSpec(FieldKey.artist)
  static let artworkType = FieldSpec(FieldKey.artworkType)
  static let audioTimePitchAlgorithm = FieldSpec(FieldKey.audioTimePitchAlgorithm)
  static let average = FieldSpec(
    "average", .numbers, "the average power of each channel since the last event, in dBFS; -160 is silence")
  static let averageScale = FieldSpec(
    "averageScale", .numbers, "the average power of each channel on a meter, from 0 (-60 dBFS) to 1 (0 dBFS)")
  static let before = FieldSpec(FieldKey.before)
  static let by = FieldSpec(
    "by", .word(["server", "request", "timeOut", "outputLost"]),
    "the end of the interruption: by the sound server, a command, `timeout` of `session.policy`, or the loss of"
      + " the output")
  static let bytes = FieldSpec(FieldKey.bytes)
  static let causeOfChange = FieldSpec(
    "cause",
    .word([
      "request", "itemEnded", "looped", "itemFailed", "itemLoaded", "buffered", "stalled", "output", "interruption",
      "rangeEnded", "fadeEnded", "session", "closed", "initial",
    ]), "the cause of the change; `initial` for the current value at the start of the observation")
  static let causeOfJump = FieldSpec(
    "cause", .word(["seek", "step", "stop", "endAction", "repeat", "restart"]), "the cause of the time jump")
  static let causeOfRemoval = FieldSpec(
    "cause", .word(Event.Removed.Cause.allCases.map(\.rawValue)),
    "why the subscription ended: the item of its `at` left the queue, or its player was closed")
  static let changes = FieldSpec(
    "changes", .texts,
    "the edits of the queue in order, such as `insert:12:3`; `none` for too many edits or a new order")
  static let chapter = FieldSpec(FieldKey.chapter)
  static let code = FieldSpec(FieldKey.code)
  static let commonKey = FieldSpec(FieldKey.commonKey)
  static let count = FieldSpec(FieldKey.count)
  static let countOfEntries = FieldSpec(FieldKey.countOfEntries)
  static let countOfFiles = FieldSpec(FieldKey.countOfFiles)
  static let countOfPackets = FieldSpec("count", .integer, "the number of packets that did not decode")
  static let current = FieldSpec(FieldKey.current)
  static let currentDevice = FieldSpec("current", .text, "the output device in use and, after a `/`, its port")
  static let data = FieldSpec(FieldKey.data)
  static let description = FieldSpec(FieldKey.description)
  static let direction = FieldSpec(
    "direction", .word(["forward", "backward"]), "the direction of the seek over the time")
  static let done = FieldSpec(
    "done", .number, "the completed part of the work, from 0 to 1; `none` if the length is unknown")
  static let dropped = FieldSpec(FieldKey.dropped)
  static let duration = FieldSpec(FieldKey.duration)
  static let error = FieldSpec(FieldKey.error)
  static let event = FieldSpec(
    "event",
    .word([
      "chapter-changed", "changed", "failed-to-play-to-end", "interruption", "item-skipped", "new-access-log-entry",
      "new-error-log-entry", "packets-skipped", "played-to-end", "route-changed", "secondary-audio-hint", "stalled",
      "stream-title", "time-jumped", "timed-metadata", "transition",
    ]), "the name of the event")
  static let file = FieldSpec(FieldKey.fileNumber)
  static let fromItem = FieldSpec("from", .integer, "the id of the entry that ended or repeats")
  static let held = FieldSpec(FieldKey.held)
  static let hostTime = FieldSpec(FieldKey.hostTime)
  static let id = FieldSpec(FieldKey.id)
  static let identifier = FieldSpec(FieldKey.identifier)
  static let index = FieldSpec(FieldKey.index)
  static let info = FieldSpec(FieldKey.info)
  static let initial = FieldSpec(
    "initial", .boolean, "`true` for the value at the start of the observation; otherwise absent")
  static let input = FieldSpec(
    "input", .text, "the default input of the sound server, as `DEVICE/PORT`; `none` if there is none")
  static let inserted = FieldSpec(
    "inserted", .integer, "the number of silent output frames between the items; 0 unless the second one was late")
  static let instance = FieldSpec(FieldKey.instance)
  static let item = FieldSpec(FieldKey.item)
  static let items = FieldSpec(FieldKey.items)
  static let itemStatus = FieldSpec(FieldKey.itemStatus)
  static let key = FieldSpec(FieldKey.key)
  static let kind = FieldSpec(FieldKey.kind)
  static let language = FieldSpec(FieldKey.language)
  static let late = FieldSpec(
    "late", .time, "the delay between the time heard and the event, in seconds; 0 if nothing was due")
  static let lost = FieldSpec(FieldKey.lost)
  static let mediaType = FieldSpec(FieldKey.mediaType)
  static let merged = FieldSpec("merged", .integer, "the number of changes that later events of the same keys include")
  static let message = FieldSpec(FieldKey.message)
  static let name = FieldSpec(FieldKey.name)
  static let new = FieldSpec("new", .value, "the current value of the key; `none` if it has none")
  static let next = FieldSpec(FieldKey.next)
  static let old = FieldSpec("old", .value, "the value of the key before the change; `none` if it had none")
  static let onFailure = FieldSpec(FieldKey.onFailure)
  static let operation = FieldSpec("operation", .text, "the command or call that failed")
  static let owner = FieldSpec(FieldKey.owner)
  static let path = FieldSpec(FieldKey.path)
  static let peaks = FieldSpec(
    "peak", .numbers, "the largest sample of each channel since the last event, in dBFS; -160 is silence")
  static let peakScale = FieldSpec(
    "peakScale", .numbers, "`peak` on a meter's scale for each channel, from 0 (-60 dBFS or less) to 1 (full scale)")
  static let phase = FieldSpec(
    "phase", .word(["began", "ended"]), "whether the interruption or the lowered volume began or ended")
  static let playCount = FieldSpec(FieldKey.playCount)
  static let player = FieldSpec(FieldKey.player)
  static let previous = FieldSpec(
    "previous", .text, "the former output, as `DEVICE/PORT`, or `DEVICE` without ports; `none` if there was none")
  static let providesPreciseDuration = FieldSpec(FieldKey.providesPreciseDuration)
  static let pts = FieldSpec(FieldKey.pts)
  static let range = FieldSpec(FieldKey.range)
  static let rate = FieldSpec(FieldKey.rate)
  static let recordedTime = FieldSpec(FieldKey.recordedTime)
  static let recorder = FieldSpec(FieldKey.recorder)
  static let recorderState = FieldSpec(FieldKey.recorderState)
  static let resourceType = FieldSpec(FieldKey.resourceType)
  static let routeReason = FieldSpec(
    "reason",
    .word([
      "unknown", "newDeviceAvailable", "oldDeviceUnavailable", "categoryChange", "override", "noSuitableRoute",
      "routeConfigurationChange",
    ]),
    "the reason of the change (`route-changed`)")
  static let scan = FieldSpec(FieldKey.scan)
  static let seq = FieldSpec("seq", .integer, "the number of the event in the event log")
  static let shouldResume = FieldSpec("shouldResume", .boolean, "whether playback resumes")
  static let shuffle = FieldSpec(FieldKey.shuffle)
  static let since = FieldSpec("since", .integer, "the event number before the first lost one, for `since` of `events`")
  static let startup = FieldSpec(FieldKey.startup)
  static let statusOfEntry = FieldSpec(FieldKey.statusOfEntry)
  static let streamTitle = FieldSpec(FieldKey.streamTitle)
  static let tagTotal = FieldSpec(FieldKey.tagTotal)
  static let tagType = FieldSpec(FieldKey.tagType)
  static let tickRate = FieldSpec(
    "rate", .number, "the rate at which the time heard advances; 0 while it does not advance")
  static let tickReason = FieldSpec(
    "reason", .word(["periodic", "jump", "start", "stop"]),
    "why the tick was sent: the interval, a jump of the time, or audio that started or stopped")
  static let time = FieldSpec(FieldKey.time)
  static let title = FieldSpec(FieldKey.title)
  static let toItem = FieldSpec("to", .integer, "the id of the entry that begins")
  static let trimmedEnd = FieldSpec(
    "trimmedEnd", .integer, "the number of frames trimmed from the end of `from`, at its sample rate")
  static let trimmedEndBy = FieldSpec(
    "trimmedEndBy",
    .word([
      "lame-tag", "iTunSMPB", "edit-list", "opus-pre-skip", "granule-position", "codec-delay", "discard-padding",
      "track-duration",
    ]),
    "the part of the file that specified `trimmedEnd`; `none` if nothing did")
  static let trimmedStart = FieldSpec(
    "trimmedStart", .integer, "the number of frames trimmed from the start of `to`, at its sample rate")
  static let trimmedStartBy = FieldSpec(
    "trimmedStartBy",
    .word([
      "lame-tag", "iTunSMPB", "edit-list", "opus-pre-skip", "granule-position", "codec-delay", "discard-padding",
      "track-duration",
    ]),
    "the part of the file that specified `trimmedStart`; `none` if nothing did")
  static let truncated = FieldSpec(FieldKey.truncated)
  static let underlying = FieldSpec(
    "underlying", .text, "the error text of a lower layer, such as `No such file or directory (errno 2)`")
  static let uri = FieldSpec(FieldKey.uri)
  static let url = FieldSpec("url", .text, "the URL that the station announces with the title")
  static let value = FieldSpec("value", .value, "the value of the key or tag")
  static let version = FieldSpec(FieldKey.version)
  static let volume = FieldSpec(FieldKey.volume)
}
