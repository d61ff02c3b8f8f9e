import Glibc
import RigSupport

/// A microphone of a private sound server: a pipe source (16-bit stereo) that delivers the frames written into it.
///
/// It has no clock: frames are delivered as they arrive, and discarded while no client records.
///
/// Threading: one thread at a time.
final class PipeMicrophone: @unchecked Sendable {
  // `@unchecked Sendable`: immutable.

  /// The name of the source.
  let name: String
  private let server: any SoundServer
  private let descriptor: Int32

  /// Adds the source to a server.
  init(_ server: any SoundServer, name: String = "mic", sampleRateHz: Int = 48_000) throws {
    (self.server, self.name) = (server, name)
    let path = "\(server.directory)/\(name)"
    try server.control(
      "load-module", "module-pipe-source", "source_name=\(name)", "file=\(path)", "format=s16le",
      "rate=\(sampleRateHz)",
      "channels=2")
    descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RigError.system(call: "open \(path)", errno: errno) }
  }

  deinit { close(descriptor) }

  /// Removes the source from the server; recording clients lose it.
  func remove() throws { try server.control("unload-module", "module-pipe-source") }

  /// Lets the server run, on a machine with one free processor, too.
  private static func yield() { poll(nil, 0, 1) }

  /// Writes time codes, and returns when the server has read them.
  func deliver(_ indices: Range<Int>, file: Int = 1) {
    let bytes = indices.flatMap { index in
      let frame = TimeCode.frame(file: file, index: index)
      return [frame.left, frame.right]
    }
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count > 0 { done += count } else if errno != EINTR { return }
      }
    }
    var waiting: Int32 = 1
    while ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting > 0 { Self.yield() }
  }

  /// Writes time codes from `start` on, slightly ahead of the recording, until `recordedFrameCount` returns `count`.
  /// Returns the next index.
  func deliver(from start: Int, until count: Int, recordedFrameCount: () -> Int) -> Int {
    var index = start
    var begun: (index: Int, recorded: Int)?
    let before = recordedFrameCount()
    while true {
      let recorded = recordedFrameCount()
      if recorded >= count { return index }
      if begun == nil, recorded > before { begun = (index, recorded) }
      if let begun, index - begun.index > recorded - begun.recorded + 24_000 {
        Self.yield()
        continue
      }
      deliver(index..<index + 480)
      index += 480
    }
  }
}
