/// Maps the keys of all formats to common keys.
enum CommonKeyTable {
  /// Returns the common key of a key; nil if there is none.
  ///
  /// - Parameter description: The description of an ID3v2 user text or comment.
  static func commonKey(
    of key: String, in keySpace: MetadataKeySpace, description: String? = nil
  ) -> MetadataCommonKey? {
    switch keySpace {
    case .id3:
      switch key {
      // Programs use the names of Vorbis comments for user texts.
      case "TXXX": description.flatMap { vorbis[$0.uppercased()] }
      case "COMM": isPrivateComment(description) ? nil : .description
      default: id3[key]
      }
    case .iTunes: iTunes[key]
    case .iTunesLong: key.split(separator: ".").last.flatMap { vorbis[$0.uppercased()] }
    case .vorbis: vorbis[key.uppercased()]
    case .ape: ape[key.uppercased()] ?? vorbis[key.uppercased()]
    case .riff: riff[key]
    case .asf: asf[key] ?? vorbis[key.uppercased()]
    case .quickTimeMetadata: quickTime[key]
    case .quickTimeUserData: userData[key] ?? generic[key.uppercased()]
    case .icy: icy[key]
    case .hls: hls[key]
    case .matroska: generic[key.uppercased()] ?? vorbis[key.uppercased()]
    default: generic[key.uppercased()]
    }
  }

  /// The priority of an item for its common key. Of the items of one key space, only those with the best rank keep the
  /// common key.
  enum Rank: Int, Comparable {
    /// A key with exactly this meaning.
    case standard
    /// A key of another format, a comment with a description, or a release date instead of a recording date.
    case substitute
    /// A tag of the only track, which describes the track and not the file.
    case track

    static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
  }

  /// Returns the rank of an item among those with the same common key.
  static func rank(of item: MetadataItem, isOfTrack: Bool) -> Rank {
    if isOfTrack { return .track }
    switch item.keySpace {
    case .id3:
      if item.key == "COMM" { return isPlainComment(item.extraAttributes[.info]) ? .standard : .substitute }
      return ["TXXX", "TDRL", "TENC"].contains(item.key) ? .substitute : .standard
    case .iTunesLong: return .substitute
    // The title in the segment's header, instead of a tag.
    case .matroska: return item.key == "title" ? .substitute : .standard
    default: return .standard
    }
  }

  /// Returns whether the description of a comment has no meaning: it is empty, or three letters, because some programs
  /// write the language twice.
  private static func isPlainComment(_ description: String?) -> Bool {
    guard let description, !description.isEmpty else { return true }
    return description.utf8.count == 3 && description.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
  }

  /// Returns whether a comment with this description contains private data of a program.
  private static func isPrivateComment(_ description: String?) -> Bool {
    guard let name = description?.lowercased() else { return false }
    return ["itun", "musicmatch_", "songs-db_", "mp3gain_", "replaygain_", "quodlibet"].contains { name.hasPrefix($0) }
  }

  /// Returns the common key of one of FFmpeg's names.
  static func commonKey(ofGenericName name: String) -> MetadataCommonKey? {
    generic[name.uppercased()] ?? vorbis[name.uppercased()]
  }

  /// Returns the common key of a Matroska tag that describes more than the track.
  ///
  /// - Parameter level: 40 is a disc or volume, 50 an album or film, larger levels are a series.
  static func commonKey(ofAlbum name: String, level: Int64) -> MetadataCommonKey? {
    switch name.uppercased() {
    case "TITLE": level == 50 ? .albumName : nil
    case "ARTIST": .albumArtist
    case "PART_NUMBER": level == 40 ? .discNumber : nil
    case "TOTAL_PARTS": nil
    default: commonKey(ofGenericName: name)
    }
  }

