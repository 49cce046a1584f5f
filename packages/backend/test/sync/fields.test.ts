/**
 * Goal: a replica has the fields of a record that its account sees, and no others. Method: cases on the feed, and on one without the
 * repair, which must fail.
 */
import * as without from './mutations.ts'
import { claim, inTime, OF_PROJECT, ONE, type Scene } from './scene.ts'
import type { Replica } from './replica.ts'
import { testScenes } from './test-scenes.ts'

const docs = (...ids: string[]) => ids.map((id) => ({ id, project: 'p1', status: 'open', secret: `secret of ${id}` }))
const ROWS = {
  users: [
    { id: 'u1', role: 'admin', team: 't1', email: 'u1@example.com' },
    { id: 'u2', role: '', team: 't1', email: 'u2@example.com' },
  ],
  projects: [{ id: 'p1', members: ['u1'] }],
  docs: docs('d1', 'd2', 'd3'),
}

function has(replica: Replica, id: string, field = 'secret'): boolean {
  return replica.records.get(id)!.fields.includes(`"${field}"`)
}

/** Another list rule that admits the same: all records come again. Gives how many of them come without a body. */
async function beginAgain(scene: Scene, replica: Replica): Promise<number> {
  scene.world.setRule(`id != '${scene.world.rule().length}'`)
  const [page] = await scene.world.pull([replica], undefined, (_, id, rev) => replica.has(id, rev))
  replica.apply(page!)
  await scene.finish(replica)
  return page!.rows.filter((row) => 'rev' in row).length
}

testScenes([
  {
    name: 'a field leaves the device with the role that shows it, and comes back with it',
    rows: ROWS,
    rule: '',
    fields: { secret: "@request.auth.role = 'admin'" },
    async run(scene) {
      const replica = await scene.synced()
      claim(has(replica, 'd1'), 'the role shows the field')
      await scene.edit('users', 'u1', { role: '' })
      claim((await scene.finish(replica)).length === 3, 'each record comes once')
      await scene.edit('users', 'u1', { role: 'admin' })
      await scene.finish(replica)
    },
    without: [without.NO_SHOWN, without.BODIES_WHOLE],
  },
  {
    name: 'a field leaves the device with a relation, and comes back with it; other records do not come',
    rows: {
      ...ROWS,
      projects: [...ROWS.projects, { id: 'p2', members: [] }],
      docs: [...ROWS.docs, { id: 'd4', project: 'p2' }],
    },
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: [] })
      claim((await scene.finish(replica)).length === 3, 'three records are shown otherwise')
      await scene.edit('projects', 'p1', { members: ['u1'] })
      claim((await scene.finish(replica)).length === 3, 'three records are shown otherwise again')
    },
    without: [without.NO_FIELDS_LOST, without.NO_FIELDS_GAINED],
  },
  {
    name: 'a write of the record hides a field, and shows it',
    rows: ROWS,
    rule: '',
    fields: { secret: "status = 'open'" },
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('docs', 'd1', { status: 'shut' })
      await scene.finish(replica)
      claim(!has(replica, 'd1') && has(replica, 'd2'), 'one field is hidden')
      await scene.edit('docs', 'd1', { status: 'open' })
      await scene.finish(replica)
    },
    without: [without.BODIES_WHOLE],
  },
  {
    name: 'time hides a field, and shows another one',
    rows: { ...ROWS, docs: [{ ...ROWS.docs[0]!, starts: inTime(5), expires: inTime(5) }] },
    rule: '',
    fields: { secret: 'expires > @now', note: 'starts <= @now' },
    async run(scene) {
      const replica = await scene.synced()
      claim(has(replica, 'd1') && !has(replica, 'd1', 'note'), 'one is shown')
      scene.wait(10)
      await scene.finish(replica)
    },
    without: [without.NO_FIELD_CLOCK],
  },
  {
    name: 'another rule of a field begins again',
    rows: ROWS,
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = await scene.synced()
      scene.world.setFieldRules({ secret: null })
      await scene.finish(replica)
      scene.world.setFieldRules({})
      await scene.finish(replica)
    },
    without: [without.NO_FIELDS_VERSION],
  },
  {
    name: 'a page after a revocation has no field of before',
    rows: ROWS,
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
    },
    without: [without.NO_PRESENT_FIELDS],
  },
  {
    name: 'a field that is shown for one page only does not stay',
    rows: { ...ROWS, projects: [{ id: 'p1', members: [] }] },
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: ['u1'] })
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: [] })
      await scene.finish(replica)
    },
    without: [without.NO_TARGET_FIELDS],
  },
  {
    name: 'a field that one page left out is not taken for known',
    rows: ROWS,
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = scene.replica()
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: [] })
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: ['u1'] })
      await scene.finish(replica)
      claim(has(replica, 'd2'), 'the field has come')
    },
    without: [without.MUST_IS_MAY, without.FIELDS_SURE],
  },
  {
    name: 'a body that a replica has counts only if it is shown as then',
    rows: ROWS,
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = await scene.synced()
      claim((await beginAgain(scene, replica)) === 3, 'no body comes')
      await scene.edit('projects', 'p1', { members: [] })
      claim((await beginAgain(scene, replica)) === 0, 'all bodies come')
    },
    without: [without.NO_HELD_SHAPE, without.SHAPE_NEVER_MIXED],
  },
  {
    name: 'bodies that a replica has do not count while some are shown otherwise than others',
    rows: ROWS,
    rule: '',
    fields: { secret: OF_PROJECT },
    async run(scene) {
      const replica = await scene.synced()
      await scene.edit('projects', 'p1', { members: [] })
      await scene.page(replica, ONE)
      await scene.edit('projects', 'p1', { members: ['u1'] })
      claim((await beginAgain(scene, replica)) === 0, 'all bodies come')
    },
    without: [without.SHAPE_NEVER_MIXED],
  },
  {
    name: 'bodies that the clock cuts come again',
    rows: { ...ROWS, docs: [{ ...ROWS.docs[0]!, expires: inTime(5) }] },
    rule: '',
    fields: { secret: 'expires > @now' },
    async run(scene) {
      const replica = await scene.synced()
      scene.wait(10)
      claim((await beginAgain(scene, replica)) === 0, 'the body comes')
    },
    without: [without.CLOCKED_SHAPE],
  },
  {
    name: 'an address leaves with the manage rule, and comes back with it',
    rows: ROWS,
    rule: '',
    manage: 'team = @request.auth.team',
    async run(scene) {
      const replica = await scene.synced('u1', 'users')
      claim(has(replica, 'u2', 'email'), 'the address is shown')
      await scene.edit('users', 'u1', { team: 't2' })
      await scene.finish(replica)
      claim(has(replica, 'u1', 'email') && !has(replica, 'u2', 'email'), 'the own address stays')
      await scene.edit('users', 'u2', { team: 't2' })
      await scene.finish(replica)
    },
    without: [without.NO_SHOWN, without.NO_MANAGE],
  },
  {
    name: 'a record does not come again for an address that is shown to all',
    rows: { ...ROWS, users: ROWS.users.map((user) => ({ ...user, emailVisibility: true })) },
    rule: '',
    manage: 'projects_via_members.members.id ?= @request.auth.id',
    async run(scene) {
      const replica = await scene.synced('u2', 'users')
      await scene.edit('projects', 'p1', { members: ['u1', 'u2'] })
      claim((await scene.finish(replica)).length === 0, 'no row comes')
    },
    without: [],
  },
])
