/** Vitest loads it before each test file. */
import { relative } from 'node:path'
import { afterEach, expect } from 'vitest'
import { takeDrawn } from '../../../packages/db/testing/random.ts'
import { root } from '../../checks/packages.ts'
import { laneOf } from '../lanes.ts'
import { seedPlatform } from './chance.ts'
import './once.ts'
import { stretchFor } from './stretching.ts'

const file = expect.getState().testPath!
seedPlatform(relative(root, file))
stretchFor(laneOf(file))

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
