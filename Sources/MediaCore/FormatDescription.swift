/// What the samples of a track are: everything that a decoder, an encoder or a container has to be told besides the samples.
///
/// A plain value, as CMFormatDescription is one; whether it makes sense is found out where it is used.
public struct FormatDescription: Sendable, Hashable {
  /// What kind of media it is.
  public enum MediaType: String, Sendable, Hashable, CaseIterable {
    case audio, video, subtitle, metadata
  }

  /// What kind of media it is.
  public var mediaType: MediaType
  /// FFmpeg's name of the codec, such as `aac`, `opus` or `pcm_s16le`.
  public var codecName: String
  /// What the codec wants to know before the first sample, as FFmpeg's `extradata` has it; empty when nothing.
  public var setupData: [UInt8]
  /// What is to be known of sound; nil for other media.
  public var audio: Audio?
  /// What is to be known of pictures; nil for other media.
  public var video: Video?
  /// ISO 639-2 or BCP 47 code of the language; nil when not known.
  public var languageCode: String?

  /// A description from its parts.
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

  /// Sound as plain numbers.
  ///
  /// - Parameter channelMask: speakers in native order, as FFmpeg's `AV_CH_*` bits; nil: not known.
  public static func pcm(
    _ encoding: PCMEncoding, sampleRateHz: Int, channelCount: Int, channelMask: UInt64? = nil
  ) -> FormatDescription {
    FormatDescription(
      mediaType: .audio, codecName: encoding.codecName,
      audio: Audio(
        sampleRateHz: sampleRateHz, channelCount: channelCount, channelMask: channelMask, pcm: encoding))
  }

  /// What is to be known of sound.
  public struct Audio: Sendable, Hashable {
    /// Frames a second.
    public var sampleRateHz: Int
    /// Samples of a frame.
    public var channelCount: Int
    /// Speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when not known.
    public var channelMask: UInt64?
    /// How plain numbers are written; nil for sound that is coded.
    public var pcm: PCMEncoding?
    /// Frames that a packet decodes to; nil when not constant or not known. 1 for plain numbers.
    public var framesPerPacket: Int?
    /// Bytes of a packet; nil when not constant or not known.
    public var bytesPerPacket: Int?
    /// Bits of a sample before it was coded, for lossless codecs.
    public var bitsPerSample: Int?
    /// Frames that the encoder put before the first true one. Sample buffers carry what of it is to be cut off.
    public var initialPaddingFrames: Int
    /// Frames to decode before a seek's target until what comes out is right.
    public var seekPrerollFrames: Int
    /// Bits a second; nil when not known.
    public var bitRate: Int?

    /// A description from its parts; of plain numbers what a packet is follows from them.
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

  /// What is to be known of pictures.
  public struct Video: Sendable, Hashable {
    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int
    /// FFmpeg's name of how pixels lie, such as `yuv420p`; nil when not known.
    public var pixelFormatName: String?
    /// How wide a pixel is for its height; nil when not known: square.
    public var pixelAspectRatio: PixelAspectRatio?
    /// The part of the picture that is to be shown; nil: all of it.
    public var cleanAperture: CleanAperture?
    /// By how much the picture is to be turned clockwise to stand upright: 0, 90, 180 or 270 degrees.
    public var rotationDegrees = 0
    /// What the numbers of a pixel mean.
    public var color = Color()
    /// What a picture lasts on average, in seconds; invalid when not known.
    public var frameDuration = MediaTime.invalid
    /// Bits a second; nil when not known.
    public var bitRate: Int?

    /// A description of pictures of a size.
    public init(width: Int, height: Int, pixelFormatName: String? = nil) {
      self.width = width
      self.height = height
      self.pixelFormatName = pixelFormatName
    }

    /// How wide a pixel is for its height, as `kCVImageBufferPixelAspectRatioKey`.
    public struct PixelAspectRatio: Sendable, Hashable, Codable {
      public var horizontal: Int
      public var vertical: Int

      public init(horizontal: Int, vertical: Int) {
        self.horizontal = horizontal
        self.vertical = vertical
      }
    }

