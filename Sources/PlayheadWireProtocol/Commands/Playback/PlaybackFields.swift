import PlayheadMediaCore

/// The fields of the replies of the playback commands, which other replies also have.
extension FieldKey<[String]> {
  static var affectedPlayers: Self {
    Self("players", "the names of all players, with `player=*`; the other fields are those of the first one")
  }
  static var characteristicsPreferred: Self { Self("characteristics", "the preferred characteristics of tracks") }
  static var principal: Self {
    Self("principal", "the required characteristics, which have priority over the language")
  }
}

extension FieldKey<Bool> {
  static var appliesCriteria: Self {
    Self("automatic", "whether entries follow the criteria of `media-selection`")
  }
  static var automaticallyWaitsToMinimizeStalling: Self {
    Self(
      "automaticallyWaitsToMinimizeStalling", "whether playback waits after an underrun and resumes; false: it pauses")
  }
  static var fadeFinished: Self { Self("finished", "whether the end of the fade was heard") }
  static var isFading: Self {
    Self("isFading", "whether the volume that is heard changes in a fade; `false` while paused")
  }
  static var limited: Self {
    Self("limited", "whether the peak in the tags limits the gain; `none` until the tags are known")
  }
  static var protect: Self { Self("protect", "whether the peak of the tags limits the gain, to avoid clipping") }
  static var ready: Self {
    Self("ready", "whether the output has the first samples, so that `play` starts without delay")
  }
}

extension FieldKey<Double> {
  static var defaultRate: Self {
    Self("defaultRate", "the rate that `play` uses, from 1/32 to 32; negative for reverse")
  }
  static var fallback: Self { Self("fallback", "the gain of entries without loudness tags, in dB, from -60 to 15") }
  static var preAmp: Self { Self("preAmp", "the gain that is added to that of the tags, in dB, from -15 to 15") }
  static var timebaseRate: Self {
    Self("timebaseRate", "the rate at which the time heard advances; 0 while paused or waiting")
  }
}

extension FieldKey<MediaTime> {
  static var crossfade: Self {
    Self(time: "crossfade", "how long two entries are heard together; `none` if no cross-fade is set")
  }
  static var fadeOut: Self { Self(time: "fadeOut", "the length of the fade-out; `none` if no cross-fade is set") }
  static var fadeIn: Self { Self(time: "fadeIn", "the length of the fade-in; `none` if no cross-fade is set") }
}

extension FieldKey<FadeCommand.Curve> {
  static var crossfadeCurve: Self { Self("curve", "the curve of a cross-fade; `none` if none is set") }
}

extension FieldKey<Float> {
  static var pan: Self { Self("pan", "the pan, from -1 (left) to 1 (right)") }
}

extension FieldKey<Int> {
  static var countOfReturns: Self {
    Self("count", "the number of remaining returns to the start; `none`: indefinitely")
  }
  static var index: Self {
    Self("index", "the position of the entry in the queue; 0 is the current entry; `none` without one")
  }
  static var passes: Self {
    Self("passes", "the number of returns to the start of the loop so far; `none` without a loop")
  }
  static var passesLeft: Self {
    Self(
      "passesLeft", "the number of remaining returns to the start of the loop; `none`: indefinitely, or no loop")
  }
}

extension FieldKey<UInt64> {
  static var shuffle: Self {
    Self("shuffle", "the seed of the shuffled order; `none` if the queue is not shuffled")
  }
}

extension FieldKey<String> {
  static var actionAtItemEnd: Self {
    Self(
      "actionAtItemEnd", words: EndActionCommand.Action.allCases.map(\.rawValue),
      "the action at the end of an item: play the next item, pause, or continue in silence")
  }
  static var fadeReason: Self {
    Self("reason", words: ["replaced", "notPlaying"], "why the reply came before the end of the fade")
  }
  static var itemStatus: Self {
    Self(
      "itemStatus", words: ["unknown", "readyToPlay", "failed"],
      "the status of the current entry; `unknown` without one")
  }
  static var reasonForWaitingToPlay: Self {
    Self(
      "reasonForWaitingToPlay",
      words: [
        "toMinimizeStalls", "evaluatingBufferingRate", "noItemToPlay", "currentItemFailed", "outputUnavailable",
        "startTimeNotReached", "interrupted", "categoryForbidsPlayback",
      ], "the reason why the player waits (`status`); `none` while it does not wait")
  }
  static var `repeat`: Self {
    Self("repeat", words: ["off", "one", "all"], "what repeats: nothing, the current item or the queue")
  }
  static var replayGain: Self {
    Self("replayGain", words: ["off", "track", "album", "auto"], "the mode of `replay-gain`")
  }
  static var replayGainSource: Self {
    Self(
      "source", words: ["track", "album", "scan", "fallback"],
      "the origin of the gain: track tags, album tags, `scan`, or `fallback`; `none` while off or unknown")
  }
}

/// The titles of an entry, in the order of `status`.
extension FieldKey<String> {
  static var chapterTitle: Self { Self("chapterTitle", "the title of the chapter that is heard") }
}

extension FieldKey<TimeRange> {
  static var loop: Self {
    Self("loop", "the range of the current entry that is looped; `none` without a loop")
  }
}

extension FieldKey<String> {
  static var modeOfReplayGain: Self {
    Self("mode", words: ReplayGainCommand.Mode.allCases.map(\.rawValue), "the gain in use")
  }
}
