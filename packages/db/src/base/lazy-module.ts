/** Modules that synchronous code needs only rarely, so that most pages never load them. */
import { Miss } from './miss.ts'

/**
 * The function gives the module, once it is loaded; before that it throws a Miss, which loads it. So it may be asked for
 * wherever a read may miss.
 *
 * @example
 * const checker = lazyModule(() => import('./check.ts'))
 * checker().check(tree)
 */
export function lazyModule<Module>(load: () => Promise<Module>): () => Module {
  let loaded: Module | undefined
  const keep = async (): Promise<void> => {
    loaded = await load()
  }
  return () => {
    if (loaded === undefined) throw new ModuleMiss(keep)
    return loaded
  }
}

class ModuleMiss extends Miss {
  readonly #load: () => Promise<void>

  constructor(load: () => Promise<void>) {
    super()
    this.#load = load
  }

  override async load(): Promise<() => void> {
    await this.#load()
    return () => {}
  }
}
