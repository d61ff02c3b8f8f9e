import ExampleSupport
import Foundation
import PlayheadFoundation

// Prints the metadata of a file: the common keys, the artwork, and the items of each key space. With a second file,
// writes a copy with another title, without encoding the audio again.
//
//   metadata FILE [COPY TITLE]

let arguments = CommandLine.arguments
guard arguments.count == 2 || arguments.count == 4 else { fail("usage: metadata FILE [COPY TITLE]") }

do {
  let asset = try Asset(url: url(arguments[1]))
  let (common, artwork, keySpaces) = try await asset.load(.commonMetadata, .artwork, .availableMetadataFormats)

  // An item has a common key if different formats have the same meaning for it.
  for item in common {
    print("\(item.commonKey?.rawValue ?? "-"): \(item.stringValue ?? "\(item.dataValue?.count ?? 0) bytes")")
  }
  for image in artwork { print("artwork: \(image.type), \(image.mediaType), \(image.byteCount) bytes") }

  for keySpace in keySpaces {
    for item in try await asset.loadMetadata(for: keySpace) {
      print("\(item.identifier) = \(item.stringValue ?? "\(item.dataValue?.count ?? 0) bytes")")
    }
  }

  // Items can be selected by identifier, by key and by language.
  let titles = MetadataItem.items(
    from: common, filteredByIdentifier: MetadataIdentifier(key: "title", keySpace: .common))
  print("title: \(titles.first?.stringValue ?? "none")")

  if arguments.count == 4 {
    let copy = url(arguments[2])
    guard let container = WritableContainer(fileExtension: copy.pathExtension) else {
      fail("metadata: the extension of \(copy.path) is not that of a container")
    }
    var settings = ExportSettings.passthrough(container)
    settings.metadata = ["title": arguments[3]]
    let outcome = try await AssetExportSession(asset, to: copy, settings).outcome()
    print("wrote \(outcome.duration.seconds) s to \(copy.lastPathComponent)")
  }
} catch {
  fail("metadata: \(error)")
}
