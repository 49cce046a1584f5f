/** Variants that are measured: contenders of the catalog, each in its possible states. */
import { CONTENDERS, factsOf } from '../contenders/catalog.ts'
import type { Place } from '../contenders/catalog.ts'

/** 'clean': closed. 'killed': the browser was killed while the log was full. 'encrypted': closed, by the key of a device. */
export const STATES = ['clean', 'killed', 'encrypted'] as const
export type State = (typeof STATES)[number]

export interface Variant {
  /** Contender and state. */
  readonly name: string
  readonly contender: string
  readonly state: State
  /** The file of its app. */
  readonly app: string
}

const MEASURED = [
  'pannier',
  'pannier-opfs',
  'indexed-db',
  'dexie',
  'rxdb',
  'pouchdb-indexeddb',
  'sqlite-wasm',
  'node-sqlite',
]

/** Names of contenders. */
export const MEASURABLE: readonly string[] = CONTENDERS.map(({ name }) => name).filter((name) =>
  MEASURED.includes(name),
)

export function variantsIn(place: Place, contenders: readonly string[], states: readonly State[]): Variant[] {
  return contenders
    .filter((contender) => factsOf(contender).places.includes(place))
    .flatMap((contender) => states.flatMap((state) => variantOf(contender, state) ?? []))
}

/** The variant of a contender; undefined for other contenders, which have neither a log nor encryption. */
function variantOf(contender: string, state: State): Variant | undefined {
  if (state === 'clean') return { name: contender, contender, state, app: contender }
  if (!contender.startsWith('pannier')) return undefined
  const app = state === 'encrypted' ? `${contender}-encrypted` : contender
  return { name: `${contender}, ${state}`, contender, state, app }
}
