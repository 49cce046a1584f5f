/** Asks the real PocketBase. */
import type { PocketBaseServer, Reply } from '../../../../tools/test/pocketbase.ts'
import { FILES, MODIFIERS, OPTIONS, VALUES } from './cases.ts'

/** A line that says what was asked, and what the answer was. */
export type Answer = readonly [asked: string, answer: unknown]

const RECORDS = '/api/collections/golden/records'

export async function askAll(peer: PocketBaseServer): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const { field, inputs } of VALUES) {
    await withCollection(peer, field, async () => {
      for (const input of inputs) {
        const reply = await peer.ask('POST', RECORDS, { f: input })
        answers.push([asked(field, input), valueOf(reply)])
      }
    })
  }
  for (const { field, start, bodies } of MODIFIERS) {
    await withCollection(peer, field, async () => {
      for (const body of bodies) {
        const { id } = (await peer.ask('POST', RECORDS, { f: start })).body as { id: string }
        const reply = await peer.ask('PATCH', `${RECORDS}/${id}`, body)
        answers.push([asked(field, start, body), valueOf(reply)])
      }
    })
  }
  for (const { field, files } of FILES) {
    await withCollection(peer, field, async () => {
      const form = new FormData()
      for (const [name, content] of files) form.append('f', new Blob([Buffer.from(content, 'latin1')]), name)
      const reply = await peer.ask('POST', RECORDS, form)
      answers.push([asked(field, files), valueOf(reply)])
    })
  }
  for (const field of OPTIONS) {
    const reply = await peer.ask('POST', '/api/collections', {
      name: 'golden',
      type: 'base',
      fields: [{ name: 'f', ...field }],
    })
    if (reply.status === 200) await peer.ask('DELETE', '/api/collections/golden')
    answers.push([asked(field), optionsOf(reply)])
  }
  return answers
}

/** What chance has made becomes the same. */
export function settled(answer: unknown): string {
  return JSON.stringify(answer)
    .replace(/_[a-z0-9]{10}(?=[".])/g, '_RANDOM')
    .replace(/"([a-z0-9]{0,2})[a-z0-9]{10}_RANDOM/g, '"$1RANDOM_RANDOM')
    .replace(/ex\.: \\"\w+\\"/, 'ex.: RANDOM')
}

export function asked(...what: readonly unknown[]): string {
  const line = what.map((each) => JSON.stringify(each)).join(' ')
  return line.length > 200 ? `${line.slice(0, 200)}… ${line.length}` : line
}

async function withCollection(peer: PocketBaseServer, field: object, use: () => Promise<void>): Promise<void> {
  const fields = [{ ...field, name: 'f' }]
  const { status, body } = await peer.ask('POST', '/api/collections', { name: 'golden', type: 'base', fields })
  if (status !== 200) throw new Error(`${JSON.stringify(field)} is refused: ${JSON.stringify(body)}`)
  await use()
  await peer.ask('DELETE', '/api/collections/golden')
}

function valueOf({ status, body }: Reply): unknown {
  if (status === 200) return { value: (body as { f: unknown }).f }
  const { data } = body as { data: { f?: unknown } }
  return data.f ?? { status, data }
}

function optionsOf({ status, body }: Reply): unknown {
  if (status === 200) {
    const { fields } = body as { fields: readonly { name: string }[] }
    return fields.find(({ name }) => name !== 'id') ?? fields[0]
  }
  const { data, message } = body as { data: { fields?: Record<string, unknown> }; message: string }
  const errors = data.fields
  return errors?.['1'] ?? errors?.['0'] ?? (errors === undefined ? { message, data } : { data })
}
