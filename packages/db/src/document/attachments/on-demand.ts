/**
 * Most databases have no attachments: what writes them is loaded with the first one, also in the middle of a
 * transaction.
 */
import { lazyModule } from '../../base/lazy-module.ts'
import type * as Attach from './attach.ts'

/** What a transaction needs for attachments; throws a Miss when it is not loaded yet. */
export const attachmentWriting: () => typeof Attach = lazyModule(() => import('./attach.ts'))
