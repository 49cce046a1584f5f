/**
 * Revisions as callers see them. A revision is a digest of all fields, so one who knows the other fields could find a hidden one by
 * trying. Superusers see it; others see an authentication code in its place, which only the server can make.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Definition } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import type { DataKey } from './data-key.ts'

/** The digits of a revision: as many as a digest has. */
const DIGITS = 32

export class ShownRevisions {
  /** Node finds out what bytes are at each use, which takes longer than the code itself. */
  readonly #key: KeyObject

  constructor(key: DataKey) {
    this.#key = createSecretKey(key.for('revisions'))
  }

  /** The revision of a record, as a principal sees it. What the principal sends is compared with it. */
  of({ isAdmin }: Principal, { id: collection }: Pick<Definition, 'id'>, id: string, rev: string): string {
    if (isAdmin) return rev
    const [generation] = rev.split('-')
    const code = createHmac('sha256', this.#key).update(JSON.stringify([collection, id, rev]))
    return `${generation}-${code.digest('hex').slice(0, DIGITS)}`
  }
}
