/** Node loads it first in each process of vitest. */
import { hookMutants } from '../mutants.ts'
import { hookBrowserBuilds } from './browser-builds.ts'

hookMutants()
hookBrowserBuilds()
