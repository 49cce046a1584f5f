/**
 * The documents that every contender stores. They come from a seed, so every process, page and contender has the same
 * ones. Each depends only on its number, so a page that needs a few ids need not make all documents.
 */

export interface Person {
  readonly _id: string
  readonly name: string
  readonly email: string
  readonly city: string
  readonly country: string
  readonly age: number
  readonly score: number
  readonly active: boolean
  readonly created: string
  readonly tags: readonly string[]
  readonly bio: string
}

/** 'random': no relation between the order of ids and that of insertion. 'ascending': inserted in the order of ids. */
export type IdOrder = 'random' | 'ascending'

export interface DataSet {
  readonly documents: number
  readonly seed: number
  readonly ids: IdOrder
}

const AGE_MIN = 18
const AGES = 80
const CITIES = 50
const COUNTRIES = 100
const BIO_WORDS = 20

const firstNames = words(
  'Ann Bo Carl Dora Emil Fay Gus Hanna Ivo Jill Kurt Lena Max Nora Otto Pia Ralf Siri Tom Una Vera Will Xenia Yann Zoe',
)
const lastNames = words(
  'Adler Berg Claes Dahl Eriksen Falk Grieg Holm Ibsen Jensen Krogh Lund Moe Nilsen Olsen Prydz Quist Ruud Strand Thoresen',
)
const domains = words('example.org example.com example.net mail.example')
const tags = words(
  'vip new beta staff news alpha north south east west gold silver late early remote office night day test trial',
)
const bioWords = words(
  'likes long walks coffee boats maps old trains quiet rooms and paints small harbours in winter while reading about rivers',
)
const cities: readonly string[] = Array.from(
  { length: CITIES },
  (_, i) => `${lastNames[i % 20]}${words('by stad ville')[i % 3]}${i}`,
)
const countries: readonly string[] = Array.from({ length: COUNTRIES }, (_, i) => letter(i / 10) + letter(i % 10))

/** Document number `index` of the set; numbers from `documents` on are those that workloads insert later. */
export function makePerson(set: DataSet, index: number): Person {
  const random = seededRandom(set.seed, index)
  const _id = makeId(set, index)
  const first = pick(firstNames, random())
  const last = pick(lastNames, random())
  return {
    _id,
    name: `${first} ${last}`,
    email: `${first}.${last}.${index}@${pick(domains, random())}`.toLowerCase(),
    city: pick(cities, random()),
    country: pick(countries, random()),
    age: AGE_MIN + Math.floor(random() * AGES),
    score: Math.floor(random() * 100_000) / 100,
    active: random() < 0.7,
    created: new Date(1_600_000_000_000 + Math.floor(random() * 1e11)).toISOString(),
    tags: Array.from({ length: Math.floor(random() * 5) }, () => pick(tags, random())),
    bio: Array.from({ length: BIO_WORDS }, () => pick(bioWords, random())).join(' '),
  }
}

export function makePeople(set: DataSet, from: number, to: number): Person[] {
  return Array.from({ length: to - from }, (_, i) => makePerson(set, from + i))
}

export function makeId(set: DataSet, index: number): string {
  if (set.ids === 'ascending') return `p${String(index).padStart(9, '0')}`
  const random = seededRandom(set.seed ^ 0x1d5, index)
  const part = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return part() + part()
}

/** Ids of stored documents at random, the same for the same salt; one may occur twice. */
export function sampleIds(set: DataSet, count: number, salt: number): string[] {
  const random = seededRandom(set.seed + salt, set.documents)
  return Array.from({ length: count }, () => makeId(set, Math.floor(random() * set.documents)))
}

/** Applies update number `turn` to a document. Every second update changes an indexed field. */
export function changePerson<P extends Person>(person: P, turn: number): P {
  if (turn % 2 === 0) return { ...person, age: AGE_MIN + ((person.age - AGE_MIN + 7) % AGES) }
  return { ...person, bio: `${person.bio.slice(8)} changed` }
}

/** Matches one document in fifty: 2,000 of 100,000. */
export const someCity: string = cities[7]!
/** Another city of the same size, for a first query whose pages no other query has read. */
export const otherCity: string = cities[31]!
/** Matches one document in a hundred. */
export const someCountry: string = countries[42]!
/** Matches one document in eight. */
export const someAges: { readonly gte: number; readonly lt: number } = { gte: 30, lt: 40 }

/** Independent of order, and equal for equal sets of documents. */
export function checksum(texts: Iterable<string>): string {
  let sum = 0
  let count = 0
  for (const text of texts) {
    let hash = 0x811c9dc5
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    sum = (sum + (hash >>> 0)) % 2 ** 32
    count += 1
  }
  return `${count}:${sum.toString(16)}`
}

/** Mulberry32, started from both numbers: uniform in [0, 1). */
export function seededRandom(seed: number, stream: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<T>(list: readonly T[], random: number): T {
  return list[Math.floor(random * list.length)]!
}

function words(text: string): readonly string[] {
  return text.split(' ')
}

function letter(number: number): string {
  return String.fromCharCode(65 + Math.floor(number))
}
