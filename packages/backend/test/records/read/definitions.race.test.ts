/**
 * Goal: no read shows what neither the definitions before a change nor those after it admit. Method: a field that a rule reads, and then
 * its collection, gets another name again and again, on a storage that answers late, while others list, view, count and expand.
 */
import { memory } from 'pannier/memory'
import { slow } from 'pannier/testing'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../db/testing/random.ts'
import { seedsOf } from '../../../../../tools/test/seeds.ts'
import { SYSTEM } from '../../../src/gateway/principal.ts'
import { ServiceError } from '../../../src/gateway/service-error.ts'
import { ADMIN, done, NOBODY, openWorld } from '../world.ts'

const ID = 'pbc_posts'
const CHANGES = 12
const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const [SECRET, OPEN, NOTE] = ['secretsecretsec', 'openopenopenope', 'notenotenotenot']

/** A record is shown where its field `name` is false. */
function named(name: string): object {
  const rule = `${name} = false`
  const fields = [
    { id: 'title', name: 'title', type: 'text' },
    { id: 'flag', name, type: 'bool' },
  ]
  return { listRule: rule, viewRule: rule, fields }
}

for (const seed of seedsOf('race'))
  test(`records are listed by one state of the definitions, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const post = { ...PUBLIC, id: ID, name: 'posts', type: 'base', ...named('hidden') }
    const relation = { name: 'posts', type: 'relation', collectionId: ID, maxSelect: 2 }
    const world = await openWorld([post, { ...PUBLIC, name: 'notes', fields: [relation] }], {
      storage: slow(memory(), 2),
    })
    const { definitions, writes, reads } = world
    await writes.create(ADMIN, ID, { id: SECRET, title: 'secret', hidden: true })
    await writes.create(ADMIN, ID, { id: OPEN, title: 'open' })
    await writes.create(ADMIN, 'notes', { id: NOTE, posts: [SECRET, OPEN] })
    const read = random.pick([
      async () => (await reads.list(NOBODY, ID)).items,
      async () => (await reads.list(NOBODY, ID, { filter: 'title != ""', sort: '-title', perPage: 1 })).items,
      async () => [await reads.view(NOBODY, ID, OPEN), await reads.view(NOBODY, ID, SECRET).catch(refused)],
      async () => ((await reads.view(NOBODY, 'notes', NOTE, { expand: 'posts' })).expand as { posts: object[] }).posts,
    ])
    let isOver = false
    // One that waits for the clock reads again when the change is over.
    const reader = async (): Promise<void> => {
      while (!isOver) {
        const titles = (await read()).map((record) => record && (record as { title: string }).title)
        expect(titles).not.toContain('secret')
        await world.environment.yield()
      }
    }
    for (let n = 0; n < CHANGES; n++) {
      isOver = false
      const flag = named(n % 2 === 0 ? 'closed' : 'hidden')
      const change = definitions.update(SYSTEM, ID, { name: `posts${n}`, ...flag }).finally(() => (isOver = true))
      await done(world, Promise.all([change, reader(), reader(), reader()]))
    }
    await world.close()
  })

function refused(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error
}
