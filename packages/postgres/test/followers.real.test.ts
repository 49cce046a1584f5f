/** Goal: who follows commits of another server finds, with each of them, the state that it has made. */
import { expect, test } from 'vitest'
import { followCommits, holdSnapshot } from '../../db/src/internal.ts'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

onPostgres((get) => {
  for (const flushed of [false, true]) {
    test(`several commits that are found together come one after another${flushed ? ', also after a storage checkpoint' : ''}`, async () => {
      const name = newName()
      const quiet = (host: string): ReturnType<typeof postgres> =>
        postgres(get().url.replace('127.0.0.1', host), { notify: false, pollMs: 1e9 })
      await using writer = await open(name, { storage: quiet('127.0.0.1') })
      await writer.collection('notes').insert({ _id: 'first' })
      await writer.collection('tasks').insert({ _id: 'first' })
      // Another name of the host: handles of one place and process tell one another, and these are to be servers.
      await using reader = await open(name, { storage: quiet('localhost') })
      const told: [string[], number][] = []
      const stop = followCommits(reader, (collections) => {
        const snapshot = holdSnapshot(reader)
        told.push([[...collections], snapshot.sequence])
        snapshot.end()
      })
      const begin = holdSnapshot(reader)
      const { sequence } = begin
      begin.end()
      await writer.collection('notes').insert({ _id: 'n' })
      if (flushed) await writer.flush()
      await writer.collection('tasks').insert({ _id: 't' })
      await writer.collection('notes').delete('n')
      await reader.refresh()
      stop()
      const rest = [
        [['tasks'], sequence + 2],
        [['notes'], sequence + 3],
      ]
      // Nobody knows what a commit has changed that is in pages.
      expect(told).toEqual([[flushed ? ['notes', 'tasks'] : ['notes'], sequence + 1], ...rest])
    })
  }
})
