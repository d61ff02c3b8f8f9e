// What Swift sees of libxml2: its pulling reader. Only Playlists imports it. It is in the process anyway, with FFmpeg's DASH.
#ifndef PLAYHEAD_CXML_SHIM_H
#define PLAYHEAD_CXML_SHIM_H

#include <libxml/parser.h>
#include <libxml/xmlreader.h>

#endif
