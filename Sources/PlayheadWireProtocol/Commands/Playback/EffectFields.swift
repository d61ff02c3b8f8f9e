import PlayheadMediaCore

/// The fields of the replies of the commands for effects.
extension FieldKey<Bool> {
  static var isEnabled: Self { Self("isEnabled", "whether the effect is on; false: its other fields are `none`") }
}

extension FieldKey<[String]> {
  static var equalizerBands: Self {
    Self("bands", "the bands of the equalizer, such as `peak:1000:-3:1.4`; without Q, it is 0.7071; empty while off")
  }
}

extension FieldKey<String> {
  static var channelMix: Self {
    Self("channelMix", "`off`, `mono`, `swap`, `left`, `right`, or the rows of a matrix, such as `0.5,0.5/0,1`")
  }
}

extension FieldKey<Double> {
  static var ceiling: Self { Self("ceiling", "the greatest magnitude of the samples, in dBFS, from -60 to 0") }
  static var equalizerPreAmp: Self {
    Self("preAmp", "the gain of the equalizer at all frequencies, in dB, from -40 to 40")
  }
  static var knee: Self {
    Self("knee", "the range around the threshold in which the ratio increases gradually, in dB, from 0 to 40")
  }
  static var makeUp: Self { Self("makeUp", "the gain of all audio after compression, in dB, from -40 to 40") }
  static var ratio: Self {
    Self("ratio", "the change of the input level for each dB of the output above the threshold, from 1 to 100")
  }
  static var threshold: Self {
    Self("threshold", "the level from which the compressor attenuates audio, in dBFS, from -100 to 0")
  }
}

extension FieldKey<MediaTime> {
  static var attack: Self { Self(time: "attack", "the time constant of an increasing attenuation, up to 1 s") }
  static var lookAhead: Self { Self(time: "lookAhead", "the time in which the gain falls before a peak") }
  static var release: Self { Self(time: "release", "the time constant in which an attenuation ends") }
}
