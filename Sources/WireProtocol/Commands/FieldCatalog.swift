import MediaCore

/// The fields of replies, rows and events, by name.
extension FieldSpec {
  static let actionAtItemEnd = FieldSpec(
    "actionAtItemEnd", .word(PlaybackCommand.ItemEndAction.allCases.map(\.rawValue)),
    "the action at the end of an item: play the next item, pause, or continue in silence")
  static let address = FieldSpec("address", .text, "the network address of the server; empty before its first response")
  static let addressChanges = FieldSpec("addressChanges", .integer, "the number of changes of the server address")
  static let affectedPlayers = FieldSpec(
    "players", .texts, "the names of all players, with `player=*`; the other fields are those of the first one")
  static let after = FieldSpec(FieldKey.after)
  static let albumGain = FieldSpec(
    "albumGain", .number, "the ReplayGain of the album, from its tags or measured, in dB to -18 LUFS")
  static let album = FieldSpec(
    "album", .text, "the album of the item, from its tags; absent if it is unknown or has more than 1,024 bytes")
  static let albumLoudness = FieldSpec(
    "albumLoudness", .number, "the integrated loudness of all files together, in LUFS")
  static let albumPeak = FieldSpec(
    "albumPeak", .number, "the largest sample of the album, from its tags or measured; 1 is full scale")
  static let albumSamplePeak = FieldSpec(
    "albumSamplePeak", .number, "the largest sample of all files, in dBFS; `none` for digital silence")
  static let albumTruePeak = FieldSpec(
    "albumTruePeak", .number, "the largest value between samples of all files, in dBTP; `none` for digital silence")
  static let allowsEmptySelection = FieldSpec(
    "allowsEmptySelection", .boolean, "whether no track of the group may be presented")
  static let applied = FieldSpec("applied", .integer, "the number of queue entries that got the measured gains")
  static let appliesCriteria = FieldSpec(
    "automatic", .boolean, "whether entries follow the criteria of `media-selection`")
  static let artist = FieldSpec(
    "artist", .text, "the artist of the item, from its tags; absent if it is unknown or has more than 1,024 bytes")
  static let artwork = FieldSpec("artwork", .integer, "the number of the image among the artwork of the file, from 0")
  static let artworkCount = FieldSpec("artworkCount", .integer, "the number of images in the tags")
  static let artworkDescription = FieldSpec("description", .text, "the description of the image in the tags")
  static let artworkType = FieldSpec("artworkType", .text, "the role of the image, such as `frontCover`")
  static let asset = FieldSpec("asset", .integer, "the number of the asset, valid on this connection")
  static let at = FieldSpec("at", .time, "the start of the volume point or ramp, in item time")
  static let audio = FieldSpec(
    "audio", .integer, "the number of the presented audio track, from 0; `none` if none is presented")
  static let audioTimePitchAlgorithm = FieldSpec(
    "audioTimePitchAlgorithm", .word(PlaybackCommand.PitchAlgorithm.allCases.map(\.rawValue)),
    "the algorithm that determines how the pitch follows the rate")
  static let automaticallyWaitsToMinimizeStalling = FieldSpec(
    "automaticallyWaitsToMinimizeStalling", .boolean,
    "whether playback waits after an underrun and resumes; false: it pauses")
  static let average = FieldSpec(
    "average", .numbers, "the average power of each channel since the last event, in dBFS; -160 is silence")
  static let averageScale = FieldSpec(
    "averageScale", .numbers, "the average power of each channel on a meter, from 0 (-60 dBFS) to 1 (0 dBFS)")
  static let before = FieldSpec(FieldKey.before)
  static let bin = FieldSpec("bin", .integer, "the number of the bin, from 0")
  static let bins = FieldSpec("bins", .integer, "the number of bins of the waveform")
  static let bitRate = FieldSpec("bitRate", .integer, "the bit rate of the track, in bits per second")
  static let bitsPerSample = FieldSpec(
    "bitsPerSample", .integer, "the number of bits per sample before encoding, for lossless codecs")
  static let by = FieldSpec(
    "by", .word(["server", "request", "timeOut", "outputLost"]),
    "the end of the interruption: by the sound server, a command, `timeout` of `session.policy`, or the loss of"
      + " the output")
  static let bytes = FieldSpec(
    "bytes", .integer, "the size of the value or image in bytes; for a text only if it was cut or left out")
  static let bytesTransferred = FieldSpec("bytes", .integer, "the number of bytes received in the bodies of responses")
  static let cached = FieldSpec("cached", .boolean, "whether the waveform comes from the cache")
  static let cancelled = FieldSpec("cancelled", .integer, "the number of cancelled operations")
  static let canPlayFastForward = FieldSpec(
    "canPlayFastForward", .boolean, "whether the item can play at rates above 2")
  static let canPlayFastReverse = FieldSpec(
    "canPlayFastReverse", .boolean, "whether the item can play at rates below -1")
  static let canPlayReverse = FieldSpec("canPlayReverse", .boolean, "whether the item can play at rate -1")
  static let canPlaySlowForward = FieldSpec(
    "canPlaySlowForward", .boolean, "whether the item can play at rates between 0 and 1")
  static let canPlaySlowReverse = FieldSpec(
    "canPlaySlowReverse", .boolean, "whether the item can play at rates between -1 and 0")
  static let canStepBackward = FieldSpec("canStepBackward", .boolean, "whether `step` can move back in the item")
  static let canStepForward = FieldSpec("canStepForward", .boolean, "whether `step` can move forward in the item")
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
  static let channels = FieldSpec(FieldKey.channels)
  static let chapter = FieldSpec(
    "chapter", .integer, "the number of the chapter, from 1; `none` before the first chapter and between chapters")
  static let chapterTitle = FieldSpec("chapterTitle", .text, "the title of the chapter that is heard")
  static let characteristics = FieldSpec(
    "characteristics", .texts, "the characteristics of the track, such as `describes-video`")
  static let characteristicsPreferred = FieldSpec("characteristics", .texts, "the preferred characteristics of tracks")
  static let clamped = FieldSpec(FieldKey.clamped)
  static let closedCaptions = FieldSpec(
    "closedCaptions", .texts, "the formats of captions within the video frames: cea608, cea708")
  static let code = FieldSpec(FieldKey.code)
  static let codec = FieldSpec("codec", .text, "FFmpeg's name of the codec, such as `flac`; `none` if it is unknown")
  static let codedHeight = FieldSpec(
    "codedHeight", .integer, "the height in pixels before the pixel aspect ratio is applied")
  static let codedWidth = FieldSpec(
    "codedWidth", .integer, "the width in pixels before the pixel aspect ratio is applied")
  static let commit = FieldSpec("commit", .integer, "the time to give the decoded audio to the device, in microseconds")
  static let commonKey = FieldSpec("commonKey", .text, "the meaning of the key in any format, such as `title`")
  static let count = FieldSpec(FieldKey.count)
  static let countOfEntries = FieldSpec(FieldKey.countOfEntries)
  static let countOfFiles = FieldSpec("count", .integer, "the number of files of the request")
  static let countOfGroups = FieldSpec("count", .integer, "the number of groups of tracks")
  static let countOfPackets = FieldSpec("count", .integer, "the number of packets that did not decode")
  static let countOfReturns = FieldSpec(
    "count", .integer, "the number of remaining returns to the start; `none`: indefinitely")
  static let countOfRotation = FieldSpec(
    "count", .integer, "the number of entries that moved from the start of the queue to its end")
  static let countOfRows = FieldSpec("count", .integer, "the number of rows in this reply")
  static let current = FieldSpec(FieldKey.current)
  static let currentDevice = FieldSpec("current", .text, "the output device in use and, after a `/`, its port")
  static let data = FieldSpec("data", .text, "the data, or the requested part of the image, in base64")
  static let date = FieldSpec(
    "date", .text, "the date and time of the recording that is heard, in UTC, such as `2026-11-22T09:30:00.000Z`")
  static let decode = FieldSpec(
    "decode", .integer, "the time to decode as much as playback needs to start, in microseconds")
  static let `default` = FieldSpec(FieldKey.default)
  static let defaultRate = FieldSpec(
    "defaultRate", .number, "the rate that `play` uses, from 1/32 to 32; negative for reverse")
  static let demux = FieldSpec(
    "demux", .integer, "the time to read packets from the found position to the first frame, in microseconds")
  static let description = FieldSpec(FieldKey.description)
  static let device = FieldSpec(
    "device", .integer, "the time from `commit` until the first sample was heard, in microseconds; `none` before")
  static let direction = FieldSpec(
    "direction", .word(["forward", "backward"]), "the direction of the seek over the time")
  static let done = FieldSpec(
    "done", .number, "the completed part of the work, from 0 to 1; `none` if the length is unknown")
  static let dropped = FieldSpec(FieldKey.dropped)
  static let duration = FieldSpec(FieldKey.duration)
  static let enabled = FieldSpec("enabled", .boolean, "whether the file presents the track by default")
  static let end = FieldSpec("end", .time, "the end of the chapter or loop, in item time")
  static let entryKind = FieldSpec("kind", .word(["file", "folder"]), "whether the row is a file or a folder")
  static let entryPath = FieldSpec("path", .text, "the path of the file or folder")
  static let error = FieldSpec(FieldKey.error)
  static let event = FieldSpec(
    "event",
    .word([
      "chapter-changed", "changed", "failed-to-play-to-end", "interruption", "item-skipped", "new-access-log-entry",
      "new-error-log-entry", "packets-skipped", "played-to-end", "route-changed", "secondary-audio-hint", "stalled",
      "stream-title", "time-jumped", "timed-metadata", "transition",
    ]), "the name of the event")
  static let exact = FieldSpec(FieldKey.exact)
  static let failed = FieldSpec("failed", .integer, "the number of files that could not be measured")
  static let fallback = FieldSpec(
    "fallback", .number, "the gain of entries without loudness tags, in dB, from -60 to 15")
  static let fault = FieldSpec(FieldKey.fault)
  static let file = FieldSpec("file", .integer, "the number of the file in the request, from 1")
  static let fadeFinished = FieldSpec("finished", .boolean, "whether the end of the fade was heard")
  static let fadeReason = FieldSpec(
    "reason", .word(["replaced", "notPlaying"]), "why the reply came before the end of the fade")
  static let finished = FieldSpec(FieldKey.finished)
  static let format = FieldSpec(FieldKey.format)
  static let formats = FieldSpec("formats", .texts, "the key spaces of the tags, such as `id3` or `vorbis`")
  static let forwardPlaybackEndTime = FieldSpec(
    "forwardPlaybackEndTime", .time, "where forward playback ends; `none`: at the end of the item")
  static let frame = FieldSpec(
    "frame", .integer,
    "the output frame of the start or change, counted from the opening of the output; `none` if no player played")
  static let frameRate = FieldSpec(
    "frameRate", .text,
    "the average number of video frames per second, as an integer or a fraction such as `30000/1001`")
  static let from = FieldSpec("from", .integer, "the index of the moved entry before the change")
  static let fromItem = FieldSpec("from", .integer, "the id of the entry that ended or repeats")
  static let gain = FieldSpec(
    "gain", .number,
    "the gain that is applied to the entry, in dB, from -60 to 30; 0 if off; `none` until the tags are known")
  static let gainLimited = FieldSpec(
    "gainLimited", .boolean, "whether the peak in the tags limits the gain; `none` until the tags are known")
  static let gainSource = FieldSpec(
    "gainSource", .word(["track", "album", "scan", "fallback"]),
    "the origin of the gain: track tags, album tags, `scan`, or `fallback`; `none` while off, and until the tags"
      + " are known")
  static let group = FieldSpec(
    "group", .words(of: MediaSelectionChange.Group.self),
    "the group of tracks: `audible` (audio) or `legible` (subtitles)")
  static let height = FieldSpec("height", .integer, "the height in square pixels")
  static let held = FieldSpec(
    "held", .boolean, "`true` for metadata that started before the position where playback started; otherwise absent")
  static let hostTime = FieldSpec(FieldKey.hostTime)
  static let hostTimeOfFrame = FieldSpec(
    "hostTime", .time,
    "the instant at which `frame` is heard, in seconds of CLOCK_MONOTONIC; `none` if the device is stopped")
  static let id = FieldSpec(FieldKey.id)
  static let identifier = FieldSpec("identifier", .text, "the key space and the key of the tag, such as `id3/TIT2`")
  static let image = FieldSpec("image", .integer, "the number of the image, from 1")
  static let index = FieldSpec(
    "index", .integer, "the position of the entry in the queue; 0 is the current entry; `none` without one")
  static let indicatedBitrate = FieldSpec(
    "indicatedBitrate", .integer, "the bit rate that the server or the playlist announces, in bits per second")
  static let info = FieldSpec("info", .text, "the description within the tag, or the id of a date range")
  static let initial = FieldSpec(
    "initial", .boolean, "`true` for the value at the start of the observation; otherwise absent")
  static let input = FieldSpec(
    "input", .text, "the default input of the sound server, as `DEVICE/PORT`; `none` if there is none")
  static let inserted = FieldSpec(
    "inserted", .integer, "the number of silent output frames between the items; 0 unless the second one was late")
  static let instance = FieldSpec(FieldKey.instance)
  static let isFading = FieldSpec(
    "isFading", .boolean, "whether the volume that is heard changes in a fade; `false` while paused")
  static let isMuted = FieldSpec(FieldKey.isMuted)
  static let isPlaybackBufferEmpty = FieldSpec(
    "isPlaybackBufferEmpty", .boolean,
    "whether all decoded audio of the entry has been heard; `true` for an entry that is not current")
  static let isPlaybackBufferFull = FieldSpec(
    "isPlaybackBufferFull", .boolean, "whether the buffer is full, so that decoding pauses")
  static let isPlaybackLikelyToKeepUp = FieldSpec(
    "isPlaybackLikelyToKeepUp", .boolean,
    "whether enough is decoded to play without a stall; `false` for an entry that is not current")
  static let item = FieldSpec(FieldKey.item)
  static let items = FieldSpec("items", .integers, "the ids of the new entries")
  static let itemStatus = FieldSpec(
    "itemStatus", .word(["unknown", "readyToPlay", "failed"]), "the status of the current entry; `unknown` without one")
  static let key = FieldSpec(FieldKey.key)
  static let kind = FieldSpec(FieldKey.kind)
  static let language = FieldSpec("language", .text, "the language, as a code of ISO 639 or a tag of BCP 47")
  static let languages = FieldSpec("languages", .texts, "the languages, as codes of ISO 639 or BCP 47")
  static let late = FieldSpec(
    "late", .time, "the delay between the time heard and the event, in seconds; 0 if nothing was due")
  static let lateFrames = FieldSpec(
    "late", .integer, "the number of output frames after the requested start; 0 unless a player was not ready in time")
  static let layout = FieldSpec("layout", .text, "FFmpeg's name of the channel layout, such as `stereo`")
  static let limited = FieldSpec(
    "limited", .boolean, "whether the peak in the tags limits the gain; `none` until the tags are known")
  static let line = FieldSpec("line", .integer, "the line in the playlist; 0 if no single line is the cause")
  static let live = FieldSpec("live", .boolean, "whether the entry is a live HLS stream")
  static let liveEdge = FieldSpec("liveEdge", .time, "the end of the live stream, in item time")
  static let loadedTimeRanges = FieldSpec(
    "loadedTimeRanges", .ranges,
    "the ranges that are decoded and not heard yet, or in memory; `none` if there are none")
  static let loop = FieldSpec("loop", .range, "the range of the current entry that is looped; `none` without a loop")
  static let lost = FieldSpec(FieldKey.lost)
  static let loudness = FieldSpec(
    "loudness", .number, "the integrated loudness, in LUFS; `none` if it was not measured")
  static let loudnessRange = FieldSpec("range", .number, "the loudness range, in LU; `none` if it was not measured")
  static let max = FieldSpec("max", .numbers, "the largest sample of each channel in the bin; 1 is full scale")
  static let mediaType = FieldSpec("mediaType", .text, "the media type of the data, such as `image/jpeg`")
  static let merged = FieldSpec("merged", .integer, "the number of changes that later events of the same keys include")
  static let message = FieldSpec(FieldKey.message)
  static let min = FieldSpec("min", .numbers, "the smallest sample of each channel in the bin; -1 is full scale")
  static let missed = FieldSpec(
    "missed", .integer, "the number of older events, of any key, that the log no longer has")
  static let mode = FieldSpec(FieldKey.mode)
  static let more = FieldSpec("more", .boolean, "whether the log has further events")
  static let name = FieldSpec(FieldKey.name)
  static let new = FieldSpec("new", .value, "the current value of the key; `none` if it has none")
  static let next = FieldSpec(FieldKey.next)
  static let nextPath = FieldSpec("next", .text, "the `after` of the next part of the list; `none` after the last part")
  static let now = FieldSpec(FieldKey.now)
  static let observedBitrate = FieldSpec(
    "observedBitrate", .integer, "the measured bit rate of the transfers, in bits per second")
  static let offset = FieldSpec("offset", .integer, "the index of the first byte of `data` in the image")
  static let old = FieldSpec("old", .value, "the value of the key before the change; `none` if it had none")
  static let onFailure = FieldSpec(
    "onFailure", .words(of: QueueCommand.FailurePolicy.self),
    "the action when an entry fails: play the next entry, or pause")
  static let op = FieldSpec(
    "op", .word(["insert", "remove", "move", "rotate"]),
    "the change: an entry was added, removed or moved, or entries moved from the start of the queue to its end")
  static let open = FieldSpec("open", .integer, "the time to open the file, in microseconds; 0 if it was open")
  static let operation = FieldSpec("operation", .text, "the command or call that failed")
  static let options = FieldSpec("options", .integer, "the number of tracks in the group")
  static let over = FieldSpec("over", .time, "the duration of the ramp")
  static let ownAudioTimePitchAlgorithm = FieldSpec(
    "ownAudioTimePitchAlgorithm", .words(of: PlaybackCommand.PitchAlgorithm.self),
    "the algorithm that `item.pitch` set for the entry; `none`: that of the player")
  static let owner = FieldSpec("owner", .text, "the owner of the tag, such as that of a private ID3 frame")
  static let pan = FieldSpec("pan", .number, "the pan, from -1 (left) to 1 (right)")
  static let passes = FieldSpec(
    "passes", .integer, "the number of returns to the start of the loop so far; `none` without a loop")
  static let passesLeft = FieldSpec(
    "passesLeft", .integer,
    "the number of remaining returns to the start of the loop; `none`: indefinitely, or no loop")
  static let path = FieldSpec(FieldKey.path)
  static let peak = FieldSpec("peak", .number, "the largest sample; 1 is full scale")
  static let peaks = FieldSpec(
    "peak", .numbers, "the largest sample of each channel since the last event, in dBFS; -160 is silence")
  static let peakScale = FieldSpec(
    "peakScale", .numbers, "`peak` on a meter's scale for each channel, from 0 (-60 dBFS or less) to 1 (full scale)")
  static let pending = FieldSpec("pending", .integer, "the number of edits that are collected for `queue.commit`")
  static let phase = FieldSpec(
    "phase", .word(["began", "ended"]), "whether the interruption or the lowered volume began or ended")
  static let playable = FieldSpec("playable", .boolean, "whether the track can be presented")
  static let playCount = FieldSpec("playCount", .integer, "the play counter in the tag")
  static let player = FieldSpec(FieldKey.player)
  static let preAmp = FieldSpec("preAmp", .number, "the gain that is added to that of the tags, in dB, from -15 to 15")
  static let precise = FieldSpec("precise", .boolean, "whether `duration` is exact and not an estimate")
  static let preferredForwardBufferDuration = FieldSpec(
    "preferredForwardBufferDuration", .time, "how far ahead the entry is decoded; 0: as far as memory allows")
  static let previous = FieldSpec(
    "previous", .text, "the former output, as `DEVICE/PORT`, or `DEVICE` without ports; `none` if there was none")
  static let principal = FieldSpec(
    "principal", .texts, "the required characteristics, which have priority over the language")
  static let protect = FieldSpec("protect", .boolean, "whether the peak of the tags limits the gain, to avoid clipping")
  static let protected = FieldSpec("protected", .boolean, "whether the track is encrypted and needs a key")
  static let providesPreciseDuration = FieldSpec(
    "providesPreciseDuration", .boolean, "whether the duration is exact, not an estimate")
  static let pts = FieldSpec(FieldKey.pts)
  static let r128AlbumGain = FieldSpec(
    "r128AlbumGain", .number, "the gain of the album in dB, for -23 LUFS, from the tag `R128_ALBUM_GAIN`")
  static let r128TrackGain = FieldSpec(
    "r128TrackGain", .number, "the gain of the track in dB, for -23 LUFS, from the tag `R128_TRACK_GAIN`")
  static let range = FieldSpec("range", .range, "the part of the file that the entry plays, in seconds")
  static let rate = FieldSpec(FieldKey.rate)
  static let reached = FieldSpec("reached", .time, "the position at which playback began, from the start of the item")
  static let ready = FieldSpec(
    "ready", .boolean, "whether the output has the first samples, so that `play` starts without delay")
  static let reasonForWaitingToPlay = FieldSpec(
    "reasonForWaitingToPlay",
    .word([
      "toMinimizeStalls", "evaluatingBufferingRate", "noItemToPlay", "currentItemFailed", "outputUnavailable",
      "startTimeNotReached", "interrupted", "categoryForbidsPlayback",
    ]),
    "the reason why the player waits (`status`); `none` while it does not wait")
  static let reconnects = FieldSpec("reconnects", .integer, "the number of reconnections after a broken connection")
  static let recordedTime = FieldSpec(FieldKey.recordedTime)
  static let recorder = FieldSpec(FieldKey.recorder)
  static let recorderState = FieldSpec(FieldKey.recorderState)
  static let `repeat` = FieldSpec(
    "repeat", .word(["off", "one", "all"]), "what repeats: nothing, the current item or the queue")
  static let replayGain = FieldSpec(
    "replayGain", .word(["off", "track", "album", "auto"]), "the mode of `replay-gain`")
  static let replayGainSource = FieldSpec(
    "source", .word(["track", "album", "scan", "fallback"]),
    "the origin of the gain: track tags, album tags, `scan`, or `fallback`; `none` while off or unknown")
  static let requested = FieldSpec(FieldKey.requested)
  static let requests = FieldSpec(FieldKey.requests)
  static let resample = FieldSpec(
    "resample", .integer, "the time for conversion to the format of the output, in microseconds")
  static let resourceType = FieldSpec(
    "type", .text, "`file` (of known length), `vod` (HLS on demand) or `live`; empty before the first response")
  static let retried = FieldSpec("retried", .boolean, "whether the request was repeated")
  static let reversePlaybackEndTime = FieldSpec(
    "reversePlaybackEndTime", .time, "where reverse playback ends; `none` is the start of the item")
  static let rms = FieldSpec("rms", .numbers, "the root of the mean square of each channel, where 1 is full scale")
  static let rotation = FieldSpec(
    "rotation", .integer, "the clockwise rotation that makes video frames upright: 0, 90, 180 or 270 degrees")
  static let routeReason = FieldSpec(
    "reason",
    .word([
      "unknown", "newDeviceAvailable", "oldDeviceUnavailable", "categoryChange", "override", "noSuitableRoute",
      "routeConfigurationChange",
    ]),
    "the reason of the change (`route-changed`)")
  static let sampleFormat = FieldSpec(
    "sampleFormat", .text, "FFmpeg's name of the decoded sample format, such as `s16` or `fltp`")
  static let samplePeak = FieldSpec(
    "samplePeak", .number, "the largest sample in dBFS; `none` for digital silence or if it was not measured")
  static let sampleRate = FieldSpec(FieldKey.sampleRate)
  static let scan = FieldSpec(
    "scan", .integer, "the number of the `scan`, `waveform`, `export` or `image` request, for `scan.cancel`")
  static let scanStatus = FieldSpec(
    "status", .word(["measured", "silence", "too-short", "failed"]),
    "whether the file was measured; `silence`: nothing above -70 LUFS; `too-short`: less than 400 ms; `failed`: an"
      + " error")
  static let seed = FieldSpec("seed", .integer, "the seed of the shuffled order")
  static let seekableTimeRanges = FieldSpec(
    "seekableTimeRanges", .ranges, "the ranges that seeks can reach")
  static let seekReason = FieldSpec(FieldKey.seekReason)
  static let selected = FieldSpec("selected", .boolean, "whether the track is selected")
  static let seq = FieldSpec("seq", .integer, "the number of the event in the event log")
  static let seqOfLastEvent = FieldSpec(FieldKey.seqOfLastEvent)
  static let shouldResume = FieldSpec("shouldResume", .boolean, "whether playback resumes")
  static let shuffle = FieldSpec(
    "shuffle", .integer, "the seed of the shuffled order; `none` if the queue is not shuffled")
  static let shuffleState = FieldSpec("shuffle", .word(["off", "on"]), "whether the queue is shuffled")
  static let since = FieldSpec("since", .integer, "the event number before the first lost one, for `since` of `events`")
  static let size = FieldSpec(FieldKey.size)
  static let skippedEntries = FieldSpec(
    "skipped", .integer, "the number of entries of playlists or of the queue that were left out")
  static let spread = FieldSpec("spread", .integer, "the number of frames between the first and the last player")
  static let stallDuration = FieldSpec("stallDuration", .time, "the total duration of the stalls")
  static let stalls = FieldSpec("stalls", .integer, "the number of stalls during playback")
  static let start = FieldSpec(
    "start", .time, "the start of the track, chapter, loop, waveform or bin, from the start of the item")
  static let startup = FieldSpec("startup", .time, "the time from the request to the first byte of the body")
  static let stationBitrate = FieldSpec(
    "stationBitrate", .integer, "the bit rate that the station announces, in bits per second")
  static let stationDescription = FieldSpec("stationDescription", .text, "the station's description of itself")
  static let stationGenre = FieldSpec("stationGenre", .text, "the genre of the station")
  static let stationName = FieldSpec("stationName", .text, "the name of the station")
  static let stationUrl = FieldSpec("stationUrl", .text, "the URL of the station's website")
  static let statusCode = FieldSpec("status", .integer, "the HTTP status or curl's code; 0 for other errors")
  static let statusOfEntry = FieldSpec(
    "status", .word(["unknown", "readyToPlay", "failed"]), "the status of the entry; `unknown` before it is opened")
  static let streamTitle = FieldSpec("streamTitle", .text, "the title that the station announces for the audio heard")
  static let streamUrl = FieldSpec("streamUrl", .text, "the URL that the station announces with the title")
  static let subtitles = FieldSpec(
    "subtitles", .integer, "the number of the selected subtitle track; `none` if none is selected")
  static let switches = FieldSpec("switches", .integer, "the number of switches to another variant of an HLS stream")
  static let tagTotal = FieldSpec(
    "total", .integer, "the total that belongs to the value, such as the number of tracks of the album")
  static let tagType = FieldSpec(
    "type", .word(["string", "number", "date", "data"]),
    "the type of the value; `data` has `bytes` in place of `value`")
  static let targetLevel = FieldSpec(
    "targetLevel", .integer, "the level that a Matroska tag describes: 30 is the track, 50 its album")
  static let text = FieldSpec("text", .text, "a line of the playlist")
  static let tickRate = FieldSpec(
    "rate", .number, "the rate at which the time heard advances; 0 while it does not advance")
  static let tickReason = FieldSpec(
    "reason", .word(["periodic", "jump", "start", "stop"]),
    "why the tick was sent: the interval, a jump of the time, or audio that started or stopped")
  static let time = FieldSpec(FieldKey.time)
  static let timebaseRate = FieldSpec(
    "timebaseRate", .number, "the rate at which the time heard advances; 0 while paused or waiting")
  static let timeControlStatus = FieldSpec(FieldKey.timeControlStatus)
  static let title = FieldSpec("title", .text, "the title: of the entry, track or chapter, or announced by a station")
  static let to = FieldSpec("to", .number, "the volume at the end of a ramp, from 0 to 1")
  static let toItem = FieldSpec("to", .integer, "the id of the entry that begins")
  static let totalMicroseconds = FieldSpec("total", .integer, "the sum of all steps, in microseconds")
  static let track = FieldSpec("track", .integer, "the number of the track in the file, from 0")
  static let trackGain = FieldSpec(
    "trackGain", .number, "the gain of the track in dB, for -18 LUFS, from ReplayGain or `iTunNORM` tags")
  static let trackPeak = FieldSpec(
    "trackPeak", .number, "the largest sample of the track, from the tags; 1 is full scale")
  static let trackType = FieldSpec(
    "type", .word(["audio", "video", "subtitle", "attachedPicture", "other"]),
    "the type of the track; `attachedPicture` is a still image, such as a cover")
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
  static let truePeak = FieldSpec(
    "truePeak", .number, "the largest value between samples in dBTP; `none` for silence or if not measured")
  static let truncated = FieldSpec(
    "truncated", .boolean, "true if `value` is only the beginning of the text, whose size is `bytes`")
  static let typeOfArtwork = FieldSpec(
    "type", .text, "the role of the image, such as `frontCover`, by the numbers of ID3's `APIC`")
  static let underlying = FieldSpec(
    "underlying", .text, "the error text of a lower layer, such as `No such file or directory (errno 2)`")
  static let uri = FieldSpec("uri", .text, "the requested URL, without user name and password")
  static let url = FieldSpec("url", .text, "the URL that the station announces with the title")
  static let us = FieldSpec(FieldKey.us)
  static let value = FieldSpec("value", .value, "the value of the key or tag")
  static let valueStatus = FieldSpec(
    "status", .word(["unknown", "loading", "loaded", "failed", "cancelled"]),
    "the loading status; `unknown` before the value is requested")
  static let version = FieldSpec(FieldKey.version)
  static let volume = FieldSpec(FieldKey.volume)
  static let waitMicroseconds = FieldSpec(
    "wait", .integer, "the time until the decode thread began to work, in microseconds")
  static let warning = FieldSpec("warning", .text, "the part of the tags that was ignored")
  static let whole = FieldSpec(
    "whole", .boolean, "whether the whole order may have changed, so that `list` is necessary")
  static let width = FieldSpec("width", .integer, "the width in pixels")
  static let writtenFile = FieldSpec(FieldKey.writtenFile)
}
