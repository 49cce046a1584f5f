/**
 * Goal: what has gone wrong in other systems that sync what rules allow has a case of its own. Method: each case is played on the feed,
 * and on one without the repair, which must fail.
 */
import * as without from './mutations.ts'
import { claim, inTime, OF_PROJECT, ONE, USERS } from './scene.ts'
import { testScenes } from './test-scenes.ts'

const inProject = (...ids: string[]) => ({
  users: USERS,
  projects: [
    { id: 'p1', members: ['u1', 'u2'] },
    { id: 'p2', members: ['u1', 'u2'] },
  ],
  docs: ids.map((id) => ({ id, project: 'p1', owner: 'u2', status: 'open' })),
})

testScenes([
  {
    name: 'a record leaves by its own change',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(replica)
    },
    without: [without.NO_LEFT],
  },
  {
    name: 'records leave by a relation',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: ['u2'] })
      await scene.finish(replica)
    },
    without: [without.NO_LOST, without.NO_HOLDINGS_AT_END],
  },
  {
    name: 'records leave and come by another rule',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { owner: 'u1', project: '' })
      await scene.finish(replica)
      scene.world.setRule('owner = @request.auth.id')
      await scene.finish(replica)
    },
    without: [without.NO_RULES_VERSION],
  },
  {
    name: 'a record that leaves while the rule is another one leaves, though the rule is as before then',
    rows: inProject('d1', 'd2', 'd3'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      scene.world.setRule('owner != @request.auth.id')
      await scene.synced()
      await scene.delete('docs', 'd1')
      await scene.edit('docs', 'd2', { project: '' })
      scene.world.setRule(OF_PROJECT)
      await scene.synced('u2')
      await scene.finish(replica)
    },
    without: [without.NOTHING_FORGOTTEN],
  },
  {
    name: 'records leave by a role, and come by it',
    rows: { users: [{ id: 'u1', role: 'admin' }], docs: [{ id: 'd1' }, { id: 'd2', owner: 'u1' }] },
    rule: "@request.auth.role = 'admin' || owner = @request.auth.id",
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('users', 'u1', { role: '' })
      const left = await scene.finish(replica)
      claim(left.length === 1, 'what another alternative shows stays')
      await scene.edit('users', 'u1', { role: 'admin' })
      await scene.finish(replica)
    },
    without: [without.NO_LOST, without.NO_GAINED, without.LOST_FOR_GOOD],
  },
  {
    name: 'a record that leaves and is deleted then has left',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const [replica, other] = [scene.replica(), scene.replica('u2')]
      await scene.finish(replica)
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(other)
      await scene.delete('docs', 'd1')
      const rows = await scene.finish(replica)
      claim(JSON.stringify(rows) === '[{"left":"d1","deleted":false}]', 'it has left once, and no more')
    },
    without: [without.NO_LEFT, without.LEFT_UNSHOWN],
  },
  {
    name: 'a record that leaves and comes back unchanged comes again',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
      await scene.edit('projects', 'p1', { members: ['u1'] })
      await scene.finish(replica)
    },
    without: [without.NO_GAINED],
  },
  {
    name: 'a record that came and went while a replica was offline is not named',
    rows: inProject('d9'),
    rule: OF_PROJECT,
    async run(scene) {
      const [replica, other] = [scene.replica(), scene.replica('u2')]
      await scene.finish(replica)
      await scene.edit('docs', 'd1', { project: 'p1' })
      await scene.finish(other)
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(other)
      claim((await scene.finish(replica)).length === 0, 'a record that the replica never had is named')
    },
    without: [without.NO_CAME_AT],
  },
  {
    name: 'a record with two grounds stays when one is lost',
    rows: { ...inProject(), docs: [{ id: 'd1', projects: ['p1', 'p2'] }] },
    rule: 'projects.members.id ?= @request.auth.id',
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: [] })
      claim((await scene.finish(replica)).length === 0, 'a record that stays is sent')
      await scene.edit('projects', 'p2', { members: [] })
      await scene.finish(replica)
    },
    without: [without.LOST_FOR_GOOD, without.NO_LOST],
  },
  {
    name: 'a small tenant does not walk the changes of a huge one',
    rows: { ...inProject('d1'), users: [...USERS, { id: 'u3' }] },
    rule: `${OF_PROJECT} || owner = @request.auth.id`,
    async run(scene) {
      const replica = await scene.synced()
      const tenant = Array.from({ length: 200 }, (_, at) => ({
        collection: 'docs',
        id: `huge${at}`,
        fields: { owner: 'u3' },
      }))
      await scene.world.commit(...tenant)
      await scene.edit('docs', 'd1', { note: 'new' })
      const page = await scene.page(replica, { rows: 10, entries: 10 })
      claim(page.isComplete && page.rows.length === 1, 'a page of ten entries is enough')
    },
    without: [without.NO_PLAN],
  },
  {
    name: 'a record leaves by the clock alone',
    rows: {
      users: USERS,
      docs: [
        { id: 'd1', expires: inTime(5), starts: inTime(0) },
        { id: 'd2', starts: inTime(8) },
      ],
    },
    rule: 'expires > @now || starts <= @now',
    async run(scene) {
      const replica = scene.replica(null)
      scene.world.setRule('expires > @now')
      await scene.finish(replica)
      scene.wait(10)
      await scene.finish(replica)
      scene.world.setRule('starts > @now')
      await scene.finish(replica)
    },
    without: [without.NO_TIME_AT_END],
  },
  {
    name: 'a replica that was away for a year begins again, and forgets what has left',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const [replica, other] = [scene.replica(), scene.replica('u2')]
      await scene.finish(replica)
      await scene.edit('docs', 'd1', { project: '' })
      await scene.finish(other)
      await scene.edit('docs', 'd2', { note: 'new' })
      await scene.finish(other)
      await scene.world.forgetLeft(other.token!.builtTo)
      const rows = await scene.finish(replica)
      claim(!rows.some((row) => 'left' in row), 'ids of what it must forget are sent')
    },
    without: [without.NO_HORIZON],
  },
  {
    name: 'a replica of several pages comes to an end, however far losses are forgotten',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      await scene.finish(scene.replica())
      await scene.world.forgetLeft(1000)
      await scene.finish(scene.replica(), ONE)
    },
    without: [without.NO_END_OF_FORGETTING],
  },
  {
    name: 'a replica that has lost its token forgets what has left',
    rows: inProject('d1', 'd2'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { project: '' })
      replica.token = undefined
      await scene.finish(replica, ONE)
    },
    without: [without.NO_END],
  },
  {
    name: 'a replica of a server that was restored forgets what the server never had',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    hasFiles: true,
    async run(scene) {
      const replica = await scene.synced()
      const backup = scene.world.backup(`${scene.folder}/backup.db`)
      await scene.edit('docs', 'd2', { project: 'p1' })
      await scene.finish(replica)
      await scene.world.restore(backup)
      await scene.edit('docs', 'd3', { project: 'p1' })
      await scene.edit('docs', 'd1', { note: 'another' })
      await scene.finish(replica)
    },
    without: [without.NO_BOOT_LOG],
  },
  {
    name: 'a relation that flips twice in one commit changes nothing',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      const members = (...ids: string[]) => ({ collection: 'projects', id: 'p1', fields: { members: ids } })
      await scene.world.commit(members('u2'), members('u1', 'u2'))
      claim((await scene.finish(replica)).length === 0, 'a row is sent')
      await scene.world.commit(members('u1', 'u2'), members('u2'))
      await scene.finish(replica)
    },
    without: [without.NO_LOST],
  },
  {
    name: 'a record whose parent shows it comes only when its own condition is met, too',
    rows: {
      users: USERS,
      docs: [
        { id: 'd1', owner: 'u2' },
        { id: 'd2', parent: 'd1', status: 'shut' },
      ],
    },
    rule: "parent.owner = @request.auth.id && status = 'open'",
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { owner: 'u1' })
      claim((await scene.finish(replica)).length === 0, 'a record comes too early')
      await scene.edit('docs', 'd2', { status: 'open' })
      await scene.finish(replica)
    },
    without: [without.NO_RECORD_SIDE],
  },
  {
    name: 'a token of another account begins again, and tells nothing',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const [replica, other] = [scene.replica(), scene.replica(null)]
      await scene.finish(replica)
      other.token = replica.token
      const page = await scene.page(other)
      claim(page.isReset && page.rows.length === 1, 'a guest has the token of an account')
    },
    without: [without.NO_ACCOUNT],
  },
  {
    name: 'a purge alone makes a record leave',
    rows: inProject('d1'),
    rule: OF_PROJECT,
    async run(scene) {
      const replica = await scene.synced()
      await scene.purge('docs', 'd1')
      await scene.finish(replica)
    },
    without: [without.NO_LEFT],
  },
])
