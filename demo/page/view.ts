/** The visitor's choice, as plain data: filter and order, and the query that they make. */
import type { Selector as SelectorOf } from 'pannier'
import type { FieldPath, OrderedPath } from 'pannier/types'
import { foldName } from '../shared/city.ts'
import type { City } from '../shared/city.ts'

export interface Filter {
  readonly name: string
  readonly nameMode: 'begins' | 'contains' | 'words'
  /** The country; empty for all. */
  readonly country: string
  readonly populationMin: number | undefined
  readonly populationMax: number | undefined
}

export type SortColumn = 'name' | 'country' | 'population' | 'lat'

export interface Order {
  readonly column: SortColumn
  readonly descending: boolean
}

export interface View {
  readonly filter: Filter
  readonly order: Order
}

export type Selector = SelectorOf<City>
type SortField = OrderedPath<FieldPath<City>>

const SORT_FIELDS: Readonly<Record<SortColumn, readonly SortField[]>> = {
  name: ['foldedName'],
  country: ['country', '-population'],
  population: ['population'],
  lat: ['lat'],
}

export function toSelector(filter: Filter): Selector {
  const name = filter.nameMode === 'words' ? '' : foldName(filter.name)
  const population = {
    ...(filter.populationMin === undefined ? {} : { $gte: filter.populationMin }),
    ...(filter.populationMax === undefined ? {} : { $lte: filter.populationMax }),
  }
  return {
    ...(filter.country === '' ? {} : { country: filter.country }),
    ...(name === ''
      ? {}
      : { foldedName: filter.nameMode === 'begins' ? { $beginsWith: name } : { $regex: escaped(name) } }),
    ...(Object.keys(population).length === 0 ? {} : { population }),
  }
}

/** The words to search for, if any; the last one may be half typed. */
export function toSearch({ name, nameMode }: Filter): string | undefined {
  if (nameMode !== 'words' || name.trim() === '') return undefined
  return /[\p{L}\p{N}]$/u.test(name) ? `${name.trimStart()}*` : name.trim()
}

export function toSort(order: Order): SortField[] {
  const fields = SORT_FIELDS[order.column]
  return order.descending
    ? fields.map((field) => (field.startsWith('-') ? field.slice(1) : `-${field}`) as SortField)
    : [...fields]
}

export function isFiltered(filter: Filter): boolean {
  return toSearch(filter) !== undefined || Object.keys(toSelector(filter)).length > 0
}

/** The source of a regular expression that finds just this text. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
