/// A masked range: bytes of a file that are replaced when FFmpeg reads them.
///
/// FFmpeg reads all metadata of a file without a limit. It allocates memory for each frame of a tag, and compares each
/// comment with all previous ones. Metadata beyond the size of every legitimate file is masked. Playhead reads the tags
/// separately, within limits.
struct Mask: Sendable, Hashable {
  var range: Range<Int64>
  /// The replacement of the first bytes; the rest of the range is replaced by zeros.
  var bytes: [UInt8] = []

  /// Returns all masked ranges of a file. Blocks.
  static func all(of source: FileSource) -> [Mask] {
    let tags = ID3Mask.ranges(of: source)
    let comments = source.byteSource == nil ? CommentMask.masks(of: source, from: tags.end) : []
    return tags.ranges.map { Mask(range: $0) } + comments
  }
}
