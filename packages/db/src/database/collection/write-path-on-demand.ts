/** Whatever only writes to documents need. It is loaded in the background when a database is opened; nobody who reads waits for it. */
import { lazyModule } from '../../base/lazy-module.ts'
import type * as WritePath from './write-path.ts'

/** To be asked for inside a write: throws a Miss when it is not loaded yet. */
export const writePath: () => typeof WritePath = lazyModule(() => import('./write-path.ts'))
