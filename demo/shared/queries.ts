/** The queries that the terminal and the page both run, and how they are timed. */
import type { Collection } from 'pannier'
import { countryName } from './city.ts'
import type { City } from './city.ts'
import { formatCount } from './format.ts'

export interface Question {
  readonly title: string
  /** The code of the call, as a person would write it. */
  readonly code: string
  ask(): Promise<string>
}

export interface Timing {
  readonly answer: string
  /** The first run, including all that had to be read. */
  readonly firstMs: number
  /** The median of the times after it. */
  readonly againMs: number
}

/** The repeats of a question after the first time. */
export const REPEATS = 9
const PAGE_ROWS = 20
const ZURICH = '2657896'

export function questions(cities: Collection<City>, documents: number): Question[] {
  const page = Math.min(5_000, Math.max(1, Math.floor(documents / PAGE_ROWS)))
  const skip = (page - 1) * PAGE_ROWS
  return [
    {
      title: 'One city by its id',
      code: `cities.get('${ZURICH}')`,
      ask: async () => {
        const city = await cities.get(ZURICH)
        return city ? `${city.name}, ${countryName(city.country)}: ${formatCount(city.population)}` : 'not there'
      },
    },
    {
      title: 'The five largest of Japan',
      code: `cities.find({ country: 'JP' }).sort('-population').limit(5)`,
      ask: async () => {
        const rows = await cities.find({ country: 'JP' }).sort('-population').limit(5).toArray()
        return rows.map((city) => city.name).join(', ') || 'none'
      },
    },
    {
      title: 'How many have 100,000 to 1 million people',
      code: 'cities.find({ population: { $gte: 100_000, $lt: 1_000_000 } }).count()',
      ask: async () => formatCount(await cities.find({ population: { $gte: 100_000, $lt: 1_000_000 } }).count()),
    },
    {
      title: `Page ${formatCount(page)} by name, ${PAGE_ROWS} a page`,
      code: `cities.find().sort('foldedName').skip(${skip}).limit(${PAGE_ROWS})`,
      ask: async () => {
        const rows = await cities.find().sort('foldedName').skip(skip).limit(PAGE_ROWS).toArray()
        return rows.length === 0 ? 'no such page' : `${rows[0]?.name} … ${rows.at(-1)?.name}`
      },
    },
    {
      title: 'The three that match “new york” best',
      code: `cities.search('new york').limit(3)`,
      ask: async () => {
        const rows = await cities.search('new york').limit(3).toArray()
        return rows.map((city) => city.name).join(', ') || 'none'
      },
    },
    {
      title: 'Names with “burg” in them (no index)',
      code: `cities.find({ name: { $regex: 'burg', $options: 'i' } }).count()`,
      ask: async () => formatCount(await cities.find({ name: { $regex: 'burg', $options: 'i' } }).count()),
    },
    {
      title: 'How many in all',
      code: 'cities.find().count()',
      ask: async () => formatCount(await cities.find().count()),
    },
  ]
}

export async function time(question: Question): Promise<Timing> {
  let started = performance.now()
  const answer = await question.ask()
  const firstMs = performance.now() - started
  const laterMs: number[] = []
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    started = performance.now()
    await question.ask()
    laterMs.push(performance.now() - started)
  }
  laterMs.sort((a, b) => a - b)
  return { answer, firstMs, againMs: laterMs[REPEATS >> 1] ?? firstMs }
}
