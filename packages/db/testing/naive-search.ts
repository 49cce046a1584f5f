/** BM25 as in the textbook, over all documents: searches are compared with it. */
import { lengthCode, lengthOf } from '../src/index/text/text-entries.ts'

export interface NaiveText {
  readonly id: string
  /** One for each field, or each string in it. */
  readonly texts: readonly string[]
}

/** For texts of plain lower-case words. */
const wordsOf = (text: string): string[] => text.split(/[^a-z0-9]+/).filter((word) => word !== '')

/** Scores by id, of those that are found. `terms`: 'word' or 'pre*'. */
export function naiveSearch(
  documents: readonly NaiveText[],
  terms: readonly string[],
  match: 'all' | 'any',
): Map<string, number> {
  const all = documents
    .map(({ id, texts }) => ({ id, words: texts.flatMap(wordsOf) }))
    .filter(({ words }) => words.length > 0)
    .map((one) => ({ ...one, length: lengthOf(lengthCode(one.words.length)) }))
  const average = all.reduce((sum, { length }) => sum + length, 0) / Math.max(1, all.length)
  const frequency = (words: readonly string[], term: string): number =>
    words.filter((word) => (term.endsWith('*') ? word.startsWith(term.slice(0, -1)) : word === term)).length
  const scores = new Map<string, number>()
  for (const { id, words, length } of all) {
    let score = 0
    let met = 0
    for (const term of terms) {
      const count = frequency(words, term)
      if (count === 0) continue
      met++
      const having = all.filter((other) => frequency(other.words, term) > 0).length
      const rarity = Math.log(1 + (all.length - having + 0.5) / (having + 0.5))
      score += (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average))
    }
    if (met > 0 && (match === 'any' || met === terms.length)) scores.set(id, score)
  }
  return scores
}
