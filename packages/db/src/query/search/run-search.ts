/** Runs a search: matches words in the index, ranks, then reads the wanted documents, best first. */
import { PannierError } from '../../base/errors.ts'
import type { BodyView } from '../../document/body.ts'
import type { IndexDefinition } from '../../document/catalog.ts'
import { isAlways } from '../ast/normalise.ts'
import { compileCondition } from '../match.ts'
import { BATCH_ROWS_MAX } from '../operators/operator.ts'
import { bodyFields, compileProjection } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import { parseSearch, type ParsedSearch, countTerms, hasPhrases, TermMatcher, wordsOf } from './match-terms.ts'
import type { ScoredRow, SearchExplanation, SearchSpecification } from './search-specification.ts'

export { documentsWith, hasSearched, parseSearch, wordsOf } from './match-terms.ts'

/** Documents of the first batch that is read. */
const BATCH_FIRST = 64

export class SearchRun {
  readonly #source: QuerySource
  readonly #specification: SearchSpecification
  readonly #check: () => void
  readonly #index: IndexDefinition
  readonly #parsed: ParsedSearch

  /** `check` is called again and again, and may throw. */
  constructor(source: QuerySource, specification: SearchSpecification, check: () => void) {
    this.#source = source
    this.#specification = specification
    this.#check = check
    this.#index = chooseIndex(source, specification.index)
    this.#parsed = parseSearch(specification.text, this.#index.text!.language)
  }

  async explain(): Promise<SearchExplanation> {
    const { terms, phrases } = this.#parsed
    const counts = await this.#source.attempt(() => countTerms(this.#source.index(this.#index), terms))
    return {
      index: this.#index.name,
      documents: counts.documents,
      terms: terms.map((term, at) => ({ ...term, postings: counts.postings[at]! })),
      phrases,
      readsDocuments: this.#isFiltered,
    }
  }

  async count(): Promise<number> {
    const { terms } = this.#parsed
    const [only] = terms
    if (!this.#isFiltered) {
      if (terms.length === 1 && !only!.isPrefix) {
        const counts = await this.#source.attempt(() => countTerms(this.#source.index(this.#index), terms))
        return counts.postings[0]!
      }
      return (await this.#scores()).size
    }
    let count = 0
    for await (const bodies of this.#matches(ranked(await this.#scores(), Infinity))) count += bodies.length
    return count
  }

  /** The rows that are wanted, best first. */
  async *rows(): AsyncGenerator<ScoredRow<object>[], void, undefined> {
    const { skip, limit, fields } = this.#specification
    const { documents } = this.#source
    if (limit === 0) return
    const scores = await this.#scores()
    const read =
      fields === undefined
        ? (body: BodyView): object => documents.decode(body)
        : compileProjection(fields, bodyFields(documents))
    let best = ranked(scores, this.#isFiltered ? Infinity : skip + limit)
    let [toSkip, left] = [skip, limit]
    if (!this.#isFiltered) {
      best = best.slice(skip, skip + limit)
      toSkip = 0
    }
    for await (const bodies of this.#matches(best)) {
      const wanted = bodies.slice(toSkip, toSkip + left)
      toSkip -= Math.min(toSkip, bodies.length)
      left -= wanted.length
      if (wanted.length > 0) {
        yield wanted.map((body) => ({ score: scores.get(body.number)!, document: read(body) }))
      }
      if (left === 0) return
    }
  }

  get #isFiltered(): boolean {
    return !isAlways(this.#specification.condition) || this.#parsed.phrases.length > 0
  }

  async #scores(): Promise<ReadonlyMap<number, number>> {
    const { terms } = this.#parsed
    if (terms.length === 0) return new Map()
    const tree = this.#source.index(this.#index)
    const counts = await this.#source.attempt(() => countTerms(tree, terms))
    const matcher = new TermMatcher(tree, terms, counts, this.#specification.match === 'all')
    do this.#check()
    while (!(await this.#source.attempt(() => matcher.step())))
    return matcher.scores
  }

  /** The documents with these numbers, in that order, as far as they meet selector and phrases; batch by batch. */
  async *#matches(numbers: readonly number[]): AsyncGenerator<readonly BodyView[], void, undefined> {
    const { documents } = this.#source
    const fields = bodyFields(documents)
    const test = compileCondition(this.#specification.condition, fields)
    const hasAll = this.#phraseTest(fields)
    let batchRows = BATCH_FIRST
    for (let at = 0; at < numbers.length; batchRows = Math.min(batchRows * 2, BATCH_ROWS_MAX)) {
      this.#check()
      const batch = numbers.slice(at, at + batchRows)
      const bodies = await this.#source.attempt(() => documents.someBodiesOf(batch))
      at += bodies.length
      yield bodies.filter((body) => test(body) && hasAll(body))
    }
  }

  #phraseTest(fields: ReturnType<typeof bodyFields>): (body: BodyView) => boolean {
    const { phrases } = this.#parsed
    if (phrases.length === 0) return () => true
    const { language } = this.#index.text!
    const readers = this.#index.fields.map(({ path }) => fields(path))
    return (body) => {
      const values = readers.map((read) => read(body))
      return hasPhrases(phrases, wordsOf(values, language))
    }
  }
}

/** The best `wanted` documents, best first; among equals the oldest first. */
function ranked(scores: ReadonlyMap<number, number>, wanted: number): number[] {
  const compare = (left: number, right: number): number => scores.get(right)! - scores.get(left)! || left - right
  let best: number[] = []
  for (const number of scores.keys()) {
    best.push(number)
    if (best.length >= 2 * wanted + BATCH_ROWS_MAX) best = best.sort(compare).slice(0, wanted)
  }
  return best.sort(compare).slice(0, wanted)
}

function chooseIndex({ indexes }: QuerySource, name: string | undefined): IndexDefinition {
  const texts = indexes.filter((index) => index.text !== undefined && (name === undefined || index.name === name))
  const index = texts.find(({ builtTo }) => builtTo === undefined)
  if (index !== undefined) return index
  const why =
    texts.length > 0
      ? 'is being built: wait for ready()'
      : "does not exist; give collection() { indexes: [{ on: 'title', text: true }] }, with your field"
  throw new PannierError('PANNIER_NOT_FOUND', `The text index ${name === undefined ? '' : `'${name}' `}${why}.`, {
    details: { index: name, building: texts.length > 0 },
  })
}
