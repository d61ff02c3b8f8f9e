import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Tags of an album, its track and another track, written by mkvpropedit. FFmpeg keeps the last value of each name.
@Suite struct MatroskaTagTests {
  private static let tags = """
    <?xml version="1.0"?>
    <Tags>
      <Tag><Targets><TargetTypeValue>50</TargetTypeValue></Targets>
        <Simple><Name>TITLE</Name><String>Das Album</String></Simple>
        <Simple><Name>ARTIST</Name><String>Various</String></Simple>
        <Simple><Name>DATE_RELEASED</Name><String>1999</String></Simple>
      </Tag>
      <Tag><Targets><TargetTypeValue>30</TargetTypeValue></Targets>
        <Simple><Name>TITLE</Name><String>Das Lied</String><TagLanguage>ger</TagLanguage></Simple>
        <Simple><Name>TITLE</Name><String>The Song</String><TagLanguage>eng</TagLanguage></Simple>
        <Simple><Name>ARTIST</Name><String>Anna</String></Simple>
        <Simple><Name>ARTIST</Name><String>Bert</String></Simple>
        <Simple><Name>PART_NUMBER</Name><String>3</String></Simple>
        <Simple><Name>REPLAYGAIN_GAIN</Name><String>-6.5 dB</String></Simple>
      </Tag>
    </Tags>
    """

  @Test func everyValueIsReadAndAlbumTagsBelongToTheAlbum() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mka")
    try Tool.ffmpeg(arguments: [
      "-f", "lavfi", "-i", "sine=d=1", "-c:a", "flac", "-metadata", "title=In the header", path,
    ])
    let tags = try folder.write(Array(Self.tags.utf8), as: "tags.xml")
    try Tool.run("mkvpropedit", ["--quiet", path, "--tags", "global:\(tags)"])
    let metadata = try MetadataMatrixTests.read(path)
    #expect(metadata.warnings.isEmpty)
    #expect(metadata.strings(.title) == ["Das Lied", "The Song"])
    #expect(metadata.strings(.artist) == ["Anna", "Bert"])
    #expect(metadata.strings(.albumName) == ["Das Album"] && metadata.strings(.albumArtist) == ["Various"])
    #expect(metadata.strings(.trackNumber) == ["3"] && metadata.strings(.creationDate) == ["1999"])
    let titles = metadata.items.filter { $0.key == "TITLE" }
    #expect(titles.map(\.extendedLanguageTag) == [nil, "de", "en"])
    #expect(titles.map { $0.extraAttributes[.targetLevel] } == ["50", "30", "30"])
    #expect(titles.map(\.keySpace) == [.matroska, .matroska, .matroska])
    let asset = Asset(path: path)
    #expect(try asset.load().hasAudio)
  }

  /// A tag of one of several tracks does not apply to the file. A tag of the only track does, if the file has none.
  @Test(arguments: [1, 2]) func trackTagsApplyToTheFileIfItHasOneTrack(_ trackCount: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mka")
    let tags = try folder.write(
      Array(
        """
        <?xml version="1.0"?>
        <Tags><Tag>
          <Simple><Name>TITLE</Name><String>Noise</String></Simple>
          <Simple><Name>ARTIST</Name><String>Anna</String></Simple>
        </Tag></Tags>
        """.utf8), as: "tags.xml")
    let titles: [String?] = ["Film", nil]
    for title in titles {
      var arguments = ["-f", "lavfi", "-i", "sine=d=0.2"]
      for _ in 0..<trackCount { arguments += ["-map", "0:a"] }
      arguments += ["-c:a", "flac"]
      if let title { arguments += ["-metadata", "title=\(title)"] }
      try Tool.ffmpeg(arguments: arguments + ["-y", path])
      try Tool.run("mkvpropedit", ["--quiet", path, "--tags", "track:1:\(tags)"])
      let metadata = try MetadataMatrixTests.read(path)
      let ofTrack = metadata.items.filter { $0.key == "TITLE" || $0.key == "ARTIST" }
      #expect(ofTrack.map(\.stringValue) == ["Noise", "Anna"])
      let ofOnlyTrack: (title: [String], artist: [String]) = trackCount == 1 ? (["Noise"], ["Anna"]) : ([], [])
      if let title {
        #expect(metadata.strings(.title) == [title])
      } else {
        #expect(metadata.strings(.title) == ofOnlyTrack.title)
      }
      #expect(metadata.strings(.artist) == ofOnlyTrack.artist)
    }
  }
}
