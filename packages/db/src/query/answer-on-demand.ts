/** What answers queries: loaded with the first one, as a page may well begin with documents whose ids it knows. */
import { lazyModule } from '../base/lazy-module.ts'
import type * as Answer from './answer.ts'

/** To be asked for inside a read: throws a Miss when it is not loaded yet. */
export const answering: () => typeof Answer = lazyModule(() => import('./answer.ts'))
