/**
 * Makes functions of a design document callable: views (as Pannier runs them), filters and `validate_doc_update`. They
 * run in the sandbox. `shows`, `lists`, `updates` and `rewrites` are not offered: CouchDB deprecates them, and they let
 * a document answer requests.
 *
 * As in CouchDB, a document has no rows if a map function throws or exceeds its budget for it. The update of the view
 * fails if that happens too often, because the function must then be broken. It also fails if time runs out, because
 * another try may succeed.
 */
import { createHash } from 'node:crypto'
import { PannierError } from 'pannier'
import type { Emit, ViewDefinition } from 'pannier'
import { isObject, toCouchDocument } from 'pannier/internal'
import type { BuiltInReduce, ReduceFunction } from 'pannier/types'
import { DesignFunctionError } from '../sandbox/design-function-error.ts'
import { outcomesOf } from '../sandbox/outcomes.ts'
import { EXCEEDED_MAX, type FailureKind, type Outcome } from '../sandbox/protocol.ts'
import type { ProgramOwner, Sandbox, SandboxProgram } from '../sandbox/sandbox.ts'
import { ServiceError } from '@pannier/backend'
import { forbidden } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { COUCHDB_MEANING } from './collation/root-collation.ts'
import type { FilterContext, UserContext } from './filter-request.ts'

export type DesignViewDefinition = ViewDefinition<
  JsonObject,
  unknown,
  unknown,
  BuiltInReduce | ReduceFunction | undefined
>

export interface DesignView {
  /** For `collection.view`. */
  readonly definition: DesignViewDefinition
  /** The name in `reduce`, if no such function exists. */
  readonly unknownReduce: string | undefined
  /** For each document, whether the map function emits anything: `filter=_view`. */
  emits(documents: readonly JsonObject[]): Promise<boolean[]>
}

/** For each document whether it passes. @throws DesignFunctionError what the function throws: left out, a document would never come again. */
type DesignFilter = (documents: readonly JsonObject[], request: FilterContext) => Promise<boolean[]>

/** @throws ServiceError FORBIDDEN, UNAUTHENTICATED if the document is refused, or if the function fails. DesignFunctionError if it could not be run. */
export type ValidateFunction = (
  newDocument: JsonObject,
  oldDocument: JsonObject | undefined,
  user: UserContext,
  security: JsonObject,
) => Promise<void>

export interface DesignFunctions {
  readonly views: ReadonlyMap<string, DesignView>
  readonly filters: ReadonlyMap<string, DesignFilter>
  readonly validate: ValidateFunction | undefined
  /** @throws DesignFunctionError naming the first value that is not a function, for a 400 `compilation_error` */
  check(what: 'all' | 'validation'): Promise<void>
}

export interface DesignLog {
  /** A function has failed for a document, or was stopped. */
  warn(details: JsonObject, message: string): void
}

/** Part of each version: raised when the same source would emit something else. */
const SANDBOX_VERSION = 1
const BUILT_IN: ReadonlySet<unknown> = new Set(['_sum', '_count', '_stats', '_approx_count_distinct'])
const VALIDATE = 'validate_doc_update'

/** Nothing is compiled before it is called. `database` names the database in this life of it. */
export function designFunctions(
  document: JsonObject,
  sandbox: Sandbox,
  database: string,
  log?: DesignLog,
): DesignFunctions {
  const { language = 'javascript', views, filters, [VALIDATE]: validate } = document
  const isScript = language === 'javascript'
  const id = String(document['_id'])
  const shared: Shared = { id, sandbox, log, owner: { database, design: JSON.stringify([database, id]) } }
  const viewFunctions = isScript ? viewsOf(views, shared) : new Map<string, ViewFunctions>()
  const filterSources = isScript ? textsOf(filters) : new Map<string, string>()
  const validateSource = isScript && typeof validate === 'string' ? validate : undefined
  const functions = {
    ...Object.fromEntries(Array.from(filterSources, ([name, source]) => [`filter/${name}`, source])),
    ...(validateSource !== undefined && { [VALIDATE]: validateSource }),
  }
  const program = sandbox.program({ functions, modules: document }, shared.owner)
  const all = Array.from(viewFunctions.values(), (view) => view.check)
  all.push(...Object.keys(functions).map((name) => () => checkFunction(program, name, name)))
  return {
    views: viewFunctions,
    filters: new Map(Array.from(filterSources.keys(), (name) => [name, filterOf(program, name, shared)])),
    validate: validateSource === undefined ? undefined : validateOf(program, shared),
    check: async (what) => {
      if (what === 'all') for (const check of all) await check()
      else if (validateSource !== undefined) await checkFunction(program, VALIDATE, VALIDATE)
    },
  }
}

interface Shared {
  readonly id: string
  readonly sandbox: Sandbox
  readonly log: DesignLog | undefined
  readonly owner: ProgramOwner
}

