/// Compares language codes of different standards.
enum LanguageCode {
  /// Whether two codes have the same primary language: `en` matches `en`, `eng` and `en-GB`.
  static func matches(_ code: String, _ other: String) -> Bool { primary(code) == primary(other) }

  /// Returns the primary language, as ISO 639-1 if such a code exists.
  static func primary(_ code: String) -> String {
    let language = code.prefix { $0 != "-" && $0 != "_" }.lowercased()
    return twoLetters[language] ?? language
  }

  /// The ISO 639-1 codes by ISO 639-2 codes, including the B and the T code where these differ.
  private static let twoLetters: [String: String] = [
    "ara": "ar", "bel": "be", "bul": "bg", "ben": "bn", "bos": "bs", "cat": "ca", "ces": "cs", "cze": "cs", "cym": "cy",
    "wel": "cy", "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el", "eng": "en", "epo": "eo", "spa": "es",
    "est": "et", "eus": "eu", "baq": "eu", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "gle": "ga",
    "glg": "gl", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "arm": "hy", "ind": "id", "isl": "is",
    "ice": "is", "ita": "it", "jpn": "ja", "kat": "ka", "geo": "ka", "kaz": "kk", "kor": "ko", "lat": "la", "lit": "lt",
    "lav": "lv", "mkd": "mk", "mac": "mk", "mal": "ml", "mon": "mn", "mar": "mr", "msa": "ms", "may": "ms", "nob": "nb",
    "nep": "ne", "nld": "nl", "dut": "nl", "nno": "nn", "nor": "no", "pan": "pa", "pol": "pl", "por": "pt", "ron": "ro",
    "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "sqi": "sq", "alb": "sq", "srp": "sr", "swe": "sv",
    "swa": "sw", "tam": "ta", "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi", "yid": "yi",
    "zho": "zh", "chi": "zh",
  ]
}
