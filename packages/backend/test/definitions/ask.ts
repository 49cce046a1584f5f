/** Asks the real PocketBase. */
import { PocketBaseServer } from '../../../../tools/test/pocketbase.ts'
import { GROUPS } from './cases.ts'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** The answers by group, each of a new server. */
export async function askAll(binary: string): Promise<Record<string, readonly Answer[]>> {
  const answers: Record<string, readonly Answer[]> = {}
  for (const [group, steps] of Object.entries(GROUPS)) {
    await using peer = await PocketBaseServer.start(binary)
    const replies: Answer[] = []
    for (const [method, path, body] of steps) {
      const reply = await peer.ask(method, path, body)
      replies.push({ status: reply.status, body: reply.status === 204 ? null : reply.body })
    }
    answers[group] = replies
  }
  return answers
}

/** Without times and what is random. What the parsers of rules and of SQL say is ours, and so are the records that an index refuses. */
export function comparable({ status, body }: Answer): Answer {
  const text = JSON.stringify(body)
    .replaceAll(/"(created|updated)":"[^"]*"/g, '"$1":""')
    .replaceAll(/_clone_\w{4}/g, '_clone_')
    .replaceAll(/"pbc_\d+","collectionName":"temp_view_\w{5}/g, '"","collectionName":"temp_view_')
    .replaceAll(/,"params":\{"records":[^}]*\}/g, '')
    // PocketBase names them in the order of a Go map.
    .replaceAll(/(?<=existing reference in )[^".]+/g, (names) => names.split(', ').toSorted().join(', '))
    .replaceAll(/(Invalid rule\.) Raw error: (?:[^"\\]|\\.)*/g, '$1')
  return { status, body: JSON.parse(text) as unknown }
}
