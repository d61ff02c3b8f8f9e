import ExampleSupport
import Foundation
import PlayheadFoundation

// Records a memo of some seconds into a folder, with a pause in the middle, or lists the memos of the folder.
//
//   voice-memo record FOLDER NAME SECONDS
//   voice-memo list FOLDER

let arguments = CommandLine.arguments.dropFirst()

do {
  switch (arguments.first, arguments.count) {
  case ("record", 4):
    guard let duration = MediaTime(decimal: arguments[4]), duration > .zero else {
      fail("voice-memo: SECONDS must be more than 0 (got \(arguments[4]))")
    }
    try await record(to: url(arguments[2]).appendingPathComponent(arguments[3] + ".caf"), duration)
  case ("list", 2):
    try await list(url(arguments[2]))
  default:
    fail("usage: voice-memo record FOLDER NAME SECONDS\n       voice-memo list FOLDER")
  }
} catch {
  fail("voice-memo: \(error)")
}

func record(to url: URL, _ duration: MediaTime) async throws {
  var settings = RecordingSettings()
  settings.format = .ima4
  let recorder = try AudioRecorder(url: url, settings: settings, source: { microphoneOrTone() })
  try await recorder.record()
  print("records \(recorder.status.sourceLabel)")

  try await showLevels(of: recorder, until: duration.multiplied(by: 1, dividedBy: 2))
  try recorder.pause()
  print("paused at \(recorder.currentTime.seconds) s")
  try await Task.sleep(for: .milliseconds(100))

  // After a pause, recording continues in the same file. It stops by itself after the rest of the duration.
  try await recorder.record(forDuration: duration - recorder.currentTime)
  try await showLevels(of: recorder, until: duration)
  while recorder.status.outcome == nil { try await Task.sleep(for: .milliseconds(10)) }
  if let error = recorder.status.outcome?.error { throw error }
  print("recorded \(recorder.status.outcome?.duration.seconds ?? 0) s")
}

func showLevels(of recorder: AudioRecorder, until time: MediaTime) async throws {
  while recorder.isRecording, recorder.currentTime < time {
    try await Task.sleep(for: .milliseconds(100))
    recorder.updateMeters()
    let peak = recorder.peakPower(forChannel: 0)
    // `scale` converts decibels to the length of a bar, from 0 to 1.
    let bar = String(repeating: "#", count: Int(40 * MeterLevels.scale(recorder.averagePower(forChannel: 0))))
    print("\(bar) \(String(format: "%.1f", peak)) dB")
  }
}

func list(_ folder: URL) async throws {
  let memos = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  for memo in memos.sorted(by: { $0.path < $1.path }) where memo.pathExtension == "caf" {
    let duration = try await Asset(url: memo).load(.duration)
    print("\(memo.deletingPathExtension().lastPathComponent)  \(String(format: "%.3f", duration.seconds)) s")
  }
}
