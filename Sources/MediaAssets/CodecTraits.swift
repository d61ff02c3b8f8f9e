/// How a codec codes samples.
enum AudioCoding: Sendable, Hashable {
  /// As they are (PCM).
  case samples
  /// In frames, without a loss.
  case lossless
  /// In frames that overlap, or whose lengths encoders and containers round.
  case lossy

  init(codecName: String) {
    self = codecName.hasPrefix("pcm_") ? .samples : CodecTraits.isLossless(codecName: codecName) ? .lossless : .lossy
  }
}

/// What is known of codecs by name.
enum CodecTraits {
  /// Whether every sample comes out as it went in, so that counting them is exact.
  static func isLossless(codecName: String) -> Bool {
    codecName.hasPrefix("pcm_") || ["flac", "alac", "wavpack", "tta", "ape", "mlp", "truehd"].contains(codecName)
  }

  /// Whether samples depend on all audio before them. The decoder predicts from its own output or continues a sequence of
  /// noise, and no packet resets that state. These decoders are fast: 15 minutes of audio take less than half a second.
  static func hasEndlessState(codecName: String) -> Bool {
    [
      "speex", "gsm", "gsm_ms", "g723_1", "ra_144", "ra_288", "nellymoser", "adpcm_g722", "adpcm_g726", "adpcm_g726le",
      "adpcm_ima_qt", "adpcm_yamaha", "adpcm_swf",
    ].contains(codecName)
  }
}

/// How many frames before a place a codec must have decoded for its output there to be right.
enum CodecPreroll {
  /// A generous count: bit reservoirs, overlapping windows and predictors.
  static func frameCount(codecName: String, sampleRateHz: Int, declared: Int64?) -> Int64 {
    switch codecName {
    case _ where codecName.hasPrefix("pcm_"): 0
    case "flac", "alac", "wavpack", "tta", "adpcm_ms", "adpcm_ima_wav": 0
    // In containers whose packets are not looked into; in MP3 files the bytes of main data are counted.
    case "mp1", "mp2", "mp3", "mp3float": 24 * 1_152
    // The window overlaps by one packet (LC). HE-AAC's band replication remembers more; there is nothing here to make a
    // file to prove how much with.
    case "aac": 4 * 2_048
    case "vorbis": 2 * 8_192
    case "opus": max(48_000, declared ?? 0)
    case "ac3", "eac3": 6 * 1_536
    default: max(Int64(sampleRateHz / 2), declared ?? 0)
    }
  }
}
