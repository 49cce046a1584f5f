/** Loads all lazy modules at once. */
import { loadedModule } from '../../base/lazy-module.ts'

/**
 * Loads all parts of the library that are otherwise loaded on demand, some 170 KiB compressed. Afterwards the page
 * needs no file of the library. It keeps working without a network, and after a new version of the app has replaced the
 * old files. Call it when the page is idle. Calling it again loads what could not be loaded.
 *
 * @throws PANNIER_MODULE_NOT_LOADED if a part can't be loaded; the others are.
 * @example
 * const db = await open('shop')
 * requestIdleCallback(() => preload().catch(console.warn))
 */
export async function preload(): Promise<void> {
  const { MODULES } = await loadedModule(import('./modules-on-demand.ts'))
  const loads = await Promise.allSettled(MODULES.map((load) => loadedModule(load())))
  const failed = loads.find((load) => load.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
