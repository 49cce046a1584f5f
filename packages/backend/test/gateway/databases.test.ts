/** Goal: what others write to the same database is noticed. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { Databases, ServerState } from '../../src/internal.ts'

test('a change of access by another program holds at once', async () => {
  await using database = await open('shared', { storage: memory(), environment: virtualEnvironment() })
  const [one, other] = [0, 1].map(() => new Databases(database, new ServerState(database)))
  await one!.create('docs')
  const access = (names: readonly string[]): { members: { names: readonly string[]; roles: never[] } } => ({
    members: { names, roles: [] },
  })
  await one!.setSecurity('docs', access(['ann']))
  expect(await one!.security('docs')).toMatchObject(access(['ann']))
  await other!.setSecurity('docs', access(['bob']))
  expect(await one!.security('docs')).toMatchObject(access(['bob']))
})
