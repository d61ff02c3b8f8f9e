import Logging
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import PlayheadRecording
import PlayheadSavedState

/// The sources of recordings, and the recovery of recordings after a crash.
enum Recordings {
  /// Returns the function that creates sources of recordings from the sound server.
  static func makeSource(_ options: DaemonOptions) -> MakeSource {
    let server = options.pulseServer
    return { name in
      PulseSource(
        PulseSource.Configuration(server: server, sourceName: name), logger: Logger(label: "playhead.pulse"))
    }
  }

  /// Finalizes the recordings that were active when the daemon last ended, on a separate thread.
  static func recover(_ options: DaemonOptions) {
    guard let folder = StateOptions.folder(options) else { return }
    let logger = Logger(label: "playhead.recording")
    NamedThread.detached(name: "playhead-recover") {
      RecordingJournal(folder: "\(folder)/recordings").recover { path, result in
        let name = String(decoding: path, as: UTF8.self)
        switch result {
        case .success(let recovered):
          let destination =
            recovered.path ?? "none: the recording was empty"
          logger.warning("a recording was recovered", metadata: ["recording": "\(name)", "file": "\(destination)"])
        case .failure(let error):
          logger.error(
            "a recording cannot be recovered", metadata: ["recording": "\(name)", "error": "\(error.message)"])
        }
      }
    }
  }
}
