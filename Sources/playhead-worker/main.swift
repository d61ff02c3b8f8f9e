// A process that parses untrusted bytes for playheadd, or for a program with the library Playhead. Started by them, never by hand.
import Glibc
import MediaAssets

exit(AssetWorker.run())
