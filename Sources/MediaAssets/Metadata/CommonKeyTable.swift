/// Which keys of which formats mean the same.
enum CommonKeyTable {
  /// The common key of a key; nil when it has none.
  static func commonKey(of key: String, in keySpace: MetadataKeySpace) -> MetadataCommonKey? {
    switch keySpace {
    case .id3: id3[key]
    case .iTunes: iTunes[key]
    case .vorbis: vorbis[key.uppercased()]
    case .ape: ape[key.uppercased()]
    case .riff: riff[key]
    case .asf: asf[key]
    case .quickTimeMetadata: quickTime[key]
    case .icy: icy[key]
    case .hls: hls[key]
    default: generic[key.uppercased()]
    }
  }

  /// The common key of one of FFmpeg's names.
  static func commonKey(ofGenericName name: String) -> MetadataCommonKey? { generic[name.uppercased()] }

  /// That of a Matroska tag which says something of more than the track.
  ///
  /// - Parameter level: 40 is a disc or volume, 50 an album or film, more a series.
  static func commonKey(ofAlbum name: String, level: Int64) -> MetadataCommonKey? {
    switch name.uppercased() {
    case "TITLE": level == 50 ? .albumName : nil
    case "ARTIST": .albumArtist
    case "PART_NUMBER": level == 40 ? .discNumber : nil
    default: commonKey(ofGenericName: name)
    }
  }

  private static let id3: [String: MetadataCommonKey] = [
    "TIT2": .title, "TPE1": .artist, "TPE2": .albumArtist, "TALB": .albumName, "TCOM": .creator, "TCON": .type,
    "TDRC": .creationDate, "TRCK": .trackNumber, "TPOS": .discNumber, "COMM": .description, "TCOP": .copyrights,
    "TPUB": .publisher, "TSSE": .software, "TENC": .software, "TLAN": .language, "USLT": .lyrics, "APIC": .artwork,
    "TEXT": .author, "TPE3": .contributor, "POPM": .rating, "UFID": .identifier, "TSRC": .identifier,
    "TIT3": .subject, "TMED": .format,
  ]

  private static let iTunes: [String: MetadataCommonKey] = [
    "©nam": .title, "©ART": .artist, "aART": .albumArtist, "©alb": .albumName, "©wrt": .creator, "©gen": .type,
    "©day": .creationDate, "trkn": .trackNumber, "disk": .discNumber, "©cmt": .description, "cprt": .copyrights,
    "©cpy": .copyrights, "©pub": .publisher, "©too": .software, "©lyr": .lyrics, "covr": .artwork, "desc": .subject,
    "©aut": .author, "rate": .rating,
  ]

  private static let vorbis: [String: MetadataCommonKey] = [
    "TITLE": .title, "ARTIST": .artist, "ALBUMARTIST": .albumArtist, "ALBUM ARTIST": .albumArtist, "ALBUM": .albumName,
    "COMPOSER": .creator, "GENRE": .type, "DATE": .creationDate, "YEAR": .creationDate, "TRACKNUMBER": .trackNumber,
    "DISCNUMBER": .discNumber, "DESCRIPTION": .description, "COMMENT": .description, "COPYRIGHT": .copyrights,
    "ORGANIZATION": .publisher, "LABEL": .publisher, "PUBLISHER": .publisher, "ENCODER": .software, "LYRICS": .lyrics,
    "UNSYNCEDLYRICS": .lyrics, "METADATA_BLOCK_PICTURE": .artwork, "PERFORMER": .contributor, "ISRC": .identifier,
    "LANGUAGE": .language, "LOCATION": .location, "RATING": .rating, "LYRICIST": .author, "AUTHOR": .author,
  ]

  private static let ape: [String: MetadataCommonKey] = [
    "TITLE": .title, "ARTIST": .artist, "ALBUM ARTIST": .albumArtist, "ALBUMARTIST": .albumArtist, "ALBUM": .albumName,
    "COMPOSER": .creator, "GENRE": .type, "YEAR": .creationDate, "TRACK": .trackNumber, "DISC": .discNumber,
    "COMMENT": .description, "COPYRIGHT": .copyrights, "PUBLISHER": .publisher, "LABEL": .publisher, "LYRICS": .lyrics,
    "COVER ART (FRONT)": .artwork, "COVER ART (BACK)": .artwork, "ISRC": .identifier, "LANGUAGE": .language,
    "SUBTITLE": .subject, "LYRICIST": .author, "RECORD LOCATION": .location,
  ]

