// Reads all tags of a file in one pass on the calling thread, mostly with TagLib. Opens no files: the caller supplies
// the bytes. `TagLimits` bounds the cost of a hostile file.
import CPlayheadTags

/// Reads the tags of files.
package enum TagReader {
  /// Fills a buffer with the file's bytes from an offset on. Returns the number of bytes, less than the buffer only at
  /// the end of the file.
  package typealias ByteReader<Failure: Error> = (UnsafeMutableRawBufferPointer, Int64) throws(Failure) -> Int

  /// Reads all tags of a file of `byteCount` bytes. Blocks while `bytes` blocks, and calls it only on this thread.
  ///
  /// Damaged or oversized parts are skipped and reported as warnings.
  ///
  /// - Parameter charset: ICU's name of the encoding of texts without a declared encoding (ID3v1, RIFF INFO, "Latin-1"
  ///   of ID3v2). Nil detects it. Valid UTF-8 is always read as UTF-8.
  /// - Throws: only the errors of `bytes`.
  package static func read<Failure: Error>(
    _ container: TagContainer, byteCount: Int64, limits: TagLimits = TagLimits(), charset: String? = nil,
    bytes: @escaping ByteReader<Failure>
  ) throws(Failure) -> TagReading {
    guard let shimContainer = container.forShim else {
      return try MatroskaTags.read(byteCount: byteCount, limits: limits, bytes: bytes)
    }
    var failure: Failure?
    let call = ShimCall { buffer, offset in
      do throws(Failure) { return Int64(try bytes(buffer, offset)) } catch {
        failure = error
        return -1
      }
    }
    let outcome = call.run(shimContainer, byteCount: byteCount, charset: charset, limits: limits)
    if let failure { throw failure }
    var reading = call.reading
    if let warning = warning(for: outcome) { reading.warnings.append(warning) }
    return reading
  }

  /// Reads all tags of a file in memory.
  package static func read(
    _ container: TagContainer, data: [UInt8], limits: TagLimits = TagLimits(), charset: String? = nil
  ) -> TagReading {
    read(container, byteCount: Int64(data.count), limits: limits, charset: charset, bytes: reader(of: data))
  }

  /// A reader of bytes in memory.
  static func reader(of data: [UInt8]) -> ByteReader<Never> {
    { (buffer, offset) throws(Never) -> Int in
      guard let first = Int(exactly: offset), data.indices.contains(first) else { return 0 }
      let chunk = data[first..<min(data.count, first + buffer.count)]
      buffer.copyBytes(from: chunk)
      return chunk.count
    }
  }

  private static func warning(for outcome: tags_outcome) -> TagWarning? {
    switch outcome {
    case tags_outcome_complete: nil
    case tags_outcome_limit:
      TagWarning(
        subject: "tags", reason: "the tags exceed the size or depth limit; the rest was ignored", isLimit: true)
    case tags_outcome_out_of_memory: TagWarning(subject: "tags", reason: "not enough memory")
    default: TagWarning(subject: "tags", reason: "the tags cannot be read")
    }
  }
}

/// One call of the shim, with its callbacks and its result.
private final class ShimCall {
  private let bytes: (UnsafeMutableRawBufferPointer, Int64) -> Int64
  private(set) var reading = TagReading()

  init(bytes: @escaping (UnsafeMutableRawBufferPointer, Int64) -> Int64) { self.bytes = bytes }

  func run(
    _ container: tags_container, byteCount: Int64, charset: String?, limits: TagLimits
  ) -> tags_outcome {
    let context = Unmanaged.passUnretained(self).toOpaque()
    var source = tags_source(context: context, byte_count: max(0, byteCount), read: Self.readCallback)
    var sink = tags_sink(context: context, take: Self.itemCallback)
    var bounds = limits.forShim
    return withExtendedLifetime(self) {
      guard let charset else { return tags_read(&source, container, nil, &bounds, &sink) }
      return charset.withCString { tags_read(&source, container, $0, &bounds, &sink) }
    }
  }

  private func add(_ item: tags_item) {
    guard item.kind != tags_kind_warning else {
      reading.warnings.append(
        TagWarning(
          subject: Self.text(item.key) ?? "", reason: Self.text(item.text) ?? "", isLimit: item.number == 1))
      return
    }
    guard item.kind != tags_kind_correction else { return correct(item) }
    guard let space = Self.spaces[item.space.rawValue], let key = Self.text(item.key), let value = Self.value(item)
    else { return }
    var result = TagItem(space: space, key: key, value: value)
    result.description = Self.text(item.description)
    result.language = Self.text(item.language)
    result.owner = Self.text(item.owner)
    result.mediaType = Self.text(item.media_type)
    result.secondNumber = item.counter >= 0 ? item.counter : nil
    result.artworkType = item.picture_type >= 0 ? Int(item.picture_type) : nil
    if item.kind == tags_kind_data || item.kind == tags_kind_picture, item.number > item.data_count {
      result.excessiveByteCount = Int(item.number)
    }
    reading.items.append(result)
  }

  private func correct(_ item: tags_item) {
    guard let index = Int(exactly: item.number), reading.items.indices.contains(index) else { return }
    if let text = Self.text(item.text) { reading.items[index].value = .text(text) }
    if let description = Self.text(item.description) { reading.items[index].description = description }
  }

  private static func value(_ item: tags_item) -> TagItem.Value? {
    switch item.kind {
    case tags_kind_text: text(item.text).map { .text($0) }
    case tags_kind_number: .number(item.number)
    case tags_kind_data: .data(bytes(item))
    case tags_kind_picture: .image(bytes(item))
    default: nil
    }
  }

  private static func bytes(_ item: tags_item) -> [UInt8] {
    Array(UnsafeBufferPointer(start: item.data, count: max(0, Int(item.data_count))))
  }

  private static func text(_ text: tags_text) -> String? {
    guard let bytes = text.bytes else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: max(0, Int(text.count))), as: UTF8.self)
  }

  private static let spaces: [UInt32: TagItem.Space] = [
    tags_space_id3v2.rawValue: .id3v2, tags_space_id3v1.rawValue: .id3v1, tags_space_itunes.rawValue: .iTunes,
    tags_space_vorbis.rawValue: .vorbis, tags_space_ape.rawValue: .ape, tags_space_riff.rawValue: .riff,
    tags_space_asf.rawValue: .asf, tags_space_user_data.rawValue: .userData,
  ]

  private static let readCallback:
    @convention(c) (UnsafeMutableRawPointer?, Int64, UnsafeMutablePointer<UInt8>?, Int64)
      -> Int64 = { context, offset, buffer, count in
        guard let context, let buffer, count >= 0 else { return -1 }
        return Unmanaged<ShimCall>.fromOpaque(context).takeUnretainedValue()
          .bytes(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), offset)
      }

  private static let itemCallback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<tags_item>?) -> Void = {
    context, item in
    guard let context, let item else { return }
    Unmanaged<ShimCall>.fromOpaque(context).takeUnretainedValue().add(item.pointee)
  }
}
