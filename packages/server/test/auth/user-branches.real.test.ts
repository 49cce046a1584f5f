/** Branches of documents in `_users`: one that nobody sees must neither give rights back nor keep a deleted user alive. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { basic, send, startServer, type TestServer } from '../test-server.ts'

const PASSWORD = 'battery staple'
const SECOND = 'second password'
let running: TestServer
let name: string
let count = 0

const path = (): string => `/_users/org.couchdb.user:${name}`
const own = (password = PASSWORD): Record<string, string> => ({ authorization: basic(`${name}:${password}`) })
const user = (fields: object = {}): object => ({ name, type: 'user', roles: ['editor'], password: PASSWORD, ...fields })
const readsAs = async (password = PASSWORD): Promise<number> =>
  (await send(running.url, 'GET /private/one', undefined, own(password))).status

async function rev(): Promise<string> {
  return (await send(running.url, `GET ${path()}`)).json['_rev'] as string
}

beforeAll(async () => {
  running = await startServer({ auth: { loginLimits: { addressMax: 10_000, sameMax: 10_000, nameMax: 10_000 } } })
  await send(running.url, 'PUT /private')
  await send(running.url, 'PUT /private/_security', { members: { roles: ['editor'] }, admins: { roles: ['_admin'] } })
  await send(running.url, 'PUT /private/one', { secret: true })
})
afterAll(() => running.close())
beforeEach(async () => {
  name = `climber${++count}`
  expect(await send(running.url, `PUT ${path()}`, user())).toMatchObject({ status: 201 })
  expect(await readsAs()).toBe(200)
})

/** A branch that loses, made by an admin: as a replication or an older version could have left it. */
async function hiddenBranch(fields: object = {}, branch = '1-0'): Promise<void> {
  const written = await send(running.url, `PUT ${path()}?new_edits=false`, user({ _rev: branch, ...fields }))
  expect(written.status).toBe(201)
}

describe('what users write in their own document', () => {
  test('is an edit of their own: a revision with an ancestry of their choice is refused, alone and in bulk', async () => {
    const planted = user({ _rev: '1-0' })
    const alone = await send(running.url, `PUT ${path()}?new_edits=false`, planted, own())
    expect(alone).toMatchObject({ status: 403, json: { error: 'forbidden' } })
    const docs = [{ _id: `org.couchdb.user:${name}`, ...planted }]
    const bulk = await send(running.url, 'POST /_users/_bulk_docs', { docs, new_edits: false }, own())
    expect(bulk.status).toBe(403)
    const leaves = await send(running.url, `GET ${path()}?open_revs=all`)
    expect(leaves.json).toHaveLength(1)
  })

  test('replaces what counts now, and no branch that nobody sees', async () => {
    await send(running.url, `PUT ${path()}`, user({ _rev: await rev(), roles: [] }))
    await hiddenBranch()
    // While there are two branches nobody logs in, so an admin stands for what a session of before could do.
    await send(running.url, `DELETE ${path()}?rev=1-0`)
    const edit = await send(running.url, `PUT ${path()}`, user({ _rev: '1-0', roles: [] }), own())
    expect(edit.status).toBe(409)
    expect((await send(running.url, `DELETE ${path()}?rev=1-0`, undefined, own())).status).not.toBe(200)
    expect(await readsAs()).toBe(403)
  })

  test('a password of their own is written as before', async () => {
    const changed = await send(running.url, `PUT ${path()}`, user({ _rev: await rev(), password: SECOND }), own())
    expect(changed.status).toBe(201)
    expect(await readsAs(SECOND)).toBe(200)
    expect((await send(running.url, `DELETE ${path()}?rev=${await rev()}`, undefined, own(SECOND))).status).toBe(200)
    expect(await readsAs(SECOND)).toBe(401)
  })
})