  private static let id3: [String: MetadataCommonKey] = [
    "TIT2": .title, "TPE1": .artist, "TPE2": .albumArtist, "TALB": .albumName, "TCOM": .creator, "TCON": .type,
    "TDRC": .creationDate, "TRCK": .trackNumber, "TPOS": .discNumber, "COMM": .description, "TCOP": .copyrights,
    "TPUB": .publisher, "TSSE": .software, "TENC": .software, "TLAN": .language, "USLT": .lyrics, "APIC": .artwork,
    "TEXT": .author, "TPE3": .contributor, "POPM": .rating, "UFID": .identifier, "TSRC": .identifier,
    "TIT3": .subject, "TMED": .format, "TPE4": .contributor, "TMCL": .contributor, "TIPL": .contributor,
    "TDRL": .creationDate, "TDES": .subject,
  ]

  private static let iTunes: [String: MetadataCommonKey] = [
    "©nam": .title, "©ART": .artist, "aART": .albumArtist, "©alb": .albumName, "©wrt": .creator, "©gen": .type,
    "©day": .creationDate, "trkn": .trackNumber, "disk": .discNumber, "©cmt": .description, "cprt": .copyrights,
    "©cpy": .copyrights, "©pub": .publisher, "©too": .software, "©lyr": .lyrics, "covr": .artwork, "desc": .subject,
    "©aut": .author, "rate": .rating,
    "©con": .contributor, "©per": .contributor, "©prf": .contributor, "©nrt": .contributor, "©arg": .contributor,
    "©prd": .contributor, "©dir": .contributor, "©enc": .software, "©swr": .software, "©des": .description,
    "©inf": .description, "©st3": .subject, "keyw": .subject, "©url": .relation, "©mak": .make, "©mod": .model,
    "©xyz": .location, "©isr": .identifier, "©src": .source, "©lab": .publisher, "ldes": .subject,
  ]

  /// The names of Xiph's recommendation, those of MusicBrainz Picard, and spellings of other programs.
  private static let vorbis: [String: MetadataCommonKey] = [
    "TITLE": .title, "ARTIST": .artist, "ALBUMARTIST": .albumArtist, "ALBUM ARTIST": .albumArtist,
    "ALBUM_ARTIST": .albumArtist, "ALBUM": .albumName, "COMPOSER": .creator, "GENRE": .type, "DATE": .creationDate,
    "YEAR": .creationDate, "TRACKNUMBER": .trackNumber, "TRACK": .trackNumber, "TRACKNUM": .trackNumber,
    "DISCNUMBER": .discNumber, "DISC": .discNumber, "DISCNUM": .discNumber, "DESCRIPTION": .description,
    "COMMENT": .description, "COMMENTS": .description, "COPYRIGHT": .copyrights, "ORGANIZATION": .publisher,
    "LABEL": .publisher, "PUBLISHER": .publisher, "ENCODER": .software, "SOFTWARE": .software,
    "ENCODEDBY": .software, "ENCODED-BY": .software, "ENCODED BY": .software, "ENCODED_BY": .software,
    "ENCODERSETTINGS": .software, "ENCODING": .software, "LYRICS": .lyrics, "UNSYNCEDLYRICS": .lyrics,
    "UNSYNCED LYRICS": .lyrics, "METADATA_BLOCK_PICTURE": .artwork, "PERFORMER": .contributor,
    "CONDUCTOR": .contributor, "REMIXER": .contributor, "ARRANGER": .contributor, "ISRC": .identifier,
    "LANGUAGE": .language, "LOCATION": .location, "RATING": .rating, "LYRICIST": .author, "AUTHOR": .author,
    "WRITER": .author, "SUBTITLE": .subject, "SUBJECT": .subject, "MEDIA": .format, "SOURCEMEDIA": .format,
    "SOURCE": .source,
  ]

  private static let ape: [String: MetadataCommonKey] = [
    "TITLE": .title, "ARTIST": .artist, "ALBUM ARTIST": .albumArtist, "ALBUMARTIST": .albumArtist, "ALBUM": .albumName,
    "COMPOSER": .creator, "GENRE": .type, "YEAR": .creationDate, "TRACK": .trackNumber, "DISC": .discNumber,
    "COMMENT": .description, "COPYRIGHT": .copyrights, "PUBLISHER": .publisher, "LABEL": .publisher, "LYRICS": .lyrics,
    "COVER ART (FRONT)": .artwork, "COVER ART (BACK)": .artwork, "ISRC": .identifier, "LANGUAGE": .language,
    "SUBTITLE": .subject, "LYRICIST": .author, "RECORD LOCATION": .location, "RECORD DATE": .creationDate,
    "MIXARTIST": .contributor, "TOOL NAME": .software,
  ]

