/// Builds the bytes of valid and invalid tags. Parameters such as `claiming` set a wrong size or count.
package enum TagBytes {
  package static func bigEndian(_ value: Int, bytes: Int = 4) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
  }

  package static func littleEndian(_ value: Int, bytes: Int = 4) -> [UInt8] {
    bigEndian(value, bytes: bytes).reversed()
  }

  // MARK: - ID3v2

  /// 28 bits in four bytes (ID3v2.4, 6.2).
  package static func syncSafe(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (7 * (3 - $0)) & 0x7F) } }

  /// A tag. `claiming` sets a wrong size.
  package static func id3v2(_ version: UInt8, _ frames: [UInt8], flags: UInt8 = 0, claiming size: Int? = nil) -> [UInt8]
  {
    Array("ID3".utf8) + [version, 0, flags] + syncSafe(size ?? frames.count) + frames
  }

  /// A frame of ID3v2.3 or 2.4. `claiming` sets a wrong size.
  package static func frame(
    _ version: UInt8, _ id: String, _ data: [UInt8], flags: [UInt8] = [0, 0], claiming size: Int? = nil
  ) -> [UInt8] {
    Array(id.utf8) + (version == 4 ? syncSafe(size ?? data.count) : bigEndian(size ?? data.count)) + flags + data
  }

  package static func text(_ version: UInt8, _ id: String, _ value: String) -> [UInt8] {
    frame(version, id, [3] + Array(value.utf8))
  }

  // MARK: - Vorbis comments

  package static func vorbisComment(_ entries: [[UInt8]], claiming count: Int? = nil) -> [UInt8] {
    littleEndian(2) + Array("me".utf8) + littleEndian(count ?? entries.count)
      + entries.flatMap { littleEndian($0.count) + $0 }
  }

  /// A FLAC file: stream information and these blocks, without audio.
  package static func flac(_ blocks: [(kind: UInt8, data: [UInt8], claiming: Int?)]) -> [UInt8] {
    var bytes = Array("fLaC".utf8) + [0] + bigEndian(34, bytes: 3) + [UInt8](repeating: 0, count: 34)
    for (index, block) in blocks.enumerated() {
      bytes += [block.kind | (index == blocks.count - 1 ? 0x80 : 0)]
      bytes += bigEndian(block.claiming ?? block.data.count, bytes: 3) + block.data
    }
    return bytes
  }

  /// An image block of FLAC (RFC 9639, 8.8). `claiming` sets a wrong size.
  package static func flacPicture(_ data: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    bigEndian(3) + bigEndian(9) + Array("image/png".utf8) + bigEndian(0) + [UInt8](repeating: 0, count: 16)
      + bigEndian(size ?? data.count) + data
  }

  /// One Ogg page for each packet; a packet ends with a segment shorter than 255. Readers ignore the checksum.
  package static func ogg(_ packets: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, packet) in packets.enumerated() {
      var rest = packet[...]
      var isContinued = false
      var isDone = false
      while !isDone {
        let pageData = rest.prefix(255 * 255)
        rest = rest.dropFirst(255 * 255)
        var segments = [UInt8](repeating: 255, count: pageData.count / 255)
        if segments.count < 255 {
          segments.append(UInt8(pageData.count % 255))
          isDone = true
        }
        bytes += Array("OggS".utf8) + [0, (isContinued ? 1 : 0) | (index == 0 ? 2 : 0)]
        bytes += [UInt8](repeating: 0, count: 8) + littleEndian(77) + littleEndian(index) + [0, 0, 0, 0]
        bytes += [UInt8(segments.count)] + segments + pageData
        isContinued = true
      }
    }
    return bytes
  }

  // MARK: - MP4

  package static func atom(_ name: String, _ content: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    bigEndian(size ?? content.count + 8) + name.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + content
  }

  /// A value of an item; kind 1 is UTF-8.
  package static func value(_ content: [UInt8], kind: Int = 1) -> [UInt8] {
    atom("data", bigEndian(kind) + bigEndian(0) + content)
  }

  /// A file that contains only an iTunes list.
  package static func mp4(_ items: [UInt8]) -> [UInt8] {
    atom("ftyp", Array("M4A ".utf8) + bigEndian(0))
      + atom(
        "moov",
        atom("udta", atom("meta", bigEndian(0) + atom("hdlr", [UInt8](repeating: 0, count: 25)) + atom("ilst", items))))
  }

  // MARK: - DSD

  /// A DSDIFF file: chunks with sizes of eight bytes.
  package static func dsdiff(_ chunks: [(name: String, data: [UInt8])]) -> [UInt8] {
    let body = chunks.flatMap { chunk -> [UInt8] in
      let padding = [UInt8](repeating: 0, count: chunk.data.count % 2)
      return Array(chunk.name.utf8) + bigEndian(chunk.data.count, bytes: 8) + chunk.data + padding
    }
    return Array("FRM8".utf8) + bigEndian(body.count + 4, bytes: 8) + Array("DSD ".utf8) + body
  }

  /// A DSF file: its header with the position of the tag, some audio, the tag.
  package static func dsf(_ tag: [UInt8]) -> [UInt8] {
    let audio = [UInt8](repeating: 0x69, count: 20)
    return Array("DSD ".utf8) + littleEndian(28, bytes: 8) + littleEndian(28 + audio.count + tag.count, bytes: 8)
      + littleEndian(28 + audio.count, bytes: 8) + audio + tag
  }

  // MARK: - Others

  /// An APEv2 tag without a file before it. The parameters may set a wrong size or number of items.
  package static func ape(_ items: [(key: String, flags: Int, value: [UInt8])], size: Int? = nil, count: Int? = nil)
    -> [UInt8]
  {
    var body: [UInt8] = []
    for item in items {
      body += littleEndian(item.value.count) + littleEndian(item.flags) + Array(item.key.utf8) + [0] + item.value
    }
    let footer =
      Array("APETAGEX".utf8) + littleEndian(2_000) + littleEndian(size ?? body.count + 32)
      + littleEndian(count ?? items.count) + littleEndian(0) + [UInt8](repeating: 0, count: 8)
    return body + footer
  }

  /// An APEv2 tag with a header, for the start of a file.
  package static func apeAtBeginning(_ items: [(key: String, flags: Int, value: [UInt8])]) -> [UInt8] {
    let tag = ape(items)
    // Flags of the header and the footer: the tag has a header, and this is the header.
    func end(_ flags: Int) -> [UInt8] {
      Array(tag.suffix(32).prefix(20)) + littleEndian(flags) + [UInt8](repeating: 0, count: 8)
    }
    return end(0xA000_0000) + tag.dropLast(32) + end(0x8000_0000)
  }

  package static func id3v1(title: [UInt8]) -> [UInt8] {
    Array("TAG".utf8) + title.prefix(30) + [UInt8](repeating: 0, count: 125 - min(30, title.count) - 1) + [26]
  }

  package static func riff(_ form: String, _ chunks: [(name: String, data: [UInt8], claiming: Int?)]) -> [UInt8] {
    let isBig = form == "AIFF"
    func number(_ value: Int) -> [UInt8] { isBig ? bigEndian(value) : littleEndian(value) }
    var body: [UInt8] = []
    for chunk in chunks {
      body += Array(chunk.name.utf8) + number(chunk.claiming ?? chunk.data.count) + chunk.data
      if chunk.data.count % 2 == 1 { body += [0] }
    }
    return Array((isBig ? "FORM" : "RIFF").utf8) + number(body.count + 4) + Array(form.utf8) + body
  }

  /// An ASF object: GUID, size, content.
  package static func asfObject(_ guid: [UInt8], _ content: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    guid + littleEndian(size ?? content.count + 24, bytes: 8) + content
  }

  package static let asfHeaderGUID: [UInt8] = [
    0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C,
  ]
  package static let asfDescriptionsGUID: [UInt8] = [
    0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11, 0x97, 0xF0, 0x00, 0xA0, 0xC9, 0x5E, 0xA8, 0x50,
  ]
  package static let asfExtensionGUID: [UInt8] = [
    0xB5, 0x03, 0xBF, 0x5F, 0x2E, 0xA9, 0xCF, 0x11, 0x8E, 0xE3, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]

  /// A header with these objects.
  package static func asf(_ objects: [[UInt8]], count: Int? = nil) -> [UInt8] {
    asfObject(asfHeaderGUID, littleEndian(count ?? objects.count) + [1, 2] + objects.flatMap { $0 })
  }

  /// UTF-16 with a terminating zero.
  package static func wide(_ text: String) -> [UInt8] {
    let bytes: [[UInt8]] = text.utf16.map { littleEndian(Int($0), bytes: 2) }
    return Array(bytes.joined()) + [0, 0]
  }

  /// A text of an extended content description.
  package static func asfText(_ name: String, _ value: String) -> [UInt8] {
    littleEndian(wide(name).count, bytes: 2) + wide(name) + [0, 0] + littleEndian(wide(value).count, bytes: 2)
      + wide(value)
  }

  /// An EBML element.
  package static func element(_ id: Int, _ content: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    let name: [UInt8] = Array(bigEndian(id).drop { $0 == 0 })
    return name + [0x01] + bigEndian(size ?? content.count, bytes: 7) + content
  }

  /// A Matroska tag.
  package static func simpleTag(_ name: String, _ value: String, _ more: [UInt8] = []) -> [UInt8] {
    element(0x67C8, element(0x45A3, Array(name.utf8)) + element(0x4487, Array(value.utf8)) + more)
  }

  /// A Matroska chapter with titles and their language elements.
  package static func chapter(_ start: Int, uid: Int = 1, _ titles: [(text: String, languages: [[UInt8]])]) -> [UInt8] {
    let displays = titles.flatMap { title in
      element(0x80, element(0x85, Array(title.text.utf8)) + title.languages.flatMap { $0 })
    }
    return element(0xB6, element(0x73C4, bigEndian(uid)) + element(0x91, bigEndian(start, bytes: 8)) + displays)
  }

  /// A Matroska file with chapters, one edition for each element.
  package static func matroska(editions: [[UInt8]]) -> [UInt8] {
    let chapters = element(0x1043_A770, editions.flatMap { element(0x45B9, $0) })
    return element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8)))
      + element(0x1853_8067, chapters + element(0x1F43_B675, [1, 2, 3]))
  }

  /// A Matroska file with an audio track with UID 7, and these tags after a cluster, which the seek head lists.
  ///
  /// - Parameter info: the content of the segment information; empty for none.
  package static func matroska(
    _ tags: [UInt8], seekEntries: [(id: Int, position: Int)] = [], info: [UInt8] = []
  ) -> [UInt8] {
    let tracks =
      (info.isEmpty ? [] : element(0x1549_A966, info))
      + element(0x1654_AE6B, element(0xAE, element(0x73C5, [7]) + element(0x83, [2])))
    let cluster = element(0x1F43_B675, [1, 2, 3])
    func list(_ position: Int) -> [UInt8] {
      let all = [(id: 0x1254_C367, position: position)] + seekEntries
      return element(
        0x114D_9B74,
        all.flatMap { element(0x4DBB, element(0x53AB, bigEndian($0.id)) + element(0x53AC, bigEndian($0.position))) })
    }
    let position = list(0).count + tracks.count + cluster.count
    return element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8)))
      + element(0x1853_8067, list(position) + tracks + cluster + element(0x1254_C367, tags))
  }
}
