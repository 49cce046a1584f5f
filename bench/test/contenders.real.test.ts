/** The conformance suite in Node; test/browser runs it in browsers. */
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import { makeInNode } from '../contenders/in-node.ts'
import { contenderConformance } from './conformance.ts'

const folder = makeFolder('contenders')
let places = 0

afterAll(() => removeFolder(folder))

contenderConformance({
  test,
  runsIn: 'node',
  create: makeInNode,
  place: () => join(folder, `database-${places++}`),
})
