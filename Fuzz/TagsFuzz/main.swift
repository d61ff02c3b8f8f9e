import CPlayheadTags
import Fuzzing
import PlayheadTags

// Any bytes for the reader over TagLib and the Matroska reader; the first byte selects the kind of file. They must
// neither trap nor leak, and results must be valid text within the limits. TagLib is Debian's build without
// instrumentation; the shim is instrumented.

extension TagLimits {
  /// Small limits, so that inputs reach them.
  static let small: TagLimits = {
    var limits = TagLimits()
    limits.byteCount = 1 << 20
    limits.dataByteCount = 1 << 16
    limits.itemCount = 200
    limits.valueCount = 50
    limits.textByteCount = 1 << 14
    limits.readCount = 5_000
    return limits
  }()
}

func check(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  let limits = TagLimits.small
  let containers = TagContainer.allCases
  let reading = TagReader.read(
    containers[Int(first) % containers.count], data: Array(bytes.dropFirst()), limits: limits)
  precondition(reading.items.count <= limits.itemCount, "too many items")
  if containers[Int(first) % containers.count] == .matroska {
    let chapters = TagReader.matroskaChapters(data: Array(bytes.dropFirst()), limits: limits)
    precondition(chapters.count <= limits.itemCount, "too many chapters")
    let texts = chapters.flatMap(\.titles)
    precondition(texts.reduce(0) { $0 + $1.text.utf8.count } <= limits.textByteCount, "chapter titles are too large")
    precondition(texts.allSatisfy { $0.languages.count <= 8 }, "too many languages")
  }
  precondition(reading.warnings.count <= 101, "too many warnings")
  var count = 0
  for item in reading.items {
    switch item.value {
    case .text(let text): count += text.utf8.count
    case .data(let data): count += data.count
    case .image(let data):
      precondition(data.count <= limits.dataByteCount, "artwork is too large")
      count += data.count
    case .number: break
    }
  }
  precondition(count <= limits.byteCount, "too many bytes")
}

fuzz(check)