  private static let riff: [String: MetadataCommonKey] = [
    "INAM": .title, "IART": .artist, "IPRD": .albumName, "IGNR": .type, "ICRD": .creationDate, "IPRT": .trackNumber,
    "ITRK": .trackNumber, "ICMT": .description, "ICOP": .copyrights, "ISFT": .software, "IENG": .contributor,
    "IMUS": .creator, "ISBJ": .subject, "ISRC": .source, "ILNG": .language, "IWRI": .author, "NAME": .title,
    "AUTH": .artist, "(c) ": .copyrights, "ANNO": .description, "IALB": .albumName, "IAAR": .albumArtist,
    "YEAR": .creationDate, "TRCK": .trackNumber, "IMED": .format, "ISRF": .format, "ITCH": .software,
    "IENC": .software, "IPUB": .publisher, "IDST": .publisher, "IKEY": .subject, "ISTR": .contributor,
    "IPRO": .contributor, "IARL": .location, "IBSU": .relation, "IURL": .relation, "ILYR": .lyrics, "IRTD": .rating,
  ]

  private static let asf: [String: MetadataCommonKey] = [
    "Title": .title, "Author": .artist, "WM/AlbumArtist": .albumArtist, "WM/AlbumTitle": .albumName,
    "WM/Composer": .creator, "WM/Genre": .type, "WM/Year": .creationDate, "WM/TrackNumber": .trackNumber,
    "WM/PartOfSet": .discNumber, "Description": .description, "Copyright": .copyrights, "WM/Publisher": .publisher,
    "WM/EncodingSettings": .software, "WM/Lyrics": .lyrics, "WM/Picture": .artwork, "WM/Writer": .author,
    "WM/SharedUserRating": .rating, "WM/Language": .language, "WM/ISRC": .identifier,
    "WM/Conductor": .contributor, "WM/ModifiedBy": .contributor, "WM/Producer": .contributor,
    "WM/SubTitle": .subject, "WM/Media": .format, "WM/EncodedBy": .software, "WM/ToolName": .software,
    "WM/AuthorURL": .relation,
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
    "com.apple.quicktime.displayname": .title, "com.apple.quicktime.information": .description,
    "com.apple.quicktime.year": .creationDate, "com.apple.quicktime.director": .contributor,
    "com.apple.quicktime.producer": .contributor, "com.apple.quicktime.performer": .contributor,
    "com.apple.quicktime.rating.user": .rating,
  ]

  /// The boxes of 3GPP (TS 26.244, section 8).
  private static let userData: [String: MetadataCommonKey] = [
    "titl": .title, "dscp": .description, "cprt": .copyrights, "perf": .artist, "auth": .author, "gnre": .type,
    "albm": .albumName, "yrrc": .creationDate, "kywd": .subject,
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
    "WRITTEN_BY": .author, "SUMMARY": .description, "KEYWORDS": .subject, "DIRECTOR": .contributor,
    "PRODUCER": .contributor, "LEAD_PERFORMER": .contributor, "ENCODER_SETTINGS": .software,
    "RECORDING_LOCATION": .location, "ORIGINAL_MEDIA_TYPE": .format, "URL": .relation,
  ]

  /// Fields that describe a radio station and its program.
  private static let icy: [String: MetadataCommonKey] = [
    "name": .title, "genre": .type, "description": .description, "url": .relation, "StreamTitle": .title,
  ]

  /// Apple's names in `EXT-X-SESSION-DATA`.
  private static let hls: [String: MetadataCommonKey] = [
    "com.apple.hls.title": .title, "com.apple.hls.description": .description,
  ]
}
