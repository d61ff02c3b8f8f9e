import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags

/// The position of a file's audio on an album, according to its tags.
public struct AlbumPosition: Sendable, Hashable, Codable {
  /// The title of the album.
  public var album: String
  /// The artist of the album; nil if the tags do not state it.
  public var artist: String?
  /// The number of the disc; 1 if the tags do not state it.
  public var disc: Int
  /// The number of the track on its disc.
  public var track: Int

  /// Creates a position.
  public init(album: String, artist: String? = nil, disc: Int = 1, track: Int) {
    self.album = album
    self.artist = artist
    self.disc = disc
    self.track = track
  }

  /// Returns whether `other` is next on the album: the next track, or the first track of the next disc.
  public func isFollowed(by other: AlbumPosition) -> Bool {
    guard album == other.album, artist == other.artist else { return false }
    return disc == other.disc ? other.track == track + 1 : other.disc == disc + 1 && other.track == 1
  }
}

/// The tags of a file that determine its playback gain.
///
/// FFmpeg reads most tags when a file is opened, so that they are known before the first sample. FFmpeg omits APEv2 in
/// MP3, which mp3gain writes, and RVA2 of ID3v2. `AssetOpening.loudnessTags` reads these on request.
public struct LoudnessTags: Sendable, Hashable, Codable {
  /// The gains and peaks of the tags.
  public var replayGain = ReplayGain()
  /// Nil if the album or the track number is missing.
  public var albumPosition: AlbumPosition?
  /// Whether all tags have been read that may change the values.
  public var isComplete = true

  /// Creates the values of complete tags.
  public init(replayGain: ReplayGain = ReplayGain(), albumPosition: AlbumPosition? = nil) {
    self.replayGain = replayGain
    self.albumPosition = albumPosition
  }
}

extension LoudnessTags {
  /// Creates the tags from FFmpeg's dictionaries. Reads no file.
  init(demuxer: Demuxer) {
    let audio = demuxer.preferredAudioStreamIndex
    let entries = demuxer.metadata + (audio.map { demuxer.metadata(ofStream: $0) } ?? [])
    let gains = entries.filter { entry in
      let name = entry.key.uppercased()
      return name.hasPrefix("REPLAYGAIN_") || name.hasPrefix("R128_") || name == "ITUNNORM"
    }
    let items = gains.map { DictionaryMetadata.item($0, formatName: demuxer.formatName) }
    if !items.isEmpty { replayGain = ReplayGain(items: items) }
    albumPosition = Self.albumPosition(of: entries)
    // Tags that FFmpeg does not read may contain a better value than `Sound Check`.
    isComplete =
      !replayGain.isEmpty && !items.allSatisfy(ReplayGain.isSoundCheck)
      || Self.furtherTags(formatName: demuxer.formatName) == nil
  }

  /// Returns the container of tags that FFmpeg does not read, for files of a format; nil if there is none.
  static func furtherTags(formatName: String) -> TagContainer? {
    // The lists of AVI contain no gains.
    guard formatName != "avi" else { return nil }
    switch TagContainer(formatName: formatName) {
    case let container? where [.edges, .apeEdges, .wav, .aiff, .dsd].contains(container): return container
    default: return nil
    }
  }

  /// Returns the number in `3` or `3/12`.
  fileprivate static func number(_ text: String?) -> Int? {
    guard let digits = text?.prefix(while: { $0 != "/" }).filter({ $0 != " " }), let number = Int(digits) else {
      return nil
    }
    return (0...9_999).contains(number) ? number : nil
  }

  /// Returns the album position. The first entry of each of FFmpeg's names counts.
  private static func albumPosition(of entries: [MetadataEntry]) -> AlbumPosition? {
    func text(_ names: String...) -> String? {
      entries.first { names.contains($0.key.lowercased()) && !$0.value.isEmpty }?.text
    }
    guard let album = text("album"), let track = number(text("track", "tracknumber")) else { return nil }
    let artist = text("album_artist", "albumartist", "album artist")
    return AlbumPosition(
      album: album, artist: artist, disc: number(text("disc", "discnumber")) ?? 1, track: track)
  }
}

extension Asset {
  /// Reads the loudness tags that were omitted when the asset was loaded. Reads them once, and never for a remote
  /// asset. Blocks: opens the file and reads its beginning and end.
  ///
  /// - Returns: All known tags; nil if the asset is not loaded.
  /// - Throws: The errors of reading files; `cancelled`. Errors are not stored.
  func completeLoudnessTags(interrupt: Interrupt) throws(MediaError) -> LoudnessTags? {
    guard let known = knownLoudnessTags, !known.isComplete else { return knownLoudnessTags }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    let result = state.loadingLock.withLock { _ -> Result<LoudnessTags?, MediaError> in
      // Another thread may have read the tags while this thread waited.
      guard case .success(let properties)? = loaded, !properties.loudnessTags.isComplete else {
        return .success(knownLoudnessTags)
      }
      return Result { () throws(MediaError) in
        let tags = try furtherLoudnessTags(properties, interrupt: interrupt)
        set(tags)
        return tags
      }
    }
    return try result.get()
  }

  private var knownLoudnessTags: LoudnessTags? {
    if case .success(let properties)? = loaded { properties.loudnessTags } else { nil }
  }

  private func furtherLoudnessTags(
    _ properties: AssetProperties, interrupt: Interrupt
  ) throws(MediaError) -> LoudnessTags {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    var tags = properties.loudnessTags
    tags.isComplete = true
    guard let container = LoudnessTags.furtherTags(formatName: properties.formatName) else { return tags }
    do throws(AVFailure) {
      // Only local files and bytes in memory are read for these tags.
      guard let source = try MediaFile.localSource(of: self, interrupt: interrupt), let byteCount = source.byteCount
      else {
        return tags
      }
      let reading = try isolation.tags(container, of: source, byteCount: byteCount, charset: tagCharset)
      let items = reading.items.map { MetadataItem($0) }
      tags.replayGain = ReplayGain(items: items)
      tags.albumPosition = tags.albumPosition ?? LoudnessTags.albumPosition(of: items)
      return tags
    } catch {
      throw MediaError(error, path: displayPath)
    }
  }
}

extension LoudnessTags {
  /// Returns the album position from TagLib's items.
  fileprivate static func albumPosition(of items: [MetadataItem]) -> AlbumPosition? {
    func text(_ key: MetadataCommonKey) -> String? {
      items.first { $0.commonKey == key && $0.stringValue?.isEmpty == false }?.stringValue
    }
    guard let album = text(.albumName), let track = number(text(.trackNumber)) else { return nil }
    return AlbumPosition(album: album, artist: text(.albumArtist), disc: number(text(.discNumber)) ?? 1, track: track)
  }
}
