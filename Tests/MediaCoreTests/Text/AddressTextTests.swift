import PlayheadMediaCore
import Testing

@Suite struct AddressTextTests {
  @Test(arguments: [
    ("http://u:secret@h/x", "http://h/x"), ("ftp://u:secret@h/x", "ftp://h/x"), ("http://secret@h", "http://h"),
    ("http:/u:secret@h/x", "http:/h/x"), ("http:///u:secret@h/x", "http:///h/x"), ("HTTP:\\\\u:secret@h", "HTTP:\\\\h"),
    ("http://u:se@cret@h/x", "http://h/x"), ("http://u:sec/ret@h/x", "http://h/x"),
    ("http://u:a secret@h/x", "http://h/x"),
    ("u:secret@h/x", "h/x"), ("append http://u:secret@h/x", "append http://h/x"), ("http://u:secret@", "http://"),
    ("http://u:secret@\u{301}h/x", "http://\u{301}h/x"),
    ("smb://u:secret@h/a smb://v:secret@i/b", "smb://h/a smb://i/b"),
  ]) func credentialsAreRemoved(text: String, shown: String) {
    #expect(AddressText.withoutCredentials(text) == shown)
    #expect(!AddressText.withoutCredentials(text).contains("secret"))
  }

  @Test(arguments: [
    "http://h/a@b", "http://h:80/a@b?c", "http://h?x=a@b", "http://[::1]:80/a@b", "/music/a@b.mp3", "a@b", "", "://",
    "/music/a: b.mp3", "http://h/x",
  ]) func textWithoutCredentialsIsUnchanged(text: String) {
    #expect(AddressText.withoutCredentials(text) == text)
  }
}
