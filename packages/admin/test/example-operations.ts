/** What an operator would see after some days: logs, a backup, an API token, databases with views, a replication that fails. */
import { ADMIN, send } from '../../server/test/test-server.ts'
import type { TestServer } from '../../server/test/test-server.ts'
import { ITSELF, PASSWORD } from './server.ts'

const HOURS = 60
const NOTES = 120
const HOUR_MS = 3_600_000
export const ANN = 'annannannannann'

export async function fillOperations(server: TestServer): Promise<void> {
  const { backend } = server.server
  const account = { id: ANN, email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await backend.records.create(ITSELF, 'users', account)
  await fillLogs(server)
  await backend.backups.create(ITSELF.principal, '')
  await backend.backups.create(ITSELF.principal, 'before_update.zip')
  const token = { name: 'nightly report', collection: 'users', record: ANN, scopes: { tasks: ['list', 'view'] } }
  await backend.accounts.createApiToken(ITSELF, token)
  await fillNotes(server.url)
}

async function fillLogs({ server: { backend } }: TestServer): Promise<void> {
  const paths = ['tasks/records?page=1', 'tasks/records/task00000000001', 'users/auth-with-password', 'posts/records']
  const entries = Array.from({ length: HOURS }, (_, hour) =>
    Array.from({ length: 3 + ((hour * 7) % 11) }, (_entry, at) => {
      const created = new Date(Date.now() - hour * HOUR_MS - at * 60_000).toISOString().replace('T', ' ')
      const path = paths[(hour + at) % paths.length]!
      const isMissing = path.startsWith('posts')
      return {
        _id: `log${String(hour).padStart(6, '0')}${String(at).padStart(6, '0')}`,
        created,
        hour: `${created.slice(0, 13)}:00:00.000Z`,
        level: isMissing ? 8 : at === 5 ? 4 : 0,
        message: at === 5 ? 'A mail is tried again, as the server was not there.' : `GET /api/collections/${path}`,
        data: {
          type: 'request',
          execTime: 1 + ((hour * at) % 40) / 3,
          ...(isMissing && { error: 'Missing collection context.', details: null }),
          url: `/api/collections/${path}`,
          method: 'GET',
          status: isMissing ? 404 : 200,
          userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
          auth: at % 2 === 0 ? 'users' : '',
          userIP: '203.0.113.7',
        },
      }
    }),
  )
  await backend.logs.documents.insert(entries.flat())
}

/** By CouchDB's door. */
export async function fillNotes(url: string): Promise<void> {
  const put = async (request: string, body?: object): Promise<void> => {
    const { status, text } = await send(url, request, body, { authorization: ADMIN })
    if (status >= 300) throw new Error(`${request}: ${text}`)
  }
  await put('PUT /notes')
  const docs = Array.from({ length: NOTES }, (_, at) => ({
    _id: `note-${at}`,
    type: ['idea', 'task', 'letter'][at % 3],
    text: `The note of day ${at}`,
    stars: at % 6,
  }))
  await put('POST /notes/_bulk_docs', { docs })
  await put('PUT /notes/_design/by', {
    views: {
      type: { map: 'function (doc) {\n  emit(doc.type, doc.stars)\n}', reduce: '_sum' },
      stars: { map: 'function (doc) {\n  if (doc.stars > 3) emit(doc.stars, doc.text)\n}' },
    },
  })
  await put('POST /_replicator', { source: 'notes', target: 'notes-copy', create_target: true, continuous: true })
  await put('POST /_replicator', { source: 'https://backup.example/notes', target: 'notes', continuous: true })
}
