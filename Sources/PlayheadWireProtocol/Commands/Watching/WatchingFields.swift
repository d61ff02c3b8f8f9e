import PlayheadMediaCore

/// The fields of the replies of the watching commands, which events also have.
extension FieldKey<Int> {
  static var countOfRows: Self { Self("count", "the number of rows in this reply") }
}

extension FieldKey<UInt64> {
  static var missed: Self { Self("missed", "the number of older events, of any key, that the log no longer has") }
}

extension FieldKey<Bool> {
  static var more: Self { Self("more", "whether the log has further events") }
}

extension FieldKey<MediaTime> {
  static var reached: Self {
    Self(time: "reached", "the position at which playback began, from the start of the item")
  }
}

/// The steps of a start, in microseconds.
extension FieldKey<Int64> {
  static var waitMicroseconds: Self {
    Self("wait", "the time until the decode thread began to work, in microseconds")
  }
  static var open: Self { Self("open", "the time to open the file, in microseconds; 0 if it was open") }
  static var indexMicroseconds: Self { Self("index", "the time to find the position in the file, in microseconds") }
  static var demux: Self {
    Self("demux", "the time to read packets from the found position to the first frame, in microseconds")
  }
  static var decode: Self {
    Self("decode", "the time to decode as much as playback needs to start, in microseconds")
  }
  static var resample: Self {
    Self("resample", "the time for conversion to the format of the output, in microseconds")
  }
  static var commit: Self {
    Self("commit", "the time to give the decoded audio to the device, in microseconds")
  }
  static var device: Self {
    Self("device", "the time from `commit` until the first sample was heard, in microseconds; `none` before")
  }
  static var totalMicroseconds: Self { Self("total", "the sum of all steps, in microseconds") }
}

extension FieldKey<String> {
  static var kindOfTiming: Self {
    Self("kind", words: ["start", "seek", "splice"], "the action that the times belong to")
  }
}
