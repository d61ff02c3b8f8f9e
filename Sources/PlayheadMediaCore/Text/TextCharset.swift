/// The encoding of texts in media files that do not specify an encoding: ID3v1, RIFF INFO, and ID3v2's Latin-1, which
/// many programs use for the code page of their system. Valid UTF-8 is always read as UTF-8.
public enum TextCharset: String, Sendable, Hashable, Codable, CaseIterable {
  /// The encoding is detected from all such texts of a file: a Chinese, Japanese, Korean, Russian, Ukrainian, Arabic,
  /// Greek, Hebrew or Thai code page, or else Latin-1.
  case automatic
  /// Latin-1, as the tag standards specify.
  case latin1 = "latin-1"
  /// Chinese: GBK (simplified) or Big5 (traditional).
  case gbk, big5
  /// Korean: EUC-KR.
  case eucKR = "euc-kr"
  /// Japanese: EUC-JP.
  case eucJP = "euc-jp"
  /// Japanese: Shift JIS.
  case shiftJIS = "shift-jis"
  /// Thai: Windows-874.
  case windows874 = "windows-874"
  /// Central European: Windows-1250.
  case windows1250 = "windows-1250"
  /// Cyrillic: Windows-1251.
  case windows1251 = "windows-1251"
  /// Western European: Windows-1252.
  case windows1252 = "windows-1252"
  /// Greek: Windows-1253.
  case windows1253 = "windows-1253"
  /// Turkish: Windows-1254.
  case windows1254 = "windows-1254"
  /// Hebrew: Windows-1255.
  case windows1255 = "windows-1255"
  /// Arabic: Windows-1256.
  case windows1256 = "windows-1256"
  /// Baltic: Windows-1257.
  case windows1257 = "windows-1257"
  /// Vietnamese: Windows-1258.
  case windows1258 = "windows-1258"
  /// Russian: KOI8-R.
  case koi8r = "koi8-r"
  /// Ukrainian: KOI8-U.
  case koi8u = "koi8-u"
  /// Central European: ISO 8859-2.
  case iso8859p2 = "iso-8859-2"
}
