/** The columns of the table of cities. */
import { countryName } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { formatCount } from '../shared/format.ts'
import type { SortColumn } from './view.ts'

export interface Column {
  readonly title: string
  /** Names the column in the style sheet. */
  readonly className: string
  /** Absent for a column that can't be sorted by. */
  readonly sort?: SortColumn
  /** True if the first click on the column head sorts in descending order. */
  readonly descendingFirst?: boolean
  text(city: City, rank: number): string
}

export const COLUMNS: readonly Column[] = [
  { title: 'Rank', className: 'number rank', text: (_, rank) => formatCount(rank + 1) },
  { title: 'Name', className: 'name', sort: 'name', text: (city) => city.name },
  { title: 'Country', className: 'country', sort: 'country', text: (city) => countryName(city.country) },
  {
    title: 'Population',
    className: 'number population',
    sort: 'population',
    descendingFirst: true,
    text: (city) => formatCount(city.population),
  },
  {
    title: 'Latitude',
    className: 'number faint lat',
    sort: 'lat',
    descendingFirst: true,
    text: (city) => degrees(city.lat, 'N', 'S'),
  },
  { title: 'Longitude', className: 'number faint lon', text: (city) => degrees(city.lon, 'E', 'W') },
  { title: 'Kind', className: 'faint kind', text: (city) => KINDS.get(city.featureCode) ?? city.featureCode },
]

/** The kinds of places: GeoNames feature codes, shortened. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    PPL: 'Place',
    PPLA: 'Regional seat',
    PPLA2: 'District seat',
    PPLA3: 'Municipal seat',
    PPLA4: 'Local seat',
    PPLA5: 'Local seat',
    PPLC: 'Capital',
    PPLCH: 'Former capital',
    PPLF: 'Farm village',
    PPLG: 'Seat of government',
    PPLH: 'Historical place',
    PPLL: 'Locality',
    PPLQ: 'Abandoned place',
    PPLR: 'Religious place',
    PPLS: 'Places',
    PPLW: 'Destroyed place',
    PPLX: 'Part of a city',
    STLMT: 'Settlement',
  }),
)

function degrees(value: number, positive: string, negative: string): string {
  return `${Math.abs(value).toFixed(2)}° ${value < 0 ? negative : positive}`
}
