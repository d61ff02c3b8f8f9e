import RigSupport
import Testing

@testable import PlayheadTags

/// Texts in the code pages of the systems that wrote them. Encodings of other scripts are detected, and Latin-1 stays
/// Latin-1.
@Suite struct CharsetTests {
  /// An encoding, texts in it separated by `|`, and the same texts as bytes.
  struct Row: Sendable, CustomStringConvertible {
    var charset: String
    var texts: String
    var hex: String

    var description: String { "\(charset): \(texts)" }
    var bytes: [[UInt8]] {
      let digits = Array(hex.utf8)
      let bytes = stride(from: 0, to: digits.count, by: 2).map { index in
        UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
      }
      return bytes.split(separator: UInt8(ascii: "|")).map(Array.init)
    }
    var expected: [String] { texts.split(separator: "|").map(String.init) }
  }

  private static let frames = ["TIT2", "TPE1", "TALB"]

  /// The texts of an ID3v2.3 tag whose frames declare Latin-1.
  private func texts(_ values: [[UInt8]], charset: String? = nil) -> [String] {
    let frames = zip(Self.frames, values).flatMap { TagBytes.frame(3, $0, [0] + $1) }
    return texts(TagReader.read(.edges, data: TagBytes.id3v2(3, frames), charset: charset))
  }

  private func texts(_ reading: TagReading) -> [String] {
    reading.items.compactMap { item in
      guard case .text(let text) = item.value else { return nil }
      return text
    }
  }

