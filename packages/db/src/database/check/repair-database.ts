/** Reads as much as possible of a damaged database, and writes a new one. docs/internals/repair.md is normative. */
import type { Problem, ProblemCode } from './check-database.ts'
import { RunningWork } from '../../base/long-work.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { Catalog } from '../../document/catalog.ts'
import { defineIndexes } from '../../index/index-definition.ts'
import { holdsDatabase } from '../../kv/restore-snapshot.ts'
import { Salvage } from '../../kv/salvage.ts'
import type { PageStore, DatabaseStorage } from '../../storage/page-store.ts'
import type { Database } from '../database.ts'
import { destroy } from '../lifecycle/destroy.ts'
import { systemEnvironment } from '../lifecycle/environment.ts'
import { open } from '../lifecycle/open.ts'
import type { RepairedCollection, RepairOptions, RepairReport } from './repair-report.ts'
import { CollectionRepair } from './repair-collection.ts'
import { laterDocuments } from './repair-from-log.ts'

export async function repairDatabase(
  name: string,
  options: RepairOptions & { readonly storage: DatabaseStorage },
): Promise<RepairReport> {
  const { to, storage, encryption, signal, onProgress } = options
  const environment = systemEnvironment()
  const work = new RunningWork({ name: 'The repair', environment, signal, onProgress })
  work.throwIfCancelled()
  const sealProblems = new Set<string>()
  const source = await openStore(storage, name, encryption, sealProblems)
  try {
    if (!(await holdsDatabase(source)))
      throw new PannierError('PANNIER_NOT_FOUND', `There is no database ${name}.`, { details: { name } })
    await refuseExisting(storage, to, options)
    try {
      return await new Repair(await Salvage.open(source, environment), storage, options, sealProblems, work).run()
    } catch (error) {
      await destroy(to, { storage }).catch(() => {})
      throw error
    }
  } finally {
    await source.close()
  }
}

/** With `problems` one that may be damaged: problems of its seals are added there. */
async function openStore(
  storage: DatabaseStorage,
  name: string,
  encryption: RepairOptions['encryption'],
  problems?: Set<string>,
): Promise<PageStore> {
  if (encryption === undefined) return storage.open(name)
  const { sealing } = await loadedModule(import('../encryption/encryption.ts'))
  const sealed = sealing(encryption, false)
  return problems === undefined ? sealed.open(storage, name) : sealed.openDamaged(storage, name, problems)
}

/** To look whether a database is there is to make an empty one in some storages, which is taken away again. */
async function refuseExisting(storage: DatabaseStorage, to: string, { encryption }: RepairOptions): Promise<void> {
  const exists = (): PannierError =>
    new PannierError('PANNIER_EXISTS', `A database ${to} exists already. Repair to another name, or destroy it first.`)
  let target: PageStore
  try {
    target = await openStore(storage, to, encryption)
  } catch (error) {
    throw isPannierError(error, 'PANNIER_KEY_WRONG') || isPannierError(error, 'PANNIER_NOT_ENCRYPTED')
      ? exists()
      : error
  }
  try {
    const state = await target.read()
    if (state.keyring !== undefined || state.meta !== undefined || state.log.length > 0) throw exists()
  } finally {
    await target.close()
  }
}

class Repair {
  readonly #salvage: Salvage
  readonly #storage: DatabaseStorage
  readonly #options: RepairOptions
  readonly #catalog: Catalog
  readonly #collections: CollectionRepair[] = []
  readonly #sealProblems: ReadonlySet<string>
  readonly #work: RunningWork

  constructor(
    salvage: Salvage,
    storage: DatabaseStorage,
    options: RepairOptions,
    sealProblems: ReadonlySet<string>,
    work: RunningWork,
  ) {
    this.#salvage = salvage
    this.#storage = storage
    this.#options = options
    this.#sealProblems = sealProblems
    this.#work = work
    this.#catalog = new Catalog(() => systemEnvironment().randomId())
  }

  async run(): Promise<RepairReport> {
    const { to, encryption } = this.#options
    const target = { storage: this.#storage, ...(encryption && { encryption }) }
    const filling = await open(to, target)
    try {
      await this.#fill(filling)
    } finally {
      await filling.close()
    }
    // Opened again, it builds the indexes that were only defined.
    const { signal } = this.#options
    const building = await open(to, { ...target, ...(signal && { signal }) })
    try {
      for (const collection of this.#collections) await collection.build(building)
      await building.flush()
      const { problems } = await building.check()
      if (problems.length > 0)
        throw new PannierError('PANNIER_CORRUPT', `The repaired database has a problem: ${problems[0]!.message}`)
    } finally {
      await building.close()
    }
    this.#work.complete()
    return this.#report()
  }

  async #fill(target: Database): Promise<void> {
    const { snapshot } = this.#salvage
    const names = this.#catalog.names(snapshot)
    const states = names.map((name) => this.#catalog.collection(snapshot, name)!)
    const total = states.reduce((sum, { trees }) => sum + (snapshot.tree(trees.bodies)?.count() ?? 0), 0)
    let done = 0
    const progress = (documents: number): void => {
      this.#work.throwIfCancelled()
      done += documents
      this.#work.report(0.9 * Math.min(done, total), total)
    }
    for (const state of states) {
      const collection = new CollectionRepair(this.#salvage, target, state, progress)
      this.#collections.push(collection)
      await collection.run()
    }
    for (const [name, later] of await laterDocuments(this.#salvage, this.#catalog)) {
      let collection = this.#collections.find(({ state }) => state.name === name)
      if (collection === undefined) {
        collection = new CollectionRepair(this.#salvage, target, later.state, progress)
        this.#collections.push(collection)
        await collection.make()
      }
      await collection.takeLater(later.documents)
    }
    for (const collection of this.#collections) {
      const { state } = collection
      const { access } = collection.target.declarations
      await access.write((transaction) => {
        const { catalog } = access.writing
        const current = catalog.collection(transaction, state.name)!
        const declarations = state.indexes.map(({ number: _number, builtTo: _builtTo, ...declaration }) => declaration)
        defineIndexes(transaction, catalog, current, declarations)
      })
      await collection.takeSchema()
    }
  }

  #report(): RepairReport {
    const { damage, lostPages, lostCommits } = this.#salvage
    const collections = this.#collections.map((one): RepairedCollection => one.report())
    const problems: Problem[] = []
    const add = (code: ProblemCode, message: string): void => void problems.push({ code, where: undefined, message })
    for (const message of this.#sealProblems) add('LOG_DAMAGED', message)
    if (damage !== undefined) add('LOG_DAMAGED', damage.message)
    for (const { tree, page, entries } of lostPages)
      add('PAGE_DAMAGED', `Page ${page} of the tree ${tree} can't be read; entries: ${entries}.`)
    if (lostCommits > 0) add('LOG_DAMAGED', `Commits behind the damage of the log that can't be read: ${lostCommits}.`)
    const isComplete =
      lostCommits === 0 &&
      this.#sealProblems.size === 0 &&
      collections.every(
        (one) =>
          one.documentsLost + one.revisionsLost.length + one.attachmentsLost.length + one.indexesLost.length === 0,
      )
    return { problems, isComplete, collections, commitsLost: lostCommits }
  }
}
