/** Options of `db.moveTo`, apart from what moves. */
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { LongWork } from '../transfer/byte-stream.ts'

export interface MoveOptions extends LongWork {
  /**
   * What the new one is opened by. Of an encrypted database it has to open that as well: other passwords and keys are not moved with it.
   * A plain one becomes encrypted.
   */
  readonly encryption?: Credential
}
