import CPlayheadEbur128
import PlayheadMediaCore

/// A measurement with libebur128: EBU R128, according to ITU-R BS.1770-4 and EBU Tech 3342.
///
/// Threading: one thread at a time.
final class LoudnessMeter {
  private let state: UnsafeMutablePointer<ebur128_state>
  private let channelCount: Int
  /// The number of frames of a measurement step: a tenth of a second, the interval at which libebur128 completes a
  /// block.
  let stepFrameCount: Int

  /// Creates a meter.
  ///
  /// - Throws: `mediaLimitExceeded` for a format that libebur128 does not support, or if memory is exhausted.
  init(_ format: AudioFormat, channelMask: UInt64?) throws(MediaError) {
    let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
    guard
      let state = ebur128_init(
        UInt32(clamping: format.channelCount), UInt(clamping: format.sampleRateHz), Int32(bitPattern: mode))
    else {
      throw MediaError(
        .mediaLimitExceeded,
        "the loudness of \(format.channelCount) channels of \(format.sampleRateHz) Hz cannot be measured",
        operation: "ebur128_init")
    }
    self.state = state
    channelCount = format.channelCount
    stepFrameCount = max(1, (format.sampleRateHz + 5) / 10)
    for (index, role) in ChannelRoles.roles(mask: channelMask, channelCount: channelCount).enumerated() {
      _ = ebur128_set_channel(state, UInt32(clamping: index), Int32(bitPattern: role.rawValue))
    }
  }

  deinit {
    var state: UnsafeMutablePointer<ebur128_state>? = state
    ebur128_destroy(&state)
  }

  /// Adds `frameCount` interleaved frames.
  ///
  /// - Throws: `mediaLimitExceeded` if memory is exhausted.
  func add(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    guard ebur128_add_frames_float(state, samples, frameCount) == Int32(bitPattern: EBUR128_SUCCESS.rawValue) else {
      throw MediaError(
        .mediaLimitExceeded, "not enough memory to measure loudness", operation: "ebur128_add_frames_float")
    }
  }

  /// Integrated loudness in LUFS; nil if no block passed the gate.
  var integratedLoudness: Double? { value { ebur128_loudness_global(state, $0) } }

  /// Loudness of the last 400 ms in LUFS; nil for silence.
  var momentaryLoudness: Double? { value { ebur128_loudness_momentary(state, $0) } }

  /// Loudness range in LU.
  var loudnessRange: Double? { value { ebur128_loudness_range(state, $0) } }

  /// The largest sample of all channels; 1 is full scale.
  var samplePeak: Double { peak { ebur128_sample_peak(state, $0, $1) } }

  /// The largest true peak of all channels: the peak of the waveform, including values between samples. 1 is full
  /// scale.
  var truePeak: Double { peak { ebur128_true_peak(state, $0, $1) } }

  private func value(_ read: (UnsafeMutablePointer<Double>) -> Int32) -> Double? {
    var value = -Double.infinity
    return read(&value) == Int32(bitPattern: EBUR128_SUCCESS.rawValue) && value.isFinite ? value : nil
  }

  private func peak(_ read: (UInt32, UnsafeMutablePointer<Double>) -> Int32) -> Double {
    (0..<channelCount).reduce(0) { greatest, index in
      max(greatest, value { read(UInt32(clamping: index), $0) } ?? 0)
    }
  }
}
