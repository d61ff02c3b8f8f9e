import PlayheadMediaCore

/// The fields of the replies of the session commands.
extension FieldKey<SessionCategory> {
  static var category: Self { Self("category", "the category of the audio session") }
}

extension FieldKey<SessionMode> {
  static var mode: Self { Self("mode", "the mode of the session") }
}

extension FieldKey<InterruptionOutcome> {
  static var atEnd: Self {
    Self("atEnd", "whether playback resumes or pauses when the sound server ends an interruption")
  }
  static var atTimeout: Self {
    Self("atTimeout", "whether playback resumes or pauses when an interruption has lasted for `timeout`")
  }
}

extension FieldKey<String> {
  static var otherAudio: Self {
    Self(
      "otherAudio", words: ["interrupted", "mixed", "ducked"],
      "the effect on other programs while the session plays: they pause, continue, or have a lower volume")
  }
  static var role: Self {
    Self(
      "role", words: ["music", "video", "game", "event", "phone", "production", "a11y"],
      "the role that the sound server sees (PulseAudio's `media.role`)")
  }
}

extension FieldKey<[String]> {
  static var sessionOptions: Self {
    Self(
      "options", words: SessionOption.allCases.map(\.rawValue), "the options of the category; `none` without options")
  }
}

extension FieldKey<Bool> {
  static var isActive: Self { Self("isActive", "whether the session is active") }
  static var isInterrupted: Self { Self("isInterrupted", "whether another program interrupts the session") }
  static var playback: Self { Self("playback", "whether the category allows playback") }
  static var recording: Self { Self("recording", "whether the category of the session allows recording") }
  static var secondaryAudioShouldBeSilencedHint: Self {
    Self(
      "secondaryAudioShouldBeSilencedHint", "whether the sound server lowers the volume because another program plays")
  }
}

extension FieldKey<MediaTime> {
  static var fade: Self {
    Self(time: "fade", "the duration of the fade-in after an interruption, from 0 to 10 s")
  }
  static var timeout: Self { Self(time: "timeout", "the maximum duration of an interruption; `none` is no limit") }
}
