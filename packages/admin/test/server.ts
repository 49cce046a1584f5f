/** A server with the admin page of the sources and a superuser, for tests and pictures. */
import { SYSTEM } from '@pannier/backend'
import type { Actor } from '@pannier/backend'
import { once } from '../../../demo/test/browser/steps.ts'
import { freePort } from '../../../tools/processes.ts'
import { writeAdminPage } from '../../../tools/web/admin-page.ts'
import type { ServerOptions } from '../../server/src/index.ts'
import { startServer } from '../../server/test/test-server.ts'
import type { TestServer } from '../../server/test/test-server.ts'

export const EMAIL = 'root@example.com'
export const PASSWORD = 'the password of root'

/** The server itself. */
export const ITSELF: Actor = {
  principal: SYSTEM,
  request: { context: 'default', method: 'POST', query: {}, headers: {} },
}

/** The page does not change while the tests run. */
const builtPage = once(writeAdminPage)

export async function startAdmin({
  hasSuperuser = true,
  ...options
}: ServerOptions & { readonly hasSuperuser?: boolean; readonly port?: number } = {}): Promise<TestServer> {
  await builtPage()
  const server = await startServer({ port: await freePort(), ...options })
  if (hasSuperuser) {
    const input = { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD }
    await server.server.backend.records.create(ITSELF, '_superusers', input)
  }
  return server
}

/** Fills a collection `tasks` through the library: records of every type, as many as wanted. */
export async function fillTasks({ server }: TestServer, count: number): Promise<void> {
  const { definitions } = server.backend
  await definitions.create(SYSTEM, TASKS)
  const { id } = definitions.find('tasks')!
  const tasks = server.database.collection<Task>(`$records_${id}`)
  const rows = Array.from({ length: count }, (_, at) => taskOf(at))
  for (let at = 0; at < count; at += 10_000) await tasks.insert(rows.slice(at, at + 10_000))
}

interface Task {
  readonly _id: string
  readonly title: string
  readonly done: boolean
  readonly points: number
  readonly due: string
  readonly labels: readonly string[]
  readonly notes: string
  readonly extra: object | null
  readonly created: string
}

const TASKS = {
  name: 'tasks',
  type: 'base',
  fields: [
    { name: 'title', type: 'text', required: true, presentable: true, max: 60 },
    { name: 'done', type: 'bool' },
    { name: 'points', type: 'number', min: 0, max: 100, onlyInt: true },
    { name: 'due', type: 'date' },
    { name: 'labels', type: 'select', values: ['home', 'work', 'garden'], maxSelect: 3 },
    { name: 'notes', type: 'editor' },
    { name: 'extra', type: 'json' },
    { name: 'created', type: 'autodate', onCreate: true },
  ],
}
const LABELS = ['home', 'work', 'garden']
const START = Date.UTC(2026, 0, 1)

function taskOf(at: number): Task {
  const number = String(at + 1).padStart(6, '0')
  const date = new Date(START + at * 60_000).toISOString().replace('T', ' ')
  return {
    _id: `task00000${number}`,
    title: `Task ${number}`,
    done: at % 3 === 0,
    points: at % 101,
    due: at % 5 === 0 ? '' : date,
    labels: LABELS.filter((_label, label) => (at + label) % 2 === 0),
    notes: `<p>Notes of <b>${number}</b></p>`,
    extra: at % 4 === 0 ? { at } : null,
    created: date,
  }
}
