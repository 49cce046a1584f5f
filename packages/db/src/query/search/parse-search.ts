/** What is searched for: `quick bro*` (words, and what begins with a word), `"brown fox"` (words next to each other, in order). */
import { wordFinder } from '../../index/text/words.ts'

export interface SearchTerm {
  readonly word: string
  /** Whatever begins with it. */
  readonly isPrefix: boolean
}

export interface ParsedSearch {
  /** None twice. */
  readonly terms: readonly SearchTerm[]
  /** Of two words at least. */
  readonly phrases: readonly (readonly string[])[]
}

/** Words of one search. */
export const SEARCH_TERMS_MAX = 100

export function parseSearch(text: string, language: string | undefined): ParsedSearch {
  const findWords = wordFinder(language)
  const terms = new Map<string, SearchTerm>()
  const phrases: string[][] = []
  const add = (word: string, isPrefix: boolean): void => {
    terms.set(`${word}${isPrefix ? '*' : ''}`, { word, isPrefix })
  }
  for (const [part, quoted] of text.matchAll(/"([^"]*)"|[^\s"]+/g)) {
    const words = findWords(quoted ?? part)
    const isPrefix = quoted === undefined && part.endsWith('*')
    words.forEach((word, at) => add(word, isPrefix && at === words.length - 1))
    if (quoted !== undefined && words.length > 1) phrases.push(words)
  }
  return { terms: [...terms.values()].slice(0, SEARCH_TERMS_MAX), phrases }
}
