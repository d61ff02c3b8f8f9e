import PlayheadMediaAssets
import PlayheadMediaCore

/// Opens a file with and without a precise duration.
struct OpenCheck {
  let path: String
  let report: CheckReport

  /// Opens the file; nil on failure. A file that a reference decoder decodes must open.
  func open(referenceFrameCount: Int?) -> AssetProperties? {
    report.countComparison()
    do throws(MediaError) {
      return try Asset(path: path).load()
    } catch {
      if let referenceFrameCount, referenceFrameCount > 0 {
        report.fail(.open, expected: "an asset (the reference has \(referenceFrameCount) frames)", found: "\(error)")
      } else {
        report.note("not opened: \(error)")
      }
      return nil
    }
  }

  /// Compares a duration that claims to be precise with the audio. Skips files with video, because a longer video track
  /// may determine the duration.
  func compareDuration(_ properties: AssetProperties, with whole: DecodedAudio) {
    // Only a complete read detects a truncated file. The check `precise` reads the file completely.
    guard properties.providesPreciseDuration, whole.error == nil else { return }
    compare(properties, with: whole, as: .duration)
  }

  /// Opens the file with a precise duration, and compares that with the audio.
  func comparePreciseDuration(with whole: DecodedAudio) {
    do throws(MediaError) {
      let properties = try Asset(path: path, prefersPreciseDuration: true).load()
      guard properties.providesPreciseDuration else {
        if properties.formatName != "hls" { report.note("the precise duration is an estimate") }
        return
      }
      compare(properties, with: whole, as: .precise)
    } catch {
      report.countComparison()
      report.fail(.precise, expected: "\(whole.frameCount) frames", found: "\(error)")
    }
  }

  private func compare(_ properties: AssetProperties, with whole: DecodedAudio, as check: Check) {
    guard !properties.hasVideo else { return }
    report.countComparison()
    let expected = whole.time(ofFrame: whole.frameCount)
    guard properties.duration != expected else { return }
    report.fail(
      check, expected: "a precise duration of \(expected.decimalDescription) s (\(whole.frameCount) frames)",
      found: "\(properties.duration.decimalDescription) s")
  }
}
