import PlayheadMediaCore

/// `scan`: measures the loudness of files.
package enum ScanCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// At least one.
    package let paths: Parameter<WireList<FilePath>>
    /// Whether the loudness of all files together is measured, too.
    package let album: Parameter<Bool>
    /// Whether the entries of `player` use the measured gains.
    package let apply: Parameter<Bool>
    package let player: Parameter<String>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      paths = list.list(.paths, .path, "PATH", "the input files")
      album = list.flag(.album, "also measure all files as one")
      apply = list.flag(.apply, "use the results for the entries of these files")
      player = list.player()
      network = list.network()
    }
  }

  /// A file of the request.
  package struct Row: ReplyFields {
    /// The result of a measurement. Values are nil if they were not measured.
    package struct Measurement: Sendable {
      /// `measured`, `silence` or `too-short`.
      package var status: String
      /// In LUFS.
      package var loudness: Double?
      /// In LU.
      package var range: Double?
      /// In dBTP.
      package var truePeak: Double?
      /// In dBFS.
      package var samplePeak: Double?
      /// In dB.
      package var gain: Double?
      /// 1 is full scale.
      package var peak: Double
      package var duration: MediaTime
      package var fault: MediaError?

      package init(
        status: String, loudness: Double?, range: Double?, truePeak: Double?, samplePeak: Double?, gain: Double?,
        peak: Double, duration: MediaTime, fault: MediaError?
      ) {
        (self.status, self.loudness, self.range) = (status, loudness, range)
        (self.truePeak, self.samplePeak, self.gain) = (truePeak, samplePeak, gain)
        (self.peak, self.duration, self.fault) = (peak, duration, fault)
      }
    }

    /// The number of the file in the request, from 1.
    package var file: Int
    package var path: FilePath
    package var result: Result<Measurement, MediaError>

    package init(file: Int, path: FilePath, result: Result<Measurement, MediaError>) {
      (self.file, self.path, self.result) = (file, path, result)
    }

    private var measurement: Measurement? { try? result.get() }
    private var error: MediaError? { if case .failure(let error) = result { error } else { nil } }

    package static let fields: [Field<Self>] = [
      Field(.fileNumber) { $0.file }, Field(.path) { $0.path },
      Field(.scanStatus) { $0.measurement?.status ?? "failed" },
      Field(nullableIfPresent: .loudness) { $0.measurement.map(\.loudness) },
      Field(nullableIfPresent: .loudnessRange) { $0.measurement.map(\.range) },
      Field(nullableIfPresent: .truePeak) { $0.measurement.map(\.truePeak) },
      Field(nullableIfPresent: .samplePeak) { $0.measurement.map(\.samplePeak) },
      Field(nullableIfPresent: .measuredGain) { $0.measurement.map(\.gain) },
      Field(nullableIfPresent: .peak) { $0.measurement.map { Optional($0.peak) } },
      Field(optional: .duration) { $0.measurement?.duration },
      Field(optional: .fault) { $0.measurement?.fault?.code.name },
      Field(optional: .error) { $0.error?.code.name },
      Field(optional: .message) { $0.error?.message ?? $0.measurement?.fault?.message },
    ]
  }

  package struct Reply: ReplyRows {
    /// The loudness of all files together. Values are nil if they were not measured.
    package struct Album: Sendable {
      /// In LUFS. Nil: not measured.
      package var loudness: Double?
      /// The gain of ReplayGain 2.0 in dB, to -18 LUFS. Nil: not measured.
      package var gain: Double?
      /// In dBTP. Nil: silence, or not measured.
      package var truePeak: Double?
      /// In dBFS. Nil: silence, or not measured.
      package var samplePeak: Double?
      /// The largest sample; 1 is full scale.
      package var peak: Double

      package init(loudness: Double?, gain: Double?, truePeak: Double?, samplePeak: Double?, peak: Double) {
        (self.loudness, self.gain, self.truePeak) = (loudness, gain, truePeak)
        (self.samplePeak, self.peak) = (samplePeak, peak)
      }
    }

    package var scan: Int
    package var rows: [Row]
    package var album: Album?
    /// The number of entries that use the gains. Nil without `apply`.
    package var applied: Int?

    package init(scan: Int, rows: [Row], album: Album?, applied: Int?) {
      (self.scan, self.rows, self.album, self.applied) = (scan, rows, album, applied)
    }

    private var failed: Int { rows.count { if case .failure = $0.result { true } else { false } } }

    package static let fields: [Field<Self>] = [
      Field(.scan) { $0.scan }, Field(.countOfFiles) { $0.rows.count }, Field(.failed) { $0.failed },
      Field(nullableIfPresent: .albumLoudness) { $0.album.map(\.loudness) },
      Field(nullableIfPresent: .albumGain) { $0.album.map(\.gain) },
      Field(nullableIfPresent: .albumTruePeak) { $0.album.map(\.truePeak) },
      Field(nullableIfPresent: .albumSamplePeak) { $0.album.map(\.samplePeak) },
      Field(optional: .albumPeak) { $0.album?.peak }, Field(optional: .applied) { $0.applied },
    ]
  }

  package static let name: CommandName = "scan"

  package static let definition = CommandDefinition<Self>(
    .assets, "Measure the loudness of files (EBU R128).",
    details: """
      Each file is decoded completely. Files and scans run one after another with low priority, and do not disturb \
      playback. If a scan waits for bytes for more than 2 s, others run meanwhile. `album` also measures all files \
      together as one.

      The rows have these values, or `none` if a value was not measured:

      - `loudness`: the integrated loudness in LUFS
      - `range`: the loudness range in LU
      - `truePeak`: the largest value between samples in dBTP; `none` for digital silence
      - `samplePeak`: the largest sample in dBFS; `none` for digital silence
      - `gain`, `peak`: those of ReplayGain 2.0: dB to -18 LUFS, and the largest sample, where 1 is full scale
      - `fault`: why a part of the file is missing or did not decode

      `status` is one of these:

      - `measured`: the file was measured
      - `silence`: nothing is louder than -70 LUFS
      - `too-short`: the file has less than 400 ms
      - `failed`: the file cannot be read, or cannot be opened in time (`opening-timed-out`). The row has the \
      `error`, and the scan continues. The `failed` of the reply is the number of such files.

      `scan-progress` events come before the reply: at the start of each file, at each twentieth of it, and at its \
      end. The end of the connection ends its scans.

      With `apply`, the results replace the tags of the queue's entries with these files (`replay-gain`, \
      `gainSource=scan`). `applied` is the number of these entries.
      """,
    errors: [.cancelled, .unsupportedLocation, .invalidTime, .noSuchPlayer],
    example: [
      "> @9 scan /music/one.flac /music/cover.jpg",
      "< * scan-progress scan=1 file=1 count=2 path=/music/one.flac done=0.05",
      "< @9 | file=1 path=/music/one.flac status=measured loudness=-9.41 range=6.2 truePeak=0.31 samplePeak=-0.1 gain=-8.59"
        + " peak=0.988553 duration=183.2",
      "< @9 | file=2 path=/music/cover.jpg status=failed error=no-playable-tracks message=\"there is no audio in /music/cover.jpg\"",
      "< @9 ok scan=1 count=2 failed=1",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard arguments.apply || !arguments.has(\.player) else { throw arguments.failure("player needs apply") }
    try arguments.network.checkHeader()
  }
}

/// `scan.cancel`: cancels operations on files.
package enum ScanCancelCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: all.
    package let scan: Parameter<Int?>

    package init(_ list: inout ParameterListBuilder) {
      scan = list.optional(.scan, .integer(1...Int.max), "SCAN", "the number of the request; default: all")
    }
  }

  package struct Reply: ReplyFields {
    /// The number of cancelled requests.
    package var cancelled: Int

    package init(cancelled: Int) { self.cancelled = cancelled }

    package static let fields: [Field<Self>] = [Field(.cancelled) { $0.cancelled }]
  }

  package static let name: CommandName = "scan.cancel"

  package static let definition = CommandDefinition<Self>(
    .assets, "Cancel a `scan`, `waveform`, `export` or `image`, or all.",
    details:
      "The cancelled request must belong to this connection. It fails with `cancelled`, after this reply. Only a"
      + " request with an id can be cancelled, because a request without an id delays all later ones.",
    example: ["> scan.cancel 1", "< ok cancelled=1"])
}
