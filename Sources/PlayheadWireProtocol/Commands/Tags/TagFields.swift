/// The fields of the replies about tags and artwork, which events also have.
extension FieldKey<String> {
  static var artworkDescription: Self { Self("description", "the description of the image in the tags") }
  static var artworkType: Self { Self("artworkType", "the role of the image, such as `frontCover`") }
  static var commonKey: Self { Self("commonKey", "the meaning of the key in any format, such as `title`") }
  static var data: Self { Self("data", "the data, or the requested part of the image, in base64") }
  static var identifier: Self { Self("identifier", "the key space and the key of the tag, such as `id3/TIT2`") }
  static var info: Self { Self("info", "the description within the tag, or the id of a date range") }
  static var mediaType: Self { Self("mediaType", "the media type of the data, such as `image/jpeg`") }
  static var owner: Self { Self("owner", "the owner of the tag, such as that of a private ID3 frame") }
  static var typeOfArtwork: Self {
    Self("type", "the role of the image, such as `frontCover`, by the numbers of ID3's `APIC`")
  }
  static var warning: Self { Self("warning", "the part of the tags that was ignored") }
}

extension FieldKey<[String]> {
  static var formats: Self { Self("formats", "the key spaces of the tags, such as `id3` or `vorbis`") }
}

extension FieldKey<Int> {
  static var artwork: Self { Self("artwork", "the number of the image among the artwork of the file, from 0") }
  static var artworkCount: Self { Self("artworkCount", "the number of images in the tags") }
  static var bytes: Self {
    Self("bytes", "the size of the value or image in bytes; for a text only if it was cut or left out")
  }
  static var offset: Self { Self("offset", "the index of the first byte of `data` in the image") }
}

extension FieldKey<Bool> {
  static var held: Self {
    Self("held", "`true` for metadata that started before the position where playback started; otherwise absent")
  }
  static var truncated: Self {
    Self("truncated", "true if `value` is only the beginning of the text, whose size is `bytes`")
  }
}

extension FieldKey<TagType> {
  static var tagType: Self { Self("type", "the type of the value; `data` has `bytes` in place of `value`") }
}

extension FieldKey<TagValue> {
  static var value: Self { Self(FieldSpec.value) { $0.fieldValue } }
}

extension FieldKey<TagNumber> {
  static var playCount: Self {
    Self(FieldSpec("playCount", .integer, "the play counter in the tag")) { $0.fieldValue }
  }
  static var tagTotal: Self {
    Self(
      FieldSpec(
        "total", .integer, "the total that belongs to the value, such as the number of tracks of the album")
    ) { $0.fieldValue }
  }
  static var targetLevel: Self {
    Self(
      FieldSpec(
        "targetLevel", .integer, "the level that a Matroska tag describes: 30 is the track, 50 its album")
    ) { $0.fieldValue }
  }
}

extension FieldKey<Double> {
  static var r128AlbumGain: Self {
    Self("r128AlbumGain", "the gain of the album in dB, for -23 LUFS, from the tag `R128_ALBUM_GAIN`")
  }
  static var r128TrackGain: Self {
    Self("r128TrackGain", "the gain of the track in dB, for -23 LUFS, from the tag `R128_TRACK_GAIN`")
  }
  static var trackGain: Self {
    Self("trackGain", "the gain of the track in dB, for -18 LUFS, from ReplayGain or `iTunNORM` tags")
  }
  static var trackPeak: Self {
    Self("trackPeak", "the largest sample of the track, from the tags; 1 is full scale")
  }
}
