/**
 * Splits text into words, the same way for documents and searches: lower-cased, without diacritics, compatibility
 * characters as plain ones.
 *
 * Intl.Segmenter finds words, also in languages that write without spaces. In an engine without it, a word is a run of
 * letters, marks, digits and underscores; text without spaces is then one word. Engines may disagree with each other,
 * and with their next version. So an index never relies on finding the same words in the same text again
 * (text-entries.ts).
 */

/** Longer words are cut off, in documents and in searches alike. */
export const WORD_CHARS_MAX = 64

/** The words of a text, in order. */
export type FindWords = (text: string) => string[]

const finders = new Map<string | undefined, FindWords>()

export function wordFinder(language: string | undefined): FindWords {
  let finder = finders.get(language)
  if (finder === undefined) finders.set(language, (finder = makeFinder(language)))
  return finder
}

/** As words are compared. */
export function foldWord(word: string, language: string | undefined): string {
  if (PLAIN_WORD.test(word)) return language === undefined ? word.toLowerCase() : word.toLocaleLowerCase(language)
  const bare = word.normalize('NFKD').replace(DIACRITICS, '').normalize('NFC')
  return (language === undefined ? bare.toLowerCase() : bare.toLocaleLowerCase(language)).replace(DIACRITICS, '')
}

const PLAIN_WORD = /^[0-9A-Za-z_']*$/
/** Marks of other scripts carry meaning: they stay. */
const DIACRITICS = /[\u0300-\u036f]+/g
/** Not `isWordLike`: WebKit says of `a0"` that it has no word. */
const WORD = /[\p{L}\p{N}]/u
const WORD_RUNS = /[\p{L}\p{M}\p{N}_]+/gu
/** Text in which all engines agree and which needs no segmenter: the bulk of most texts. */
const PLAIN_TEXT = /^(?:[0-9A-Za-z \t\r\n!?()[\]{}"<>/=+*&%$#@|~^`\\-]|[.,:;'](?![0-9A-Za-z]))*$/
const PLAIN_RUNS = /[0-9A-Za-z]+/g

function makeFinder(language: string | undefined): FindWords {
  const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter(language, { granularity: 'word' }) : undefined
  return (text) => {
    const words: string[] = []
    const add = (segment: string): void => {
      const word = foldWord(segment, language).slice(0, WORD_CHARS_MAX)
      if (word !== '') words.push(word)
    }
    if (PLAIN_TEXT.test(text)) for (const run of text.match(PLAIN_RUNS) ?? []) add(run)
    else if (segmenter === undefined) for (const run of text.match(WORD_RUNS) ?? []) add(run)
    else for (const { segment } of segmenter.segment(text)) if (WORD.test(segment)) add(segment)
    return words
  }
}
