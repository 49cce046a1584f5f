/** A write transaction that its caller drives, while it has its turn. */
import { attempt } from '../base/miss.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { Core } from './core.ts'
import type { HeldTransaction, ReducerName, TreeKind, TreeWriter } from './key-value-store.ts'
import { Transaction } from './transaction.ts'

export class HeldPagedTransaction implements HeldTransaction {
  readonly ended: Promise<void>
  readonly #transaction: Transaction
  readonly #commit: (transaction: Transaction) => Promise<void>
  #end: () => void = () => {}
  readonly #release: () => void

  constructor(core: Core, commit: (transaction: Transaction) => Promise<void>) {
    this.#transaction = new Transaction(core.state, core.cache)
    this.#commit = commit
    this.#release = core.hold(core.state.generation)
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get sequence(): Transaction['sequence'] {
    return this.#transaction.sequence
  }

  tree(name: string): TreeWriter | undefined {
    return this.#transaction.tree(name)
  }

  treeNames(prefix?: string): string[] {
    return this.#transaction.treeNames(prefix)
  }

  createTree(name: string, kind: TreeKind, reducer?: ReducerName): TreeWriter {
    return this.#transaction.createTree(name, kind, reducer)
  }

  dropTree(name: string): void {
    this.#transaction.dropTree(name)
  }

  /** A step that throws, or that has to be repeated, leaves nothing of that attempt behind. */
  attempt<T>(step: () => T): MaybePromise<T> {
    const savepoint = this.#transaction.savepoint()
    return attempt(() => {
      try {
        return step()
      } catch (thrown) {
        this.#transaction.rollbackTo(savepoint)
        throw thrown
      }
    })
  }

  async commit(): Promise<void> {
    try {
      await this.#commit(this.#transaction)
    } finally {
      this.rollback()
    }
  }

  rollback(): void {
    this.#release()
    this.#end()
  }
}
