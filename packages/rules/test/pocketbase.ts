/** A real PocketBase with the world of the cases, and what it answers. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Case } from './cases.ts'
import { nameOf } from './cases.ts'
import { DANGLING, DEFINITIONS, id, PASSWORD, RECORDS } from './world.ts'

export const VERSION = 'v0.39.11'

const SUPERUSER = 'test@example.com'

const MAIN = `package main

import (
	"log"

	"github.com/pocketbase/pocketbase"
)

func main() {
	if err := pocketbase.New().Start(); err != nil {
		log.Fatal(err)
	}
}
`

/** The program: the one that POCKETBASE names, or one that Go makes. Undefined if there is no Go. */
export function findPocketBase(): string | undefined {
  const given = process.env['POCKETBASE']
  if (given !== undefined) return given
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const folder = join(tmpdir(), `pannier-pocketbase-${VERSION}`)
  const binary = join(folder, 'pocketbase')
  if (existsSync(binary)) return binary
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'main.go'), MAIN)
  const go = (...args: string[]): void => {
    const { status, stderr } = spawnSync('go', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    })
    if (status !== 0) throw new Error(`go ${args.join(' ')} failed:\n${stderr}`)
  }
  if (!existsSync(join(folder, 'go.mod'))) go('mod', 'init', 'peer')
  go('get', `github.com/pocketbase/pocketbase@${VERSION}`)
  go('mod', 'tidy')
  go('build', '-trimpath', '-ldflags', '-s -w', '-o', binary, '.')
  return binary
}

interface Reply {
  readonly status: number
  readonly body: { readonly items?: readonly { readonly id: string }[]; readonly id?: string; readonly token?: string }
}

export class PocketBase implements AsyncDisposable {
  readonly #server: ChildProcess
  readonly #base: string
  readonly #folder: string
  readonly #tokens = new Map<string, string>([['guest', '']])
  readonly #rules = new Map<string, unknown>()

  static async start(binary: string): Promise<PocketBase> {
    const folder = mkdtempSync(join(tmpdir(), 'pannier-rules-'))
    const run = [`--dir=${folder}`, '--dev=false']
    const { status, stderr } = spawnSync(binary, ['superuser', 'upsert', SUPERUSER, PASSWORD, ...run], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`PocketBase does not start:\n${stderr}`)
    const port = await freePort()
    const server = spawn(binary, ['serve', `--http=127.0.0.1:${port}`, ...run], { stdio: 'ignore' })
    const peer = new PocketBase(server, `http://127.0.0.1:${port}`, folder)
    try {
      await peer.#load()
    } catch (error) {
      await peer[Symbol.asyncDispose]()
      throw error
    }
    return peer
  }

  private constructor(server: ChildProcess, base: string, folder: string) {
    this.#server = server
    this.#base = base
    this.#folder = folder
  }

  async #load(): Promise<void> {
    for (let left = 200; ; left--) {
      try {
        await fetch(`${this.#base}/api/health`)
        break
      } catch (error) {
        if (left === 0) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    this.#tokens.set('super', await this.#logIn('_superusers', SUPERUSER))
    await this.#must('DELETE', '/api/collections/users', undefined)
    const rules = { viewRule: '', createRule: null, updateRule: null, deleteRule: null }
    const collections = DEFINITIONS.map((definition) => ({ ...definition, ...rules }))
    await this.#must('PUT', '/api/collections/import', { collections, deleteMissing: false })
    for (const [name, records] of Object.entries(RECORDS))
      for (const record of records) {
        const account = name === 'users' ? { password: PASSWORD, passwordConfirm: PASSWORD } : {}
        const later = name === 'posts' && record['author'] === id('gone') ? { author: '', reviewers: [] } : {}
        await this.#must('POST', `/api/collections/${name}/records`, { ...record, ...account, ...later })
      }
    for (const query of DANGLING) await this.#must('POST', '/api/sql', { query })
    for (const { id: user, email } of RECORDS['users']!)
      this.#tokens.set(nameOf(user as string), await this.#logIn('users', email as string))
  }

  async #logIn(collection: string, identity: string): Promise<string> {
    const body = { identity, password: PASSWORD }
    return (await this.#must('POST', `/api/collections/${collection}/auth-with-password`, body, 'guest')).body.token!
  }

  async #must(method: string, path: string, body: unknown, as = 'super'): Promise<Reply> {
    const reply = await this.#ask(method, path, as, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  async #ask(method: string, path: string, as: string, body?: unknown, headers: object = {}): Promise<Reply> {
    const authorization = this.#tokens.get(as)!
    const response = await fetch(this.#base + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), authorization, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Reply['body']) }
  }

  async #setRule(collection: string, kind: string, rule: string): Promise<boolean> {
    const key = `${collection} ${kind}`
    const before = DEFINITIONS.find(({ name }) => name === collection)!.listRule
    if ((this.#rules.get(key) ?? (kind === 'listRule' ? before : null)) === rule) return true
    const { status } = await this.#ask('PATCH', `/api/collections/${collection}`, 'super', { [kind]: rule })
    if (status === 200) this.#rules.set(key, rule)
    return status === 200
  }

  /** The names of the records that are listed, `ok` for a write, else the status; `refused` if the rule can't be saved. */
  async answer({ on, as, rule, filter, sort, query, headers, write }: Case): Promise<string> {
    const kind = write === undefined ? 'listRule' : write.id === undefined ? 'createRule' : 'updateRule'
    const usual = DEFINITIONS.find(({ name }) => name === on)!.listRule ?? ''
    if (!(await this.#setRule(on, kind, rule ?? usual))) return 'refused'
    const path = `/api/collections/${on}/records`
    if (write === undefined) {
      const parameters = {
        ...query,
        ...(filter === undefined ? {} : { filter }),
        ...(sort === undefined ? {} : { sort }),
      }
      const search = new URLSearchParams({ ...parameters, perPage: '500', skipTotal: 'true' })
      const { status, body } = await this.#ask('GET', `${path}?${search.toString()}`, as, undefined, headers)
      return status === 200 ? namesOf(body.items!.map((item) => item.id)) : String(status)
    }
    if (write.id === undefined) {
      const { status, body } = await this.#ask('POST', path, as, write.body)
      if (status !== 200) return String(status)
      await this.#must('DELETE', `${path}/${body.id}`, undefined)
      return 'ok'
    }
    const before = RECORDS[on]!.find((record) => record['id'] === id(write.id!))
    const { status } = await this.#ask('PATCH', `${path}/${id(write.id)}`, as, write.body)
    if (status === 200) await this.#must('PATCH', `${path}/${id(write.id)}`, before)
    return status === 200 ? 'ok' : String(status)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.once('close', resolve))
    this.#server.kill()
    await closed
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Sorted, since the order says nothing about the filter. */
export function namesOf(ids: readonly string[]): string {
  return ids.map(nameOf).toSorted().join(' ')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