  @Test(arguments: rows) func codePageIsDetected(_ row: Row) { #expect(texts(row.bytes) == row.expected) }

  @Test(arguments: rows.filter { !$0.charset.hasPrefix("gb") }) func codePageCanBeChosen(_ row: Row) {
    let names = [
      "euc-kr": "windows-949", "euc-jp": "EUC-JP", "shift_jis": "windows-31j", "big5": "windows-950",
      "koi8-r": "koi8-r",
    ]
    #expect(texts(row.bytes, charset: names[row.charset] ?? row.charset) == row.expected)
  }

  @Test(arguments: latin1) func latin1AccentsAreKept(_ text: String) {
    let expected = text.split(separator: "|").map(String.init)
    let bytes = expected.map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
    #expect(texts(bytes) == expected)
    // The same texts as UTF-8, for any chosen encoding.
    #expect(texts(expected.map { Array($0.utf8) }, charset: "windows-1251") == expected)
  }

  @Test func tagsWithoutADeclaredEncodingAreDecoded() {
    let title: [UInt8] = [0xCA, 0xEE, 0xED, 0xFC, 0x20, 0xE2, 0x20, 0xEF, 0xEE, 0xEB, 0xE5]
    let expected = "Конь в поле"
    func field(_ key: String) -> [UInt8] {
      Array(key.utf8) + TagBytes.littleEndian(title.count + 1) + title + [0]
    }
    var comment: [UInt8] = [0] + Array("rus".utf8)
    comment += title
    comment += [0]
    comment += title
    let list: [UInt8] = Array("INFO".utf8) + field("INAM") + field("IART")
    let files: [(TagContainer, [UInt8], [String])] = [
      (.edges, TagBytes.id3v1(title: title), [expected, "Ambient"]),
      (
        .wav, TagBytes.riff("WAVE", [("LIST", list, nil)]),
        [expected, expected]
      ),
      (.aiff, TagBytes.riff("AIFF", [("NAME", title, nil)]), [expected]),
      (.edges, TagBytes.id3v2(4, TagBytes.frame(4, "COMM", comment)), [expected]),
    ]
    for (container, bytes, texts) in files {
      let reading = TagReader.read(container, data: bytes)
      #expect(self.texts(reading) == texts, "\(container)")
      if let description = reading.items.first?.description { #expect(description == expected) }
    }
  }

  @Test func textWithADeclaredEncodingIsUnchanged() {
    let frames =
      TagBytes.frame(3, "TIT2", [1, 0xFF, 0xFE] + [0xCA, 0, 0xEE, 0, 0xED, 0, 0xFC, 0])
      + TagBytes.frame(3, "TPE1", [0] + Array("plain".utf8))
    let reading = TagReader.read(.edges, data: TagBytes.id3v2(3, frames), charset: "windows-1251")
    #expect(texts(reading) == ["Êîíü", "plain"])
  }

  @Test func unknownCharsetFallsBackToLatin1() { #expect(texts([[0xE4, 0xF6, 0xFC]], charset: "no such") == ["äöü"]) }

  // MARK: - Tables

  static let rows: [Row] = [
    Row(charset: "gb18030", texts: "短信铃声|群星|哆啦A梦", hex: "b6ccd0c5c1e5c9f97cc8bad0c77cb6dfc0b241c3ce"),
    Row(charset: "gb18030", texts: "周杰伦|青花瓷|我很忙", hex: "d6dcbddcc2d77cc7e0bba8b4c97cced2badcc3a6"),
    Row(
      charset: "gb18030", texts: "邓丽君|月亮代表我的心|岛国之情歌第四集",
      hex: "b5cbc0f6befd7cd4c2c1c1b4fab1edced2b5c4d0c47cb5bab9fad6aec7e9b8e8b5dacbc4bcaf"),
    Row(charset: "gb18030", texts: "王菲|红豆|唱游", hex: "cdf5b7c67cbaecb6b97cb3aad3ce"),
    Row(charset: "gb18030", texts: "陈奕迅|十年|黑白灰", hex: "b3c2dec8d1b87ccaaec4ea7cbadab0d7bbd2"),
    Row(charset: "gb18030", texts: "刘德华|忘情水|忘情水", hex: "c1f5b5c2bbaa7ccdfcc7e9cbae7ccdfcc7e9cbae"),
    Row(charset: "gb18030", texts: "月亮", hex: "d4c2c1c1"),
    Row(charset: "gb18030", texts: "童话|光良|童话", hex: "cdafbbb07cb9e2c1bc7ccdafbbb0"),
    Row(charset: "gb18030", texts: "张学友|吻别|吻别", hex: "d5c5d1a7d3d17ccec7b1f07ccec7b1f0"),
    Row(charset: "gb18030", texts: "中国人民广播电台", hex: "d6d0b9fac8cbc3f1b9e3b2a5b5e7cca8"),
    Row(
      charset: "gb18030", texts: "北京欢迎你|群星|北京2008",
      hex: "b1b1bea9bbb6d3adc4e37cc8bad0c77cb1b1bea932303038"),
    Row(charset: "gb18030", texts: "Beyond|海阔天空|乐与怒", hex: "4265796f6e647cbaa3c0abccecbfd57cc0d6d3ebc5ad"),
    Row(charset: "gb18030", texts: "老狼|同桌的你|校园民谣", hex: "c0cfc0c77ccdacd7c0b5c4c4e37cd0a3d4b0c3f1d2a5"),
    Row(charset: "euc-kr", texts: "아이유|좋은 날|Real", hex: "bec6c0ccc0af7cc1c1c0ba20b3af7c5265616c"),
    Row(
      charset: "euc-kr", texts: "소녀시대|다시 만난 세계|소녀시대",
      hex: "bcd2b3e0bdc3b4eb7cb4d9bdc320b8b8b3ad20bcbcb0e87cbcd2b3e0bdc3b4eb"),
    Row(charset: "euc-kr", texts: "싸이|강남스타일|싸이6甲", hex: "bdcec0cc7cb0adb3b2bdbac5b8c0cf7cbdcec0cc36cba3"),
    Row(
      charset: "euc-kr", texts: "김광석|서른 즈음에|네번째",
      hex: "b1e8b1a4bcae7cbcadb8a520c1eec0bdbfa17cb3d7b9f8c2b0"),
    Row(charset: "euc-kr", texts: "동방신기|미로틱|제4집", hex: "b5bfb9e6bdc5b1e27cb9ccb7cec6bd7cc1a634c1fd"),
    Row(
      charset: "euc-kr", texts: "윤도현밴드|나는 나비|Why Be",
      hex: "c0b1b5b5c7f6b9eab5e57cb3aab4c220b3aabaf17c576879204265"),
    Row(charset: "euc-kr", texts: "이문세|광화문 연가|5집", hex: "c0ccb9aebcbc7cb1a4c8adb9ae20bfacb0a17c35c1fd"),
    Row(
      charset: "euc-jp", texts: "宇多田ヒカル|ファーストラブ|ファーストラブ",
      hex: "b1a7c2bfc5c4a5d2a5aba5eb7ca5d5a5a1a1bca5b9a5c8a5e9a5d67ca5d5a5a1a1bca5b9a5c8a5e9a5d6"),
    Row(
      charset: "euc-jp", texts: "サザンオールスターズ|いとしのエリー|10ナンバーズ・からっと",
      hex: "a5b5a5b6a5f3a5aaa1bca5eba5b9a5bfa1bca5ba7ca4a4a4c8a4b7a4cea5a8a5eaa1bc7c3130a5caa5f3a5d0"
        + "a1bca5baa1a6a4aba4e9a4c3a4c8"),
    Row(
      charset: "euc-jp", texts: "米津玄師|打上花火|ブートレグ",
      hex: "cac6c4c5b8bcbbd57cc2c7bee5b2d6b2d07ca5d6a1bca5c8a5eca5b0"),
    Row(
      charset: "euc-jp", texts: "坂本九|上を向いて歩こう|ベスト",
      hex: "bae4cbdcb6e57cbee5a4f2b8fea4a4a4c6cae2a4b3a4a67ca5d9a5b9a5c8"),
    Row(
      charset: "euc-jp", texts: "中島みゆき|地上の星|短篇集",
      hex: "c3e6c5e7a4dfa4e6a4ad7cc3cfbee5a4cec0b17cc3bbcad3bdb8"),
    Row(
      charset: "euc-jp", texts: "ドラえもんのうた|大杉久美子",
      hex: "a5c9a5e9a4a8a4e2a4f3a4cea4a6a4bf7cc2e7bff9b5d7c8febbd2"),
    Row(
      charset: "shift_jis", texts: "宇多田ヒカル|ファーストラブ|ファーストラブ",
      hex: "894691bd93638371834a838b7c83748340815b83588367838983757c83748340815b8358836783898375"),
    Row(
      charset: "shift_jis", texts: "サザンオールスターズ|いとしのエリー|10ナンバーズ・からっと",
      hex: "8354835583938349815b838b8358835e815b83597c82a282c682b582cc8347838a815b7c313083698393836f"
        + "815b8359814582a982e782c182c6"),
    Row(
      charset: "shift_jis", texts: "米津玄師|打上花火|ブートレグ",
      hex: "95c492c38cba8e747c91c58fe389d489ce7c8375815b8367838c834f"),
    Row(
      charset: "shift_jis", texts: "坂本九|上を向いて歩こう|ベスト",
      hex: "8de2967b8be37c8fe382f08cfc82a282c495e082b182a47c837883588367"),
    Row(
      charset: "shift_jis", texts: "中島みゆき|地上の星|短篇集",
      hex: "9286938782dd82e482ab7c926e8fe382cc90af7c925a95d18f57"),
    Row(
      charset: "shift_jis", texts: "ドラえもんのうた|大杉久美子",
      hex: "8368838982a682e082f182cc82a482bd7c91e590998b7694fc8e71"),
    Row(
      charset: "windows-1251", texts: "Кино|Группа крови|Группа крови",
      hex: "cae8edee7cc3f0f3efefe020eaf0eee2e87cc3f0f3efefe020eaf0eee2e8"),
    Row(
      charset: "windows-1251", texts: "Алла Пугачёва|Миллион алых роз|Ах, как хочется жить",
      hex: "c0ebebe020cff3e3e0f7b8e2e07ccce8ebebe8eeed20e0ebfbf520f0eee77cc0f52c20eae0ea20f5eef7e5f2"
        + "f1ff20e6e8f2fc"),
    Row(
      charset: "windows-1251", texts: "ДДТ|Что такое осень|Актриса Весна",
      hex: "c4c4d27cd7f2ee20f2e0eaeee520eef1e5edfc7cc0eaf2f0e8f1e020c2e5f1ede0"),
    Row(
      charset: "windows-1251", texts: "Виктор Цой|Звезда по имени Солнце",
      hex: "c2e8eaf2eef020d6eee97cc7e2e5e7e4e020efee20e8ece5ede820d1eeebedf6e5"),
    Row(
      charset: "windows-1251", texts: "Сплин|Выхода нет|Гранатовый альбом",
      hex: "d1efebe8ed7cc2fbf5eee4e020ede5f27cc3f0e0ede0f2eee2fbe920e0ebfce1eeec"),
    Row(charset: "windows-1251", texts: "Песня", hex: "cfe5f1edff"),
    Row(
      charset: "windows-1251", texts: "Мумий Тролль|Владивосток 2000|Морская",
      hex: "ccf3ece8e920d2f0eeebebfc7cc2ebe0e4e8e2eef1f2eeea20323030307ccceef0f1eae0ff"),
    Row(
      charset: "windows-1251", texts: "Земфира|Искала|Прости меня моя любовь",
      hex: "c7e5ecf4e8f0e07cc8f1eae0ebe07ccff0eef1f2e820ece5edff20eceeff20ebfee1eee2fc"),
    Row(
      charset: "windows-1251", texts: "Дорожка 1|Неизвестный исполнитель|Неизвестный альбом",
      hex: "c4eef0eee6eae020317ccde5e8e7e2e5f1f2edfbe920e8f1efeeebede8f2e5ebfc7ccde5e8e7e2e5f1f2edfb"
        + "e920e0ebfce1eeec"),
    Row(charset: "windows-1251", texts: "Любэ|Конь", hex: "cbfee1fd7ccaeeedfc"),
    Row(
      charset: "windows-1256", texts: "أم كلثوم|إنت عمري|إنت عمري",
      hex: "c3e320dfe1cbe6e37cc5e4ca20dae3d1ed7cc5e4ca20dae3d1ed"),
    Row(
      charset: "windows-1256", texts: "فيروز|كيفك إنت|كيفك إنت",
      hex: "ddedd1e6d27cdfeddddf20c5e4ca7cdfeddddf20c5e4ca"),
    Row(charset: "windows-1256", texts: "نانسي عجرم|آه ونص", hex: "e4c7e4d3ed20daccd1e37cc2e520e6e4d5"),
    Row(
      charset: "windows-1256", texts: "كاظم الساهر|مدرسة الحب|مدرسة الحب",
      hex: "dfc7d9e320c7e1d3c7e5d17ce3cfd1d3c920c7e1cdc87ce3cfd1d3c920c7e1cdc8"),
    Row(charset: "windows-1256", texts: "محمد عبده|الأماكن", hex: "e3cde3cf20dac8cfe57cc7e1c3e3c7dfe4"),
    Row(
      charset: "big5", texts: "五月天|倔強|神的孩子都在跳舞",
      hex: "a4ada4eba4d17cadcfb16a7cafabaabaabc4a46cb3a3a662b8f5bb52"),
    Row(
      charset: "koi8-r", texts: "Кино|Группа крови|Группа крови",
      hex: "ebc9cecf7ce7d2d5d0d0c120cbd2cfd7c97ce7d2d5d0d0c120cbd2cfd7c9"),
    Row(
      charset: "koi8-r", texts: "Алла Пугачёва|Миллион алых роз|Ах, как хочется жить",
      hex: "e1ccccc120f0d5c7c1dea3d7c17cedc9ccccc9cfce20c1ccd9c820d2cfda7ce1c82c20cbc1cb20c8cfdec5d4"
        + "d3d120d6c9d4d8"),
  ]

  static let latin1 = [
    "Björk|Jóga|Homogenic",
    "Sigur Rós|Svefn-g-englar|Ágætis byrjun",
    "Motörhead|Ace of Spades|Ace of Spades",
    "Mötley Crüe|Kickstart My Heart|Dr. Feelgood",
    "Beyoncé|Déjà Vu|B'Day",
    "Édith Piaf|Non, je ne regrette rien|Les Amants",
    "Édith Piaf",
    "Die Ärzte|Männer sind Schweine|13",
    "Grüße",
    "Straße",
    "Céline Dion|Pour que tu m'aimes encore|D'eux",
    "Caetano Veloso|Coração vagabundo|Domingo",
    "Antônio Carlos Jobim|Água de Março|Elis & Tom",
    "Joan Manuel Serrat|Mediterráneo|Mediterráneo",
    "Julio Iglesias|Me olvidé de vivir|Emociones",
    "Maná|Corazón espinado",
    "Håkan Hellström|Känn ingen sorg för mig Göteborg|Känn ingen sorg",
    "Röyksopp|Eple|Melody A.M.",
    "Kaizers Orchestra|Ompa til du dør|Ompa til du dør",
    "Mø|Final Song",
    "Mø",
    "Zoé|Soñé|Rocanlover",
    "Niño",
    "Für Elise|Ludwig van Beethoven",
    "Øresund",
    "Señor Coconut|El Baile Alemán",
    "Queensrÿche|Silent Lucidity|Empire",
    "Blue Öyster Cult|(Don't Fear) The Reaper|Agents of Fortune",
    "Françoise Hardy|Tous les garçons et les filles",
    "Jónsi|Go Do|Go",
    "Värttinä|Seleniko",
    "Ñu",
    "Göteborgs Symfoniker|Sinfonía nº 1 en do menor",
    "Dvorák",
    "Ænima|Tool",
    "Café del Mar|Música",
    "São Paulo",
    "Antonín Dvorák|Slovanské tance",
    "Béla Bartók|Magyar Képek",
    "Für dich|Yvonne Catterfeld|Meine Welt",
    "Hände hoch",
    "Übermut",
    "Äpfel",
    "ÄÖÜ",
    "Léo Ferré|Avec le temps|Amour Anarchie",
    "©2003 Example",
    "50 °C",
    "½ Mensch|Einstürzende Neubauten",
    "Ísland|Þursaflokkurinn",
    "José González|Heartbeats|Veneer",
    "Ágætis",
    "Gérard Depardieu|L'été indien",
    "Noël à Paris|Les Choristes",
    "naïve",
    "Rondò Veneziano|La Serenissima",
    "Più bella cosa|Eros Ramazzotti|Dove c'è musica",
    "Perché",
    "Città vuota|Mina",
    "Tüür|Arvo Pärt",
    "Jean-Michel Jarre|Oxygène|Oxygène",
    "Où es-tu",
    "ÉLÉGIE",
    "DÉJÀ VU",
    "MÖTÖRHEAD",
    "FRANÇOIS",
    "KÖLN",
    "Bjørn Afzelius|Tusen bitar",
    "Mikael Wiehe & Bjørn|Flickan och kråkan",
  ]
}
