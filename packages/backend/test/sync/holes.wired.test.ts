/**
 * Goal: each hole of an earlier design of the feed has its least case. Method: each case is played on the feed, and on one
 * without the repair, which must fail.
 */
import * as without from './mutations.ts'
import { claim, inTime, OF_PROJECT, ONE, USERS } from './scene.ts'
import { testScenes } from './test-scenes.ts'

/** The page looks at one row of an index. */
const LOOK = { rows: 10, entries: 1 }
const MINE = { project: 'p1', owner: 'u2' }
const inProject = (...ids: string[]) => ({
  users: USERS,
  projects: [{ id: 'p1', members: ['u1', 'u2'], public: true }],
  docs: ids.map((id) => ({ id, ...MINE })),
})

testScenes([
  {
    name: 'R1: a test that turns false while its ground stays takes the record away',
    rows: inProject('d1'),
    rule: `${OF_PROJECT} && owner != @request.auth.id`,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { owner: 'u1' })
      await scene.finish(replica)
    },
    without: [without.NO_OWN_FIELDS],
  },
  {
    name: 'R2: what a test compares with lies in the holdings',
    rows: { users: USERS, docs: [{ id: 'd1', owner: 'u1', status: 'open' }] },
    rule: 'owner = @request.auth.id && status != @request.auth.role',
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('users', 'u1', { role: 'open' })
      await scene.finish(replica)
    },
    without: [without.NO_PARAMETERS],
  },
  {
    name: 'R3: a test that reads another record follows its changes',
    rows: { ...inProject(), docs: [{ id: 'd1', owner: 'u1', project: 'p1' }] },
    rule: 'owner = @request.auth.id && project.public = true',
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { public: false })
      await scene.finish(replica)
    },
    without: [without.NO_SETS],
  },
  {
    name: 'R4: a record that left and came back is still known to have been there',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const [replica, other] = [scene.replica(), scene.replica('u2')]
      await scene.finish(replica)
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(other)
      await scene.edit('docs', 'd1', { project: 'p1' })
      await scene.finish(other)
      await scene.edit('projects', 'p1', { members: ['u2'] })
      await scene.finish(replica)
    },
    without: [without.FORGET_ON_RETURN],
  },
  {
    name: 'R5: a record behind a lost ground that was never visible is not named',
    rows: { ...inProject(), docs: [{ id: 'd1', project: 'p1', owner: 'u1' }] },
    rule: `${OF_PROJECT} && owner != @request.auth.id`,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
    },
    without: [without.LOST_UNTESTED],
  },
  {
    name: 'R5: a record that leaves and was never visible is not named',
    rows: { ...inProject(), docs: [{ id: 'd1', project: 'p1', owner: 'u1' }] },
    rule: `${OF_PROJECT} && owner != @request.auth.id`,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(replica)
    },
    without: [without.LEFT_UNTESTED],
  },
  {
    name: 'R6: a record that one page skipped is not taken for known',
    rows: { ...inProject('d1', 'd2', 'd3'), projects: [{ id: 'p1', members: [] }] },
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: ['u1'] })
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: [] })
      await scene.page(replica, LOOK)
      await scene.edit('projects', 'p1', { members: ['u1'] })
      await scene.finish(replica)
    },
    without: [without.MUST_IS_MAY],
  },
  {
    name: 'R7: a record that a page skipped between two alternatives of the clock is not taken for known',
    rows: {
      users: USERS,
      docs: [
        { id: 'd1', starts: inTime(0), expires: inTime(4) },
        { id: 'd2', starts: inTime(20), expires: inTime(5) },
        { id: 'd3', starts: inTime(0), expires: inTime(100) },
      ],
    },
    rule: 'expires > @now || starts <= @now',
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      scene.wait(10)
      await scene.page(replica, LOOK)
      scene.wait(10)
      await scene.finish(replica)
    },
    without: [without.CLOCK_FORGOTTEN, without.ANY_ALTERNATIVE],
  },
  {
    name: 'R7: a record that a clock hides for a while is not taken for known',
    rows: { users: USERS, docs: ['d1', 'd2', 'd3'].map((id) => ({ id, level: 5 })) },
    rule: 'level = @second',
    async run(scene) {
      const replica = scene.replica()
      scene.wait(5)
      await scene.page(replica, ONE)
      scene.wait(1)
      await scene.page(replica, LOOK)
      scene.wait(59)
      await scene.finish(replica)
    },
    without: [without.CLOCKS_ARE_MONOTONE],
  },
  {
    name: 'R8: a page after a revocation has no body of before',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
    },
    without: [without.NO_PRESENT_CHECK, without.ROWS_OF_BEFORE],
  },
  {
    name: 'R8: a row of an older index does not show what was written since',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      scene.world.late = () => scene.edit('docs', 'd2', { project: '' })
      await scene.page(replica)
      claim(replica.records.has('d1'), 'what was not written does not come')
      await scene.finish(replica)
    },
    without: [without.NEWER_TAKEN],
  },
  {
    name: 'R8: nor what was purged since',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = scene.replica()
      scene.world.late = () => scene.purge('docs', 'd2')
      await scene.page(replica)
      await scene.finish(replica)
    },
    without: [],
  },
  {
    name: 'R8: a page has no record that its sweep does not lead to',
    rows: {
      users: [{ id: 'u1', role: 'open' }],
      docs: ['draft', 'open', 'draft'].map((status, at) => ({ id: `d${at}`, owner: 'u1', status })),
    },
    rule: 'owner = @request.auth.id && status != @request.auth.role',
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      await scene.edit('users', 'u1', { role: '' })
      await scene.page(replica, ONE)
      await scene.edit('users', 'u1', { role: 'open' })
      await scene.finish(replica)
    },
    without: [without.ROWS_UNTESTED],
  },
  {
    name: 'a first sync has grounds and ranges, in pages of one row',
    rows: {
      ...inProject('d1', 'd3'),
      docs: [
        { id: 'd1', ...MINE },
        { id: 'd2', expires: inTime(60) },
        { id: 'd3', ...MINE },
      ],
    },
    rule: `${OF_PROJECT} || expires > @now`,
    async run(scene) {
      const rows = await scene.finish(scene.replica(), ONE)
      const ids = rows.flatMap((row) => ('document' in row ? [row.document['_id']] : []))
      claim(ids.join() === 'd1,d3,d2', `the order is ${ids.join()}`)
    },
    without: [without.NO_RANGES],
  },
  {
    name: 'R9: a token of a page that a restored backup never had is of no use',
    rows: inProject('d1', 'd2', 'd3'),
    rule: OF_PROJECT,
    hasFiles: true,
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      const backup = scene.world.backup(`${scene.folder}/backup.db`)
      await scene.edit('docs', 'd2', { note: 'changed' })
      await scene.page(replica, LOOK)
      await scene.world.restore(backup)
      await scene.finish(replica)
    },
    without: [without.RESTORE_BY_TARGET, without.NO_BOOT_LOG],
  },
  {
    name: 'R10: rows and token are stored in one transaction',
    rows: { ...inProject('d1'), projects: [{ id: 'p1', members: [] }] },
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: ['u1'] })
      replica.lose(await scene.ask(replica))
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
    },
    without: [without.CLIENT_NOT_ATOMIC],
  },
  {
    name: 'R12: a record that was purged leaves, also if another one has its id',
    rows: inProject('d1', 'd2', 'd3'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.purge('docs', 'd1')
      await scene.purge('docs', 'd2')
      await scene.edit('docs', 'd2', { project: '' })
      await scene.purge('docs', 'd3')
      await scene.edit('docs', 'd3', { ...MINE, note: 'another' })
      await scene.finish(replica)
    },
    without: [without.NO_ID_OF_PURGED],
  },
  {
    name: 'R13: a record that is deleted out of sight has left, and no more',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.delete('docs', 'd2')
      const [seen] = await scene.finish(replica)
      claim(JSON.stringify(seen) === '{"left":"d2","deleted":true}', 'a deletion in sight is one')
      await scene.edit('projects', 'p1', { members: ['u2'] })
      await scene.delete('docs', 'd1')
      const rows = await scene.finish(replica)
      claim(JSON.stringify(rows) === '[{"left":"d1","deleted":false}]', 'a replica learns of a deletion out of sight')
    },
    without: [without.DELETED_TO_ALL],
  },
])
