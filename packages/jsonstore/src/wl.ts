/** The JSONStore of the app, and the object `WL` that apps find it in. */
import { checkOptions, type OptionNames } from 'pannier/internal'
import { JSONStoreApi } from './store.ts'
import type { JSONStoreSettings } from './store.ts'

const SETTINGS: OptionNames<JSONStoreSettings> = {
  name: true,
  storage: true,
  events: true,
  invokeProcedure: true,
  secureRandom: true,
  log: true,
  fetch: true,
  environment: true,
}

/**
 * A JSONStore with settings of its own: where databases are kept, how adapters are called. @throws TypeError for an
 * unknown one.
 */
export function createJSONStore(settings: JSONStoreSettings = {}): JSONStoreApi {
  checkOptions('createJSONStore()', settings, SETTINGS)
  return new JSONStoreApi(settings)
}

/** The store of the app, with the default settings. */
export const JSONStore: JSONStoreApi = createJSONStore()

/** The additions to `WL`. */
interface Additions {
  readonly JSONStore: JSONStoreApi
  /** For `sort`: `[{ age: WL.constant.DESCENDING }]`. */
  readonly constant: { readonly ASCENDING: 'asc'; readonly DESCENDING: 'desc' }
}

/** The app's own `WL`, as its typings declare it, with JSONStore. */
export type WorklightObject = Additions &
  (typeof globalThis extends { readonly WL: infer Existing extends object } ? Existing : object)

/**
 * As apps know it: `WL.JSONStore`. If the app has its own `WL`, JSONStore and the constants for sorting are added to
 * it. So `WL.Logger` and `WL.Client` stay.
 */
export const WL: WorklightObject = extendedWL()

function extendedWL(): WorklightObject {
  const { WL: existing } = globalThis as { readonly WL?: unknown }
  const wl = (typeof existing === 'object' && existing !== null ? existing : {}) as { constant?: object }
  const constant = { ASCENDING: 'asc', DESCENDING: 'desc', ...wl.constant } as const
  return Object.assign(wl, { JSONStore, constant }) as WorklightObject
}
