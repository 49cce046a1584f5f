/** The changes of other records that follow a write, in the same transaction, by whatever door it comes. */
import type { Definition } from '../../definitions/definition.ts'
import { LAST_SUPERUSER, type Definitions } from '../../definitions/definitions.ts'
import { AccountReferences } from './account-references.ts'
import { recordsIn, type CollectionSource } from './operations.ts'

/** The record that is written. */
interface FollowedWrite {
  readonly definition: Definition
  readonly id: string
  readonly isDelete: boolean
}

export class Consequences {
  readonly #definitions: Definitions
  readonly #references: AccountReferences

  constructor(definitions: Definitions) {
    this.#definitions = definitions
    this.#references = new AccountReferences(definitions)
  }

  /** Whether a write of a collection may change other records, so that it takes a transaction. */
  mayFollow(definition: Definition, isDelete: boolean): boolean {
    return isDelete ? this.#definitions.mayTakeSuperusers(definition) : definition.type === 'auth'
  }

  /** Makes a write with all that follows from it. @throws LAST_SUPERUSER if a delete takes the last superuser along */
  async around<T>(
    place: CollectionSource,
    { definition, id, isDelete }: FollowedWrite,
    write: () => Promise<T>,
  ): Promise<T> {
    if (isDelete) return this.#aroundDelete(place, write)
    const records = recordsIn(place, definition)
    const old = await records.get(id)
    const written = await write()
    const document = await records.get(id)
    if (document === undefined) return written
    if (old === undefined) await this.#references.accountMade(place, { definition, id })
    else await this.#references.accountChanged(place, { definition, id }, old, document)
    return written
  }

  async #aroundDelete<T>(place: CollectionSource, write: () => Promise<T>): Promise<T> {
    const hadSuperuser = await this.#definitions.hasSuperuser(place)
    const written = await write()
    if (hadSuperuser && !(await this.#definitions.hasSuperuser(place))) throw LAST_SUPERUSER
    return written
  }
}
