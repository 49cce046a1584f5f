/** Map and reduce functions of PouchDB as those of the library. They are texts, or functions that see nothing around them. */
import { functionOf } from '#platform'
import type { Emit, JsonObject, Stored, ViewDefinition } from 'pannier'
import { LruMap, toCouchDocument } from 'pannier/internal'
import { guardedConsole } from 'pouchdb-utils'
import type { Pouch } from '../pouch.ts'
import { CODE_UNIT_ORDER } from '../code-unit-order.ts'
import { keyOf } from './query-options.ts'

/** The text of a function, or the function. */
type Source = string | ((...given: never[]) => unknown)

/** A view as `query()` and design documents have it. */
export interface PouchView {
  readonly map: Source
  readonly reduce?: Source | false | undefined
}

type Definition = ViewDefinition<Stored<JsonObject>, unknown, unknown, unknown>
type MapFunction = (document: object, emit: Emit) => unknown

/** The number of views whose functions are kept. */
const COMPILED_MAX = 200

export class ViewFunctions {
  readonly #api: Pouch
  readonly #compiled = new LruMap<string, Definition>(COMPILED_MAX)

  constructor(api: Pouch) {
    this.#api = api
  }

  definition({ map, reduce }: PouchView): Definition {
    // Such a function is called as it is, and may see what is around it. So its rows are made again for each query.
    if (typeof map === 'function' && map.length === 2) return this.#parts(map as MapFunction, reduce)
    const key = JSON.stringify([String(map), reduce === undefined ? '' : String(reduce)])
    let made = this.#compiled.get(key)
    if (made === undefined) {
      made = { ...this.#parts(mapOf(String(map)), reduce), version: key }
      this.#compiled.set(key, made)
    }
    return made
  }

  #parts(map: MapFunction, reduce: PouchView['reduce']): Definition {
    return {
      map: (document, emit) => {
        try {
          map(toCouchDocument(document), (key, value) => emit(keyOf(key), value === undefined ? null : value))
        } catch (error) {
          this.#report(error)
          throw error
        }
      },
      collation: CODE_UNIT_ORDER,
      ...(reduce ? { reduce: this.#reducer(String(reduce)) } : {}),
    }
  }

  #reducer(source: string): unknown {
    const builtIn = /^_(?:sum|count|stats)/.exec(source)?.[0]
    if (builtIn !== undefined) return builtIn
    if (source.startsWith('_')) throw new Error(`${source} is not a supported reduce function.`)
    const reduce = compiled(source, HELPERS)
    return (...given: unknown[]) => {
      try {
        return reduce(...given)
      } catch (error) {
        this.#report(error)
        return null
      }
    }
  }

  /** As in PouchDB, the document has no rows, and listeners of the database hear of it. */
  #report(error: unknown): void {
    try {
      this.#api.emit('error', error)
    } catch {
      guardedConsole('error', 'A map or reduce function threw an error. Listen to it: db.on("error", …)', error)
    }
  }
}

/** Functions that those of views may call, as in PouchDB. */
const HELPERS: Readonly<Record<string, unknown>> = {
  isArray: Array.isArray,
  toJSON: JSON.parse,
  log: () => {},
  sum: (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0),
}

function mapOf(source: string): MapFunction {
  let current: Emit | undefined
  const map = compiled(source, { ...HELPERS, emit: (key: unknown, value: unknown) => current!(key, value) })
  return (document, emit) => {
    current = emit
    map(document, emit)
  }
}

function compiled(source: string, globals: Readonly<Record<string, unknown>>): (...given: unknown[]) => unknown {
  const made = functionOf(`(${source.trim().replace(/;$/, '')})`, globals)
  if (typeof made !== 'function') throw new TypeError(`query(): map and reduce must be functions, got ${source}`)
  return made as (...given: unknown[]) => unknown
}
