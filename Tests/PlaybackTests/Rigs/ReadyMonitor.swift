import PlayheadRealtimeAudio
import Synchronization

/// A sound server that always has a device.
final class ReadyMonitor: AudioDeviceMonitor {
  private let report = Mutex<(@Sendable (AudioDevices?) -> Void)?>(nil)

  func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void) {
    report.withLock { $0 = onReport }
    check()
  }

  func check() {
    let device = AudioDevice(kind: .output, name: "virtual", description: "Virtual")
    report.withLock { $0 }?(AudioDevices(outputs: [device], defaultOutputName: device.name))
  }

  func cancel() {}
}
