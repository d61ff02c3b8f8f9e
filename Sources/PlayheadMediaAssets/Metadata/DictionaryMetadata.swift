import PlayheadLibAV

/// Converts FFmpeg's dictionaries to items, for formats that TagLib does not read, and for tags that it could not read.
enum DictionaryMetadata {
  /// Names that describe the structure of the file and its streams, which are not metadata.
  private static let structural: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "duration", "bps",
    "creation_time",
    "number_of_frames", "number_of_bytes", "source_id", "timecode", "language", "filename", "mimetype",
  ]

  /// FFmpeg's names of QuickTime user data and iTunes items (libavformat/mov.c). Any other name in an MP4 file comes
  /// from the file's QuickTime metadata or free-form iTunes items.
  static let movieNames: Set<String> = [
    "account_id", "account_type", "album", "album_artist", "artist", "author", "category", "chapter", "comment",
    "compilation", "composer", "copyright", "date", "description", "director", "disc", "disclaimer", "edit_date",
    "encoder",
    "episode_id", "episode_sort", "episode_uid", "gapless_playback", "genre", "grouping", "hd_video", "host_computer",
    "keywords", "location", "lyrics", "make", "media_type", "model", "network", "original_artist", "original_format",
    "original_source", "performers", "playback_requirements", "podcast", "producer", "purchase_date", "rating",
    "season_number", "show", "sort_album", "sort_album_artist", "sort_artist", "sort_composer", "sort_name",
    "sort_show",
    "subtitle", "synopsis", "title", "track", "tmpo", "warning", "xmp",
  ]

  /// The keys of the `INFO` list of AVI, by FFmpeg's names (libavformat/riff.c). Wave64 has the original keys.
  private static let riffNames = [
    "artist": "IART", "comment": "ICMT", "copyright": "ICOP", "date": "ICRD", "genre": "IGNR", "language": "ILNG",
    "title": "INAM", "album": "IPRD", "product": "IPRD", "track": "IPRT", "encoder": "ISFT", "software": "ISFT",
    "subject": "ISBJ", "encoded_by": "ITCH",
  ]

  /// The frames of ID3v2, by FFmpeg's names (libavformat/id3v2.c), and those of ID3v1's fields.
  private static let frames = [
    "album": "TALB", "album-sort": "TSOA", "album_artist": "TPE2", "artist": "TPE1", "artist-sort": "TSOP",
    "comment": "COMM", "compilation": "TCMP", "composer": "TCOM", "copyright": "TCOP", "date": "TDRC", "disc": "TPOS",
    "encoded_by": "TENC", "encoder": "TSSE", "genre": "TCON", "grouping": "GRP1", "language": "TLAN",
    "lyrics": "USLT", "performer": "TPE3", "publisher": "TPUB", "title": "TIT2", "title-sort": "TSOT",
    "track": "TRCK",
  ]

  /// Returns the frame for one of FFmpeg's names. FFmpeg does not rename other frames.
  private static func frame(ofName name: String) -> String {
    if let frame = frames[name.lowercased()] { return frame }
    let isFrame =
      name.utf8.count == 4 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    return isFrame ? name : "TXXX"
  }

  /// Returns the items of a file, in the key space of its format.
  static func items(of demuxer: Demuxer) -> [MetadataItem] {
    let names = Set(demuxer.metadata.map { $0.key.lowercased() })
    let isMatroska = demuxer.formatName == "matroska,webm"
    // In Matroska the title of a stream is the name of its track, not the title of the file.
    let ofStream = (demuxer.preferredAudioStreamIndex.map { demuxer.metadata(ofStream: $0) } ?? []).filter { entry in
      !isMatroska || (demuxer.streams.count == 1 && !names.contains(entry.key.lowercased()))
    }
    let entries = demuxer.metadata + ofStream
    var seen: Set<MetadataEntry> = []
    return entries.compactMap { entry in
      guard !entry.value.isEmpty, isMetadata(entry.key), seen.insert(entry).inserted else { return nil }
      return item(entry, formatName: demuxer.formatName)
    }
  }

  /// Returns the artwork of a file.
  static func artwork(of demuxer: Demuxer) -> [Artwork] {
    demuxer.attachedPictures(maximumByteCount: Artwork.maximumByteCount).map { attachedPicture in
      func text(_ key: String) -> String? {
        attachedPicture.entries.first { $0.key.lowercased() == key }?.text
      }
      let name = text("filename")?.lowercased() ?? ""
      let role = text("comment").flatMap(ArtworkType.init(ffmpegName:))
      return Artwork(
        type: role ?? (name.hasPrefix("cover") ? .frontCover : .other), claimedMediaType: text("mimetype"),
        description: text("title") ?? text("filename"), data: attachedPicture.data,
        byteCount: attachedPicture.byteCount)
    }
  }

  static func item(_ entry: MetadataEntry, formatName: String) -> MetadataItem {
    let keySpace = keySpace(of: entry.key, formatName: formatName)
    var key = entry.key
    var language: String?
    // FFmpeg appends a hyphen and the language to lyrics, and to tags of Matroska and MP4.
    if let hyphen = key.lastIndex(of: "-"), let tag = LanguageTag.bcp47(String(key[key.index(after: hyphen)...])),
      key[key.index(after: hyphen)...].utf8.count == 3
    {
      language = tag
      key = String(key[..<hyphen])
    }
    let name = key
    if keySpace == .riff, formatName != "aiff" { key = riffNames[key] ?? key }
    var attributes: [MetadataItem.ExtraAttribute: String] = [:]
    if keySpace == .id3 {
      key = frame(ofName: key)
      // FFmpeg names a user text by its description.
      if key == "TXXX" { attributes[.info] = name }
    }
    return MetadataItem(
      keySpace: keySpace, key: key,
      commonKey: CommonKeyTable.commonKey(of: key, in: keySpace) ?? CommonKeyTable.commonKey(ofGenericName: name),
      value: .string(text(of: entry, keySpace: keySpace)), extendedLanguageTag: language, extraAttributes: attributes)
  }

  static func isMetadata(_ key: String) -> Bool {
    let name = key.lowercased()
    return !structural.contains(name) && !name.hasPrefix("_statistics") && !name.hasPrefix("bps-")
      && !name.hasPrefix("duration-") && !name.hasPrefix("number_of_") && !name.hasPrefix("id3v2_priv.")
  }

  /// RIFF specifies no character encoding: text that is not UTF-8 is Latin-1, as Windows wrote it.
  private static func text(of entry: MetadataEntry, keySpace: MetadataKeySpace) -> String {
    if keySpace == .riff, String(validating: entry.value, as: UTF8.self) == nil {
      return String(String.UnicodeScalarView(entry.value.map { Unicode.Scalar($0) }))
    }
    return entry.text
  }

  private static func keySpace(of key: String, formatName: String) -> MetadataKeySpace {
    switch formatName {
    case "mp3", "aac", "ac3", "eac3", "dts", "dsf", "tta": .id3
    case "flac", "ogg": .vorbis
    case "wav", "w64", "aiff", "avi": .riff
    case "asf", "asf_o": .asf
    case "matroska,webm": .matroska
    case "wv", "ape", "mpc", "mpc8", "tak": .ape
    case "mov,mp4,m4a,3gp,3g2,mj2": movieNames.contains(key) ? .quickTimeUserData : .quickTimeMetadata
    default: MetadataKeySpace(rawValue: String(formatName.prefix { $0 != "," }))
    }
  }
}
