/** Vitest loads it before each test file. */
import { afterEach } from 'vitest'
import { takeDrawn } from '../../../packages/db/testing/random.ts'
import './once.ts'

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
