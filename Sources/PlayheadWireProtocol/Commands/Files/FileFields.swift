import PlayheadMediaCore

/// The fields of the replies of the commands about files, which other replies and events also have.
extension FieldKey<String> {
  static var entryKind: Self {
    Self("kind", words: ["file", "folder"], "whether the row is a file or a folder")
  }
  static var scanStatus: Self {
    Self(
      "status", words: ["measured", "silence", "too-short", "failed"],
      "whether the file was measured; `silence`: nothing above -70 LUFS; `too-short`: less than 400 ms; `failed`: an"
        + " error")
  }
}

extension FieldKey<FilePath> {
  static var entryPath: Self {
    Self("path", "the path of the file or folder")
  }
  static var nextPath: Self {
    Self("next", "the `after` of the next part of the list; `none` after the last part")
  }
}

extension FieldKey<Int> {
  static var fileNumber: Self {
    Self("file", "the number of the file in the request, from 1")
  }
  static var scan: Self {
    Self("scan", "the number of the `scan`, `waveform`, `export` or `image` request, for `scan.cancel`")
  }
  static var countOfFiles: Self {
    Self("count", "the number of files of the request")
  }
  static var failed: Self {
    Self("failed", "the number of files that could not be measured")
  }
  static var applied: Self {
    Self("applied", "the number of queue entries that got the measured gains")
  }
  static var cancelled: Self {
    Self("cancelled", "the number of cancelled operations")
  }
  static var bin: Self {
    Self("bin", "the number of the bin, from 0")
  }
  static var bins: Self {
    Self("bins", "the number of bins of the waveform")
  }
  static var image: Self {
    Self("image", "the number of the image, from 1")
  }
  static var width: Self {
    Self("width", "the width in pixels")
  }
  static var height: Self {
    Self("height", "the height in square pixels")
  }
}

extension FieldKey<Double> {
  static var loudness: Self {
    Self("loudness", "the integrated loudness, in LUFS; `none` if it was not measured")
  }
  static var loudnessRange: Self {
    Self("range", "the loudness range, in LU; `none` if it was not measured")
  }
  static var truePeak: Self {
    Self("truePeak", "the largest value between samples in dBTP; `none` for silence or if not measured")
  }
  static var samplePeak: Self {
    Self("samplePeak", "the largest sample in dBFS; `none` for digital silence or if it was not measured")
  }
  static var peak: Self {
    Self("peak", "the largest sample; 1 is full scale")
  }
  static var albumLoudness: Self {
    Self("albumLoudness", "the integrated loudness of all files together, in LUFS")
  }
  static var albumGain: Self {
    Self("albumGain", "the ReplayGain of the album, from its tags or measured, in dB to -18 LUFS")
  }
  static var albumTruePeak: Self {
    Self("albumTruePeak", "the largest value between samples of all files, in dBTP; `none` for digital silence")
  }
  static var albumSamplePeak: Self {
    Self("albumSamplePeak", "the largest sample of all files, in dBFS; `none` for digital silence")
  }
  static var albumPeak: Self {
    Self("albumPeak", "the largest sample of the album, from its tags or measured; 1 is full scale")
  }
  static var measuredGain: Self {
    Self("gain", "the gain of ReplayGain 2.0, in dB to -18 LUFS; `none` if it was not measured")
  }
}

extension FieldKey<MediaTime> {
  static var start: Self {
    Self(time: "start", "the start of the track, chapter, loop, waveform or bin, from the start of the item")
  }
}

extension FieldKey<[Double]> {
  static var min: Self {
    Self("min", "the smallest sample of each channel in the bin; -1 is full scale")
  }
  static var max: Self {
    Self("max", "the largest sample of each channel in the bin; 1 is full scale")
  }
  static var rms: Self {
    Self("rms", "the root of the mean square of each channel, where 1 is full scale")
  }
}

extension FieldKey<Bool> {
  static var cached: Self {
    Self("cached", "whether the waveform comes from the cache")
  }
}

extension FieldKey<ExportRequest.Format> {
  static var formatOfExport: Self { Self("format", "the format of the written file") }
}
