#include "report/xml.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "text/unicode.h"

namespace regard {
namespace {

bool allowed_in_xml(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF && !(code >= 0x7F && code < 0xA0);
}

// True for combining marks, joiners, variation selectors and the skin tones of emojis.
bool is_zero_width(char32_t code) {
  return (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0x1F3FB && code <= 0x1F3FF);
}

// Advance widths of DejaVu Sans and DejaVu Sans Bold 2.37, U+0020 to U+052F (Latin, Greek,
// Cyrillic): a character for each code point, '0' + the width in 1/32 of the font size, rounded up.
// Code points without a glyph count as a full square. scripts/check.sh pictures compares them with
// a browser.
constexpr char32_t first_measured = 0x20;
constexpr double width_unit = 1.0 / 32.0;
constexpr std::string_view regular_widths =
    R"(;=?KEOI9==@K;<;;EEEEEEEEEE;;KKKAPFFGIECII::EBLHJDJGEDHFPFDF=;=K@@DEBED<EE99C9PEDEE>A)"
    R"(=ECKCCAE;EKPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP;=EEEE;@@P@DK<P@@K==@EE;@=@DPPPAFFFFFFPG)"
    R"(EEEE::::IHJJJJJKJHHHHDDEDDDDDDPBDDDD9999DEDDDDDKDEEEECECFDFDFDGBGBGBGBIEIEEDEDEDEDED)"
    R"(IEIEIEIEIENG:9:9:9:9:9CB:9ECCB9B9B<B;B:HEHEHEKHEJDJDJDSQG>G>G>EAEAEAEAD=D=D=HEHEHEHE)"
    R"(HEHEPKDCDFAFAFA<EHFEFEGGBIKFEDEJDC<IFP<:HC9CPHEJNDOIEEGEAE;=D=DLEIHHHFAFFCAEFCAE:@?:)"
    R"(^ZUKJ?NNJFD:9JDHEHEHEHEHEDFDFDPPIEIEECJDJDFC9^ZUIETFHEFDPPJDFDFDEDED:9:9JDJDG>G>HEHE)"
    R"(EAD=EAIEHKGDFAFDEDJDJDJDJDDC@K@9PPFGBBDAAD@FHFED:9IEG>DCDEEEBBEGDDKBBIF9GEEDDEEE9;<=)"
    R"(@9GPPPEEEDLHF>>>>>AADDA;;?;==EDDCKCDAACCAAAAJCFGE:FAHAAQRQKDILGEAAFF==69::=A<9?;;;::)"
    R"(<<@@@@@@9@@@9@@@;;::@@=;@@@@@@;@>6<?<@@@@@PP@@APPPP@PPP@PPPPPPPP00000000000000000000)"
    R"(000000000000000000000000000000000000000000000000000000000000P000PPP00P0P0000000PPPPP)"
    R"(PPPPPPPPECLE99HEPP@BBB;:PPPP@@G;HL>PJPKK;FFBFEFIJ:EFLHEJIDPEDDJFJI:DFBE;CFECDBBED;CC)"
    R"(EBBDDECEDCFCFK;CDCKEDDGKGFKFJDECC?FFLENKIFJDFDIDGDDBFEB9JDDDEGLEEGGGEEJDGE:::SRJGHDI)"
    R"(FFFDIESEHHGILIJIDGDDLFIFSSKMFGSGDDCAGDMBEEDEIEDEEBCCLCFCNOGJCBKDDDDABA999MMEDECENKIF)"
    R"(OHMJVQJDQKEBLMJDIFIFPMOIVQNKGBA00000>>IFFCDEDAFCDASMEBGDGDGDLKIFQMSNMGGBDCDCDCFCNJFC)"
    R"(FCFEOHOH:SMEDIFIFIFFCMI9FDFDPPEDJDJDSMEBFCHEHEJDJDJDGBDCDCDCFCDAMJFCFCFCFCQMPLFCSOTO)"
    R"(IFIGDBIEVPMLRPJEPKGDSMSNJFPPPPPPPPPP)";
constexpr std::string_view bold_widths =
    R"(<?AKGQL:??AK=>=<GGGGGGGGGG==KKKCPIIHKFFKK<<IEPKLHLIHFJITIHH?<?K@@FGCGF>GG;;F;RGFGG@D)"
    R"(@GENEECG<GKPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP<?GGEG<@@PCEK>P@@K??@HE=@?CERRRCIIIIIISH)"
    R"(FFFF<<<<KKLLLLLKLJJJJHHHFFFFFFRCFFFF;;;;FGFFFFFKFGGGGEGEIFIFIFHCHCHCHCKGKGFFFFFFFFFF)"
    R"(KGKGKGKGKGPJ<;<;<;<;<;HF<;IFFE;E;E@EBE<KGKGKGPKGLFLFLFVTI@I@I@HDHDHDHDF@F@F@JGJGJGJG)"
    R"(JGJGTNHEHHCHCHC>GJIGIGHHCKMIGFFLGF>KJR>=IF<CRKGLLFSNJGIHDFB@G@FKGLKJIHCIIECGIECG<FB<)"
    R"(b^ZQPFWVRIF<;LFJGJGJGJGJGFIFIFSRKGKGIFLFLFIC;b^ZKGZJKGIFSRLFIFIFFFFF<;<;LFLFI@I@JGJG)"
    R"(HDF@GDKGKLJFHCIFFFLFLFLFLFHE@LA;SSIHCEFDCJDIJIFF<;LJI@HEFGGGCCGJFFMBBKH;JGEEEGGGB?BB)"
    R"(G;KRRRGJGFNFJBBE@@DDEED>>DB@@NIFENEHGFEECCCCLEHFG;HBJCCUWUPINQLIC>FJ??8;;;>C>:A===<<)"
    R"(;;@@@@@@:@@@:@@@;;<<@@>;@@@@@@<@>8=>;@@@@@PP@@FPPPP@PPP@PPPPPPPP00000000000000000000)"
    R"(000000000000000000000000000000000000000000000000000000000000P000PPP00P0P0000000PPPPP)"
    R"(PPPPPPPPGCQK::KGPP@CBB=<PPPP?@J=LQCPMPPM=IIEIFHKL<IIPKELKHPFFHLILL<HFBG=FFGFFBCGF=GE)"
    R"(HFCFJGCIEFJEJL=FFFLIEFHPHJLHLFHCF@GFNESKKGNHHEJFIGFCHGC;LEEHGHPHGGHGFFMEHH<<<UUMKKIK)"
    R"(IIIEMFXGKKKKPKLKHHFIPINJX[ORIHVIFGEAJFPCGGFHKGFGGCCEPEHFRTIMECPEFFGACD;;;POHFGEGSLKH)"
    R"(QKPK\TLFXQGBSRLFLGLGURSL]VSLHCE00000>>OJIDHGEAFBJFXPGCIFKFKFQKOJTLYQOLHCFCHEHEIETQJF)"
    R"(JFJGQJQJ<XPIEOJKGOJJFTN;IFIFSRFFLFLFXPGCIEKGKGLFLFLFHCIEIEIEJFEARMFBIEIEIDVMTNKGXQZQ)"
    R"(KEOJGBKHZSSPSQLGTNKFYRYQOJPPPPPPPPPP)";
static_assert(regular_widths.size() == bold_widths.size());

// Widths of ranges beyond the tables: the widest of their common characters. Other characters count
// as a full square, and those from U+1100 on (except Latin and Greek additions and symbols) as
// ideographs.
struct WidthRange {
  char32_t first;
  char32_t last;
  double regular;
  double bold;
};
constexpr std::array<WidthRange, 7> ranges{{{0x0590, 0x05FF, 0.71, 0.76},    // Hebrew
                                            {0x1E00, 0x1EFF, 0.99, 1.11},    // Vietnamese, …
                                            {0x2010, 0x2013, 0.50, 0.50},    // hyphens, en dash
                                            {0x2018, 0x201F, 0.52, 0.66},    // quotation marks
                                            {0x2190, 0x21FF, 0.84, 0.84},    // arrows
                                            {0x2500, 0x259F, 0.77, 0.77},    // lines, blocks, ▁
                                            {0x25A0, 0x25FF, 0.95, 0.95}}};  // ●, ■, …

double width_of(char32_t code, FontWeight weight) {
  if (is_zero_width(code) || code < first_measured) return 0.0;
  const bool bold = weight == FontWeight::bold;
  const auto& widths = bold ? bold_widths : regular_widths;
  const std::size_t index = code - first_measured;
  if (index < widths.size()) return width_unit * (widths[index] - '0');
  for (const auto& range : ranges) {
    if (code >= range.first && code <= range.last) return bold ? range.bold : range.regular;
  }
  return code >= 0x1100 && (code < 0x1E00 || code >= 0x2E80) ? 1.25 : bold ? 1.15 : 1.05;
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char32_t code : decode_utf8(text)) {
    switch (code) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += allowed_in_xml(code) ? encode_utf8({&code, 1}) : "\uFFFD";
    }
  }
  return escaped;
}

std::string format_coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double estimate_text_width(std::string_view text, FontWeight weight) {
  double width = 0.0;
  for (const char32_t code : decode_utf8(text)) width += width_of(code, weight);
  return width;
}

std::string truncate_to_text_width(std::string_view text, double width, FontWeight weight) {
  if (estimate_text_width(text, weight) <= width) return std::string(text);
  constexpr char32_t ellipsis = U'…';
  double used = width_of(ellipsis, weight);
  std::string kept;
  for (const char32_t code : decode_utf8(text)) {
    used += width_of(code, weight);
    if (used > width) break;
    kept += encode_utf8({&code, 1});
  }
  return kept + encode_utf8({&ellipsis, 1});
}

}  // namespace regard
