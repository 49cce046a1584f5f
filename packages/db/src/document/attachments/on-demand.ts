/** Most databases have no attachments: what writes them is loaded when the first one turns up, be it in the midst of a transaction. */
import { lazyModule } from '../../base/lazy-module.ts'
import type * as Attach from './attach.ts'

/** What a transaction needs for attachments; throws a Miss when it is not loaded yet. */
export const attachmentWriting: () => typeof Attach = lazyModule(() => import('./attach.ts'))
