"""Every codec and container that Debian's FFmpeg 5.1 writes, and decodes again.

Found by trying each encoder with each muxer. Left out are containers that accept the packets of any codec and do
not name it, and further encoders of the same codec in the same container.
"""

# Muxers by encoder; `:NAME` is the signal where not every one will do.
_MUXERS: dict[str, str] = {
    "aac": "3gp 3g2 adts asf avi f4v flv ipod ismv latm matroska mov mp4 mpegts nut rm",
    "ac3": "ac3 asf avi caf ipod matroska mov mp4 mpeg mpegts nut rm spdif vob w64 wav wtv",
    "ac3_fixed": "mp4",
    "adpcm_adx": "adx",
    "adpcm_argo": "argo_asf",
    "g722": "asf au avi g722 matroska mov nut w64 wav wtv",
    "g726": "asf:m8 avi:m8 g726:m8 matroska:m8 mov:m8 w64:m8 wav:m8 wtv:m8",
    "g726le": "au:m8 g726le:m8",
    "adpcm_ima_apm": "apm",
    "adpcm_ima_qt": "aiff caf mov",
    "adpcm_ima_ssi": "kvag",
    "adpcm_ima_wav": "asf avi caf matroska mov nut w64 wav wtv",
    "adpcm_ima_ws": "aiff wsaud",
    "adpcm_ms": "asf avi caf matroska mov nut w64 wav wtv",
    "adpcm_swf": "asf avi flv matroska mov nut w64 wav wtv",
    "adpcm_yamaha": "asf avi matroska mmf mov nut w64 wav wtv",
    "alac": "caf ipod ismv matroska mov mp4",
    "aptx": "aptx",
    "aptx_hd": "aptx_hd",
    "dfpwm": "asf dfpwm matroska nut w64 wav wtv",
    "dca": "asf avi dts ismv matroska mov mp4 mpeg mpegts nut spdif vob w64 wav wtv",
    "eac3": "asf avi eac3 matroska mov mp4 mpegts nut w64 wav wtv",
    "flac": "asf avi caf flac matroska mp4 nut oga ogg opus w64 wav wtv",
    "g723_1": "asf:m8 avi:m8 g723_1:m8 matroska:m8 mov:m8 nut:m8 w64:m8 wav:m8 wtv:m8",
    "libgsm": "caf gsm mov",
    "libgsm_ms": "asf avi caf matroska mov nut w64 wav wtv",
    "mlp": "matroska",
    "mp2": "asf avi caf ismv matroska mov mp2 mp4 mpeg mpegts nut spdif vob w64 wav wtv",
    "libtwolame": "mp2 mpegts",
    "libmp3lame": "asf avi caf f4v flv ismv matroska mov mp3 mp4 mpeg mpegts nut spdif swf vob w64 wav wtv",
    "libshine": "avi mp3",
    "nellymoser": "flv mov",
    "opus": "matroska mp4 ogg",
    "libopus": "caf matroska mp4 mpegts nut oga ogg opus webm",
    "pcm_alaw": "aiff asf au avi caf flv ircam matroska mov nut voc w64 wav wtv",
    "pcm_dvd": "mpeg vob",
    "pcm_f32be": "aiff au caf mov nut",
    "pcm_f32le": "asf avi caf ircam matroska mov nut w64 wav wtv",
    "pcm_f64be": "aiff au caf mov nut",
    "pcm_f64le": "asf avi caf ircam matroska mov nut w64 wav wtv",
    "pcm_mulaw": "aiff asf au avi caf flv ircam matroska mov nut voc w64 wav wtv",
    "pcm_s16be": "aiff au caf flv matroska mov mpeg nut vob",
    "pcm_s16be_planar": "ast nut",
    "pcm_s16le": "aiff asf avi caf flv ircam matroska mov nut voc w64 wav wtv",
    "pcm_s16le_planar": "nut",
    "pcm_s24be": "aiff au caf matroska mov nut",
    "pcm_s24le": "asf avi caf ircam matroska mov nut w64 wav wtv",
    "pcm_s24le_planar": "nut",
    "pcm_s32be": "aiff au caf matroska mov nut sox",
    "pcm_s32le": "asf avi caf ircam matroska mov nut sox w64 wav wtv",
    "pcm_s32le_planar": "nut",
    "pcm_s64be": "nut",
    "pcm_s64le": "asf avi matroska mov nut w64 wav wtv",
    "pcm_s8": "aiff au caf ircam mov nut",
    "pcm_s8_planar": "nut",
    "pcm_u16be": "nut",
    "pcm_u16le": "nut",
    "pcm_u24be": "nut",
    "pcm_u24le": "nut",
    "pcm_u32be": "nut",
    "pcm_u32le": "nut",
    "pcm_u8": "aiff asf avi flv matroska mov nut voc w64 wav wtv",
    "real_144": "matroska rm",
    "s302m": "mpegts",
    "sbc": "sbc",
    "libspeex": "asf avi matroska mov nut oga ogg opus spx w64 wav wtv",
    "truehd": "matroska mp4",
    "tta": "matroska tta",
    "vorbis": "ogg webm",
    "libvorbis": "asf avi ismv matroska mov mp4 nut oga ogg opus w64 wav webm wtv",
    "wavpack": "matroska nut wv",
    "wmav1": "asf avi matroska w64 wav wtv",
    "wmav2": "asf avi matroska w64 wav wtv",
}
_EXTENSIONS = {
    "matroska": "mka",
    "ipod": "m4a",
    "mpegts": "ts",
    "mpeg": "mpg",
    "aiff": "aiff",
    "adts": "aac",
    "ismv": "mp4",
    "argo_asf": "asf",
    "wsaud": "aud",
    "asf": "wma",
    "aptx_hd": "aptxhd",
    "g723_1": "tco",
    "latm": "latm",
}
# Signals in turn, so that each container meets several rates and numbers of channels. Lossless codecs and PCM get
# others.
_SIGNALS = ("s44", "s48", "m44", "t44")
_LOSSLESS = ("s44", "d44", "m44", "h96", "x48")
_PCM = ("p44", "p48")
_FIXED = {
    "libgsm": "m8",
    "libgsm_ms": "m8",
    "g722": "m16",
    "real_144": "m8",
    "libspeex": "m16",
    "nellymoser": "m22",
    "mlp": "s48",
    "truehd": "s48",
    "s302m": "s48",
    "dca": "s48",
    "opus": "s48",
    "libopus": "s48",
    "pcm_dvd": "s48",
    "dfpwm": "s48",
    "adpcm_swf": "s44",
    "adpcm_argo": "s44",
    "adpcm_ima_apm": "s44",
    "adpcm_ima_ssi": "s44",
    "adpcm_ima_ws": "s44",
    "adpcm_yamaha": "s44",
    "aptx": "s48",
    "aptx_hd": "s48",
    "sbc": "s44",
    "vorbis": "s44",
}
# SWF and FLV have few rates; MPEG program streams have the PCM of DVDs.
_CONTAINER = {
    "swf": "s44",
    "flv": "s44",
    "f4v": "s44",
    "mpeg": "s48",
    "vob": "s48",
    "spdif": "s48",
    "3gp": "s44",
    "3g2": "s44",
}
_OPTIONS = {"aac": "-aac_pns 0", "dca": "-b:a 768k"}


def _rows() -> list[tuple[str, str, str, str, str]]:
    rows = []
    for codec, muxers in _MUXERS.items():
        turn = (
            _PCM
            if codec.startswith("pcm_")
            else _LOSSLESS if codec in ("flac", "alac", "wavpack", "tta") else _SIGNALS
        )
        for number, text in enumerate(muxers.split()):
            muxer, _, signal = text.partition(":")
            signal = signal or _FIXED.get(codec) or _CONTAINER.get(muxer) or turn[number % len(turn)]
            rows.append((codec, muxer, _EXTENSIONS.get(muxer, muxer), signal, _OPTIONS.get(codec, "")))
    return rows


# (encoder, muxer, extension, signal, options of the encoder)
ROWS = _rows()