    /// A part of the picture, in its middle but for offsets; in pixels, as `kCVImageBufferCleanApertureKey`.
    public struct CleanAperture: Sendable, Hashable, Codable {
      public var width: Int
      public var height: Int
      /// From the middle to the right.
      public var horizontalOffset: Int
      /// From the middle down.
      public var verticalOffset: Int

      public init(width: Int, height: Int, horizontalOffset: Int = 0, verticalOffset: Int = 0) {
        self.width = width
        self.height = height
        self.horizontalOffset = horizontalOffset
        self.verticalOffset = verticalOffset
      }
    }

    /// What the numbers of a pixel mean: ITU-T H.273's code points, as FFmpeg's `AVCOL_*` have them; 2: not said.
    public struct Color: Sendable, Hashable, Codable {
      /// H.273, table 2.
      public var primaries = 2
      /// H.273, table 3.
      public var transfer = 2
      /// H.273, table 4.
      public var matrix = 2
      /// Luma goes from 0 to 255, not from 16 to 235; nil: not said.
      public var isFullRange: Bool?

      public init() {}
    }
  }
}

/// How plain numbers of sound are written.
public struct PCMEncoding: Sendable, Hashable, Codable {
  /// What the bits of a number mean.
  public enum Kind: Sendable, Hashable, Codable {
    case signedInteger
    /// Silence is half of the range; 8 bits only in most containers.
    case unsignedInteger
    case float
  }

  /// What the bits mean.
  public var kind: Kind
  /// Bits of a number; whole bytes.
  public var bitsPerSample: Int
  /// Whether the most significant byte comes first.
  public var isBigEndian: Bool
  /// Whether a frame's samples lie together; else all samples of a channel do, channel by channel, within one buffer.
  public var isInterleaved: Bool

  /// Numbers from what they are.
  public init(_ kind: Kind, bitsPerSample: Int, isBigEndian: Bool = false, isInterleaved: Bool = true) {
    self.kind = kind
    self.bitsPerSample = bitsPerSample
    // A byte has no order.
    self.isBigEndian = bitsPerSample > 8 && isBigEndian
    self.isInterleaved = isInterleaved
  }

  /// What the engine plays.
  public static let float32 = PCMEncoding(.float, bitsPerSample: 32)
  /// What a CD has.
  public static let signed16 = PCMEncoding(.signedInteger, bitsPerSample: 16)
  /// Three bytes a sample.
  public static let signed24 = PCMEncoding(.signedInteger, bitsPerSample: 24)
  /// Four bytes a sample.
  public static let signed32 = PCMEncoding(.signedInteger, bitsPerSample: 32)

  /// What there are names for; everything else is refused where it is used.
  public var isSupported: Bool {
    switch kind {
    case .signedInteger: [8, 16, 24, 32, 64].contains(bitsPerSample)
    case .unsignedInteger: [8, 16, 24, 32].contains(bitsPerSample)
    case .float: [32, 64].contains(bitsPerSample)
    }
  }

  /// FFmpeg's name of the codec that writes it so, such as `pcm_s16le`; it says nothing of whether it is interleaved.
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

  /// What a codec of FFmpeg's writes, interleaved; nil for one that is not plain numbers.
  public init?(codecName: String) {
    let known = [(Kind.signedInteger, [8, 16, 24, 32, 64]), (.unsignedInteger, [8, 16, 24, 32]), (.float, [32, 64])]
    for (kind, widths) in known {
      for (width, isBigEndian) in widths.flatMap({ [($0, false), ($0, true)] }) {
        let encoding = PCMEncoding(kind, bitsPerSample: width, isBigEndian: isBigEndian)
        guard encoding.codecName == codecName else { continue }
        self = encoding
        return
      }
    }
    return nil
  }

  /// Bytes of a frame; 0 for numbers that make no sense.
  public func byteCount(channelCount: Int) -> Int {
    let (count, overflow) = (bitsPerSample / 8).multipliedReportingOverflow(by: channelCount)
    return overflow ? 0 : max(0, count)
  }
}
