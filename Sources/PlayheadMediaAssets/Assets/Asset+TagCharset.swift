import PlayheadMediaCore
import Synchronization

extension Asset {
  private static let standardCharset = Mutex(TextCharset.automatic)

  /// The encoding of tags that do not state one, for assets without a custom encoding. Default:
  /// `automatic`. Threading: any.
  public static var standardTagCharset: TextCharset {
    get { standardCharset.withLock { $0 } }
    set { standardCharset.withLock { $0 = newValue } }
  }

  /// The encoding of this asset's tags where they do not state one. Default: ``standardTagCharset``. Threading: any.
  ///
  /// A change discards the loaded tags and cancels loading of tags. The next request reads the tags again.
  public var tagCharset: TextCharset {
    get { state.tagCharset.withLock { $0 } ?? Self.standardTagCharset }
    set {
      let previous = state.tagCharset.withLock { charset in
        defer { charset = newValue }
        return charset ?? Self.standardTagCharset
      }
      if previous != newValue { state.discardMetadata() }
    }
  }
}

extension TextCharset {
  /// ICU's name of the encoding; nil: the encoding is detected.
  var converterName: String? {
    switch self {
    case .automatic: nil
    // ICU's names of the supersets in common use.
    case .gbk: "GB18030"
    case .big5: "windows-950"
    case .eucKR: "windows-949"
    case .shiftJIS: "windows-31j"
    case .latin1: "ISO-8859-1"
    case .eucJP, .windows874, .windows1250, .windows1251, .windows1252, .windows1253, .windows1254, .windows1255,
      .windows1256, .windows1257, .windows1258, .koi8r, .koi8u, .iso8859p2:
      rawValue
    }
  }
}
