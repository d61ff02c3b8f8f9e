import Foundation
import MediaTesting
import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// One row of the seek table: audio, the steps that make a file of it, and the expected results of seeks.
struct SeekRow: Sendable, CustomTestStringConvertible {
  var name: String
  /// The formats that the issue requires and this row covers.
  var formats: [RequiredFormat]
  var source: Music
  var steps: [Step]
  var expectation: Expectation
  var edges: Edges
  /// Frames of a packet, and the frames of the first packet that are not played, so that seeks target packet
  /// boundaries.
  var packet: (frames: Int, priming: Int)
  /// Whether the file contains exactly the original samples.
  var isLossless: Bool
  /// The expected audio, from the file's path, if it is not the original.
  var expected: (@Sendable (_ path: String) throws -> [Float])?
  /// Additional seek targets, in frames.
  var extraTargets: [Int] = []

  var testDescription: String { name }
  /// The tools with their arguments, in order.
  var tool: String { steps.map(\.description).joined(separator: ", then ") }

  /// How a read after a seek compares with a read from the start.
  enum Expectation: Sendable {
    case bitExact
    /// Equal within a number of 16-bit steps.
    case within(steps: Float)
    /// Equal in position; the samples differ by at most this number of steps, because of state that no seek can
    /// restore, and the reason.
    case positionExact(steps: Float, because: String)

    /// The maximum permitted difference of a sample, in 16-bit steps.
    var allowedSteps: Float {
      switch self {
      case .bitExact: 0
      case .within(let steps), .positionExact(let steps, _): steps
      }
    }
  }

  /// The position of the original in the decoded audio.
  struct Edges: Sendable {
    /// The decoded audio starts and ends exactly with the original.
    static let kept = Edges(start: 0, extraFrames: 0, because: "")

    /// The frame at which the original starts.
    var start: Int
    /// Decoded frames minus frames of the original.
    var extraFrames: Int
    /// The reason for a value other than 0.
    var because: String
    /// Accuracy of locating the original: speech codecs do not preserve the waveform.
    var doubtFrames = 0
    /// Leading frames in which every sample is 0: the audio starts later than the video.
    var silentFrames = 0
  }

  /// One step of making the file. `{in}` is the previous step's output, `{out}` this step's.
  enum Step: Sendable, CustomStringConvertible {
    case tool(String, [String], makes: String)
    /// An edit of bytes in this test.
    case edit(String, makes: String, @Sendable (_ bytes: [UInt8], _ path: String) throws -> [UInt8])

    var description: String {
      switch self {
      case .tool(let name, let arguments, _):
        ([name] + arguments.filter { !Self.omittedArguments.contains($0) && !$0.hasPrefix("{") }).joined(separator: " ")
      case .edit(let what, _, _): what
      }
    }

    /// Arguments that only silence a tool.
    private static let omittedArguments: Set<String> = ["--quiet", "-Q", "-s", "-i", "-o"]
  }

  /// Makes the file in a folder and returns its path.
  func make(in folder: TemporaryFolder) throws -> String {
    var path = try folder.write(source.wav(), as: "source.wav")
    for step in steps {
      switch step {
      case .tool(let name, let arguments, let product):
        let output = folder.file(product)
        let expanded = arguments.map { argument in
          argument.replacingOccurrences(of: "{in}", with: path).replacingOccurrences(of: "{out}", with: output)
        }
        if name == "ffmpeg" { try Tool.ffmpeg(arguments: expanded) } else { try Tool.run(name, expanded) }
        path = output
      case .edit(_, let product, let edit): path = try folder.write(edit(readFile(path), path), as: product)
      }
    }
    return path
  }
}

