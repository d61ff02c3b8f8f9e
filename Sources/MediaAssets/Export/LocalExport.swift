import MediaCore

/// Cancels and observes an export. Each closure is called on the exporting thread.
struct ExportControl {
  /// Registers a closure that interrupts blocking calls. Throws `cancelled` when the export is over.
  let addCancellation: (@escaping @Sendable () -> Void) throws(MediaError) -> Void
  /// Called after each step; throws `cancelled` when the export is over.
  let check: () throws(MediaError) -> Void
  /// Called with the number of completed twentieths: at the beginning (nil if the duration is unknown), for each
  /// further one, and at the end.
  let report: (Int?) -> Void
}

/// An export in this process, which may be a worker process.
struct LocalExport {
  private let source: ExportSource
  private let settings: ExportSettings

  init(_ source: ExportSource, _ settings: ExportSettings) { (self.source, self.settings) = (source, settings) }

  /// Writes to `descriptor`, an open and empty file. Blocks.
  ///
  /// - Throws: The errors of `AssetExportSession.start`.
  func run(
    writingTo descriptor: Int32, _ control: ExportControl
  ) throws(MediaError) -> AssetExportSession.Outcome {
    var openedCount = 0
    let material = try source.material { () throws(MediaError) in
      // Opening the first asset has a time limit. Opening many assets may take long in total, so the export can be
      // cancelled between them.
      if openedCount > 0 { try control.check() }
      openedCount += 1
      return try opening(control)
    }
    let plan = try ExportPlan(material, settings, name: source.name, try opening(control))
    var pass = try self.pass(material.asset, plan, descriptor, control)
    if let start = try pass.prepare(control.check) {
      pass.cancel()
      var movedSettings = settings
      movedSettings.timeRange = TimeRange(start: start, end: plan.range.end)
      let plan = try ExportPlan(material, movedSettings, name: source.name, try opening(control))
      pass = try self.pass(material.asset, plan, descriptor, control)
      _ = try pass.prepare(control.check)
    }
    return try pass.run(control.report, check: control.check)
  }

  private func pass(
    _ asset: Asset, _ plan: ExportPlan, _ descriptor: Int32, _ control: ExportControl
  ) throws(MediaError) -> ExportPass {
    let pass = try ExportPass(asset, plan, to: descriptor)
    try control.addCancellation { pass.cancel() }
    return pass
  }

  /// Returns an opening that is cancelled with the export.
  private func opening(_ control: ExportControl) throws(MediaError) -> AssetOpening {
    let opening = AssetOpening()
    try control.addCancellation { opening.cancel() }
    return opening
  }
}
