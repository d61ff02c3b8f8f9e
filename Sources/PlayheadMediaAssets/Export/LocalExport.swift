import PlayheadMediaCore

/// The connection of an export to its session. Each closure is called on the exporting thread.
struct ExportControl {
  /// Registers a closure that interrupts blocking calls. Throws `cancelled` when the export has ended: it was
  /// cancelled, or timed out.
  let addCancellation: (@escaping @Sendable () -> Void) throws(MediaError) -> Void
  /// Called after each step. Throws `cancelled` when the export has ended.
  let check: () throws(MediaError) -> Void
  /// Reports the completed fraction in units of 1/20: at the beginning (nil if the duration is unknown), when it
  /// increases, and at the end.
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
    let opened = try source.open { () throws(MediaError) in
      // The time limit applies to opening the first asset. Before each further asset, `check` allows cancellation.
      if openedCount > 0 { try control.check() }
      openedCount += 1
      return try opening(control)
    }
    let plan = try ExportPlan(opened, settings, name: source.name, try opening(control))
    var copier = try makeCopier(opened.asset, plan, descriptor, control)
    if let start = try copier.prepare(control.check) {
      copier.cancel()
      var movedSettings = settings
      movedSettings.timeRange = TimeRange(start: start, end: plan.range.end)
      let plan = try ExportPlan(opened, movedSettings, name: source.name, try opening(control))
      copier = try makeCopier(opened.asset, plan, descriptor, control)
      _ = try copier.prepare(control.check)
    }
    return try copier.run(control.report, check: control.check)
  }

  private func makeCopier(
    _ asset: Asset, _ plan: ExportPlan, _ descriptor: Int32, _ control: ExportControl
  ) throws(MediaError) -> ExportCopier {
    let copier = try ExportCopier(asset, plan, to: descriptor)
    try control.addCancellation { copier.cancel() }
    return copier
  }

  /// Returns an `AssetOpening` that is cancelled with the export.
  private func opening(_ control: ExportControl) throws(MediaError) -> AssetOpening {
    let opening = AssetOpening()
    try control.addCancellation { opening.cancel() }
    return opening
  }
}
