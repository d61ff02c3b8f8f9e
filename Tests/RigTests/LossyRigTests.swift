import DaemonTesting
import Glibc
import RigSupport
import Testing

extension PlaybackRigTests {
  /// Lossy formats with their encoders, and the maximum difference of two decodes in 16-bit steps.
  enum LossyKind: String, CaseIterable {
    case mp3, m4a, aac, opus, vorbis

    var file: String { self == .vorbis ? "noise.ogg" : "noise.\(rawValue)" }

    var encoding: [String] {
      switch self {
      case .mp3: ["-c:a", "libmp3lame", "-q:a", "4"]
      // Without noise substitution, because its noise differs in every decode.
      case .m4a, .aac: ["-c:a", "aac", "-b:a", "160k", "-aac_pns", "0"]
      case .opus: ["-c:a", "libopus", "-b:a", "128k"]
      case .vorbis: ["-c:a", "libvorbis", "-q:a", "5"]
      }
    }

    /// The output is float up to the sound server, which rounds; FFmpeg rounds the reference. Opus starts decoding one
    /// second before the target, which determines its accuracy.
    var tolerance: Int { self == .opus ? 2 : 1 }
  }

  /// After a seek, the device plays exactly the samples that a decode from the start has at the target.
  @Test(arguments: LossyKind.allCases) func exactSeekInALossyFileLandsOnItsSample(kind: LossyKind) throws {
    let rig = try PlaybackRig()
    let path = rig.daemon.folder.file(kind.file)
    let noise = "anoisesrc=color=white:d=20:r=48000:a=0.3:seed=11"
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-f", "lavfi", "-i", noise, "-ac", "2"] + kind.encoding + [path])
    let raw = rig.daemon.folder.file("reference.s16")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", path, "-f", "s16le", "-ac", "2", "-ar", "48000", raw])
    let reference = try Reference(bytes: Files.read(raw), tolerance: kind.tolerance)
    try rig.client.reply("load \(path) wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForFrame { $0 != .silence }
    for number in 1...8 {
      let target = 48_000 + (number * 123_457) % (48_000 * 17)
      let from = rig.server.capture.frameCount
      let reply = try rig.client.reply("seek \(target)/48000")
      #expect(reply.hasPrefix("ok finished=true") && field("pts", reply) == "\(target)/48000", "\(reply)")
      try rig.server.capture.waitForMoreFrames(19_200)
      // Includes the last frame before the seek.
      let heard = rig.server.capture.frames(from: from - 1)
      let landing = reference.position(of: target, in: heard)
      print("seek \(kind.rawValue): requested \(target), \(landing.map { "heard after \($0) frames" } ?? "not heard")")
      guard let landing else {
        Issue.record("\(kind.rawValue): the audio after \(target) differs from the file")
        continue
      }
      // The frame before the seek differs from the frame before the target.
      #expect(landing > 0 && !reference.matches(heard[landing - 1], target - 1))
      let wrong = (0..<4_800).first { !reference.matches(heard[landing + $0], target + $0) }
      #expect(wrong == nil, "another sample \(wrong ?? 0) frames after \(target)")
    }
  }

  /// A file decoded from its start.
  struct Reference {
    let frames: [StereoFrame]
    let tolerance: Int

    init(bytes: [UInt8], tolerance: Int) {
      func sample(_ offset: Int) -> Int16 { Int16(bitPattern: UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8) }
      frames = stride(from: 0, to: bytes.count - 3, by: 4).map {
        StereoFrame(left: sample($0), right: sample($0 + 2))
      }
      self.tolerance = tolerance
    }

    func matches(_ frame: StereoFrame, _ index: Int) -> Bool {
      guard frames.indices.contains(index) else { return false }
      return abs(Int(frame.left) - Int(frames[index].left)) <= tolerance
        && abs(Int(frame.right) - Int(frames[index].right)) <= tolerance
    }

    /// The position in `heard` of the 64 frames from `index` on.
    func position(of index: Int, in heard: [StereoFrame]) -> Int? {
      heard.indices.dropLast(4_800).first { position in
        (0..<64).allSatisfy { matches(heard[position + $0], index + $0) }
      }
    }
  }
}
