import PlayheadMediaCore

/// The parameters of a recording (`record.prepare`).
package struct RecordingRequest: Sendable, Hashable {
  /// The audio codec.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case pcm, flac, alac, aac, opus, ima4, ulaw, alaw, ilbc, amr
  }

  /// The quality of a lossy codec.
  package enum Quality: String, Sendable, Hashable, CaseIterable {
    case min, low, medium, high, max
  }

  /// The container.
  package enum Container: String, Sendable, Hashable, CaseIterable {
    case wav, caf, flac, m4a, ogg

    /// The container of a file name extension; nil for other extensions.
    package init?(fileExtension: String) {
      switch fileExtension.lowercased() {
      case "wave": self = .wav
      case "oga", "opus": self = .ogg
      case let name: self.init(rawValue: name)
      }
    }
  }

  package var file: FilePath
  /// Whether an existing file is replaced.
  package var replaces = false
  /// The name of the source. Nil: the default source of the sound server.
  package var source: String?
  /// The container. Nil: derived from the file name extension.
  package var container: Container?
  /// The codec. Nil: derived from the container or the file name extension.
  package var format: Format?
  package var sampleRateHz: Int?
  package var channelCount: Int?
  package var bitsPerSample: Int?
  package var isFloat = false
  package var isBigEndian = false
  package var quality: Quality?
  /// In bits per second.
  package var bitRate: Int?
  /// In dBFS.
  package var startLevel: Double?
  /// In dBFS.
  package var silenceLevel: Double?
  /// The maximum duration of a silence that is recorded.
  package var longestSilence: MediaTime?

  package init(_ file: FilePath) { self.file = file }
}
