/**
 * Goal: the suites pass in runtimes that we don't have in the process: a Durable Object of workerd, Bun with its own SQLite. Method: one
 * file for each, bundled.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test, type TestContext } from 'vitest'
import { makeFolder, run } from '../../../tools/processes.ts'
import { notRun } from '../../../tools/test/not-run.ts'
import type { Outcome } from './run-suites.ts'

const PROGRAMS = join(import.meta.dirname, '../../../bench/node_modules/.bin')

/** WORKERD and BUN name programs; else they are those of bench. */
function pathOf(context: TestContext, name: 'workerd' | 'bun'): string {
  const path = process.env[name.toUpperCase()] ?? join(PROGRAMS, name)
  return existsSync(path) ? path : notRun(context, `${name} (npm ci in bench, or ${name.toUpperCase()} names it)`)
}

async function bundle(entry: string, folder: string, conditions: readonly string[]): Promise<string> {
  const outfile = join(folder, 'program.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['pannier-source', ...conditions],
    external: ['cloudflare:*', 'bun:*', 'node:*'],
    outfile,
  })
  return outfile
}

const WORKER = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "main", worker = .main),
  (name = "disk", disk = (path = "disk", writable = true)),
]);
const main :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "2026-10-01",
  durableObjectNamespaces = [(className = "SuitesObject", uniqueKey = "suites", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "SUITES", durableObjectNamespace = "SuitesObject")],
);
`

test('a Durable Object passes the suites on its SQLite, and keeps what an app writes', async (context) => {
  const workerd = pathOf(context, 'workerd')
  const folder = makeFolder('workerd')
  await bundle('worker-program.ts', folder, ['workerd', 'worker', 'browser'])
  writeFileSync(join(folder, 'config.capnp'), WORKER)
  const { output } = await run(workerd, ['test', join(folder, 'config.capnp'), `--directory-path=disk=${folder}`])
  const line = output.split('\n').find((text) => text.startsWith('{'))
  const { passed, failed, ...rest } = JSON.parse(line ?? `{"failed":${JSON.stringify([output])}}`) as Outcome
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(250)
  expect(rest).toEqual({ left: [], visits: [1, 1, 2], together: [1, 1] })
})

test('Bun passes the suites on bun:sqlite, by a driver of a few lines', async (context) => {
  const bun = pathOf(context, 'bun')
  const folder = makeFolder('bun-sqlite')
  const program = await bundle('bun-program.ts', folder, ['node'])
  const { output } = await run(bun, [program, `${folder}/`])
  const { passed, failed } = JSON.parse(output.trim().split('\n').at(-1)!) as Outcome
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(250)
})
