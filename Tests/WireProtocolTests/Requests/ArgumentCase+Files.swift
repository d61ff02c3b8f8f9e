import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let files: [Self] = scans + waveforms + exports + images + folders

  private static func path(_ text: String) throws -> FilePath { try FilePath(text: text) }

  private static let scans: [Self] = [
    Self("scan '/a b'", ScanCommand.self) {
      try Array($0.paths) == [path("/a b")] && !$0.album && !$0.apply && $0.network == NetworkOptions()
    },
    Self("scan '/a b' '/a b' album apply player=two", ScanCommand.self) {
      $0.paths.count == 2 && $0.album && $0.apply && $0.player == "two"
    },
    Self("scan '/a b' album network=false timeout=2 user-agent=me", ScanCommand.self) {
      var network = NetworkOptions()
      (network.isNetworkAllowed, network.timeout, network.userAgent) = (false, try seconds("2"), "me")
      return $0.network == network
    },
    Self("scan.cancel", ScanCancelCommand.self) { $0.scan == nil },
    Self("scan.cancel 4", ScanCancelCommand.self) { $0.scan == 4 },
  ]

  private static func waveform(_ line: String, _ expected: @escaping @Sendable () throws -> WaveformFileRequest) -> Self
  {
    Self(line, WaveformCommand.self) { try $0.waveform() == expected() }
  }

  private static let waveforms: [Self] = [
    waveform("waveform '/a b'") { .init(try path("/a b"), binCount: 100) },
    waveform("waveform '/a b' start=1.5 end=2 bins=9 mono") {
      .init(
        try path("/a b"), start: try seconds("1.5"), end: try seconds("2"), binCount: 9, mixesChannels: true)
    },
    waveform(
      "waveform '/a b' file='/a b' format=png width=32 height=33 color=102030 background=#000000 axis=off replace"
    ) {
      .init(
        try path("/a b"),
        output: .init(
          try path("/a b"), .png, replaces: true, width: 32, height: 33, color: "102030", background: "#000000",
          hasAxis: false))
    },
    waveform("waveform '/a b' file=/c.DAT samples-per-bin=512 bits=8") {
      .init(try path("/a b"), framesPerBin: 512, output: .init(try path("/c.DAT"), .dat, bits: 8))
    },
  ]

  private static let exports: [Self] = [
    Self("export '/a b' file=/c.MKA", ExportCommand.self) {
      try $0.export() == ExportRequest([path("/a b")], file: path("/c.MKA"), format: .matroska)
    },
    Self(
      "export '/a b' '/a b' file=/c format=m4a start=1.5 end=2 mix track=1 codec=aac sample-rate=8000 channels=1 bit-rate=9000 metadata=sharing replace",
      ExportCommand.self
    ) {
      var export = ExportRequest([try path("/a b"), try path("/a b")], file: try path("/c"), format: .m4a)
      (export.start, export.end) = (try seconds("1.5"), try seconds("2"))
      (export.mixes, export.replaces, export.track, export.codec) = (true, true, 1, .aac)
      (export.sampleRateHz, export.channelCount, export.bitRate) = (8_000, 1, 9_000)
      export.tags = .sharing
      return try $0.export() == export
    },
    // A height requires that the video is encoded again.
    Self("export '/a b' file=/c.mp4 codec=none height=100 quality=30", ExportCommand.self) {
      var export = ExportRequest([try path("/a b")], file: try path("/c.mp4"), format: .mp4)
      (export.codec, export.video, export.height, export.quality) = (.omit, .h264, 100, 30)
      return try $0.export() == export
    },
  ]

  private static let images: [Self] = [
    Self("image '/a b' 1.5 file=/c.png", ImageCommand.self) {
      try $0.images() == ImageRequest(path("/a b"), [seconds("1.5")], file: path("/c.png"))
    },
    Self(
      "image '/a b' 1 1:02 file=/c-%03d.JPG quality=5 width=9 height=8 before=0.5 after=inf upright=off replace",
      ImageCommand.self
    ) {
      try $0.images()
        == ImageRequest(
          path("/a b"), [seconds("1"), seconds("62")], file: path("/c-%03d.JPG"), .jpeg(quality: 5), replaces: true,
          width: 9, height: 8, before: seconds("0.5"), after: .positiveInfinity, isUpright: false)
    },
    Self("image '/a b' file=/c format=png sheet=4x3 gap=0 fast", ImageCommand.self) {
      try $0.images()
        == ImageRequest(
          path("/a b"), file: path("/c"), before: .positiveInfinity, after: .positiveInfinity,
          sheet: .init(columns: 4, rows: 3, gap: 0))
    },
  ]

  private static let folders: [Self] = [
    Self("folder.list", FolderListCommand.self) { $0.path == nil && $0.nameAfter == nil && $0.limit == 1_000 },
    Self("folder.list '/a b' after='/a b/c' limit=7", FolderListCommand.self) {
      try $0.path == path("/a b") && $0.nameAfter == Array("c".utf8) && $0.limit == 7
    },
    Self("folder.list / after=/c", FolderListCommand.self) {
      try $0.path == path("/") && $0.nameAfter == Array("c".utf8)
    },
  ]
}
