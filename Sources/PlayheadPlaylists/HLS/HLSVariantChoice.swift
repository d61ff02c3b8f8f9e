/// Chooses the variant to play, and the next one when a variant fails. Pure.
///
/// Only audio is played. The preferred variant has the best audio. Of variants with the same audio, the one with the
/// lowest bit rate is preferred, because it has the smallest video or none.
package struct HLSVariantChoice: Sendable {
  /// A stream to try.
  package struct Candidate: Sendable, Hashable {
    /// The variant.
    package var variant: HLSVariant
    /// The rendition to play; nil for the variant's audio.
    package var rendition: HLSRendition?
    /// Whether the bit rate of the variant is within the limit.
    package var isWithinLimit = true
    /// The location of the playlist to read.
    package var location: PlaylistLocation { rendition?.location ?? variant.location }
  }

  private let master: HLSMasterPlaylist

  /// Creates a choice among the variants of a playlist.
  package init(_ master: HLSMasterPlaylist) { self.master = master }

  /// The variants that may have audio, or all when the codecs of no variant indicate audio.
  private var usable: [HLSVariant] {
    let usable = master.variants.filter(Self.mayHaveAudio)
    return usable.isEmpty ? master.variants : usable
  }

  /// The audio options in the order of the playlist. Renditions with the same name and language in several groups are
  /// one option.
  package var audioOptions: [HLSRendition] {
    Self.options(master.audioRenditions, groups: Set(usable.compactMap(\.audioGroup)))
  }

  /// The subtitle options, in the same form as `audioOptions`.
  package var subtitleOptions: [HLSRendition] {
    Self.options(master.subtitleRenditions, groups: Set(usable.compactMap(\.subtitleGroup)))
  }

  private static func options(_ renditions: [HLSRendition], groups: Set<String>) -> [HLSRendition] {
    var options: [HLSRendition] = []
    for rendition in renditions where groups.contains(rendition.group) {
      if !options.contains(where: rendition.isSame) { options.append(rendition) }
    }
    return options
  }

  /// All streams to try, best first. Those above the limit come last, in ascending order of bit rate, because one of
  /// them is better than none.
  ///
  /// - Parameters:
  ///   - limit: the maximum bit rate in bits per second; nil or 0 for no limit.
  ///   - option: the option of `audioOptions` to play; only variants that have it are tried. Nil: the default of the
  ///     best variant where available, and otherwise the default of each variant.
  package func candidates(peakBitRateLimit limit: Int64?, option: HLSRendition? = nil) -> [Candidate] {
    let limit = limit.flatMap { $0 > 0 ? $0 : nil }
    let all = usable
    let within = all.filter { variant in limit.map { variant.bandwidth <= $0 } ?? true }.sorted(by: Self.isBetter)
    let beyond = all.filter { variant in limit.map { variant.bandwidth > $0 } ?? false }
      .sorted { $0.bandwidth < $1.bandwidth }
    let sorted = within + beyond
    let wanted = option ?? sorted.lazy.compactMap(defaultRendition).first
    var locations: Set<PlaylistLocation> = []
    return sorted.enumerated().compactMap { index, variant in
      let same = wanted.flatMap { rendition(of: variant, like: $0) }
      if option != nil, same == nil { return nil }
      let candidate = Candidate(
        variant: variant, rendition: same ?? defaultRendition(of: variant), isWithinLimit: index < within.count)
      return locations.insert(candidate.location).inserted ? candidate : nil
    }
  }

  private func rendition(of variant: HLSVariant, like wanted: HLSRendition) -> HLSRendition? {
    master.audioRenditions.first { $0.group == variant.audioGroup && $0.isSame(as: wanted) }
  }

  /// The default rendition of the variant's group, or else the first.
  private func defaultRendition(of variant: HLSVariant) -> HLSRendition? {
    guard let group = variant.audioGroup else { return nil }
    let renditions = master.audioRenditions.filter { $0.group == group }
    return renditions.first(where: \.isDefault) ?? renditions.first(where: \.isAutoselect) ?? renditions.first
  }

  /// Whether the variant may have audio. False when its codecs are specified and none is an audio codec.
  private static func mayHaveAudio(_ variant: HLSVariant) -> Bool {
    variant.codecs.isEmpty || variant.audioGroup != nil || variant.codecs.contains { audioRank($0) != nil }
  }

  /// The quality rank of an audio codec, higher is better; nil for other codecs.
  private static func audioRank(_ codec: String) -> Int? {
    let name = codec.lowercased()
    if name.hasPrefix("flac") || name.hasPrefix("alac") { return 5 }
    if name.hasPrefix("ec-3") || name.hasPrefix("ac-3") || name.hasPrefix("opus") { return 3 }
    // MPEG-4 Audio: object type 2 is AAC-LC. Types 5 and 29 are HE-AAC, for low bit rates.
    if name == "mp4a.40.2" { return 3 }
    if name.hasPrefix("mp4a") || name == "mp3" || name == "vorbis" { return 2 }
    return nil
  }

  private static func isBetter(_ one: HLSVariant, _ other: HLSVariant) -> Bool {
    let ranks = [one, other].map { $0.codecs.compactMap(audioRank).max() ?? 2 }
    if ranks[0] != ranks[1] { return ranks[0] > ranks[1] }
    // Without video, a higher bit rate means better audio; with video, it means larger video.
    if one.hasVideo != other.hasVideo { return !one.hasVideo }
    return one.hasVideo ? one.bandwidth < other.bandwidth : one.bandwidth > other.bandwidth
  }
}

extension HLSVariant {
  /// Whether the variant is known to have video.
  package var hasVideo: Bool {
    hasResolution
      || codecs.contains { codec in
        ["avc", "hvc", "hev", "vp0", "av01", "dvh"].contains { codec.lowercased().hasPrefix($0) }
      }
  }
}
