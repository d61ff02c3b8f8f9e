import Testing

@testable import PlayheadPulseIO

@Suite("PulseServerAddress")
struct PulseServerAddressTests {
  @Test(
    "the socket is found by libpulse's rules",
    arguments: [
      ("unix:/a/b", [:], "/a/b"), ("/a/b", [:], "/a/b"), ("tcp:host unix:/a", [:], "/a"),
      ("{0123}unix:/a", [:], "/a"),
      ("tcp:host", [:], nil), ("unix:relative", [:], nil),
      (nil, ["PULSE_SERVER": "unix:/s", "XDG_RUNTIME_DIR": "/run"], "/s"),
      (nil, ["PULSE_SERVER": "", "XDG_RUNTIME_DIR": "/run"], "/run/pulse/native"),
      (nil, ["PULSE_RUNTIME_PATH": "/p", "XDG_RUNTIME_DIR": "/run"], "/p/native"), (nil, [:], nil),
    ] as [(String?, [String: String], String?)])
  func socketIsFoundByTheRulesOfLibpulse(server: String?, environment: [String: String], path: String?) {
    #expect(PulseServerAddress.socketPath(server: server) { environment[$0] } == path)
  }
}
