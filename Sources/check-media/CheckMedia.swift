// Checks one media file, and prints the results as lines for scripts/check-media, which runs one process per file. A
// crash, a hang or excessive memory use affects only that process. Not installed.
import Glibc
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore

@main
enum CheckMedia {
  static func main() async {
    LibAV.discardLog()
    let options: CheckOptions
    switch CheckOptions.parse(Array(CommandLine.arguments.dropFirst())) {
    case .success(let parsed): options = parsed
    case .failure(let error):
      CheckReport.write("check-media: \(error.message)", to: STDERR_FILENO)
      exit(2)
    }
    let report = CheckReport(only: options.only)
    await FileCheck(options: options, report: report).run()
    report.finish()
    // A thread that the engine left running must not keep the process alive.
    exit(0)
  }
}

/// The checks of one file, in order.
struct FileCheck: Sendable {
  let options: CheckOptions
  let report: CheckReport

  /// Runs every selected check that applies to the file.
  func run() async {
    if report.begin(.tags) { await TagCheck(path: options.path, report: report).run() }
    guard options.only != .tags else { return }
    let opening = OpenCheck(path: options.path, report: report)
    report.begin(.open)
    guard let properties = opening.open(referenceFrameCount: options.references.first?.frameCount) else { return }
    if report.begin(.exportVideo) {
      await VideoExportCheck(options: options, properties: properties, report: report).run()
    }
    guard options.only != .exportVideo else { return }
    if let fault = properties.audioFault {
      return report.fail(.open, expected: "audio that can be decoded", found: "\(fault)")
    }
    guard properties.hasAudio else { return report.note("the file has no audio") }
    report.begin(.decode)
    guard let whole = WholeDecode(path: options.path, report: report).run() else { return }
    if report.begin(.duration) { opening.compareDuration(properties, with: whole) }
    if report.begin(.precise) { opening.comparePreciseDuration(with: whole) }
    if !options.references.isEmpty, report.begin(.reference) {
      ReferenceCheck(references: options.references, whole: whole, properties: properties, report: report).run()
    }
    if report.begin(.repeat) { WholeDecode(path: options.path, report: report).compareRepeated(with: whole) }
    if report.begin(.seek) { ReaderSeekCheck(options: options, whole: whole, report: report).run() }
    let player = PlayerCheck(options: options, whole: whole, report: report)
    if report.begin(.play) { await player.play() }
    if report.begin(.playerSeek) { await player.seek() }
    let export = ExportCheck(options: options, whole: whole, properties: properties, report: report)
    if report.begin(.exportWAV) { await export.wav() }
    if report.begin(.exportCopy) { await export.copy() }
    if report.begin(.exportRange) { await export.range() }
  }
}
