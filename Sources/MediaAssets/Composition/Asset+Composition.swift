import MediaCore

extension Asset {
  /// An asset that is put together from parts of others. No I/O: those are opened while it is read, each when its turn comes.
  public convenience init(composition: Composition, workers: AssetWorkers = .shared) {
    self.init(place: .composition(composition), workers: workers)
  }

  /// What it is put together from; nil for others.
  public var composition: Composition? { if case .composition(let composition) = place { composition } else { nil } }
}

extension Composition {
  /// How many compositions lie in each other, this one counted.
  var depth: Int { 1 + (assets.map(\.compositionDepth).max() ?? 0) }

  /// What it is put together from, each once; not what those are put together from.
  var assets: [Asset] {
    var seen: Set<ObjectIdentifier> = []
    return tracks.flatMap { track in
      track.segments.compactMap { $0.source?.asset }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
  }

  /// What its sound is read as; nil where there is none.
  var audioFormat: AudioFormat? {
    let formats = tracks.filter { $0.mediaType == .audio }.flatMap { track in
      track.segments.compactMap { $0.source?.track.audioFormat }
    }
    guard let first = formats.first, let channelCount = formats.map(\.channelCount).max() else { return nil }
    return AudioFormat(sampleRateHz: first.sampleRateHz, channelCount: channelCount)
  }

  /// Speakers of all its sound, where that with most channels says it and no other with as many says something else.
  var channelMask: UInt64? {
    guard let count = audioFormat?.channelCount else { return nil }
    let masks = tracks.flatMap { track in
      track.segments.compactMap { $0.source?.track }.filter { $0.audioFormat?.channelCount == count }.map(\.channelMask)
    }
    guard let first = masks.first, masks.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// What loading an asset of it finds. Errors: `noPlayableTracks` when there is nothing.
  func properties() throws(MediaError) -> AssetProperties {
    guard duration > .zero else {
      throw MediaError(.noPlayableTracks, "there is nothing in the composition", operation: "load")
    }
    return AssetProperties(composition: self)
  }
}
