import PlayheadMediaCore

/// The fields of the replies of the commands about entries, which other replies and events also have.
extension FieldKey<Int64> {
  static var bytesTransferred: Self { Self("bytes", "the number of bytes received in the bodies of responses") }
  static var indicatedBitrate: Self {
    Self("indicatedBitrate", "the bit rate that the server or the playlist announces, in bits per second")
  }
  static var observedBitrate: Self {
    Self("observedBitrate", "the measured bit rate of the transfers, in bits per second")
  }
  static var stationBitrate: Self {
    Self("stationBitrate", "the bit rate that the station announces, in bits per second")
  }
}

extension FieldKey<Int> {
  static var addressChanges: Self { Self("addressChanges", "the number of changes of the server address") }
  static var reconnects: Self { Self("reconnects", "the number of reconnections after a broken connection") }
  static var stalls: Self { Self("stalls", "the number of stalls during playback") }
  static var statusCode: Self { Self("status", "the HTTP status or curl's code; 0 for other errors") }
  static var switches: Self { Self("switches", "the number of switches to another variant of an HLS stream") }
}

extension FieldKey<String> {
  static var address: Self { Self("address", "the network address of the server; empty before its first response") }
  static var album: Self {
    Self("album", "the album of the item, from its tags; absent if it is unknown or has more than 1,024 bytes")
  }
  static var artist: Self {
    Self("artist", "the artist of the item, from its tags; absent if it is unknown or has more than 1,024 bytes")
  }
  static var date: Self {
    Self("date", "the date and time of the recording that is heard, in UTC, such as `2026-11-22T09:30:00.000Z`")
  }
  static var gainSource: Self {
    Self(
      "gainSource", words: ["track", "album", "scan", "fallback"],
      "the origin of the gain: track tags, album tags, `scan`, or `fallback`; `none` while off, and until the tags"
        + " are known")
  }
  static var kindOfLogEntry: Self {
    Self("kind", words: ["access", "error"], "whether the row has requests of a resource, or an error")
  }
  static var resourceType: Self {
    Self(
      "type", words: ["file", "vod", "live", ""],
      "`file` (of known length), `vod` (HLS on demand) or `live`; empty before the first response")
  }
  static var stationDescription: Self { Self("stationDescription", "the station's description of itself") }
  static var stationGenre: Self { Self("stationGenre", "the genre of the station") }
  static var stationName: Self { Self("stationName", "the name of the station") }
  static var stationUrl: Self { Self("stationUrl", "the URL of the station's website") }
  static var statusOfEntry: Self {
    Self(
      "status", words: ["unknown", "readyToPlay", "failed"], "the status of the entry; `unknown` before it is opened")
  }
  static var streamTitle: Self { Self("streamTitle", "the title that the station announces for the audio heard") }
  static var streamUrl: Self { Self("streamUrl", "the URL that the station announces with the title") }
  static var uri: Self { Self("uri", "the requested URL, without user name and password") }
}

extension FieldKey<TimeRange> {
  static var range: Self { Self("range", "the part of the file that the entry plays, in seconds") }
}

extension FieldKey<[TimeRange]> {
  static var loadedTimeRanges: Self {
    Self(
      "loadedTimeRanges",
      "the ranges that are decoded and not heard yet, or in memory; `none` if there are none")
  }
  static var seekableTimeRanges: Self { Self("seekableTimeRanges", "the ranges that seeks can reach") }
}

extension FieldKey<PitchCommand.Algorithm> {
  static var audioTimePitchAlgorithm: Self {
    Self("audioTimePitchAlgorithm", "the algorithm that determines how the pitch follows the rate")
  }
  static var ownAudioTimePitchAlgorithm: Self {
    Self("ownAudioTimePitchAlgorithm", "the algorithm that `item.pitch` set for the entry; `none`: that of the player")
  }
}

extension FieldKey<Bool> {
  static var canPlayFastForward: Self { Self("canPlayFastForward", "whether the item can play at rates above 2") }
  static var canPlayFastReverse: Self { Self("canPlayFastReverse", "whether the item can play at rates below -1") }
  static var canPlayReverse: Self { Self("canPlayReverse", "whether the item can play at rate -1") }
  static var canPlaySlowForward: Self {
    Self("canPlaySlowForward", "whether the item can play at rates between 0 and 1")
  }
  static var canPlaySlowReverse: Self {
    Self("canPlaySlowReverse", "whether the item can play at rates between -1 and 0")
  }
  static var canStepBackward: Self { Self("canStepBackward", "whether `step` can move back in the item") }
  static var canStepForward: Self { Self("canStepForward", "whether `step` can move forward in the item") }
  static var gainLimited: Self {
    Self("gainLimited", "whether the peak in the tags limits the gain; `none` until the tags are known")
  }
  static var isPlaybackBufferEmpty: Self {
    Self(
      "isPlaybackBufferEmpty",
      "whether all decoded audio of the entry has been heard; `true` for an entry that is not current")
  }
  static var isPlaybackBufferFull: Self {
    Self("isPlaybackBufferFull", "whether the buffer is full, so that decoding pauses")
  }
  static var isPlaybackLikelyToKeepUp: Self {
    Self(
      "isPlaybackLikelyToKeepUp",
      "whether enough is decoded to play without a stall; `false` for an entry that is not current")
  }
  static var live: Self { Self("live", "whether the entry is a live HLS stream") }
  static var providesPreciseDuration: Self {
    Self("providesPreciseDuration", "whether the duration is exact, not an estimate")
  }
  static var retried: Self { Self("retried", "whether the request was repeated") }
}

extension FieldKey<MediaTime> {
  static var at: Self { Self(time: "at", "the start of the volume point or ramp, in item time") }
  static var forwardPlaybackEndTime: Self {
    Self(time: "forwardPlaybackEndTime", "where forward playback ends; `none`: at the end of the item")
  }
  static var liveEdge: Self { Self(time: "liveEdge", "the end of the live stream, in item time") }
  static var over: Self { Self(time: "over", "the duration of the ramp") }
  static var preferredForwardBufferDuration: Self {
    Self(time: "preferredForwardBufferDuration", "how far ahead the entry is decoded; 0: as far as memory allows")
  }
  static var reversePlaybackEndTime: Self {
    Self(time: "reversePlaybackEndTime", "where reverse playback ends; `none` is the start of the item")
  }
  static var stallDuration: Self { Self(time: "stallDuration", "the total duration of the stalls") }
  static var startup: Self { Self(time: "startup", "the time from the request to the first byte of the body") }
}

extension FieldKey<Double> {
  static var gain: Self {
    Self(
      "gain", "the gain that is applied to the entry, in dB, from -60 to 30; 0 if off; `none` until the tags are known")
  }
}

extension FieldKey<Float> {
  static var to: Self { Self("to", "the volume at the end of a ramp, from 0 to 1") }
}
