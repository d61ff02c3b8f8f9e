import PlayheadMediaCore

/// The fields of the replies about tracks and chapters, which events also have.
extension FieldKey<Int> {
  static var audio: Self {
    Self("audio", "the number of the presented audio track, from 0; `none` if none is presented")
  }
  static var bitsPerSample: Self {
    Self("bitsPerSample", "the number of bits per sample before encoding, for lossless codecs")
  }
  static var chapter: Self {
    Self("chapter", "the number of the chapter, from 1; `none` before the first chapter and between chapters")
  }
  static var codedHeight: Self {
    Self("codedHeight", "the height in pixels before the pixel aspect ratio is applied")
  }
  static var codedWidth: Self { Self("codedWidth", "the width in pixels before the pixel aspect ratio is applied") }
  static var countOfGroups: Self { Self("count", "the number of groups of tracks") }
  static var options: Self { Self("options", "the number of tracks in the group") }
  static var rotation: Self {
    Self("rotation", "the clockwise rotation that makes video frames upright: 0, 90, 180 or 270 degrees")
  }
  static var subtitles: Self {
    Self("subtitles", "the number of the selected subtitle track; `none` if none is selected")
  }
  static var track: Self { Self("track", "the number of the track in the file, from 0") }
}

extension FieldKey<Int64> {
  static var bitRate: Self { Self("bitRate", "the bit rate of the track, in bits per second") }
}

extension FieldKey<String> {
  static var codec: Self { Self("codec", "FFmpeg's name of the codec, such as `flac`; `none` if it is unknown") }
  static var frameRate: Self {
    Self(
      "frameRate", "the average number of video frames per second, as an integer or a fraction such as `30000/1001`")
  }
  static var language: Self { Self("language", "the language, as a code of ISO 639 or a tag of BCP 47") }
  static var layout: Self { Self("layout", "FFmpeg's name of the channel layout, such as `stereo`") }
  static var sampleFormat: Self {
    Self("sampleFormat", "FFmpeg's name of the decoded sample format, such as `s16` or `fltp`")
  }
  static var title: Self { Self("title", "the title: of the entry, track or chapter, or announced by a station") }
  static var trackType: Self {
    Self(
      "type", words: ["audio", "video", "subtitle", "attachedPicture", "other"],
      "the type of the track; `attachedPicture` is a still image, such as a cover")
  }
}

extension FieldKey<[String]> {
  static var characteristics: Self {
    Self("characteristics", "the characteristics of the track, such as `describes-video`")
  }
  static var closedCaptions: Self {
    Self("closedCaptions", "the formats of captions within the video frames: cea608, cea708")
  }
  static var languages: Self { Self("languages", "the languages, as codes of ISO 639 or BCP 47") }
}

extension FieldKey<MediaSelectionCommand.Group> {
  static var group: Self { Self("group", "the group of tracks: `audible` (audio) or `legible` (subtitles)") }
}

extension FieldKey<Bool> {
  static var allowsEmptySelection: Self {
    Self("allowsEmptySelection", "whether no track of the group may be presented")
  }
  static var enabled: Self { Self("enabled", "whether the file presents the track by default") }
  static var playable: Self { Self("playable", "whether the track can be presented") }
  static var precise: Self { Self("precise", "whether `duration` is exact and not an estimate") }
  static var protected: Self { Self("protected", "whether the track is encrypted and needs a key") }
  static var selected: Self { Self("selected", "whether the track is selected") }
}

extension FieldKey<MediaTime> {
  static var end: Self { Self(time: "end", "the end of the chapter or loop, in item time") }
}