describe('branches that are there', () => {
  test('nobody logs in with a document in conflict, until an admin has ended the other branch', async () => {
    await hiddenBranch({ password: SECOND })
    expect(await readsAs()).toBe(401)
    expect(await readsAs(SECOND)).toBe(401)
    expect((await send(running.url, 'POST /_session', { name, password: PASSWORD })).status).toBe(401)
    expect((await send(running.url, `DELETE ${path()}?rev=1-0`)).status).toBe(200)
    expect(await readsAs()).toBe(200)
    expect(await readsAs(SECOND)).toBe(401)
  })

  test('a session ends when its document comes into conflict', async () => {
    const login = await send(running.url, 'POST /_session', { name, password: PASSWORD })
    const headers = { authorization: '', cookie: login.headers.get('set-cookie')!.split(';')[0]! }
    expect((await send(running.url, 'GET /private/one', undefined, headers)).status).toBe(200)
    await hiddenBranch()
    expect((await send(running.url, 'GET /private/one', undefined, headers)).status).toBe(401)
  })

  for (const how of ['DELETE', 'PUT', '_bulk_docs', 'new_edits=false']) {
    test(`who deletes a user deletes all branches: ${how}`, async () => {
      for (const branch of ['1-0', '1-00', '1-01']) await hiddenBranch({ password: SECOND }, branch)
      const { _rev, ...rest } = (await send(running.url, `GET ${path()}`)).json
      const deletion = { ...rest, _rev, _deleted: true }
      const [generation, suffix] = (_rev as string).split('-')
      const answer = await (how === 'DELETE'
        ? send(running.url, `DELETE ${path()}?rev=${String(_rev)}`)
        : how === 'PUT'
          ? send(running.url, `PUT ${path()}`, deletion)
          : send(running.url, 'POST /_users/_bulk_docs', {
              docs: [
                how === '_bulk_docs'
                  ? deletion
                  : {
                      ...deletion,
                      _rev: undefined,
                      _revisions: { start: Number(generation) + 1, ids: ['abc', suffix] },
                    },
              ],
              new_edits: how === '_bulk_docs',
            }))
      expect(answer.status).toBeLessThan(300)
      expect((await send(running.url, `GET ${path()}`)).json).toMatchObject({ error: 'not_found', reason: 'deleted' })
      expect(await readsAs()).toBe(401)
      expect(await readsAs(SECOND)).toBe(401)
    })
  }

  test('a refused deletion leaves the branches as they are', async () => {
    await hiddenBranch()
    const answer = await send(running.url, `DELETE ${path()}?rev=${await rev()}`, undefined, own())
    expect(answer.status).toBe(401)
    expect((await send(running.url, `GET ${path()}?conflicts=true`)).json['_conflicts']).toEqual(['1-0'])
  })

  test('a user who was deleted and made again has one branch', async () => {
    await hiddenBranch({ password: SECOND })
    await send(running.url, `DELETE ${path()}?rev=${await rev()}`)
    expect((await send(running.url, `PUT ${path()}`, user({ roles: [] }))).status).toBe(201)
    expect(await readsAs()).toBe(403)
    expect(await readsAs(SECOND)).toBe(401)
  })
})

test('a replicated deletion ends all branches, and conflicts that came by replication let nobody in', async () => {
  await send(running.url, 'PUT /copy')
  const id = `org.couchdb.user:${name}`
  const replicate = (source: string, target: string): Promise<unknown> =>
    send(running.url, 'POST /_replicate', { source, target, doc_ids: [id] })
  await replicate('_users', 'copy')
  await send(running.url, `PUT /copy/${id}?new_edits=false`, { ...user({ _rev: '1-0' }), _id: id })
  await replicate('copy', '_users')
  expect((await send(running.url, `GET ${path()}?conflicts=true`)).json['_conflicts']).toEqual(['1-0'])
  expect(await readsAs()).toBe(401)
  await send(running.url, `DELETE /copy/${id}?rev=${await rev()}`)
  await replicate('copy', '_users')
  expect((await send(running.url, `GET ${path()}`)).json).toMatchObject({ reason: 'deleted' })
})
