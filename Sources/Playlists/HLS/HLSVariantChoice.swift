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
    /// It has no more bits a second than are wanted.
    public var isWithinLimit = true
    /// What is read.
    public var place: PlaylistPlace { rendition?.place ?? variant.place }
  }

  private let master: HLSMasterPlaylist

  public init(_ master: HLSMasterPlaylist) { self.master = master }

  /// The variants that may have sound, or all when none says so.
  private var usable: [HLSVariant] {
    let usable = master.variants.filter(Self.mayHaveSound)
    return usable.isEmpty ? master.variants : usable
  }

  /// What there is to hear, in the playlist's order: renditions of the same name and language in several groups are one.
  public var audioOptions: [HLSRendition] {
    Self.options(master.audioRenditions, groups: Set(usable.compactMap(\.audioGroup)))
  }

  /// What there is to read, in the same way.
  public var subtitleOptions: [HLSRendition] {
    Self.options(master.subtitleRenditions, groups: Set(usable.compactMap(\.subtitleGroup)))
  }

  private static func options(_ renditions: [HLSRendition], groups: Set<String>) -> [HLSRendition] {
    var options: [HLSRendition] = []
    for rendition in renditions where groups.contains(rendition.group) {
      if !options.contains(where: rendition.isSame) { options.append(rendition) }
    }
    return options
  }

  /// Every stream that may be tried, best first. Those over the limit come last, the slowest first: one of them is better than none.
  ///
  /// - Parameters:
  ///   - limit: bits a second; nil or 0: any.
  ///   - option: what is to be heard, of `audioOptions`: only variants that have it are tried. Nil: what the best variant has as its
  ///     default, in all variants that have that, and the others' own default.
  public func candidates(peakBitRateLimit limit: Int64?, option: HLSRendition? = nil) -> [Candidate] {
    let limit = limit.flatMap { $0 > 0 ? $0 : nil }
    let all = usable
    let within = all.filter { variant in limit.map { variant.bandwidth <= $0 } ?? true }.sorted(by: Self.isBetter)
    let beyond = all.filter { variant in limit.map { variant.bandwidth > $0 } ?? false }
      .sorted { $0.bandwidth < $1.bandwidth }
    let sorted = within + beyond
    let wanted = option ?? sorted.lazy.compactMap(defaultRendition).first
    var places: Set<PlaylistPlace> = []
    return sorted.enumerated().compactMap { index, variant in
      let same = wanted.flatMap { rendition(of: variant, like: $0) }
      if option != nil, same == nil { return nil }
      let candidate = Candidate(
        variant: variant, rendition: same ?? defaultRendition(of: variant), isWithinLimit: index < within.count)
      return places.insert(candidate.place).inserted ? candidate : nil
    }
  }

  private func rendition(of variant: HLSVariant, like wanted: HLSRendition) -> HLSRendition? {
    master.audioRenditions.first { $0.group == variant.audioGroup && $0.isSame(as: wanted) }
  }

  /// The default one of its group, or else the first.
  private func defaultRendition(of variant: HLSVariant) -> HLSRendition? {
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
