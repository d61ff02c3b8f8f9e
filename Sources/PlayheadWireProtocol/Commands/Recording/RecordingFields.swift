import PlayheadMediaCore

/// The fields of the replies of the recording commands, which other replies and events also have.
extension FieldKey<Int> {
  static var recorder: Self { Self("recorder", "the number of the recorder") }
  static var id: Self { Self("id", "the id of the subscription") }
}

extension FieldKey<Int64> {
  static var lost: Self {
    Self("lost", "the number of frames of the source that were lost; silence replaces them")
  }
  static var size: Self { Self("size", "the size of the written file in bytes; 0 if it is unknown") }
  static var skippedFrames: Self {
    Self("skipped", "the number of frames left out: before `start-level`, and of silence")
  }
}

extension FieldKey<String> {
  static var fault: Self {
    Self(error: "fault", "the name of the error that made a part of the result wrong or missing")
  }
  static var codecTag: Self { Self("format", "the name of the codec in the file, such as `mp4a`") }
  static var recordedSource: Self { Self("source", "the name of the recorded source; `none` before it is open") }
  static var recorderState: Self {
    Self(
      "state", words: ["preparing", "prepared", "recording", "paused", "stopping", "stopped"],
      "the state of the recorder (`record.status`)")
  }
}

extension FieldKey<FilePath> {
  static var writtenFile: Self { Self("file", "the path of the written file") }
}

extension FieldKey<MediaTime> {
  static var duration: Self { Self(time: "duration", "the duration in seconds; `indefinite` if it is unknown") }
  static var recordedTime: Self { Self(time: "time", "the duration recorded so far; 0 when stopped") }
}

extension FieldKey<Bool> {
  static var waitingForLevel: Self {
    Self("waitingForLevel", "whether the recording waits for audio of `start-level`")
  }
}

extension FieldKey<String> {
  static var formatOfRecording: Self {
    Self("format", words: RecordingRequest.Format.allCases.map(\.rawValue), "the audio codec of the recording")
  }
}
