import PlayheadMediaCore

/// A part of the list of a file's tags.
package struct TagList: ReplyRows {
  /// The loudness tags. Values are nil if they are absent.
  package struct Gains: Sendable {
    /// In dB, for -18 LUFS.
    package var track: Double?
    /// 1 is full scale.
    package var trackPeak: Double?
    /// In dB, for -18 LUFS.
    package var album: Double?
    /// 1 is full scale.
    package var albumPeak: Double?
    /// In dB, for -23 LUFS.
    package var r128Track: Double?
    /// In dB, for -23 LUFS.
    package var r128Album: Double?

    package init(
      track: Double?, trackPeak: Double?, album: Double?, albumPeak: Double?, r128Track: Double?, r128Album: Double?
    ) {
      (self.track, self.trackPeak, self.album) = (track, trackPeak, album)
      (self.albumPeak, self.r128Track, self.r128Album) = (albumPeak, r128Track, r128Album)
    }
  }

  /// The number of all rows that match the query.
  package var count: Int
  /// The index of the first row of the next part. Nil after the last part.
  package var next: Int?
  /// The key spaces of the tags.
  package var formats: [String]
  /// The number of images.
  package var artworkCount: Int
  package var gains: Gains
  package var rows: [TagRow]

  package init(count: Int, next: Int?, formats: [String], artworkCount: Int, gains: Gains, rows: [TagRow]) {
    (self.count, self.next, self.formats) = (count, next, formats)
    (self.artworkCount, self.gains, self.rows) = (artworkCount, gains, rows)
  }

  package static let fields: [Field<Self>] = [
    Field(.count) { $0.count }, Field(nullable: .next) { $0.next }, Field(.formats) { $0.formats },
    Field(.artworkCount) { $0.artworkCount }, Field(optional: .trackGain) { $0.gains.track },
    Field(optional: .trackPeak) { $0.gains.trackPeak }, Field(optional: .albumGain) { $0.gains.album },
    Field(optional: .albumPeak) { $0.gains.albumPeak }, Field(optional: .r128TrackGain) { $0.gains.r128Track },
    Field(optional: .r128AlbumGain) { $0.gains.r128Album },
  ]

  /// The description of the list, for the documents.
  static let details = """
    The first request reads the tags, also those of a file whose audio cannot be opened. The reply has a row for each \
    value, in the order of the file:

    - `identifier`: the key space and the key
    - `commonKey`: the meaning of the key in any format
    - `type`: `string`, `number`, `date`, or `data`, which has `bytes` and `mediaType` instead of `value`
    - `artwork`: the number of an image for `asset.artwork` and `item.artwork`
    - `targetLevel`: the level that a Matroska tag describes (30: the track, 50: its album)
    - `truncated`: true for a text of more than 16,384 bytes, of which `value` is only the beginning; `bytes` is its \
    size
    - `code`: the error of a value that was too large to be read or retained

    The rows after the last value have a `warning` each: a part of the tags that was ignored.

    The gains are in dB. `trackGain` and `albumGain` are for the reference loudness of ReplayGain, -18 LUFS. The R128 \
    gains are for -23 LUFS. A peak of 1 is full scale. Without a track gain in ReplayGain or R128 tags, `trackGain` is \
    that of iTunes' Sound Check (`iTunNORM`).

    The tags of a station are the header fields of its response (`icy/name`, `icy/genre`, `icy/url`, ...). The tags of \
    an HLS stream are the session data of its master playlist (`EXT-X-SESSION-DATA`: `hls/` and the name).

    `charset` applies to texts that do not state their encoding. Valid UTF-8 is always read as UTF-8. `automatic` \
    detects Chinese, Japanese, Korean, Cyrillic, Arabic, Greek, Hebrew and Thai encodings, and reads other texts as \
    Latin-1. A request with another `charset` than before reads the tags again.
    """
}

extension CommandTable {
  /// The errors of reading a file's tags.
  static let metadataErrors: [MediaError.Code] = [.cancelled] + mediaErrors
}
