import PlayheadMediaAssets
import PlayheadMediaCore

/// Prints the texts in the tags of a file. `scripts/check-media` compares them with those of another reader.
struct TagCheck: Sendable {
  let path: String
  let report: CheckReport

  func run() async {
    do throws(MediaError) {
      let metadata = try await Asset(path: path).load(.assetMetadata)
      for item in metadata.items {
        guard let value = item.stringValue else { continue }
        report.tag(value)
        // Other readers have the number and the total in one text.
        if let total = item.extraAttributes[.total] { report.tag("\(value)/\(total)") }
      }
      for warning in metadata.warnings { report.note("\(warning.subject) was ignored: \(warning.error)") }
    } catch {
      report.note("no tags: \(error)")
    }
  }
}
