import ExampleSupport
import Foundation
import PlayheadFoundation

// Exports a range of a file. The extension of the output selects the container. With --passthrough, the packets are
// copied without encoding.
//
//   export FILE OUTPUT START SECONDS [--passthrough]

let arguments = CommandLine.arguments.filter { $0 != "--passthrough" }
// `decimal` is exact: 0.1 s is 1/10, not the nearest binary number.
guard arguments.count == 5, let start = MediaTime(decimal: arguments[3]), let seconds = MediaTime(decimal: arguments[4])
else {
  fail("usage: export FILE OUTPUT START SECONDS [--passthrough]")
}
let output = url(arguments[2])
guard let container = WritableContainer(fileExtension: output.pathExtension) else {
  fail("export: no container has the extension '\(output.pathExtension)'")
}

do {
  var settings =
    CommandLine.arguments.contains("--passthrough")
    ? ExportSettings.passthrough(container) : ExportSettings(container)
  settings.timeRange = TimeRange(start: start, duration: seconds)
  settings.metadata = ["comment": "A part of \(url(arguments[1]).lastPathComponent)"]

  let export = try AssetExportSession(Asset(url: url(arguments[1])), to: output, settings)
  // The output appears under its name when it is complete. Cancelling the task cancels the export.
  let outcome = try await export.outcome { progress in
    if let progress { print("\(Int((100 * progress).rounded())) %") }
  }
  print("wrote \(outcome.duration.seconds) s, \(outcome.byteCount) bytes")
  if let fault = outcome.fault { print("silence instead of damaged audio: \(fault)") }
} catch {
  fail("export: \(error)")
}
