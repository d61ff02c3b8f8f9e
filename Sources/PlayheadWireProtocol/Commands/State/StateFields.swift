import PlayheadMediaCore

/// The fields of the replies of the commands about the saved state, which other replies also have.
extension FieldKey<FilePath> {
  static var folder: Self {
    Self("folder", "the folder of the saved state; `none` without one")
  }
  static var path: Self {
    Self("path", "the path or URL of the file, or the name of its descriptor; `none` if it is unknown")
  }
}

extension FieldKey<String> {
  static var message: Self {
    Self("message", "the description of the error or fault for users")
  }
  static var name: Self {
    Self("name", "the name of the error, bookmark or saved queue")
  }
}

extension FieldKey<TimeRange> {
  static var part: Self { Self("part", "the part of the file to which the bookmark belongs") }
}

extension FieldKey<Int> {
  static var writes: Self {
    Self("writes", "the number of writes of the saved state since the daemon started")
  }
  static var code: Self {
    Self("code", "the number of the error")
  }
  static var next: Self {
    Self("next", "the `offset` of the next part of the list; `none` after the last part")
  }
}

extension FieldKey<[UInt64]> {
  static var crashed: Self {
    Self("crashed", "the ids of the entries that failed at the start, because opening them had crashed the daemon")
  }
}

extension FieldKey<UInt64> {
  static var first: Self {
    Self("first", "the id of the first new entry")
  }
  static var last: Self {
    Self("last", "the id of the last new entry")
  }
  static var version: Self {
    Self("version", "the version of the queue, which increases with each change")
  }
  static var bookmark: Self {
    Self("bookmark", "the number of the bookmark")
  }
}

extension FieldKey<Int64> {
  static var saved: Self {
    Self("saved", "the time at which the bookmark or queue was saved, in seconds since 1970 (UTC)")
  }
}

extension FieldKey<Bool> {
  static var saving: Self {
    Self("saving", "whether players and queues are saved")
  }
  static var automatic: Self {
    Self("automatic", "whether the bookmark was set automatically, where playback of its file ended")
  }
}

extension FieldKey<MediaTime> {
  static var time: Self {
    Self(time: "time", "the position, from the start of the item or file")
  }
  static var pts: Self {
    Self(fraction: "pts", "`time` as an exact fraction of seconds")
  }
}
