#include "CPlayheadXML.h"

#include <libxml/parser.h>
#include <libxml/xmlreader.h>
#include <pthread.h>

// Exactly one thread must initialize libxml2.
static pthread_once_t once = PTHREAD_ONCE_INIT;

static xmlTextReaderPtr text_reader(cxml_reader *reader) { return (xmlTextReaderPtr)reader; }

cxml_reader *cxml_reader_open(const char *bytes, int count, const char *encoding) {
  pthread_once(&once, xmlInitParser);
  if (bytes == NULL || count <= 0) {
    return NULL;
  }
  int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  return (cxml_reader *)xmlReaderForMemory(bytes, count, NULL, encoding, options);
}

void cxml_reader_close(cxml_reader *reader) { xmlFreeTextReader(text_reader(reader)); }

int cxml_reader_next(cxml_reader *reader) { return xmlTextReaderRead(text_reader(reader)); }

int cxml_reader_line(cxml_reader *reader) { return xmlTextReaderGetParserLineNumber(text_reader(reader)); }

cxml_node cxml_reader_node(cxml_reader *reader) {
  switch (xmlTextReaderNodeType(text_reader(reader))) {
  case XML_READER_TYPE_ELEMENT:
    return CXML_NODE_ELEMENT;
  case XML_READER_TYPE_END_ELEMENT:
    return CXML_NODE_END_ELEMENT;
  case XML_READER_TYPE_TEXT:
  case XML_READER_TYPE_CDATA:
  case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
    return CXML_NODE_TEXT;
  case XML_READER_TYPE_ENTITY_REFERENCE:
    return CXML_NODE_ENTITY_REFERENCE;
  case XML_READER_TYPE_DOCUMENT_TYPE:
    return CXML_NODE_DOCUMENT_TYPE;
  default:
    return CXML_NODE_OTHER;
  }
}

const unsigned char *cxml_reader_text(cxml_reader *reader) { return xmlTextReaderConstValue(text_reader(reader)); }

const char *cxml_reader_name(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstLocalName(text_reader(reader));
}

int cxml_reader_is_empty(cxml_reader *reader) { return xmlTextReaderIsEmptyElement(text_reader(reader)) == 1; }
