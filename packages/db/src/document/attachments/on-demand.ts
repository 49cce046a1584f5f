/**
 * Most databases have no attachments: what deals with them is loaded when the first one turns up, be it in the midst of a
 * transaction. Like a page that is not in memory it is a Miss: the step runs again once it is there.
 */
import { PannierError } from '../../base/errors.ts'
import { Miss } from '../../base/miss.ts'
import type * as Attach from './attach.ts'

let loaded: typeof Attach | undefined

/** What a transaction needs for attachments; throws a Miss when it is not loaded yet. */
export function attachmentWriting(): typeof Attach {
  if (loaded === undefined) throw new ModuleMiss()
  return loaded
}

class ModuleMiss extends Miss {
  async load(): Promise<() => void> {
    try {
      loaded = await import('./attach.ts')
    } catch (error) {
      throw new PannierError('PANNIER_UNAVAILABLE', 'The code for attachments could not be loaded.', { cause: error })
    }
    return () => {}
  }
}