interface ViewFunctions extends DesignView {
  check(): Promise<void>
}

function viewsOf(views: unknown, shared: Shared): Map<string, ViewFunctions> {
  const found = new Map<string, ViewFunctions>()
  if (!isObject(views)) return found
  const { lib } = views
  for (const [name, view] of Object.entries(views)) {
    if (name === 'lib' || !isObject(view) || typeof view['map'] !== 'string') continue
    found.set(name, viewOf(name, view as ViewSource, lib, shared))
  }
  return found
}

type ViewSource = JsonObject & { readonly map: string }

/** A view's reduce: the source of a function, or the name of a built-in one, without its white space. */
function reduceOf({ reduce }: JsonObject): string | undefined {
  if (typeof reduce !== 'string') return undefined
  return /^\s*_/.test(reduce) ? reduce.trim() : reduce
}

/** The name of a built-in function of a view that does not exist here. */
export function unknownReduce(view: JsonObject): string | undefined {
  const reduce = reduceOf(view)
  return reduce?.startsWith('_') === true && !BUILT_IN.has(reduce) ? reduce : undefined
}

function viewOf(name: string, view: ViewSource, lib: unknown, shared: Shared): ViewFunctions {
  const { map, options } = view
  const reduce = reduceOf(view)
  const isBuiltIn = BUILT_IN.has(reduce)
  const isRaw = isObject(options) && options['collation'] === 'raw'
  // The modules of `require` are a part of the view, so only `views.lib` is offered.
  const source = {
    functions: { map, ...(reduce !== undefined && !isBuiltIn && { reduce }) },
    modules: { views: { lib } },
  }
  const program = shared.sandbox.program(source, shared.owner)
  const run = new MapRun(program, `${shared.id}/_view/${name}`, shared.log)
  // The text of these two functions is a part of what names a stored view: it changes only with SANDBOX_VERSION.
  const definition: DesignViewDefinition = {
    ...(!isRaw && { collation: COUCHDB_MEANING.collation }),
    map: (document, emit) => run.map(document, emit),
    mapMany: (documents) => run.mapMany(documents),
    reduce:
      reduce === undefined || isBuiltIn
        ? (reduce as BuiltInReduce | undefined)
        : (keys, values, rereduce) => run.reduce(keys, values, rereduce),
    version: createHash('sha256')
      .update(JSON.stringify([SANDBOX_VERSION, source]))
      .digest('hex'),
  }
  return {
    definition,
    unknownReduce: unknownReduce(view),
    emits: (documents) => passing(program, 'emits', 'map', documents, {}, name, shared),
    check: async () => {
      await checkFunction(program, 'map', `views/${name}/map`)
      if (reduce !== undefined && !isBuiltIn) await checkFunction(program, 'reduce', `views/${name}/reduce`)
    },
  }
}

type Rows = readonly (readonly [key: unknown, value: unknown])[]

function isRows(value: unknown): value is Rows {
  return Array.isArray(value) && value.every((row) => Array.isArray(row) && row.length === 2)
}

/** Runs the functions of one view. */
class MapRun {
  readonly #program: SandboxProgram
  readonly #name: string
  readonly #log: DesignLog | undefined
  #isChecked = false
  #isReduceChecked = false
  #exceeded = 0
  #last: DesignFunctionError | undefined

  constructor(program: SandboxProgram, name: string, log: DesignLog | undefined) {
    this.#program = program
    this.#name = name
    this.#log = log
  }

  /** Never called, as there is `mapMany`; its text names stored views. */
  map(_document: JsonObject, _emit: Emit): void {
    throw new Error('documents are mapped in the sandbox, many at a time')
  }

