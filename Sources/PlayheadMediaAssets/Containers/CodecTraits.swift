/// The way a codec stores samples.
enum AudioCoding: Sendable, Hashable {
  /// Uncompressed (PCM).
  case samples
  /// Lossless, in frames.
  case lossless
  /// Lossy: frames overlap, or encoders and containers round their lengths.
  case lossy

  init(codecName: String) {
    self = codecName.hasPrefix("pcm_") ? .samples : CodecTraits.isLossless(codecName: codecName) ? .lossless : .lossy
  }
}

/// Properties of codecs by name.
enum CodecTraits {
  /// Whether decoding reproduces every sample, so that counting samples is exact.
  static func isLossless(codecName: String) -> Bool {
    codecName.hasPrefix("pcm_") || ["flac", "alac", "wavpack", "tta", "ape", "mlp", "truehd"].contains(codecName)
  }

  /// Whether samples depend on all earlier audio, because no packet resets the state of the decoder.
  ///
  /// The decoder predicts from its output, or continues a sequence of noise. These decoders are fast: 15 minutes of
  /// audio take less than half a second.
  static func dependsOnAllEarlierAudio(codecName: String) -> Bool {
    [
      "speex", "gsm", "gsm_ms", "g723_1", "ra_144", "ra_288", "nellymoser", "adpcm_g722", "adpcm_g726", "adpcm_g726le",
      "adpcm_ima_qt", "adpcm_yamaha", "adpcm_swf",
    ].contains(codecName)
  }
}

/// The number of frames that must be decoded before a position for correct output there.
enum CodecPreroll {
  /// Returns a count with a margin, which covers bit reservoirs, overlapping windows and predictors.
  ///
  /// - Parameter declared: the count that the container states; nil if it states none.
  static func frameCount(codecName: String, sampleRateHz: Int, declared: Int64?) -> Int64 {
    switch codecName {
    case _ where codecName.hasPrefix("pcm_"): 0
    case "flac", "alac", "wavpack", "tta", "adpcm_ms", "adpcm_ima_wav": 0
    // For containers other than MP3. For MP3 files `MPEGAudioLocator` counts the bytes of main data.
    case "mp1", "mp2", "mp3", "mp3float": 24 * 1_152
    // The window overlaps by one packet (LC). The band replication of HE-AAC has a longer memory; no test file exists
    // to measure its length.
    case "aac": 4 * 2_048
    case "vorbis": 2 * 8_192
    case "opus": max(48_000, declared ?? 0)
    case "ac3", "eac3": 6 * 1_536
    default: max(Int64(sampleRateHz / 2), declared ?? 0)
    }
  }
}
