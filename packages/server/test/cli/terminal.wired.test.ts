/**
 * Goal: commands end, with the exit code that says so, when what they read from does not end or what they write to does.
 * Method: streams that fail, or stay open.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import { virtualEnvironment } from 'pannier/testing'
import { readPassword } from '../../src/cli/ask-password.ts'
import { runCli } from '../../src/cli/run.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { runCaptured } from './run-captured.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-terminal-'))
  file = join(folder, 'shop.db')
  await runCaptured(['import', file, 'cities'], { input: '{"_id":"oslo"}\n' })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** As the outputs of a process: it is there again after an error. */
function failing(code: string): Writable {
  const write = (_piece: unknown, _encoding: string, done: (error: Error) => void): void =>
    done(Object.assign(new Error(`write ${code}`), { code }))
  return new Writable({ write, autoDestroy: false })
}

function terminalOf(given: Partial<Terminal>): Terminal {
  const more = { signal: new AbortController().signal, environment: systemEnvironment() }
  const streams = { stdin: Readable.from([]), stdout: new PassThrough().resume(), stderr: new PassThrough().resume() }
  return { ...streams, ...more, ...given }
}

test('an output that is closed or full ends a command with 1, without a stack trace', async () => {
  const commands = [
    ['--help'],
    ['inspect', file],
    ['inspect', file, '--json'],
    ['export', file, 'cities'],
    ['dump', file, '-'],
  ]
  for (const [code, message] of Object.entries({ EPIPE: '', ENOSPC: 'write ENOSPC\n' }))
    for (const command of commands) {
      const stderr = new PassThrough()
      const ended = await runCli(command, terminalOf({ stdout: failing(code), stderr }), '1')
      expect([command, ended, String(stderr.read() ?? '')]).toEqual([command, 1, message])
    }
})

test('a command does its work when nobody hears what it says', async () => {
  const stderr = failing('EPIPE')
  expect(await runCli(['verify', file], terminalOf({ stderr }), '1')).toBe(0)
  expect(await runCli(['verify', `${file}.no`], terminalOf({ stderr }), '1')).toBe(2)
})

test('Ctrl-C ends a command that waits for a password', async () => {
  const [stdin, stderr, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
  const command = ['user', 'add', 'joe', '--dir', file]
  const ended = runCli(command, terminalOf({ stdin, stderr, signal: stop.signal }), '1')
  await virtualEnvironment().idle()
  expect(stdin.listenerCount('readable')).toBe(1)
  stop.abort()
  expect(await ended).toBe(130)
  expect(String(stderr.read())).toBe('Stopped.\n')
})

test('a password may come in pieces, cut amid a letter', async () => {
  const bytes = [...Buffer.from('pässwörter\nrest')].map((byte) => Buffer.of(byte))
  expect(await readPassword(terminalOf({ stdin: Readable.from(bytes, { objectMode: false }) }), '')).toBe('pässwörter')
})
