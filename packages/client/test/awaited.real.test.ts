/** Goal: a program that awaits a promise of the library ends after it, and not before: Node ends a process that has only timers that keep nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, 'awaiting-program.ts')
const END_MS_MAX = 40_000
/** Long after a program would have ended that nothing keeps. */
const RUNS_MS = 6000

const ENDS: readonly (readonly [name: string, said: string])[] = [
  ['tries of a one-shot', '4'],
  ['headers that come late', 'PANNIER_PEER_UNREACHABLE'],
  ['a silent server', 'PANNIER_PEER_UNREACHABLE'],
  ['a write that has its turn in time or not', 'PANNIER_WRITE_TIMEOUT'],
  ['everything of the database', '1'],
  ['a sync of a client', 'PANNIER_PEER_UNREACHABLE'],
  ['a live sync that ends', 'cancelled'],
  ['a migration', '600'],
  ['a migration that a read waits for', '2'],
  ['a migration that has its turn in time or not', 'PANNIER_WRITE_TIMEOUT'],
  ['documents that are migrated again', '600'],
]

function run(name: string): { readonly child: ReturnType<typeof spawn>; readonly said: () => string } {
  const child = spawn(process.execPath, ['--conditions=pannier-source', program, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return { child, said: () => said }
}

test.each(ENDS)('%s: the program ends after it', async (name, expected) => {
  const { child, said } = run(name)
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  expect([code, said()]).toEqual([0, `ended: ${expected}\n`])
})

const RUN_ON = ['a live sync without a server', 'a live sync with a server', "a server's answer to a write"]

test.each(RUN_ON)('%s: the program runs on', async (name) => {
  const { child, said } = run(name)
  await sleep(RUNS_MS)
  expect([child.exitCode, said()]).toEqual([null, ''])
  child.kill('SIGKILL')
  await once(child, 'close')
})
