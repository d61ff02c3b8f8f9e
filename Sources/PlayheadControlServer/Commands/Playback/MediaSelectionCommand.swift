import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension MediaSelectionCommand: ImmediateHandler {
  /// Changes the criteria of a group and the automatic selection, if given. Returns the criteria of all groups.
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let request = try arguments.criteria()
    if let group = arguments.group, request != nil || arguments.clear {
      let criteria = request.map(MediaSelectionCriteria.init)
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setMediaSelectionCriteria(criteria, for: MediaCharacteristic(group))
      }
    }
    if let automatic = arguments.automatic {
      target.player.onLoop { player in
        player.setAppliesMediaSelectionCriteriaAutomatically(
          automatic.isOn(current: player.appliesMediaSelectionCriteriaAutomatically))
      }
    }
    let rows = MediaSelectionCommand.Group.allCases.compactMap { group -> Row? in
      let criteria = target.player.onLoop { $0.mediaSelectionCriteria(for: MediaCharacteristic(group)) }
      guard let criteria else { return nil }
      return Row(
        group: group, languages: criteria.preferredLanguages,
        characteristics: criteria.preferredCharacteristics.sortedNames,
        principal: criteria.principalCharacteristics.sortedNames)
    }
    return Reply(isAutomatic: target.player.onLoop { $0.appliesMediaSelectionCriteriaAutomatically }, rows: rows)
  }
}

extension Set<MediaCharacteristic> {
  fileprivate var sortedNames: [String] { map(\.rawValue).sorted() }
}

extension MediaCharacteristic {
  fileprivate init(_ group: MediaSelectionCommand.Group) {
    self =
      switch group {
      case .audible: .audible
      case .legible: .legible
      }
  }
}

extension MediaSelectionCriteria {
  fileprivate init(_ request: MediaSelectionRequest) {
    func characteristics(_ names: Set<MediaSelectionRequest.Characteristic>) -> Set<MediaCharacteristic> {
      Set(names.compactMap { MediaCharacteristic(rawValue: $0.rawValue) })
    }
    self.init(
      preferredLanguages: request.languages, preferredCharacteristics: characteristics(request.characteristics),
      principalCharacteristics: characteristics(request.principal))
  }
}

extension MediaSelectionRequest {
  /// The request of these criteria.
  init(_ criteria: MediaSelectionCriteria) {
    func characteristics(_ all: Set<MediaCharacteristic>) -> Set<Characteristic> {
      Set(all.compactMap { Characteristic(rawValue: $0.rawValue) })
    }
    self.init(
      languages: criteria.preferredLanguages, characteristics: characteristics(criteria.preferredCharacteristics),
      principal: characteristics(criteria.principalCharacteristics))
  }
}
