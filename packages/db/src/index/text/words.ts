/**
 * What the words of a text are, the same for documents and for searches: lower-cased, without diacritics, compatibility
 * characters as plain ones.
 *
 * Intl.Segmenter finds them, also in languages that write without spaces. Where an engine has none, a word is a run of letters,
 * marks, digits and underscores; text without spaces is then one word. Engines may disagree with each other, and with their own
 * next version: so an index never relies on finding the same words in the same text again (text-entries.ts).
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
const WORD_RUNS = /[\p{L}\p{M}\p{N}_]+/gu
/**
 * Scripts that write spaces, and nothing that joins a space: there white space ends a word whatever stands around it (UAX 29:
 * no rule looks across it), so what stands between is segmented alone, and remembered.
 */
const SPACED_TEXT = /^[\t\n\r\x20-\x7e\xa1-\xac\xae-\u024f\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*$/
const BETWEEN_SPACES = /[^\t\n\r ]+/g
/** In which all engines agree, and which needs no segmenter. */
const PLAIN_TEXT = /^(?:[0-9A-Za-z!?()[\]{}"<>/=+*&%$#@|~^`\\-]|[.,:;'](?![0-9A-Za-z]))*$/
const PLAIN_RUNS = /[0-9A-Za-z]+/g

const REMEMBERED_MAX = 50_000
const REMEMBERED_CHARS_MAX = 32

function makeFinder(language: string | undefined): FindWords {
  const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter(language, { granularity: 'word' }) : undefined
  const remembered = new Map<string, readonly string[]>()
  const find = (text: string, words: string[]): string[] => {
    const add = (segment: string): void => {
      const word = foldWord(segment, language).slice(0, WORD_CHARS_MAX)
      if (word !== '') words.push(word)
    }
    if (PLAIN_TEXT.test(text)) for (const run of text.match(PLAIN_RUNS) ?? []) add(run)
    else if (segmenter === undefined) for (const run of text.match(WORD_RUNS) ?? []) add(run)
    else for (const { segment, isWordLike } of segmenter.segment(text)) if (isWordLike === true) add(segment)
    return words
  }
  const remember = (part: string): readonly string[] => {
    const words = find(part, [])
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    // A copy: engines keep the whole text for the sake of a part of it.
    remembered.set(` ${part}`.slice(1), words)
    return words
  }
  return (text) => {
    const words: string[] = []
    if (!SPACED_TEXT.test(text)) return find(text, words)
    for (const part of text.match(BETWEEN_SPACES) ?? []) {
      if (part.length > REMEMBERED_CHARS_MAX) find(part, words)
      else for (const word of remembered.get(part) ?? remember(part)) words.push(word)
    }
    return words
  }
}
