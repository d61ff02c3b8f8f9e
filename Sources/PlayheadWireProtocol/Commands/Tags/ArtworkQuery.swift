import PlayheadMediaCore

/// A request for a file's artwork.
package enum ArtworkQuery: Sendable, Hashable {
  /// The list of images, beginning with index `from`.
  case list(from: Int)
  /// A range of bytes of one image, in the reply. A nil index selects the front cover, or the first image if there is
  /// none.
  case part(index: Int?, offset: Int, limit: Int)
  /// Writes one image to a file. The file must not exist unless `replaces` is true.
  case file(index: Int?, FilePath, replaces: Bool)

  /// The maximum number of image bytes in one reply, so that the reply fits into a line.
  package static let maximumPartByteCount = 49_152 - 1_536
}

/// The options of an artwork request. Some exclude each other. Nil: not given.
package struct ArtworkOptions: Sendable {
  /// The first image to list.
  var from: Int?
  /// The index of the image.
  var index: Int?
  /// The file to write.
  package var file: FilePath?
  /// Whether an existing file is replaced.
  var replaces: Bool
  /// In bytes.
  var offset: Int?
  /// In bytes.
  var limit: Int?
}

/// The parameters of a command that returns artwork.
package protocol ArtworkParameters: ParameterList {
  var artwork: Parameter<ArtworkOptions> { get }
}

extension ParameterListBuilder {
  /// Adds the options of an artwork request.
  mutating func artworkOptions() -> Parameter<ArtworkOptions> {
    let from = option(.from, .integer(0...Int.max), "N", "the first image to list")
    let index = option(
      .index, .integer(0...Int.max), "N", "the number of the image; default: the front cover, or else the first image")
    let file = option(.file, .outputPath, "PATH", "the file to write")
    let replace = flag(.replace, "replace an existing file")
    let offset = option(.offset, .integer(0...Int.max), "BYTE", "return a part of the image, from this byte")
    let limit = option(
      .limit, .integer(1...ArtworkQuery.maximumPartByteCount), "BYTES",
      "the maximum number of bytes; default: 32768")
    return Parameter(startingWith: from) {
      ArtworkOptions(
        from: from.value(in: $0), index: index.value(in: $0), file: file.value(in: $0),
        replaces: replace.value(in: $0), offset: offset.value(in: $0), limit: limit.value(in: $0))
    }
  }
}

extension Arguments where Definition.Parameters: ArtworkParameters {
  /// The requested artwork.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  package func artworkQuery() throws(MediaError) -> ArtworkQuery {
    let options = self.artwork
    let (index, offset) = (options.index, options.offset)
    guard options.from == nil || offset == nil && options.file == nil else {
      throw failure("from excludes file and offset")
    }
    if let file = options.file {
      try checkReplacement(of: file, options.replaces)
      guard offset == nil, options.limit == nil else { throw failure("file and offset exclude each other") }
      return .file(index: index, file, replaces: options.replaces)
    }
    guard !options.replaces else { throw failure("replace needs file") }
    guard let offset else {
      guard index == nil, options.limit == nil else { throw failure("index and limit need file or offset") }
      return .list(from: options.from ?? 0)
    }
    return .part(index: index, offset: offset, limit: options.limit ?? 32_768)
  }

  /// Whether the daemon writes a file that it opens itself.
  var writesArtworkFile: Bool { self.artwork.file?.isFile ?? false }
}
