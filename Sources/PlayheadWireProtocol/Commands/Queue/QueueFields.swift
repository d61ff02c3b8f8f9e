import PlayheadMediaCore

/// The fields of the replies of the commands about the queue, which other replies and events also have.
extension FieldKey<IntegerList> {
  static var items: Self { Self("items", "the ids of the new entries") }
}

extension FieldKey<UInt64> {
  static var seed: Self { Self("seed", "the seed of the shuffled order") }
}

extension FieldKey<Int> {
  static var from: Self { Self("from", "the index of the moved entry before the change") }
  static var countOfRotation: Self {
    Self("count", "the number of entries that moved from the start of the queue to its end")
  }
  static var skippedEntries: Self {
    Self("skipped", "the number of entries of playlists or of the queue that were left out")
  }
  static var pending: Self { Self("pending", "the number of edits that are collected for `queue.commit`") }
  static var line: Self { Self("line", "the line in the playlist; 0 if no single line is the cause") }
}

extension FieldKey<String> {
  static var shuffleState: Self { Self("shuffle", words: ["off", "on"], "whether the queue is shuffled") }
  static var op: Self {
    Self(
      "op", words: ["insert", "remove", "move", "rotate"],
      "the change: an entry was added, removed or moved, or entries moved from the start of the queue to its end")
  }
  static var text: Self { Self("text", "a line of the playlist") }
}

extension FieldKey<FailurePolicy> {
  static var onFailure: Self {
    Self("onFailure", "the action when an entry fails: play the next entry, or pause")
  }
}

extension FieldKey<Bool> {
  static var whole: Self {
    Self("whole", "whether the whole order may have changed, so that `list` is necessary")
  }
}
