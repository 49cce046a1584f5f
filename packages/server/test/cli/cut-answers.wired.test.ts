/**
 * Goal: a command that talks to a server fails, in words, when an answer is cut or comes from another program, and writes nothing back.
 * Method: a server that ends its answers early or answers with pages, the real commands.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { runCaptured } from './run-captured.ts'

const SECURITY = JSON.stringify({ members: { names: ['ann'], roles: [] }, admins: { names: ['bob'], roles: [] } })
const LOGIN = '/api/collections/_superusers/auth-with-password'

let server: Server | undefined
let written: string[]

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Everybody may log in there. Returns its URL, with a name and a password. */
async function serverThat(answers: (response: ServerResponse) => void): Promise<string> {
  written = []
  server = createServer((request, response) => {
    if (request.url === LOGIN) return response.end('{"token":"t"}')
    if (request.method === 'PUT') written.push(request.url!)
    answers(response)
  })
  await new Promise<void>((resolve) => void server!.listen(0, '127.0.0.1', resolve))
  return `http://root:password@127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Says that the whole text comes, and sends a part of it. */
function cut(response: ServerResponse, text: string, bytes: number): void {
  response.setHeader('content-length', Buffer.byteLength(text))
  response.write(text.slice(0, bytes), () => response.destroy())
}

const COMMANDS = [
  ['db', 'grant', 'shop', '--members', 'cy'],
  ['db', 'list'],
  ['user', 'list'],
  ['rules', 'explain'],
  ['types'],
]

test.each(COMMANDS)('%s %s: an answer that is cut', async (...command) => {
  for (const bytes of [1, 20, SECURITY.length - 1]) {
    const url = await serverThat((response) => cut(response, SECURITY, bytes))
    const { code, out, err } = await runCaptured([...command, '--url', url])
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^The answer of http:\S+ did not come whole\./)])
    expect(written).toEqual([])
    server!.close()
  }
})

test.each(COMMANDS.slice(0, -1))('%s %s: a page of another program', async (...command) => {
  const url = await serverThat((response) => response.end('<!doctype html><title>Hello</title>'))
  const { code, out, err } = await runCaptured([...command, '--url', url])
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^The answer of http:\S+ is no JSON/)])
  expect(written).toEqual([])
})
