import PlayheadMediaCore

/// The artwork of a file: a list of its images, or one image.
package struct ArtworkReply: ReplyRows {
  /// The content of the reply.
  package enum Content: Sendable {
    /// A part of the list. `count` is the number of all images, and `next` the index of the first image of the next
    /// part, or nil after the last part.
    case list([Row], count: Int, next: Int?)
    /// A range of bytes of an image, in base64. `next` is the offset of the next part, or nil after the last part.
    case part(ArtworkImage, offset: Int, next: Int?, data: String)
    /// An image was written to a file.
    case file(ArtworkImage, FilePath)
  }

  /// An image of the list.
  package struct Row: ReplyFields {
    package var image: ArtworkImage
    /// The error of an image that was too large to be read or retained.
    package var error: MediaError?

    package init(image: ArtworkImage, error: MediaError?) { (self.image, self.error) = (image, error) }

    package static let fields: [Field<Self>] = [
      Field(.artwork) { $0.image.index }, Field(.typeOfArtwork) { $0.image.type },
      Field(.mediaType) { $0.image.mediaType }, Field(optional: .artworkDescription) { $0.image.description },
      Field(.bytes) { $0.image.byteCount }, Field(optional: .code) { $0.error?.code.rawValue },
      Field(optional: .name) { $0.error?.code.name }, Field(optional: .message) { $0.error?.message },
    ]
  }

  package var content: Content

  package init(_ content: Content) { self.content = content }

  package var rows: [Row] { if case .list(let rows, _, _) = content { rows } else { [] } }

  private var image: ArtworkImage? {
    switch content {
    case .list: nil
    case .part(let image, _, _, _), .file(let image, _): image
    }
  }
  private var count: Int? { if case .list(_, let count, _) = content { count } else { nil } }
  private var file: FilePath? { if case .file(_, let file) = content { file } else { nil } }
  private var offset: Int? { if case .part(_, let offset, _, _) = content { offset } else { nil } }
  private var next: Int?? {
    switch content {
    case .list(_, _, let next), .part(_, _, let next, _): .some(next)
    case .file: nil
    }
  }
  private var data: String? { if case .part(_, _, _, let data) = content { data } else { nil } }

  package static let fields: [Field<Self>] = [
    Field(optional: .count) { $0.count }, Field(optional: .artwork) { $0.image?.index },
    Field(optional: .typeOfArtwork) { $0.image?.type }, Field(optional: .mediaType) { $0.image?.mediaType },
    Field(optional: .artworkDescription) { $0.image?.description }, Field(optional: .bytes) { $0.image?.byteCount },
    Field(optional: .writtenFile) { $0.file }, Field(optional: .offset) { $0.offset },
    Field(nullableIfPresent: .next) { $0.next }, Field(optional: .data) { $0.data },
  ]

  /// The description of the request and the reply, for the documents.
  static let details = """
    The first request reads the tags. The parameters select one of three forms:

    - Without `file` and `offset`, the reply lists the images. If the list is too long for one reply, `next` is the \
    `from` of the next request.
    - With `file`, the daemon writes the image atomically. It replaces an existing file only with `replace`. The \
    client needs the right `write`, unless it has opened the file (`file=fd:TOKEN`, *Open files*).
    - With `offset`, the reply has a part of the image in base64. `next` is the `offset` of the next part.

    An image that exceeds the memory limit for tags (`code=2093`) is read again for each request.
    """
}

/// The properties of an image in the tags of a file.
package struct ArtworkImage: Sendable, Hashable {
  /// The index among the artwork of the file, from 0.
  package var index: Int
  /// The role of the image, such as `frontCover`.
  package var type: String
  /// Such as `image/jpeg`.
  package var mediaType: String
  /// Nil: none.
  package var description: String?
  /// The size of the image in bytes.
  package var byteCount: Int

  package init(index: Int, type: String, mediaType: String, description: String?, byteCount: Int) {
    (self.index, self.type, self.mediaType) = (index, type, mediaType)
    (self.description, self.byteCount) = (description, byteCount)
  }
}

extension CommandTable {
  /// The errors of returning or writing artwork, other than those of reading it.
  static let artworkErrors: [MediaError.Code] = [
    .noSuchArtwork, .imageTooLarge, .fileExists, .writeFailed, .notAllowed, .noSuchDescriptor,
  ]
}
