/// Bytes of a file that FFmpeg sees otherwise than they are.
///
/// It reads all that a file says of itself, whatever that takes: memory for each frame of a tag, and for each comment a look at
/// all those before. What nobody can mean in earnest is hidden from it; tags are read elsewhere, within bounds.
struct Veil: Sendable, Hashable {
  var range: Range<Int64>
  /// What is seen in the place of the first of them; zeros in that of the rest.
  var bytes: [UInt8] = []

  /// Everything that is to be hidden of a file. Blocks.
  static func all(of source: FileSource) -> [Veil] {
    let tags = ID3Veil.ranges(of: source)
    let comments = source.byteSource == nil ? CommentVeil.veils(of: source, from: tags.end) : []
    return tags.veiled.map { Veil(range: $0) } + comments
  }
}