  private static let riff: [String: MetadataCommonKey] = [
    "INAM": .title, "IART": .artist, "IPRD": .albumName, "IGNR": .type, "ICRD": .creationDate, "IPRT": .trackNumber,
    "ITRK": .trackNumber, "ICMT": .description, "ICOP": .copyrights, "ISFT": .software, "IENG": .contributor,
    "IMUS": .creator, "ISBJ": .subject, "ISRC": .source, "ILNG": .language, "IWRI": .author, "NAME": .title,
    "AUTH": .artist, "(c) ": .copyrights, "ANNO": .description,
  ]

  private static let asf: [String: MetadataCommonKey] = [
    "Title": .title, "Author": .artist, "WM/AlbumArtist": .albumArtist, "WM/AlbumTitle": .albumName,
    "WM/Composer": .creator, "WM/Genre": .type, "WM/Year": .creationDate, "WM/TrackNumber": .trackNumber,
    "WM/PartOfSet": .discNumber, "Description": .description, "Copyright": .copyrights, "WM/Publisher": .publisher,
    "WM/EncodingSettings": .software, "WM/Lyrics": .lyrics, "WM/Picture": .artwork, "WM/Writer": .author,
    "WM/SharedUserRating": .rating, "WM/Language": .language, "WM/ISRC": .identifier,
  ]

  private static let quickTime: [String: MetadataCommonKey] = [
    "com.apple.quicktime.title": .title, "com.apple.quicktime.artist": .artist, "com.apple.quicktime.album": .albumName,
    "com.apple.quicktime.author": .author, "com.apple.quicktime.comment": .description,
    "com.apple.quicktime.description": .description, "com.apple.quicktime.copyright": .copyrights,
    "com.apple.quicktime.creationdate": .creationDate, "com.apple.quicktime.genre": .type,
    "com.apple.quicktime.publisher": .publisher, "com.apple.quicktime.software": .software,
    "com.apple.quicktime.make": .make, "com.apple.quicktime.model": .model,
    "com.apple.quicktime.location.ISO6709": .location, "com.apple.quicktime.artwork": .artwork,
    "com.apple.quicktime.keywords": .subject, "com.apple.quicktime.composer": .creator,
  ]

  /// FFmpeg's names, and those of Matroska's tags.
  private static let generic: [String: MetadataCommonKey] = [
    "TITLE": .title, "ARTIST": .artist, "ALBUM_ARTIST": .albumArtist, "ALBUM": .albumName, "COMPOSER": .creator,
    "GENRE": .type, "DATE": .creationDate, "DATE_RELEASED": .creationDate, "DATE_RECORDED": .creationDate,
    "TRACK": .trackNumber, "PART_NUMBER": .trackNumber, "DISC": .discNumber, "COMMENT": .description,
    "DESCRIPTION": .description, "COPYRIGHT": .copyrights, "PUBLISHER": .publisher, "LABEL": .publisher,
    "ENCODER": .software, "ENCODED_BY": .software, "LYRICS": .lyrics, "PERFORMER": .contributor, "ISRC": .identifier,
    "LANGUAGE": .language, "SUBJECT": .subject, "LYRICIST": .author, "AUTHOR": .author, "LOCATION": .location,
    "RATING": .rating, "MAKE": .make, "MODEL": .model, "STREAMTITLE": .title,
  ]

  /// What a station says of itself, and of what it plays.
  private static let icy: [String: MetadataCommonKey] = [
    "name": .title, "genre": .type, "description": .description, "url": .relation, "StreamTitle": .title,
  ]

  /// Apple's names in `EXT-X-SESSION-DATA`.
  private static let hls: [String: MetadataCommonKey] = [
    "com.apple.hls.title": .title, "com.apple.hls.description": .description,
  ]
}