/// The formats that the issue requires by name.
enum RequiredFormat: String, CaseIterable, Sendable {
  case wav, rf64, aiff, flacWithSeekTable, flacWithoutSeekTable
  case mp3CBR, mp3VBR, mp3Xing, mp3VBRI, mp3WithoutHeader, mp3AfterGarbage
  case adts, m4aWithEditList, m4aWithITunSMPB, opus, vorbis, alac, wavpack, matroska, ac3, mp4WithVideo
  case imaInWAV, microsoftADPCM, ima4, eac3, aacWithoutNoiseSubstitution, aacWithNoiseSubstitution
  case opusInMatroska, vorbisInMatroska, flacInOgg, flacInMatroska, mp3InMP4, mp3InMatroska, mp3At8kbit, mp2
  case adtsAfterGarbage, w64, caf, au, tta, wma, severalEdits, monkeysAudio, musepack
}

/// Seeded noise and sweeps that resemble music. The signal never repeats, so a wrong position is detected. It makes
/// encoders change their blocks and bit rates. Made once for each shape.
struct Music: Sendable, Hashable, CustomStringConvertible {
  var sampleRateHz = 44_100
  var channelCount = 2
  var encoding = IndexedAudio.Encoding.signed16

  /// Not a multiple of any codec's block.
  var frameCount: Int { sampleRateHz * 10 + 12_347 * sampleRateHz / 44_100 }

  var description: String { "\(sampleRateHz) Hz, \(channelCount) ch, \(encoding.rawValue), \(frameCount) frames" }

  /// The audio as a WAV file.
  func wav() throws -> [UInt8] { try content().wav }

  /// The audio as interleaved samples.
  func samples() throws -> [Float] { try content().samples }

  private typealias Content = (wav: [UInt8], samples: [Float])
  /// Locked while a file is made, so that each is made once.
  private static let all = Mutex<[Music: Content]>([:])

  private func content() throws -> Content {
    try Self.all.withLock { all in
      if let content = all[self] { return content }
      let content = try make()
      all[self] = content
      return content
    }
  }

  private func make() throws -> Content {
    let folder = try TemporaryFolder()
    let path = folder.file("music.wav")
    let channels = (0..<channelCount).map { channel in
      let sweep = 220 - 23 * channel
      let other = 1_330 - 170 * channel
      let noise = channel % 2 == 0 ? "(random(0)-0.5)" : "(random(0)+random(0)-1)"
      return "0.25*sin(2*PI*(\(sweep)+90*t)*t)*(0.6+0.4*sin(3.1*t*t))+0.15*sin(2*PI*(\(other)-61*t)*t)"
        + "+0.5*\(noise)*pow(0.5+0.5*sin(1.3*t*t+t+\(channel))\\,3)"
    }
    try Tool.ffmpeg(
      "-f", "lavfi", "-i",
      "aevalsrc=exprs='\(channels.joined(separator: "|"))':s=\(sampleRateHz):d=11,atrim=end_sample=\(frameCount)",
      "-fflags", "+bitexact", "-c:a", encoding.ffmpegName, path)
    let bytes = try readFile(path)
    return (bytes, try decode(bytes))
  }

  /// The samples at the end of a canonical WAV file.
  private func decode(_ wav: [UInt8]) throws -> [Float] {
    let count = frameCount * channelCount
    let size = encoding.byteCount
    let header = wav.count - count * size
    try #require(header >= 44)
    return wav.withUnsafeBytes { bytes in
      [Float](unsafeUninitializedCapacity: count) { output, written in
        for index in 0..<count {
          let offset = header + index * size
          switch encoding {
          case .signed16: output[index] = Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)) / 32_768
          case .signed24:
            let low = Int32(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            let high = Int32(bytes.loadUnaligned(fromByteOffset: offset + 2, as: Int8.self))
            output[index] = Float(high << 16 | low) / 8_388_608
          case .float32: output[index] = bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)
          }
        }
        written = count
      }
    }
  }
}

extension IndexedAudio.Encoding {
  /// FFmpeg's name of the codec.
  var ffmpegName: String {
    switch self {
    case .signed16: "pcm_s16le"
    case .signed24: "pcm_s24le"
    case .float32: "pcm_f32le"
    }
  }
}
