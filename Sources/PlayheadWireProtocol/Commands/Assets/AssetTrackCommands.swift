import PlayheadMediaCore

/// `asset.tracks`: lists the tracks of an asset.
package enum AssetTracksCommand: ImmediateCommand {
  package typealias Parameters = AssetID

  package struct Reply: ReplyRows {
    package var asset: Int
    package var rows: [TrackRow]

    package init(asset: Int, rows: [TrackRow]) { (self.asset, self.rows) = (asset, rows) }

    package static let fields: [Field<Self>] = [Field(.asset) { $0.asset }, Field(.count) { $0.rows.count }]
  }

  package static let name: CommandName = "asset.tracks"

  package static let definition = CommandDefinition<Self>(
    .assets, "List the tracks of a loaded asset.", details: TrackRow.details,
    errors: [.noSuchAsset, .invalidState] + CommandTable.assetErrors,
    example: [
      "> asset.tracks 1",
      "< | track=0 type=audio codec=aac playable=true enabled=true default=true start=0 duration=183.2 precise=true protected=false format=mp4a"
        + " sampleFormat=fltp sampleRate=44100 channels=2 layout=stereo bitRate=128000 language=und",
      "< ok asset=1 count=1",
    ])
}

/// `asset.selection`: lists the groups of tracks of an asset.
package enum AssetSelectionCommand: ImmediateCommand {
  package typealias Parameters = AssetID

  package struct Reply: ReplyRows {
    package var asset: Int
    /// The number of groups.
    package var count: Int
    package var rows: [SelectionRow]

    package init(asset: Int, count: Int, rows: [SelectionRow]) {
      (self.asset, self.count, self.rows) = (asset, count, rows)
    }

    package static let fields: [Field<Self>] = [Field(.asset) { $0.asset }, Field(.countOfGroups) { $0.count }]
  }

  package static let name: CommandName = "asset.selection"

  package static let definition = CommandDefinition<Self>(
    .assets, "List the groups of tracks of a loaded asset.", details: SelectionRow.details,
    errors: [.noSuchAsset, .invalidState] + CommandTable.assetErrors,
    example: [
      "> asset.selection 1", "< | group=audible allowsEmptySelection=false options=1",
      "< | group=audible track=0 language=eng characteristics=audible playable=true default=true",
      "< ok asset=1 count=1",
    ])
}

/// `asset.chapters`: lists the chapters of an asset.
package enum AssetChaptersCommand: ImmediateCommand {
  package struct Parameters: AssetParameters {
    package let id: Parameter<Int>
    /// In order of preference. Empty: the first title of the file.
    package let languages: Parameter<[String]>
    package let offset: Parameter<Int>

    package init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      languages = list.chapterLanguages()
      offset = list.rowOffset()
    }
  }

  package struct Reply: ReplyRows {
    package var asset: Int
    package var chapters: ChapterList

    package init(asset: Int, chapters: ChapterList) { (self.asset, self.chapters) = (asset, chapters) }

    package var rows: [ChapterList.Row] { chapters.rows }

    package static let fields: [Field<Self>] =
      [Field(.asset) { $0.asset }] + ChapterList.fields.map { $0.within { $0.chapters } }
  }

  package static let name: CommandName = "asset.chapters"

  package static let definition = CommandDefinition<Self>(
    .assets, "List the chapters of a loaded asset.", details: ChapterList.details,
    errors: [.noSuchAsset, .invalidState] + CommandTable.assetErrors,
    example: [
      "> asset.chapters 1", "< | chapter=1 start=0 end=83.5 title=Prelude",
      "< | chapter=2 start=83.5 end=183.2 title=Fugue",
      "< ok asset=1 count=2 next=none",
    ])
}
