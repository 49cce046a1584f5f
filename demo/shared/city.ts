/** A city as the demo stores it, and the indexes that answer the page's questions; the same in Node and in the browser. */
import type { IndexInput } from 'pannier'
import type { FieldPath } from 'pannier/types'

export interface City {
  readonly _id: string
  readonly name: string
  /** The name without case and accents, by which people expect lists to be sorted and searched. */
  readonly foldedName: string
  /** The country's code of ISO 3166-1 alpha-2. */
  readonly country: string
  readonly population: number
  readonly lat: number
  readonly lon: number
  /** GeoNames feature code, e.g. PPLC for a capital. */
  readonly featureCode: string
  readonly adminCode: string
  /** Free text of a visitor. */
  readonly note?: string
  /** The copy in which it was last edited, and when (ISO 8601): distinguishes the versions of a conflict. */
  readonly editedIn?: string
  readonly editedAt?: string
}

export const COLLECTION = 'cities'
/** The name of a city's one attachment. */
export const PHOTO = 'photo'

/**
 * Indexes for each order of the page, for all cities and for those of a country. The second field of the first two allows testing a text
 * or a range without reading documents. The last one finds words.
 */
export const INDEXES: readonly IndexInput<FieldPath<City>>[] = [
  ['foldedName', 'population'],
  ['population', 'foldedName'],
  'lat',
  ['country', '-population'],
  ['country', 'foldedName'],
  ['country', 'lat'],
  { on: ['name', 'note'], text: true },
]

/** Letters that are no plain letter with an accent. */
const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ æ: 'ae', œ: 'oe', ø: 'o', ß: 'ss', þ: 'th', ð: 'd', đ: 'd', ħ: 'h', ı: 'i', ł: 'l', ə: 'e' }),
)

/** Lower case, without accents and apostrophes: 'Zürich' and 'ZURICH' both give 'zurich', '‘Ibrī' gives 'ibri'. */
export function foldName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[\p{Mn}\p{Lm}‘’'`]+/gu, '')
    .toLowerCase()
    .replace(/[æœøßþðđħıłə]/g, (letter) => PLAIN_LETTERS.get(letter) ?? letter)
    .trim()
}

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

/** The English name of a country, else the code itself. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (COUNTRY_NAMES.of(code) ?? code) : code
}
