import PlaylistFuzzing

fuzz(.xspf)
