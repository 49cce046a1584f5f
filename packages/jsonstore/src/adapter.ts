/** Adapters: the procedures of a server that documents are pushed to and loaded from. */
import { failure } from './errors.ts'
import type { DirtyDocument, JsonObject } from './stored-document.ts'
import { isObject } from './values.ts'

export interface AdapterOptions {
  /** The name of the adapter. */
  readonly name: string
  /** The procedures that are called with a document that was added, removed or replaced. */
  readonly add?: string | undefined
  readonly remove?: string | undefined
  readonly replace?: string | undefined
  readonly load?: LoadOptions | undefined
  /** Whether an answer means success; else it does if its `status` is below 400 or missing. */
  readonly accept?: ((response: never, document?: never) => boolean) | undefined
  /** Milliseconds; handed on to whoever calls the adapter. */
  readonly timeout?: number | undefined
}

export interface LoadOptions {
  readonly procedure: string
  readonly params?: readonly unknown[] | undefined
  /** Where in the answer (in its `invocationResult`, if it has one) the documents are: an object or an array. */
  readonly key: string
}

/** What is asked of an adapter. */
export interface AdapterCall {
  readonly adapter: string
  readonly procedure: string
  readonly parameters: readonly unknown[]
}

/** Calls a procedure of an adapter and gives its answer. */
export type InvokeProcedure = (call: AdapterCall, options: { readonly timeout?: number }) => PromiseLike<unknown>

/** Hands one document to the adapter. Failures are of codes 12, 20 and -10. */
export async function pushDocument(
  adapter: AdapterOptions,
  invoke: InvokeProcedure,
  document: DirtyDocument,
): Promise<void> {
  const procedure = procedureFor(adapter, document)
  const response = await invoked(adapter, invoke, procedure, [document.json]).catch((error: unknown) => {
    throw failure('ADAPTER_FAILURE', { doc: document, res: error, cause: error })
  })
  if (!accepts(adapter, response, document)) throw failure('ACCEPT_CONDITION_FAILED', { doc: document, res: response })
}

/** The documents that the adapter has. Failures are of codes 12, 17 to 19 and -10. */
export async function loadDocuments(adapter: AdapterOptions, invoke: InvokeProcedure): Promise<readonly JsonObject[]> {
  const load: unknown = adapter.load
  if (!isObject(load) || typeof load['procedure'] !== 'string')
    throw failure('FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER_INVALID_LOAD_OBJ', { doc: load })
  const { procedure, params = [], key } = load as unknown as LoadOptions
  if (typeof key !== 'string') throw failure('INVALID_KEY_IN_LOAD_OBJECT', { doc: load })
  const response = await invoked(adapter, invoke, procedure, params).catch((error: unknown) => {
    throw failure('FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER', { res: error, cause: error })
  })
  if (!accepts(adapter, response)) throw failure('ACCEPT_CONDITION_FAILED', { res: response })
  const result = isObject(response) && isObject(response['invocationResult']) ? response['invocationResult'] : response
  const found = [valueAt(result, key.split('.'))].flat()
  if (!found.every(isObject)) throw failure('INVALID_KEY_IN_LOAD_OBJECT', { doc: load, res: response })
  return found
}

/** The platform's own way, where the app has one. */
export function defaultInvoke(call: AdapterCall, options: { readonly timeout?: number }): PromiseLike<unknown> {
  const { WL } = globalThis as { readonly WL?: { readonly Client?: { readonly invokeProcedure?: InvokeProcedure } } }
  const invoke = WL?.Client?.invokeProcedure
  if (invoke === undefined)
    return Promise.reject(new Error('no function is given that calls adapters (invokeProcedure)'))
  return invoke(call, options)
}

function procedureFor(adapter: AdapterOptions, document: DirtyDocument): string {
  const operation =
    document._operation === 'store' ? 'add' : document._operation === 'refresh' ? 'replace' : document._operation
  const procedure: unknown = adapter[operation]
  if (typeof procedure !== 'string') throw failure('UNDEFINED_PUSH_OPERATION', { doc: document })
  return procedure
}

async function invoked(
  { name, timeout }: AdapterOptions,
  invoke: InvokeProcedure,
  procedure: string,
  parameters: readonly unknown[],
): Promise<unknown> {
  return await invoke({ adapter: name, procedure, parameters }, timeout === undefined ? {} : { timeout })
}

function accepts({ accept }: AdapterOptions, response: unknown, document?: DirtyDocument): boolean {
  if (accept !== undefined) return (accept as (...parameters: unknown[]) => unknown)(response, document) === true
  const status = isObject(response) ? response['status'] : undefined
  return typeof status !== 'number' || status < 400
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value)
}
