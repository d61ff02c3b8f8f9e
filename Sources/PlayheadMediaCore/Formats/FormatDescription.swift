/// The format of a track's samples: everything that a decoder, an encoder or a container needs in addition to the
/// samples.
///
/// A plain value, as CMFormatDescription. The functions that use a description validate it.
public struct FormatDescription: Sendable, Hashable, Codable {
  /// A kind of media.
  public enum MediaType: String, Sendable, Hashable, Codable, CaseIterable {
    /// The kind of this name.
    case audio, video, subtitle, metadata
  }

  /// The kind of the track's media.
  public var mediaType: MediaType
  /// FFmpeg's name of the codec, such as `aac`, `opus` or `pcm_s16le`.
  public var codecName: String
  /// Codec setup data that is needed before the first sample, in the form of FFmpeg's `extradata`; empty when none.
  public var setupData: [UInt8]
  /// The audio format; nil for other media.
  public var audio: Audio?
  /// The video format; nil for other media.
  public var video: Video?
  /// The ISO 639-2 or BCP 47 code of the language; nil when not known.
  public var languageCode: String?

  /// Creates a description. The values are not checked.
  public init(
    mediaType: MediaType, codecName: String, setupData: [UInt8] = [], audio: Audio? = nil, video: Video? = nil,
    languageCode: String? = nil
  ) {
    self.mediaType = mediaType
    self.codecName = codecName
    self.setupData = setupData
    self.audio = audio
    self.video = video
    self.languageCode = languageCode
  }

  /// The description of PCM audio.
  ///
  /// - Parameters:
  ///   - encoding: The encoding of the samples.
  ///   - sampleRateHz: The number of frames per second.
  ///   - channelCount: The number of samples per frame.
  ///   - channelMask: the speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when not known.
  public static func pcm(
    _ encoding: PCMEncoding, sampleRateHz: Int, channelCount: Int, channelMask: UInt64? = nil
  ) -> FormatDescription {
    FormatDescription(
      mediaType: .audio, codecName: encoding.codecName,
      audio: Audio(
        sampleRateHz: sampleRateHz, channelCount: channelCount, channelMask: channelMask, pcm: encoding))
  }

  /// The properties of an audio format.
  public struct Audio: Sendable, Hashable, Codable {
    /// The number of frames per second.
    public var sampleRateHz: Int
    /// The number of samples per frame.
    public var channelCount: Int
    /// The speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when not known.
    public var channelMask: UInt64?
    /// The PCM encoding; nil for encoded audio.
    public var pcm: PCMEncoding?
    /// The number of frames that a packet decodes to; nil when not constant or not known. 1 for PCM.
    public var framesPerPacket: Int?
    /// The number of bytes of a packet; nil when not constant or not known.
    public var bytesPerPacket: Int?
    /// The number of bits of a sample before encoding, for lossless codecs.
    public var bitsPerSample: Int?
    /// The number of priming frames that the encoder inserted before the first real frame. The attachments of sample
    /// buffers state how many of these frames to trim.
    public var initialPaddingFrames: Int
    /// The number of frames to decode before a seek target until the output is correct.
    public var seekPrerollFrames: Int
    /// The number of bits per second; nil when not known.
    public var bitRate: Int?

    /// Creates a description. For PCM, the packet properties follow from the encoding.
    public init(
      sampleRateHz: Int, channelCount: Int, channelMask: UInt64? = nil, pcm: PCMEncoding? = nil,
      framesPerPacket: Int? = nil, bytesPerPacket: Int? = nil, bitsPerSample: Int? = nil,
      initialPaddingFrames: Int = 0, seekPrerollFrames: Int = 0, bitRate: Int? = nil
    ) {
      self.sampleRateHz = sampleRateHz
      self.channelCount = channelCount
      self.channelMask = channelMask
      self.pcm = pcm
      self.framesPerPacket = pcm == nil ? framesPerPacket : 1
      self.bytesPerPacket = pcm.map { $0.byteCount(channelCount: channelCount) } ?? bytesPerPacket
      self.bitsPerSample = pcm?.bitsPerSample ?? bitsPerSample
      self.initialPaddingFrames = initialPaddingFrames
      self.seekPrerollFrames = seekPrerollFrames
      self.bitRate = bitRate
    }
  }

  /// The properties of a video format.
  public struct Video: Sendable, Hashable, Codable {
    /// The number of pixels in a row.
    public var width: Int
    /// The number of rows.
    public var height: Int
    /// FFmpeg's name of the pixel format, such as `yuv420p`; nil when not known.
    public var pixelFormatName: String?
    /// The pixel aspect ratio; nil when not known, which means square pixels.
    public var pixelAspectRatio: PixelAspectRatio?
    /// The part of the video frame to display; nil for all of it.
    public var cleanAperture: CleanAperture?
    /// The clockwise rotation that displays the video upright: 0, 90, 180 or 270 degrees.
    public var rotationDegrees = 0
    /// The colour space of the pixels.
    public var color = ColorProperties()
    /// The average duration of a video frame, in seconds; invalid when not known.
    public var frameDuration = MediaTime.invalid
    /// The number of bits per second; nil when not known.
    public var bitRate: Int?

    /// Creates a description of video frames with this size.
    public init(width: Int, height: Int, pixelFormatName: String? = nil) {
      self.width = width
      self.height = height
      self.pixelFormatName = pixelFormatName
    }

