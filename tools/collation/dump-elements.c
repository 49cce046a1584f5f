/*
 * Prints the collation elements of ICU's root collation: of every character that has no canonical decomposition, and of every text of
 * several characters that has elements of its own. What make-table.mjs reads.
 * Build: cc dump-elements.c -o dump-elements -licui18n -licuuc
 */
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/ucoleitr.h>
#include <unicode/unorm2.h>
#include <unicode/uset.h>

static void print_elements(UCollator *collator, const UChar *text, int length) {
  UErrorCode error = U_ZERO_ERROR;
  UCollationElements *elements = ucol_openElements(collator, text, length, &error);
  for (int at = 0; at < length; at++) printf("%s%04X", at > 0 ? " " : "", text[at]);
  printf(";");
  for (int element; (element = ucol_next(elements, &error)) != UCOL_NULLORDER;) printf(" %08X", (unsigned)element);
  printf("\n");
  ucol_closeElements(elements);
}

int main(void) {
  UErrorCode error = U_ZERO_ERROR;
  UCollator *collator = ucol_open("", &error);
  const UNormalizer2 *nfd = unorm2_getNFDInstance(&error);
  for (UChar32 code = 0; code <= 0x10FFFF; code++) {
    UChar decomposed[32];
    int8_t category = u_charType(code);
    if (category == U_SURROGATE || category == U_UNASSIGNED || category == U_PRIVATE_USE_CHAR) continue;
    if (unorm2_getDecomposition(nfd, code, decomposed, 32, &error) >= 0) continue;
    UChar text[2];
    int length = 0;
    U16_APPEND_UNSAFE(text, length, code);
    print_elements(collator, text, length);
  }
  USet *contractions = uset_openEmpty();
  ucol_getContractionsAndExpansions(collator, contractions, NULL, 1, &error);
  for (int item = 0; item < uset_getItemCount(contractions); item++) {
    UChar32 start, end;
    UChar text[64];
    int length = uset_getItem(contractions, item, &start, &end, text, 64, &error);
    if (length >= 2) print_elements(collator, text, length);
  }
  return U_FAILURE(error);
}
