/** What views have to do on every storage: docs/internals/views.md, by random tests. `create` opens a new, empty database. */
import type { Database } from '../../src/database/database.ts'
import { checkRandomViews } from '../random-views.ts'
import { seededRandom } from '../random.ts'
import type { SuiteContext } from '../suite.ts'

const SEEDS = 6

export function viewSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  for (let seed = 1; seed <= SEEDS; seed++) {
    test(`random views, seed ${seed}`, async () => checkRandomViews(await create(), seededRandom(seed), String(seed)))
  }
}
