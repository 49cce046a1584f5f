/** Goal: hooks of one server are loaded again without the others, which serve the same data with what they have. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { makeFolder } from '../../../../tools/processes.ts'
import { EMAIL, PASSWORD, sdkClient } from '../rest/rest-server.ts'
import { until } from '../test-server.ts'
import { Serving } from './serving.ts'

const hookOf = (version: number): string => `export default ({ onRecordCreate, routerAdd }) => {
  onRecordCreate(async (e) => {
    e.record.set('made', 'by ${version}')
    await e.next()
  }, 'posts')
  routerAdd('GET', '/version', (e) => e.json(200, { version: ${version} }))
}
`

onPostgres((get) => {
  test('a file that changes at one server changes that server only', { timeout: 120_000 }, async () => {
    const folders = [1, 2].map((version) => {
      const folder = join(makeFolder('hooks'), 'hooks')
      mkdirSync(folder)
      writeFileSync(join(folder, 'posts.js'), hookOf(version))
      return folder
    })
    await using one = await Serving.start(get().url, ['--hooks', folders[0]!])
    await using two = await Serving.start(get().url, ['--hooks', folders[1]!])
    const versionAt = async ({ url }: Serving): Promise<number> =>
      ((await (await fetch(`${url}/version`)).json()) as { version: number }).version
    expect([await versionAt(one), await versionAt(two)]).toEqual([1, 2])
    const clients = [one, two].map(({ url }) => sdkClient(url))
    for (const client of clients) await client.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
    const fields = [{ name: 'made', type: 'text' }]
    await clients[0]!.collections.create({ name: 'posts', type: 'base', fields })
    const madeAt = async (at: number): Promise<unknown> => (await clients[at]!.collection('posts').create({}))['made']
    expect([await madeAt(0), await madeAt(1)]).toEqual(['by 1', 'by 2'])
    writeFileSync(join(folders[0]!, 'posts.js'), hookOf(3))
    await until(async () => (await versionAt(one)) === 3)
    expect([await madeAt(0), await madeAt(1), await versionAt(two)]).toEqual(['by 3', 'by 2', 2])
    // A mistake leaves what runs.
    writeFileSync(join(folders[1]!, 'posts.js'), 'export default 1')
    await two.says(/posts\.js/)
    expect([await madeAt(0), await madeAt(1)]).toEqual(['by 3', 'by 2'])
    expect((await clients[0]!.collection('posts').getFullList({ headers: { 'pannier-sequence': '1e9' } })).length).toBe(
      6,
    )
  })
})
