/**
 * Goal: each part of what finds sessions for a commit is needed. Method: each case is played on the real thing, and on one without the
 * part: then a session misses a signal, or gets one of what is hidden.
 */
import * as without from './mutations.ts'
import { inTime, OF_PROJECT, USERS } from './scene.ts'
import { testScenes } from './test-scenes.ts'

const ROWS = {
  users: USERS,
  projects: [
    { id: 'p1', members: ['u1'] },
    { id: 'p2', members: ['u2'] },
  ],
  docs: [{ id: 'd1', project: 'p1', status: 'open' }],
}

testScenes([
  {
    name: 'a record that moves is signalled to those who saw it and to those who see it',
    rows: ROWS,
    rule: OF_PROJECT,
    async run(scene) {
      const [one, other] = [await scene.session('u1'), await scene.session('u2')]
      await scene.edit('docs', 'd1', { note: 'a' })
      await scene.expectSignals([one, true], [other, false])
      await scene.edit('docs', 'd1', { project: 'p2' })
      await scene.expectSignals([one, true], [other, true])
      await scene.delete('docs', 'd1')
      await scene.expectSignals([one, false], [other, true])
    },
    without: [without.LIVE_NO_FORMER, without.LIVE_NO_SEEING],
  },
  {
    name: 'a member who comes or goes is signalled if the project has records',
    rows: ROWS,
    rule: OF_PROJECT,
    async run(scene) {
      const [one, other] = [await scene.session('u1'), await scene.session('u2')]
      await scene.edit('projects', 'p2', { members: ['u1', 'u2'] })
      await scene.expectSignals([one, false], [other, false])
      await scene.edit('projects', 'p1', { members: ['u2'] })
      await scene.expectSignals([one, true], [other, true])
    },
    without: [without.LIVE_NO_READS, without.LIVE_NOT_WRITTEN, without.LIVE_ALWAYS_OTHER],
  },
  {
    name: 'a record behind a ground that the account holds is signalled only if the rest of the rule admits it',
    rows: ROWS,
    rule: `${OF_PROJECT} && owner != @request.auth.id`,
    async run(scene) {
      const one = await scene.session('u1')
      await scene.edit('docs', 'd2', { project: 'p1', owner: 'u1' })
      await scene.expectSignals([one, false])
      await scene.edit('docs', 'd2', { owner: 'u2' })
      await scene.expectSignals([one, true])
    },
    without: [without.LIVE_UNTESTED],
  },
  {
    name: 'a record that runs out is signalled when it does, also if it was written after the session began',
    rows: { ...ROWS, docs: [] },
    rule: `${OF_PROJECT} && expires > @now`,
    async run(scene) {
      const one = await scene.session('u1')
      await scene.edit('docs', 'd2', { project: 'p1', expires: inTime(60) })
      await scene.expectSignals([one, true])
      scene.wait(59)
      await scene.expectSignals([one, false])
      scene.wait(2)
      await scene.expectSignals([one, true])
    },
    without: [without.LIVE_NO_TURN],
  },
  {
    name: 'those who see a record are signalled when another field of it is shown',
    rows: ROWS,
    rule: '',
    fields: { note: OF_PROJECT },
    async run(scene) {
      await scene.edit('docs', 'd1', { note: 'a' })
      const [one, other] = [await scene.session('u1'), await scene.session('u2')]
      await scene.edit('projects', 'p1', { members: ['u1', 'u2'] })
      await scene.expectSignals([one, false], [other, true])
    },
    without: [without.LIVE_NO_FIELDS],
  },
])
