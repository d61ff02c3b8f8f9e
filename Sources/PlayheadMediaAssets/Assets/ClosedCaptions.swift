// Finds captions that are stored within video frames. Nothing is decoded: packets of the first frames are searched.
import PlayheadLibAV

/// A format of captions within the frames of a video track.
public enum ClosedCaptionFormat: String, Sendable, Hashable, Codable, CaseIterable {
  /// CEA-608: the captions of analog television.
  case cea608
  /// CEA-708: the captions of digital television.
  case cea708
}

/// The search for captions in the packets of H.264, HEVC and MPEG-2 video (ATSC A/53 part 4, 6.2.3).
enum ClosedCaptionSearch {
  /// The limits of the search: the number of video packets, and the bytes of all packets together.
  static let maximumPacketCount = 32
  static let maximumByteCount = 4 << 20

  /// Returns the formats of the captions in the next packets of a video stream. Blocks.
  ///
  /// The search reads packets, so no other code may need them from the demuxer.
  ///
  /// - Returns: empty for other codecs, and if the packets have no captions or cannot be read.
  static func formats(in demuxer: Demuxer, stream: StreamInfo) -> [ClosedCaptionFormat] {
    guard let marker = marker(of: stream.codecName), let packet = try? Packet() else { return [] }
    demuxer.select(streamIndex: stream.index)
    var found: Set<ClosedCaptionFormat> = []
    var (packetCount, byteCount) = (0, 0)
    while packetCount < maximumPacketCount, byteCount < maximumByteCount,
      found.count < ClosedCaptionFormat.allCases.count,
      (try? demuxer.readPacket(into: packet)) == .packet
    {
      guard packet.streamIndex == stream.index, let data = packet.data(limit: maximumByteCount) else { continue }
      packetCount += 1
      byteCount += data.count
      found.formUnion(formats(in: data, after: marker))
    }
    return ClosedCaptionFormat.allCases.filter(found.contains)
  }

  /// The bytes before the captions: country, provider and `GA94` of a registered SEI message, or user data of MPEG-2.
  private static func marker(of codecName: String) -> [UInt8]? {
    let identifier = Array("GA94".utf8) + [3]
    switch codecName {
    case "h264", "hevc": return [0xB5, 0x00, 0x31] + identifier
    case "mpeg2video": return [0x00, 0x00, 0x01, 0xB2] + identifier
    default: return nil
    }
  }

  /// The formats of the valid caption bytes in a packet.
  static func formats(in data: [UInt8], after marker: [UInt8]) -> Set<ClosedCaptionFormat> {
    var found: Set<ClosedCaptionFormat> = []
    var start = 0
    while let index = firstIndex(of: marker, in: data, from: start) {
      start = index + marker.count
      let captions = withoutEmulationPrevention(data[start...].prefix(128))
      // Flags and the number of entries, a reserved byte, then entries of three bytes.
      guard let first = captions.first, first & 0x40 != 0 else { continue }
      let entries = captions.dropFirst(2).prefix(3 * Int(first & 0x1F))
      for entry in stride(from: entries.startIndex, to: entries.endIndex, by: 3) where entries[entry] & 0x04 != 0 {
        found.insert(entries[entry] & 0x03 < 2 ? .cea608 : .cea708)
      }
    }
    return found
  }

  private static func firstIndex(of marker: [UInt8], in data: [UInt8], from start: Int) -> Int? {
    guard data.count - start >= marker.count else { return nil }
    return data.withUnsafeBufferPointer { bytes in
      (start...(bytes.count - marker.count)).first { index in
        bytes[index] == marker[0] && bytes[index...].starts(with: marker)
      }
    }
  }

  /// Removes the byte 3 that follows two zeros in a NAL unit (H.264, 7.4.1).
  private static func withoutEmulationPrevention(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    for byte in bytes where !(byte == 3 && result.suffix(2) == [0, 0]) { result.append(byte) }
    return result
  }
}

extension AssetProperties {
  /// Searches the first video track of a local file for captions. It reads packets, so no other code may read from the
  /// demuxer afterwards.
  func withClosedCaptions(_ demuxer: Demuxer) -> AssetProperties {
    guard demuxer.source.byteSource == nil, let track = tracks.first(where: { $0.mediaType == .video }) else {
      return self
    }
    let formats = ClosedCaptionSearch.formats(in: demuxer, stream: demuxer.streams[track.id])
    return formats.isEmpty ? self : withClosedCaptions(formats, trackID: track.id)
  }
}
