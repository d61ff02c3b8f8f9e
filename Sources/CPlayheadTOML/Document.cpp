#include "CPlayheadTOML.h"

#include <stdexcept>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_MAX_NESTED_VALUES 8
// A failed assertion is an error of the text, not the end of the process.
#define TOML_ASSERT(condition)                                              \
  do {                                                                      \
    if (!(condition)) throw std::logic_error("the text is not valid TOML"); \
  } while (false)
#include <toml++/toml.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

toml_location location(const toml::source_position &position) { return {position.line, position.column}; }

/// Finds errors that toml++ 3.3 must not read:
///
/// - too many parts of a name, into which it recurses
/// - characters outside ASCII that are in no string and no comment, for which its behavior is undefined
/// - a table without a name, such as `[[[`, for which an assertion fails
class Check {
 public:
  /// The error; empty if there is none.
  std::string message;
  toml_location where{1, 1};

  explicit Check(std::string_view text) : text(text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") index = 3;
    while (message.empty() && index < text.size()) {
      const char character = text[index];
      if (character == '[' && depth == 0 && isAtLineStart) {
        readHeader();
      } else if (character == '#') {
        while (index < text.size() && text[index] != '\n') advance();
      } else if (character == '"' || character == '\'') {
        skipString(character);
      } else if (static_cast<unsigned char>(character) >= 0x80) {
        message = "a character outside ASCII must be in a string or a comment";
      } else if (character == '.' && ++pointCount > maximumPointCount) {
        message = "a line has more than " + std::to_string(maximumPointCount) + " dots outside strings";
      } else {
        if (character == '[' || character == '{') depth += 1;
        if (character == ']' || character == '}') depth -= 1;
        advance();
      }
    }
  }

 private:
  static constexpr size_t maximumPointCount = 64;

  std::string_view text;
  size_t index = 0;
  size_t pointCount = 0;
  /// The number of arrays and inline tables around the next character.
  int depth = 0;
  bool isAtLineStart = true;

  void advance() {
    const char character = text[index++];
    if (character == '\n') {
      where = {where.line + 1, 1};
      pointCount = 0;
      isAtLineStart = true;
      return;
    }
    if (character != ' ' && character != '\t') isAtLineStart = false;
    if ((character & 0xC0) != 0x80) where.column += 1;
  }

  /// Reads the first characters of a table header.
  void readHeader() {
    depth = static_cast<int>(count('[', 2));
    advance(static_cast<size_t>(depth));
    while (index < text.size() && (text[index] == ' ' || text[index] == '\t')) advance();
    const unsigned char next = index < text.size() ? static_cast<unsigned char>(text[index]) : '\n';
    if (next < 0x80 && !isalnum(next) && (next == 0 || !strchr("_-\"'", next))) message = "the name of a table is expected here";
  }

  void advance(size_t count) {
    for (; count > 0 && index < text.size(); count -= 1) advance();
  }

  /// The number of occurrences of a character in succession from here, at most `limit`.
  size_t count(char character, size_t limit) const {
    size_t count = 0;
    while (count < limit && index + count < text.size() && text[index + count] == character) count += 1;
    return count;
  }

  void skipString(char quote) {
    const bool hasLines = count(quote, 3) == 3;
    advance(hasLines ? 3 : 1);
    while (index < text.size()) {
      if (text[index] == '\\' && quote == '"') {
        advance(2);
      } else if (hasLines && count(quote, 3) == 3) {
        // Up to two quotes before the last three belong to the string.
        return advance(count(quote, 5));
      } else if (!hasLines && text[index] == quote) {
        return advance();
      } else if (!hasLines && text[index] == '\n') {
        return;
      } else {
        advance();
      }
    }
  }
};

std::string text(int64_t value) { return std::to_string(value); }
std::string text(bool value) { return value ? "true" : "false"; }

std::string text(double value) {
  char buffer[64];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

/// The text of a date or time.
template <typename Date>
std::string text(const Date &value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

template <typename Value>
constexpr toml_kind kind() {
  if constexpr (std::is_same_v<Value, std::string>) return toml_kind_string;
  if constexpr (std::is_same_v<Value, int64_t>) return toml_kind_integer;
  if constexpr (std::is_same_v<Value, double>) return toml_kind_float;
  if constexpr (std::is_same_v<Value, bool>) return toml_kind_boolean;
  return toml_kind_date;
}

}  // namespace

struct toml_document {
  std::vector<toml_value> values;
  toml_error error{};

  void parse(std::string_view text) {
    const Check check(text);
    if (!check.message.empty()) return fail(check.message, check.where);
    try {
      add(toml::parse(text), nullptr);
    } catch (const toml::parse_error &error) {
      fail(std::string(error.description()), location(error.source().begin));
    } catch (const std::logic_error &error) {
      fail(error.what(), {});
    }
  }

 private:
  /// The names and texts of `values`. Its elements keep their addresses.
  std::deque<std::string> texts;

  const std::string &keep(std::string text) { return texts.emplace_back(std::move(text)); }

  void fail(std::string message, toml_location where) {
    values.clear();
    for (char &character : message) {
      if (static_cast<unsigned char>(character) < ' ') character = ' ';
    }
    error = {where, keep(std::move(message)).c_str()};
  }

  /// Adds a value and its members. The depth of the recursion is that of the text, which `parse` limits.
  void add(const toml::node &node, const toml::key *name) {
    toml_value value{};
    value.location = location(node.source().begin);
    if (name) {
      const std::string &kept = keep(std::string(name->str()));
      value.name = kept.data();
      value.name_length = kept.size();
      value.name_location = location(name->source().begin);
    }
    node.visit([&](const auto &actual) {
      using Node = std::decay_t<decltype(actual)>;
      if constexpr (std::is_same_v<Node, toml::table>) {
        value.kind = toml_kind_table;
        value.count = actual.size();
        values.push_back(value);
        for (const auto &member : actual) add(member.second, &member.first);
      } else if constexpr (std::is_same_v<Node, toml::array>) {
        value.kind = toml_kind_array;
        value.count = actual.size();
        values.push_back(value);
        for (const auto &element : actual) add(element, nullptr);
      } else {
        using Value = std::decay_t<decltype(actual.get())>;
        value.kind = kind<Value>();
        const std::string *kept;
        if constexpr (std::is_same_v<Value, std::string>) {
          kept = &keep(actual.get());
        } else {
          kept = &keep(text(actual.get()));
        }
        value.text = kept->data();
        value.text_length = kept->size();
        values.push_back(value);
      }
    });
  }
};

toml_document *toml_document_parse(const char *text, size_t length) {
  try {
    auto document = std::make_unique<toml_document>();
    document->parse(std::string_view(text, length));
    return document.release();
  } catch (...) {
    return nullptr;
  }
}

void toml_document_free(toml_document *document) { delete document; }

const toml_error *toml_document_error(const toml_document *document) {
  return document->error.message ? &document->error : nullptr;
}

const toml_value *toml_document_values(const toml_document *document, size_t *count) {
  *count = document->values.size();
  return document->values.data();
}