  async mapMany(documents: readonly JsonObject[]): Promise<(Rows | Error)[]> {
    this.#refuseBroken()
    try {
      // A function that does not compile has no documents that it could fail for.
      if (!this.#isChecked) await this.#program.call('check', 'map', [])
      this.#isChecked = true
      const answer = await this.#program.call('map', 'map', [documents.map(toCouchDocument)])
      const outcomes = outcomesOf(answer, documents.length, isRows)
      return documents.map((document, at) => this.#rowsOf(outcomes[at]!, document))
    } catch (error) {
      throw this.#stopped(error, 'map')
    }
  }

  /** Rows for which the function throws are reduced to null, as in CouchDB. */
  async reduce(keys: unknown, values: unknown, rereduce: boolean): Promise<unknown> {
    this.#refuseBroken()
    try {
      // One that does not compile has no rows that it could fail for.
      if (!this.#isReduceChecked) await this.#program.call('check', 'reduce', [])
      this.#isReduceChecked = true
      return await this.#program.call('reduce', 'reduce', [keys, values, rereduce])
    } catch (error) {
      const stopped = this.#stopped(error, 'reduce')
      if (this.#isReduceChecked && error instanceof DesignFunctionError && error.kind === 'failed') return null
      throw stopped
    }
  }

  #refuseBroken(): void {
    if (this.#exceeded >= EXCEEDED_MAX) throw this.#ended(this.#last!)
  }

  #rowsOf(outcome: Outcome<Rows>, document: JsonObject): Rows | Error {
    if ('value' in outcome) return outcome.value
    const { kind, message } = outcome.failure
    const error = new DesignFunctionError(kind, message)
    this.#log?.warn({ view: this.#name, document: document['_id'], kind, reason: message }, 'a map function has failed')
    if (kind !== 'failed') this.#count(error)
    this.#refuseBroken()
    return error
  }

  /** A call has failed as a whole. */
  #stopped(error: unknown, name: string): unknown {
    if (!(error instanceof DesignFunctionError)) return error
    this.#log?.warn({ view: this.#name, kind: error.kind, reason: error.message }, `a ${name} function was stopped`)
    if (error.kind !== 'failed' && error.kind !== 'unavailable') this.#count(error)
    // Too many documents of one call failed for an accident.
    if (name === 'map' && (error.kind === 'budget' || error.kind === 'memory')) this.#exceeded = EXCEEDED_MAX
    return this.#ended(error)
  }

  #count(error: DesignFunctionError): void {
    this.#exceeded++
    this.#last = error
  }

  /** Ends the update of the view, which keeps what was written before. */
  #ended(cause: DesignFunctionError): PannierError {
    return new PannierError('PANNIER_ABORTED', `${this.#name}: ${cause.message}`, { cause })
  }
}

/** A filter in the sandbox. A function that exceeded its time as often as a view may is not tried again. */
function filterOf(program: SandboxProgram, name: string, shared: Shared): DesignFilter {
  let exceeded = 0
  return async (documents, request) => {
    if (exceeded >= EXCEEDED_MAX)
      throw new DesignFunctionError('timeout', `${shared.id}/${name}: it was ended ${exceeded} times`)
    try {
      return await passing(program, 'filter', `filter/${name}`, documents, request, name, shared)
    } catch (error) {
      if (error instanceof DesignFunctionError && error.kind !== 'unavailable') exceeded++
      throw error
    }
  }
}

async function passing(
  program: SandboxProgram,
  method: 'filter' | 'emits',
  functionName: string,
  documents: readonly JsonObject[],
  request: object,
  name: string,
  { id, log }: Shared,
): Promise<boolean[]> {
  const answer = await program.call(method, functionName, [documents.map(toCouchDocument), request])
  const outcomes = outcomesOf(answer, documents.length, (value) => typeof value === 'boolean')
  return documents.map((document, at) => {
    const outcome = outcomes[at]!
    if ('value' in outcome) return outcome.value
    const { kind, message: reason } = outcome.failure
    log?.warn({ filter: `${id}/${name}`, document: document['_id'], kind, reason }, 'a filter function has failed')
    // A map function that throws emits nothing.
    if (method === 'emits') return false
    throw new DesignFunctionError(kind, reason)
  })
}

function validateOf(program: SandboxProgram, { id, log }: Shared): ValidateFunction {
  return async (newDocument, oldDocument, user, security) => {
    let refused: unknown
    try {
      const args = [toCouchDocument(newDocument), oldDocument ? toCouchDocument(oldDocument) : null, user, security]
      refused = await program.call('validate', VALIDATE, args)
    } catch (error) {
      if (!(error instanceof DesignFunctionError) || !DECIDED.has(error.kind)) throw error
      log?.warn(
        { design: id, document: newDocument['_id'], kind: error.kind, reason: error.message },
        `${VALIDATE} has failed`,
      )
      throw forbidden(`${VALIDATE} of ${id} has failed: ${error.message}`)
    }
    if (!isObject(refused)) return
    const isUnauthenticated = 'unauthorized' in refused
    const reason = refused[isUnauthenticated ? 'unauthorized' : 'forbidden']
    const message = typeof reason === 'string' ? reason : (JSON.stringify(reason) ?? 'refused')
    throw new ServiceError(isUnauthenticated ? 'UNAUTHENTICATED' : 'FORBIDDEN', message)
  }
}

/** Failures that are the function's or the document's own, and would come again. */
const DECIDED: ReadonlySet<FailureKind> = new Set<FailureKind>(['failed', 'budget', 'memory'])

async function checkFunction(program: SandboxProgram, name: string, label: string): Promise<void> {
  try {
    await program.call('check', name, [])
  } catch (error) {
    if (!(error instanceof DesignFunctionError)) throw error
    throw new DesignFunctionError(error.kind, `Compilation of ${label} failed: ${error.message}`, { cause: error })
  }
}

function textsOf(functions: unknown): Map<string, string> {
  if (!isObject(functions)) return new Map()
  return new Map(Object.entries(functions).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
