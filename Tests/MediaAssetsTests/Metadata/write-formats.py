# Makes a file of each format by the tools that people use, with the same tags and the same image where the format has room for them, and
# says for each in JSON what ffprobe, ffmpeg and mutagen say of it, into FOLDER/formats.json. usage: write-formats.py FOLDER
import base64
import json
import struct
import subprocess
import sys
import zlib

from mutagen.aac import AAC
from mutagen.ac3 import AC3
from mutagen.aiff import AIFF
from mutagen.apev2 import APEBinaryValue
from mutagen.asf import ASF, ASFByteArrayAttribute
from mutagen.flac import FLAC, Picture
from mutagen.id3 import APIC, ID3, TALB, TDRC, TIT2, TPE1, TRCK
from mutagen.monkeysaudio import MonkeysAudio
from mutagen.mp3 import MP3
from mutagen.mp4 import MP4, MP4Cover
from mutagen.oggflac import OggFLAC
from mutagen.oggopus import OggOpus
from mutagen.oggvorbis import OggVorbis
from mutagen.trueaudio import TrueAudio
from mutagen.wave import WAVE
from mutagen.wavpack import WavPack

folder = sys.argv[1]
reports = []
TAGS = {"title": "Grüße, 世界", "artist": "Wer", "album": "Das Album", "date": "2003", "track": "3"}
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
COVER = f"{folder}/cover.png"
open(COVER, "wb").write(PNG)
# Odd, so that no packet's end is that of the sound; and loud here and there only, so that a variable bit rate varies.
FRAMES = {44100: 121277, 48000: 132007}


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def output(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout


def checksum(data):
    return f"{len(data)} {zlib.crc32(data):08x}"


for rate, count in FRAMES.items():
    run("ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i",
        f"aevalsrc='0.4*sin(2*PI*440*t)*gt(mod(t,0.5),0.2)+0.2*random(0)*gt(mod(t,0.9),0.6)|0.3*sin(2*PI*330*t)':s={rate}:d=3",
        "-af", f"atrim=end_sample={count}", "-c:a", "pcm_s16le", "-bitexact", f"{folder}/{rate}.wav")

WITH_TAGS = [word for key, value in TAGS.items() for word in ("-metadata", f"{key}={value}")]
ATTACHED = ["-attach", COVER, "-metadata:s:t:0", "mimetype=image/png", "-metadata:s:t:0", "filename=cover.png"]


def ffmpeg(name, options, rate=44100, more=()):
    """Made by FFmpeg; `{tags}` stands for the tags."""
    words = []
    for word in options.split():
        words += WITH_TAGS if word == "{tags}" else ATTACHED if word == "{attached}" else [word]
    path = f"{folder}/{name}"
    run("ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", f"{folder}/{rate}.wav", *more, *words, path)
    return path


def tool(name, words, rate=44100):
    """Made by another tool."""
    path = f"{folder}/{name}"
    run(*[word.replace("{in}", f"{folder}/{rate}.wav").replace("{out}", path) for word in words.split()])
    return path


def remuxed(name, path):
    """Put into Matroska by mkvmerge, with the tags and the image."""
    tags = "".join(f"<Simple><Name>{name}</Name><String>{value}</String></Simple>" for name, value in
                   {"TITLE": TAGS["title"], "ARTIST": TAGS["artist"], "DATE_RELEASED": TAGS["date"], "PART_NUMBER": TAGS["track"]}.items())
    album = f"<Tag><Targets><TargetTypeValue>50</TargetTypeValue></Targets><Simple><Name>TITLE</Name><String>{TAGS['album']}</String></Simple></Tag>"
    xml = f"{folder}/tags.xml"
    open(xml, "w").write(f"<?xml version='1.0'?><Tags>{album}<Tag><Targets><TargetTypeValue>30</TargetTypeValue></Targets>{tags}</Tag></Tags>")
    run("mkvmerge", "--quiet", "-o", f"{folder}/{name}", "--global-tags", xml, "--attachment-mime-type", "image/png", "--attachment-name",
        "cover.png", "--attach-file", COVER, path)
    return f"{folder}/{name}"


def monkeys(name):
    """Monkey's Audio, which nothing in Debian encodes: its frames may say that they are silence, and that is written here."""
    per_frame, total = 73728, FRAMES[44100]
    count = -(-total // per_frame)
    # A frame: a checksum whose highest bit says that flags follow, flags 3 (both channels silent), room for the decoder's start.
    frame = struct.pack("<II", 0x80000000, 3) + bytes(16)
    head = 52 + 24 + 4 * count + 44
    seek = b"".join(struct.pack("<I", head + index * len(frame)) for index in range(count))
    audio = frame * count
    descriptor = b"MAC " + struct.pack("<HHIIIIIII", 3990, 0, 52, 24, len(seek), 44, len(audio), 0, 0) + bytes(16)
    header = struct.pack("<HHIIIHHI", 2000, 0, per_frame, total - (count - 1) * per_frame, count, 16, 2, 44100)
    path = f"{folder}/{name}"
    open(path, "wb").write(descriptor + header + seek + open(f"{folder}/44100.wav", "rb").read(44) + audio)
    return path


# Tags and images by mutagen

def id3(path, kind):
    file = kind(path)
    if file.tags is None:
        file.add_tags()
    write_id3(file.tags)
    file.save()


def bare_id3(path, _):
    tags = ID3()
    write_id3(tags)
    tags.save(path, v1=0)


def write_id3(tags):
    tags.add(TIT2(encoding=3, text=[TAGS["title"]]))
    tags.add(TPE1(encoding=3, text=[TAGS["artist"]]))
    tags.add(TALB(encoding=3, text=[TAGS["album"]]))
    tags.add(TDRC(encoding=3, text=[TAGS["date"]]))
    tags.add(TRCK(encoding=3, text=[TAGS["track"]]))
    tags.add(APIC(encoding=0, mime="image/png", type=3, desc="", data=PNG))


COMMENTS = {"title": "TITLE", "artist": "ARTIST", "album": "ALBUM", "date": "DATE", "track": "TRACKNUMBER"}
ITEMS = {"title": "Title", "artist": "Artist", "album": "Album", "date": "Year", "track": "Track"}
ATOMS = {"title": "\xa9nam", "artist": "\xa9ART", "album": "\xa9alb", "date": "\xa9day"}
OBJECTS = {"title": "Title", "artist": "Author", "album": "WM/AlbumTitle", "date": "WM/Year", "track": "WM/TrackNumber"}


def flac_artwork():
    image = Picture()
    image.type, image.mime, image.data = 3, "image/png", PNG
    return image


def vorbis(path, kind):
    file = kind(path)
    for key, name in COMMENTS.items():
        file[name] = [TAGS[key]]
    if kind is FLAC:
        file.add_picture(flac_artwork())
    else:
        file["METADATA_BLOCK_PICTURE"] = [base64.b64encode(flac_artwork().write()).decode()]
    file.save()


def ape(path, kind):
    file = kind(path)
    if file.tags is None:
        file.add_tags()
    for key, name in ITEMS.items():
        file[name] = TAGS[key]
    file["Cover Art (Front)"] = APEBinaryValue(b"front.png\0" + PNG, 1)
    file.save()


def itunes(path, kind):
    file = kind(path)
    for key, name in ATOMS.items():
        file[name] = [TAGS[key]]
    file["trkn"] = [(int(TAGS["track"]), 0)]
    file["covr"] = [MP4Cover(PNG, MP4Cover.FORMAT_PNG)]
    file.save()


def asf(path, kind):
    file = kind(path)
    for key, name in OBJECTS.items():
        file[name] = [TAGS[key]]
    file["WM/Picture"] = [ASFByteArrayAttribute(struct.pack("<BI", 3, len(PNG)) + "image/png".encode("utf-16-le") + b"\0\0\0\0" + PNG)]
    file.save()


# What mutagen reads

def read(path, kind):
    if kind is None:
        return None
    file = kind(path)
    tags = ID3(path) if kind is AAC else file.tags
    found, images = {}, []
    if isinstance(tags, ID3):
        found = {key: str(tags[name].text[0]) for key, name in
                 {"title": "TIT2", "artist": "TPE1", "album": "TALB", "date": "TDRC", "track": "TRCK"}.items() if name in tags}
        images = [frame.data for frame in tags.getall("APIC")]
    elif tags is not None:
        names = {MP4: ATOMS, ASF: OBJECTS, WavPack: ITEMS, MonkeysAudio: ITEMS}.get(kind, COMMENTS)
        for key, name in names.items():
            if name in tags:
                value = tags[name]
                found[key] = str(value[0] if isinstance(value, list) else value)
        if kind is MP4:
            found.update({"track": str(number) for number, _ in tags.get("trkn", [])})
            images = [bytes(cover) for cover in tags.get("covr", [])]
        elif kind is ASF:
            images = [value.value[-struct.unpack_from("<I", value.value, 1)[0]:] for value in tags.get("WM/Picture", [])]
        elif names is ITEMS and "Cover Art (Front)" in tags:
            images = [tags["Cover Art (Front)"].value.split(b"\0", 1)[1]]
        elif names is COMMENTS and "metadata_block_picture" in tags:
            images = [Picture(base64.b64decode(text)).data for text in tags["metadata_block_picture"]]
    if kind is FLAC:
        images = [image.data for image in file.pictures]
    return {"duration": file.info.length, "tags": found, "artwork": checksum(images[0]) if images else None}


def probe(path):
    """What FFmpeg's programs say."""
    answer = json.loads(output("ffprobe", "-loglevel", "error", "-show_format", "-show_streams", "-of", "json", path))
    sound = next(stream for stream in answer["streams"] if stream["codec_type"] == "audio")
    covers = [stream for stream in answer["streams"] if stream["disposition"]["attached_pic"]]
    tags = {}
    for part in (answer["format"], sound):
        for key, value in part.get("tags", {}).items():
            tags.setdefault(key.lower(), value)
    samples = output("ffmpeg", "-nostdin", "-loglevel", "error", "-i", path, "-map", "0:a", "-c:a", "pcm_s16le", "-f", "s16le", "-")
    image = None
    if covers:
        image = output("ffmpeg", "-nostdin", "-loglevel", "error", "-i", path, "-map", f"0:{covers[0]['index']}", "-c", "copy",
                         "-f", "image2pipe", "-")
    return {"duration": float(answer["format"].get("duration", "nan")), "frames": len(samples) // 2 // sound["channels"],
            "rate": int(sound["sample_rate"]), "bitRate": int(sound["bit_rate"]) if "bit_rate" in sound else None,
            "tags": {key: tags[key] for key in TAGS if key in tags}, "artwork": checksum(image) if image else None}


def report(name, made, path, kind=None, tag=None, frames=None):
    """Tags it with `tag`, when there is one, and asks everybody."""
    if tag:
        tag(path, kind)
    reports.append({"name": name, "made": made, "file": path, "frames": frames or FRAMES[44100], "ffprobe": probe(path), "mutagen": read(path, kind)})


report("wav", "ffmpeg", ffmpeg("a.wav", "-c:a pcm_s16le"), WAVE, id3)
report("wav 24 bits", "sox", tool("24.wav", "sox {in} -b 24 {out}"), WAVE, id3)
report("rf64", "ffmpeg", ffmpeg("rf64.wav", "-c:a pcm_s16le -rf64 always {tags}"))
report("aiff", "ffmpeg", ffmpeg("a.aiff", "-c:a pcm_s16be"), AIFF, id3)
report("aiff", "sox", tool("sox.aiff", "sox {in} {out}"), AIFF, id3)
report("caf pcm", "ffmpeg", ffmpeg("a.caf", "-c:a pcm_s16be {tags}"))
report("caf alac", "ffmpeg", ffmpeg("alac.caf", "-c:a alac {tags}"))
report("flac", "flac", tool("a.flac", "flac --silent --force -o {out} {in}"), FLAC, vorbis)
report("flac", "ffmpeg", ffmpeg("ff.flac", "-c:a flac"), FLAC, vorbis)
report("mp3 cbr", "lame", tool("cbr.mp3", "lame --quiet -b 128 {in} {out}"), MP3, id3)
report("mp3 vbr", "lame", tool("vbr.mp3", "lame --quiet -V 2 {in} {out}"), MP3, id3)
report("mp3 abr", "ffmpeg", ffmpeg("abr.mp3", "-c:a libmp3lame -abr 1 -b:a 128k"), MP3, id3)
report("mp3 cbr, no Xing", "lame", tool("cbr-plain.mp3", "lame --quiet -t -b 128 {in} {out}"), MP3, id3)
report("mp3 vbr, no Xing", "lame", tool("vbr-plain.mp3", "lame --quiet -t -V 2 {in} {out}"), MP3, id3)
report("aac adts", "ffmpeg", ffmpeg("a.aac", "-c:a aac -f adts"), AAC, bare_id3)
report("m4a aac", "ffmpeg", ffmpeg("a.m4a", "-c:a aac"), MP4, itunes)
report("m4a alac", "ffmpeg", ffmpeg("alac.m4a", "-c:a alac"), MP4, itunes)
report("mp4 in fragments", "ffmpeg", ffmpeg("fragments.mp4", "-c:a aac -movflags +frag_keyframe+empty_moov+delay_moov {tags}"), MP4)
report("mp4 with video", "ffmpeg", ffmpeg("video.mp4", "-map 0:a -map 1:v -shortest -c:a aac -c:v mpeg4", more=[
    "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=2.72"]), MP4, itunes)
report("ogg vorbis", "oggenc", tool("a.ogg", "oggenc -Q -o {out} {in}"), OggVorbis, vorbis)
report("ogg vorbis", "ffmpeg", ffmpeg("ff.ogg", "-c:a libvorbis"), OggVorbis, vorbis)
report("opus", "opusenc", tool("a.opus", "opusenc --quiet {in} {out}", 48000), OggOpus, vorbis, FRAMES[48000])
report("opus", "ffmpeg", ffmpeg("ff.opus", "-c:a libopus", 48000), OggOpus, vorbis, FRAMES[48000])
report("ogg flac", "flac", tool("a.oga", "flac --silent --force --ogg -o {out} {in}"), OggFLAC, vorbis)
report("ogg flac", "ffmpeg", ffmpeg("ff.oga", "-c:a flac"), OggFLAC, vorbis)
report("wavpack", "wavpack", tool("a.wv", "wavpack -q -y {in} -o {out}"), WavPack, ape)
report("wavpack", "ffmpeg", ffmpeg("ff.wv", "-c:a wavpack"), WavPack, ape)
report("monkey's audio", "this test", monkeys("a.ape"), MonkeysAudio, ape)
report("tta", "ffmpeg", ffmpeg("a.tta", "-c:a tta"), TrueAudio, id3)
report("matroska flac", "ffmpeg", ffmpeg("flac.mka", "-c:a flac {tags} {attached}"))
report("matroska mp3", "mkvmerge", remuxed("mp3.mka", tool("plain.mp3", "lame --quiet -t -b 128 {in} {out}")))
report("matroska opus", "mkvmerge", remuxed("opus.mka", tool("plain.opus", "opusenc --quiet {in} {out}", 48000)), frames=FRAMES[48000])
report("webm opus", "ffmpeg", ffmpeg("a.webm", "-c:a libopus {tags}", 48000), frames=FRAMES[48000])
report("webm vorbis", "ffmpeg", ffmpeg("vorbis.webm", "-c:a libvorbis {tags}"))
report("ac-3", "ffmpeg", ffmpeg("a.ac3", "-c:a ac3"), AC3)
report("e-ac-3", "ffmpeg", ffmpeg("a.eac3", "-c:a eac3"), AC3)
report("wma 2", "ffmpeg", ffmpeg("a.wma", "-c:a wmav2"), ASF, asf)
report("wma 1", "ffmpeg", ffmpeg("1.wma", "-c:a wmav1"), ASF, asf)

with open(f"{folder}/formats.json", "w") as out:
    json.dump(reports, out)
