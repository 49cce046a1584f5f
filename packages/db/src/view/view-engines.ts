/** The engines of the views of one collection: equal definitions have one, which remembers what it has reduced. */
import { checkedView, signatureOf, type ViewFunctions } from './view-definition.ts'
import { ViewEngine, type ViewContext } from './view-engine.ts'

/** Engines that are kept; what is stored does not depend on them. */
const ENGINES_MAX = 64

export class ViewEngines {
  readonly #context: ViewContext
  readonly #engines = new Map<string, ViewEngine>()

  constructor(context: ViewContext) {
    this.#context = context
  }

  engine(name: string | undefined, functions: ViewFunctions): ViewEngine {
    const { map, reduce, version } = functions
    const identity = signatureOf([name, map.toString(), reduce?.toString(), version])
    let engine = this.#engines.get(identity)
    if (engine === undefined) {
      engine = new ViewEngine(this.#context, checkedView(functions, name))
      this.#engines.set(identity, engine)
      if (this.#engines.size > ENGINES_MAX) this.#engines.delete(this.#engines.keys().next().value!)
    }
    return engine
  }
}
