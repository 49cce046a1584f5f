/** Vitest loads it before each test file. The file is held to what its lane allows, and its costs are noted. */
import { afterAll, expect, vi } from 'vitest'
import { CASE_MS_MAX, laneOf } from '../lanes.ts'
import { timeoutOf } from '../seeds.ts'
import { costMeter } from './costs.ts'
import { guardFile } from './guard.ts'

const file = expect.getState().testPath!
const wrongs = guardFile(file)
const noteCosts = costMeter(file)
const caseMsMax = timeoutOf(CASE_MS_MAX[laneOf(file)])
vi.setConfig({ testTimeout: caseMsMax, hookTimeout: caseMsMax })

// The first of a file's hooks is the last to run.
afterAll(async () => {
  const found = await wrongs()
  // Globals that one file has replaced are nothing to the next one.
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  noteCosts()
  if (found.length > 0) throw new Error([...new Set(found)].join('\n'))
})