    /// The ratio of a pixel's width to its height, as `kCVImageBufferPixelAspectRatioKey`.
    public struct PixelAspectRatio: Sendable, Hashable, Codable {
      /// The width of a pixel, relative to ``vertical``.
      public var horizontal: Int
      /// The height of a pixel, relative to ``horizontal``.
      public var vertical: Int

      /// Creates a ratio.
      public init(horizontal: Int, vertical: Int) {
        self.horizontal = horizontal
        self.vertical = vertical
      }
    }

    /// The displayed part of a video frame, centered except for the offsets; in pixels, as
    /// `kCVImageBufferCleanApertureKey`.
    public struct CleanAperture: Sendable, Hashable, Codable {
      /// The width of the displayed part.
      public var width: Int
      /// The height of the displayed part.
      public var height: Int
      /// The offset from the center to the right.
      public var horizontalOffset: Int
      /// The offset from the center downward.
      public var verticalOffset: Int

      /// Creates an aperture, by default a centered one.
      public init(width: Int, height: Int, horizontalOffset: Int = 0, verticalOffset: Int = 0) {
        self.width = width
        self.height = height
        self.horizontalOffset = horizontalOffset
        self.verticalOffset = verticalOffset
      }
    }

    /// The colour space of pixels: code points of ITU-T H.273, as in FFmpeg's `AVCOL_*`; 2 means unspecified.
    public struct ColorProperties: Sendable, Hashable, Codable {
      /// H.273, table 2.
      public var primaries = 2
      /// H.273, table 3.
      public var transfer = 2
      /// H.273, table 4.
      public var matrix = 2
      /// Whether luma ranges from 0 to 255 instead of 16 to 235; nil when unspecified.
      public var isFullRange: Bool?

      /// Creates a description in which nothing is specified.
      public init() {}
    }
  }
}

/// The encoding of PCM samples.
public struct PCMEncoding: Sendable, Hashable, Codable {
  /// The interpretation of the bits of a sample.
  public enum Kind: Sendable, Hashable, Codable {
    /// A signed whole number.
    case signedInteger
    /// Silence is half of the range. Most containers use it with 8 bits only.
    case unsignedInteger
    /// A floating-point number, where full scale is 1.
    case float
  }

  /// The interpretation of the bits of a sample.
  public var kind: Kind
  /// The number of bits of a sample; whole bytes.
  public var bitsPerSample: Int
  /// Whether the most significant byte comes first.
  public var isBigEndian: Bool
  /// Whether the samples of a frame are adjacent. Otherwise a buffer contains all samples of the first channel, then
  /// those of the next.
  public var isInterleaved: Bool

  /// Creates an encoding, by default little-endian and interleaved.
  public init(_ kind: Kind, bitsPerSample: Int, isBigEndian: Bool = false, isInterleaved: Bool = true) {
    self.kind = kind
    self.bitsPerSample = bitsPerSample
    // A single byte has no byte order.
    self.isBigEndian = bitsPerSample > 8 && isBigEndian
    self.isInterleaved = isInterleaved
  }

  /// 32-bit floating-point samples, which the engine plays.
  public static let float32 = PCMEncoding(.float, bitsPerSample: 32)
  /// 16-bit samples, as on a CD.
  public static let signed16 = PCMEncoding(.signedInteger, bitsPerSample: 16)
  /// 24-bit samples, three bytes each.
  public static let signed24 = PCMEncoding(.signedInteger, bitsPerSample: 24)
  /// 32-bit samples, four bytes each.
  public static let signed32 = PCMEncoding(.signedInteger, bitsPerSample: 32)

  /// Whether FFmpeg has a name for the encoding. Functions that use an encoding reject others.
  public var isSupported: Bool {
    switch kind {
    case .signedInteger: [8, 16, 24, 32, 64].contains(bitsPerSample)
    case .unsignedInteger: [8, 16, 24, 32].contains(bitsPerSample)
    case .float: [32, 64].contains(bitsPerSample)
    }
  }

  /// The name of FFmpeg's codec for the encoding, such as `pcm_s16le`. The name does not depend on `isInterleaved`.
  public var codecName: String {
    let letter =
      switch kind {
      case .signedInteger: "s"
      case .unsignedInteger: "u"
      case .float: "f"
      }
    let order = bitsPerSample == 8 ? "" : isBigEndian ? "be" : "le"
    return "pcm_\(letter)\(bitsPerSample)\(order)"
  }

  /// Creates the interleaved encoding of an FFmpeg codec; nil when the codec is not PCM.
  public init?(codecName: String) {
    let widthsByKind = [
      (Kind.signedInteger, [8, 16, 24, 32, 64]), (.unsignedInteger, [8, 16, 24, 32]), (.float, [32, 64]),
    ]
    for (kind, widths) in widthsByKind {
      for (width, isBigEndian) in widths.flatMap({ [($0, false), ($0, true)] }) {
        let encoding = PCMEncoding(kind, bitsPerSample: width, isBigEndian: isBigEndian)
        guard encoding.codecName == codecName else { continue }
        self = encoding
        return
      }
    }
    return nil
  }

  /// The number of bytes of a frame; 0 for invalid arguments.
  public func byteCount(channelCount: Int) -> Int {
    let (count, overflow) = (bitsPerSample / 8).multipliedReportingOverflow(by: channelCount)
    return overflow ? 0 : max(0, count)
  }
}
