/// Which of a stream's variants is heard, and which next when one fails. Pure.
///
/// Nothing but sound is played: of the variants that may be had, the one with the best sound is wanted, and of those with the same
/// sound the one with the fewest bits, which has the smallest pictures or none.
public struct HLSVariantChoice: Sendable {
  /// A stream to try.
  public struct Candidate: Sendable, Hashable {
    public var variant: HLSVariant
    /// The rendition that is heard; nil: the variant's own sound.
    public var rendition: HLSRendition?
    /// What is read.
    public var place: PlaylistPlace { rendition?.place ?? variant.place }
  }

  private let master: HLSMasterPlaylist

  public init(_ master: HLSMasterPlaylist) { self.master = master }

  /// Every stream that may be tried, best first. Those over the limit come last, the slowest first: one of them is better than none.
  ///
  /// - Parameter limit: bits a second; nil or 0: any.
  public func candidates(peakBitRateLimit limit: Int64?) -> [Candidate] {
    let usable = master.variants.filter(Self.mayHaveSound)
    let all = usable.isEmpty ? master.variants : usable
    let limit = limit.flatMap { $0 > 0 ? $0 : nil }
    let within = all.filter { variant in limit.map { variant.bandwidth <= $0 } ?? true }.sorted(by: Self.isBetter)
    let beyond = all.filter { variant in limit.map { variant.bandwidth > $0 } ?? false }
      .sorted { $0.bandwidth < $1.bandwidth }
    var places: Set<PlaylistPlace> = []
    return (within + beyond).compactMap { variant in
      let candidate = Candidate(variant: variant, rendition: rendition(of: variant))
      return places.insert(candidate.place).inserted ? candidate : nil
    }
  }

  /// The default one of its group, or else the first.
  private func rendition(of variant: HLSVariant) -> HLSRendition? {
    guard let group = variant.audioGroup else { return nil }
    let renditions = master.audioRenditions.filter { $0.group == group }
    return renditions.first(where: \.isDefault) ?? renditions.first(where: \.isAutoselect) ?? renditions.first
  }

  /// False when its codecs are said, and are none of sound.
  private static func mayHaveSound(_ variant: HLSVariant) -> Bool {
    variant.codecs.isEmpty || variant.audioGroup != nil || variant.codecs.contains { soundRank($0) != nil }
  }

  /// Kinds of sound, better ones with higher numbers; nil for what is none.
  private static func soundRank(_ codec: String) -> Int? {
    let name = codec.lowercased()
    if name.hasPrefix("flac") || name.hasPrefix("alac") { return 5 }
    if name.hasPrefix("ec-3") || name.hasPrefix("ac-3") || name.hasPrefix("opus") { return 3 }
    // MPEG-4 Audio: object type 2 is AAC-LC, 5 and 29 are HE-AAC, which is for few bits.
    if name == "mp4a.40.2" { return 3 }
    if name.hasPrefix("mp4a") || name == "mp3" || name == "vorbis" { return 2 }
    return nil
  }

  private static func isBetter(_ one: HLSVariant, _ other: HLSVariant) -> Bool {
    let ranks = [one, other].map { $0.codecs.compactMap(soundRank).max() ?? 2 }
    if ranks[0] != ranks[1] { return ranks[0] > ranks[1] }
    // Without video more bits are better sound; with it they are pictures.
    if one.hasVideo != other.hasVideo { return !one.hasVideo }
    return one.hasVideo ? one.bandwidth < other.bandwidth : one.bandwidth > other.bandwidth
  }
}

extension HLSVariant {
  /// Whether it is said to have pictures.
  public var hasVideo: Bool {
    hasResolution
      || codecs.contains { codec in
        ["avc", "hvc", "hev", "vp0", "av01", "dvh"].contains { codec.lowercased().hasPrefix($0) }
      }
  }
}
