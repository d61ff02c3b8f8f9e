/// Languages' codes compared, of whichever standard they are.
enum LanguageCode {
  /// Whether a file's code names the language that is wanted. `en`, `eng` and `en-GB` in a file are all wanted by `en`; who wants
  /// `en-GB` wants a file's `en`, too.
  static func matches(_ code: String, wanted: String) -> Bool { primary(code) == primary(wanted) }

  /// The language alone, as ISO 639-1 where there is such a code.
  static func primary(_ code: String) -> String {
    let language = code.prefix { $0 != "-" && $0 != "_" }.lowercased()
    return twoLetters[language] ?? language
  }

  /// ISO 639-2, of either kind where there are two, to ISO 639-1.
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
