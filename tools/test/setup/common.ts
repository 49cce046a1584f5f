/** Vitest loads it before each test file. */
import { relative } from 'node:path'
import { afterEach, expect } from 'vitest'
import { takeDrawn } from '../../../packages/db/testing/random.ts'
import { root } from '../../checks/packages.ts'
import { seedPlatform } from './chance.ts'
import './once.ts'

seedPlatform(relative(root, expect.getState().testPath!))

// What a file draws while it is loaded counts for its first case.
takeDrawn()
// The report of the run says it: tools/test/input-digest.ts.
afterEach(({ task }) => {
  task.meta.drawn = takeDrawn()
})

declare module 'vitest' {
  interface TaskMeta {
    /** The sum of what the case has drawn. */
    drawn?: number
  }
}
