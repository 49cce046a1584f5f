/**
 * Loads modules on first use, so that most pages never load them. If a module can't be loaded (the page is offline, or
 * a newer version was deployed), the error is typed. A later call tries again.
 */
import { PannierError } from './errors.ts'
import { isPromise, type MaybePromise } from './async.ts'
import { Miss } from './miss.ts'

/**
 * Gives what `import()` gives.
 *
 * @throws PANNIER_MODULE_NOT_LOADED
 * @example
 * const { checkStore } = await loadedModule(import('./check.ts'))
 */
export async function loadedModule<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `A part of the library could not be loaded; nothing was changed (${reason}). ${cure()}`
    throw new PannierError('PANNIER_MODULE_NOT_LOADED', message, { cause: error })
  }
}

function cure(): string {
  return 'ServiceWorkerGlobalScope' in globalThis
    ? 'Service workers load none: import pannier/all.'
    : 'Go online or reload the page.'
}

/** The function gives the module: at once when it is loaded, else as a promise. */
function moduleOnDemand<Module>(load: () => Promise<Module>): () => MaybePromise<Module> {
  let loaded: Module | undefined
  let loading: Promise<Module> | undefined
  const start = async (): Promise<Module> => {
    try {
      return (loaded = await loadedModule(load()))
    } finally {
      loading = undefined
    }
  }
  return () => loaded ?? (loading ??= start())
}

/**
 * For synchronous code: the function gives the module, once it is loaded; before that it throws a Miss, which loads it. So it
 * may be asked for wherever a read may miss.
 *
 * @example
 * const checker = lazyModule(() => import('./check.ts'))
 * checker().check(tree)
 */
export function lazyModule<Module>(load: () => Promise<Module>): () => Module {
  const onDemand = moduleOnDemand(load)
  let failure: unknown
  const loadOrFail = async (): Promise<() => void> => {
    try {
      await onDemand()
      return () => {}
    } catch (error) {
      // It is thrown to those who ask for the module, and not to others that share their attempt (a group of writes).
      failure = error
      return () => (failure = undefined)
    }
  }
  return () => {
    if (failure !== undefined) throw failure
    const module = onDemand()
    if (isPromise(module)) {
      // `load` waits for the same promise, and reports its failure.
      module.catch(() => {})
      throw new Miss(loadOrFail)
    }
    return module
  }
}

/** Starts to load what such a function gives; whether that fails is the matter of those who need it. */
export function loadAhead(module: () => unknown): void {
  try {
    module()
  } catch {
    // It is under way.
  }
}
