import PlayheadMediaCore

/// A track of an asset or item, as a row of a reply.
package struct TrackRow: ReplyFields {
  /// The number of the track in the file, from 0.
  package var track: Int
  /// `audio`, `video`, `subtitle`, `attachedPicture` or `other`.
  package var type: String
  /// FFmpeg's name of the codec.
  package var codec: String
  package var isPlayable: Bool
  package var isEnabled: Bool
  package var isDefault: Bool
  /// In seconds.
  package var start: MediaTime
  /// `indefinite` if it is unknown.
  package var duration: MediaTime
  package var isPrecise: Bool
  package var isProtected: Bool
  /// The container's name of the codec. Nil: none.
  package var format: String?
  package var audio: Audio
  /// In bits per second. Nil if it is unknown.
  package var bitRate: Int64?
  package var video: Video
  /// A code of ISO 639 or a tag of BCP 47. Nil: none.
  package var language: String?
  package var title: String?
  /// `cea608`, `cea708`. May be empty.
  package var closedCaptions: [String]
  /// May be empty.
  package var characteristics: [String]

  /// The format of an audio track. Values are nil if they are unknown, and for other tracks.
  package struct Audio: Sendable {
    package var sampleFormat: String?
    package var sampleRateHz: Int?
    package var channelCount: Int?
    /// FFmpeg's name of the channel layout, such as `stereo`.
    package var layout: String?
    package var bitsPerSample: Int?

    package init(
      sampleFormat: String?, sampleRateHz: Int?, channelCount: Int?, layout: String?, bitsPerSample: Int?
    ) {
      (self.sampleFormat, self.sampleRateHz, self.channelCount) = (sampleFormat, sampleRateHz, channelCount)
      (self.layout, self.bitsPerSample) = (layout, bitsPerSample)
    }
  }

  /// The format of a video track. Values are nil if they are unknown, and for other tracks.
  package struct Video: Sendable {
    /// In square pixels, without rotation.
    package var width: Int?
    package var height: Int?
    /// In pixels, before the pixel aspect ratio is applied.
    package var codedWidth: Int?
    package var codedHeight: Int?
    /// The clockwise rotation in degrees: 0, 90, 180 or 270.
    package var rotation: Int?
    /// The average number of video frames per second: an integer or a fraction.
    package var frameRate: String?

    package init(
      width: Int?, height: Int?, codedWidth: Int?, codedHeight: Int?, rotation: Int?, frameRate: String?
    ) {
      (self.width, self.height, self.codedWidth) = (width, height, codedWidth)
      (self.codedHeight, self.rotation, self.frameRate) = (codedHeight, rotation, frameRate)
    }
  }

  package init(
    track: Int, type: String, codec: String, isPlayable: Bool, isEnabled: Bool, isDefault: Bool, start: MediaTime,
    duration: MediaTime, isPrecise: Bool, isProtected: Bool, format: String?, audio: Audio, bitRate: Int64?,
    video: Video, language: String?, title: String?, closedCaptions: [String], characteristics: [String]
  ) {
    (self.track, self.type, self.codec, self.isPlayable) = (track, type, codec, isPlayable)
    (self.isEnabled, self.isDefault, self.start, self.duration) = (isEnabled, isDefault, start, duration)
    (self.isPrecise, self.isProtected, self.format, self.audio) = (isPrecise, isProtected, format, audio)
    (self.bitRate, self.video, self.language, self.title) = (bitRate, video, language, title)
    (self.closedCaptions, self.characteristics) = (closedCaptions, characteristics)
  }

  package static let fields: [Field<Self>] = [
    Field(.track) { $0.track }, Field(.trackType) { $0.type }, Field(.codec) { $0.codec },
    Field(.playable) { $0.isPlayable }, Field(.enabled) { $0.isEnabled }, Field(.default) { $0.isDefault },
    Field(.start) { $0.start }, Field(nullable: .duration) { $0.duration }, Field(.precise) { $0.isPrecise },
    Field(.protected) { $0.isProtected }, Field(optional: .codecTag) { $0.format },
    Field(optional: .sampleFormat) { $0.audio.sampleFormat }, Field(optional: .sampleRate) { $0.audio.sampleRateHz },
    Field(optional: .channels) { $0.audio.channelCount }, Field(optional: .layout) { $0.audio.layout },
    Field(optional: .bitsPerSample) { $0.audio.bitsPerSample }, Field(optional: .bitRate) { $0.bitRate },
    Field(optional: .width) { $0.video.width }, Field(optional: .height) { $0.video.height },
    Field(optional: .codedWidth) { $0.video.codedWidth }, Field(optional: .codedHeight) { $0.video.codedHeight },
    Field(optional: .rotation) { $0.video.rotation }, Field(optional: .frameRate) { $0.video.frameRate },
    Field(optional: .language) { $0.language }, Field(optional: .title) { $0.title },
    Field(optional: .closedCaptions) { $0.closedCaptions.isEmpty ? nil : $0.closedCaptions },
    Field(optional: .characteristics) { $0.characteristics.isEmpty ? nil : $0.characteristics },
  ]

  /// The description of the fields, for the documents.
  static let details = """
    - `format`: the container's name of the codec
    - `sampleFormat`: FFmpeg's name of the decoded format
    - `frameRate`: the frames per second, as a number or a fraction
    - `width`, `height`: the size in square pixels, without rotation
    - `codedWidth`, `codedHeight`: the size before the pixel aspect ratio is applied
    - `rotation`: the clockwise rotation that makes video frames upright: 0, 90, 180 or 270 degrees
    - `closedCaptions`: the captions within the first video frames: `cea608`, `cea708`
    - `enabled`: whether the file presents the track by default
    - `precise`: whether `duration` is exact
    - `protected`: whether the track needs a decryption key
    """
}
