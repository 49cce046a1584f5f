/** Adapters: the procedures of a server that documents are pushed to and loaded from. */
import { isThenable, notPromised, isObject } from 'pannier/internal'
import { failure } from './errors.ts'
import type { DirtyDocument, JsonObject } from './stored-document.ts'

/** How a collection talks to an adapter. */
export interface AdapterOptions {
  /** The name of the adapter. */
  readonly name: string
  /** The procedures that are called with a document that was added, removed or replaced. */
  readonly add?: string | undefined
  /** The procedure for documents that were removed. */
  readonly remove?: string | undefined
  /** The procedure for documents that were replaced. */
  readonly replace?: string | undefined
  /** How documents are loaded from the adapter. */
  readonly load?: LoadOptions | undefined
  /**
   * Whether an answer means success: any truthy value does. Gets the answer, and for `push` the JSON of the document. When left out, an
   * answer means success if its `status` is below 400 or missing, and `invocationResult.isSuccessful` is not false.
   */
  readonly accept?: ((response: never, json?: never) => unknown) | undefined
  /** Milliseconds; passed to the caller of the adapter. */
  readonly timeout?: number | undefined
}

/** How documents are loaded from an adapter. */
export interface LoadOptions {
  /** The name of the procedure. */
  readonly procedure: string
  /** The parameters of the procedure. */
  readonly params?: readonly unknown[] | undefined
  /**
   * Where in the answer the documents are: an object or an array. If the answer has an `invocationResult` (adapters of Worklight), or a
   * `responseJSON` (`WLResourceRequest`), the path begins there.
   */
  readonly key: string
}

/** A call of an adapter's procedure. */
export interface AdapterCall {
  /** The name of the adapter. */
  readonly adapter: string
  /** The name of the procedure. */
  readonly procedure: string
  /** For `push` one element: the document's JSON as text. For `load` the `params` that the collection was declared with. */
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
  const { json } = document
  const response = await invoked(adapter, invoke, procedure, [JSON.stringify(json)]).catch((error: unknown) => {
    throw failure('ADAPTER_FAILURE', { doc: document, res: error, cause: error })
  })
  if (!accepts(adapter, response, json)) throw failure('ACCEPT_CONDITION_FAILED', { doc: document, res: response })
}

/** The documents that the adapter has. Failures are of codes 12, 17 to 19 and -10. */
export async function loadDocuments(adapter: AdapterOptions, invoke: InvokeProcedure): Promise<readonly JsonObject[]> {
  const load: unknown = adapter.load
  if (!isObject(load) || typeof load['procedure'] !== 'string')
    throw failure('FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER_INVALID_LOAD_OBJ', { given: load })
  const { procedure, params = [], key } = load as unknown as LoadOptions
  if (typeof key !== 'string') throw failure('INVALID_KEY_IN_LOAD_OBJECT', { given: load })
  const response = await invoked(adapter, invoke, procedure, params).catch((error: unknown) => {
    throw failure('FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER', { res: error, cause: error })
  })
  if (!accepts(adapter, response)) throw failure('ACCEPT_CONDITION_FAILED', { res: response })
  const found = [valueAt(resultOf(response), key.split('.'))].flat()
  if (!found.every(isObject)) throw failure('INVALID_KEY_IN_LOAD_OBJECT', { given: load, res: response })
  return found
}

/** Worklight's own function. It answers by callbacks; newer ones return a promise as well. */
type WorklightInvoke = (
  call: AdapterCall,
  options: {
    readonly timeout?: number
    readonly onSuccess: (response: unknown) => void
    readonly onFailure: (response: unknown) => void
  },
) => unknown

/** The way to call an adapter: the platform's own, where the app has one. The first answer counts, by a callback or by the promise. */
export function defaultInvoke(call: AdapterCall, options: { readonly timeout?: number }): Promise<unknown> {
  const { WL } = globalThis as { readonly WL?: { readonly Client?: { readonly invokeProcedure?: WorklightInvoke } } }
  const client = WL?.Client
  if (typeof client?.invokeProcedure !== 'function')
    return Promise.reject(
      new Error('No function calls adapters: pass `invokeProcedure` to createJSONStore(), or load WL.Client.'),
    )
  return new Promise((resolve, reject) => {
    const answered = client.invokeProcedure!(call, { ...options, onSuccess: resolve, onFailure: reject })
    if (isThenable(answered)) answered.then(resolve, reject)
  })
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

function accepts({ accept }: AdapterOptions, response: unknown, json?: JsonObject): boolean {
  if (accept !== undefined)
    return Boolean(
      notPromised(
        'initCollection()',
        'adapter.accept',
        (accept as (...parameters: unknown[]) => unknown)(response, json),
      ),
    )
  const { status, invocationResult } = isObject(response) ? response : {}
  if (isObject(invocationResult) && invocationResult['isSuccessful'] === false) return false
  return typeof status !== 'number' || status < 400
}

function resultOf(response: unknown): unknown {
  const { invocationResult, responseJSON } = isObject(response) ? response : {}
  return [invocationResult, responseJSON].find(isObject) ?? response
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value)
}
