/** Runs the steps of `write-cases.ts` on a real PocketBase. */
import type { JsonObject } from '../../src/gateway/documents.ts'
import { codesOf, COLLECTIONS, recordAnswer, STEPS, type Answer, type Step } from './write-cases.ts'

const SUPERUSER = { identity: 'test@example.com', password: '1234567890' }

export async function askPocketBase(base: string): Promise<Answer[]> {
  const send = async (method: string, path: string, token: string, body?: unknown): Promise<Response> =>
    fetch(`${base}/api/collections${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: token }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const login = await send('POST', '/_superusers/auth-with-password', '', SUPERUSER)
  const { token: admin } = (await login.json()) as { readonly token: string }
  for (const collection of COLLECTIONS) {
    const made = await send('POST', '', admin, collection)
    if (!made.ok) throw new Error(`${String(collection['name'])}: ${await made.text()}`)
  }
  const tokenOf = async (as: string): Promise<string> => {
    if (as === 'guest' || as === 'admin') return as === 'admin' ? admin : ''
    const answer = await send('POST', `/people/impersonate/${as}`, admin, {})
    return ((await answer.json()) as { readonly token: string }).token
  }
  const ask = async ({ as, action, collection, id, input }: Step): Promise<Answer> => {
    const method = { create: 'POST', update: 'PATCH', delete: 'DELETE' }[action]
    const path = `/${collection}/records${id === undefined ? '' : `/${id}`}`
    const answer = await send(method, path, await tokenOf(as), input)
    const text = await answer.text()
    const body = (text === '' ? {} : JSON.parse(text)) as JsonObject
    if (answer.ok) return text === '' ? { status: answer.status } : recordAnswer(answer.status, body)
    return { status: answer.status, message: body['message'] as string, codes: codesOf(body['data'] as object) }
  }
  const answers: Answer[] = []
  for (const step of STEPS) answers.push(await ask(step))
  return answers
}
