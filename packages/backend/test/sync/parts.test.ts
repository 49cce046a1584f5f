/** Goal: a replica of a part has what the account may list of it. Method: cases on the feed, and on one without the repair, which must fail. */
import { expect, test } from 'vitest'
import { partOf, WHOLE } from '../../src/sync/feed/part.ts'
import { FeedWorld } from './feed-world.ts'
import * as without from './mutations.ts'
import { claim, OF_PROJECT } from './scene.ts'
import { testScenes } from './test-scenes.ts'

const ROWS = {
  users: [{ id: 'u1' }, { id: 'u2' }],
  projects: [{ id: 'p1', members: ['u1', 'u2'] }],
  docs: ['open', 'open', 'shut', 'shut'].map((status, index) => ({ id: `d${index}`, project: 'p1', status })),
}
const OPEN = "status = 'open'"

testScenes([
  {
    name: 'a record comes into a part and leaves it by its own changes',
    rows: ROWS,
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      replica.filter = OPEN
      await scene.finish(replica)
      claim(replica.records.size === 2, 'only the part comes')
      await scene.edit('docs', 'd0', { status: 'shut' })
      await scene.edit('docs', 'd2', { status: 'open' })
      await scene.finish(replica)
      claim([...replica.records.keys()].join() === 'd1,d2', 'one record has left, and one has come')
    },
    without: [without.PART_KEPT, without.PART_UNASKED],
  },
  {
    name: 'what leaves with a project was wanted',
    rows: ROWS,
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      replica.filter = OPEN
      await scene.finish(replica)
      await scene.edit('projects', 'p1', { members: [] })
      const rows = await scene.finish(replica)
      claim(rows.length === 2, `two rows leave, not ${rows.length}`)
    },
    without: [without.PART_LOST_WHOLE],
  },
  {
    name: 'another part begins again, and what is not in it leaves',
    rows: ROWS,
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      replica.filter = OPEN
      await scene.finish(replica)
      replica.filter = "status = 'shut'"
      await scene.finish(replica)
    },
    without: [without.NO_PART_VERSION],
  },
])

test('a filter reads the fields of a record that everybody sees, and nothing else', async () => {
  const world = await FeedWorld.make(ROWS, {})
  try {
    const { definitions } = world
    const part = (filter: string) => partOf(definitions, world.definition('docs'), filter)
    expect(part('')).toBe(WHOLE)
    expect(part("tags:length > 0 && project = 'p1'").has({ tags: ['t1'], project: 'p1' })).toBe(true)
    const wrong = [
      'owner = @request.auth.id',
      'expires > @now',
      "strftime('%Y', expires) = '2026'",
      'project.public = true',
      'docs_via_parent.id != ""',
      "@collection.users.id != ''",
      'missing = 1',
    ]
    for (const filter of wrong)
      expect(() => part(filter), filter).toThrow('The filter of "docs" can\'t be synced: It may read')
    expect(() => part('status == 1')).toThrow('Unknown operator "=="')
  } finally {
    await world.close()
  }
})
