/** Goal: the library does in Bun and in Deno what it does in Node. Method: its suites, as one program, in memory and in files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, expect, test, type TestContext } from 'vitest'
import { makeFolder, run } from '../../../../tools/processes.ts'
import { notRun } from '../../../../tools/test/not-run.ts'

const PROGRAMS = join(import.meta.dirname, '../../../../bench/node_modules/.bin')
const RUNTIMES = { node: [], bun: [], deno: ['run', '--allow-all', '--no-prompt'] } as const

let folder: string
let program: string

beforeAll(async () => {
  folder = makeFolder('runtimes')
  program = join(folder, 'runtime-program.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'runtime-program.ts')],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['pannier-source'],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
  })
})

/** BUN and DENO name programs; else they are those of bench. */
function pathOf(context: TestContext, runtime: keyof typeof RUNTIMES): string {
  if (runtime === 'node') return process.execPath
  const path = process.env[runtime.toUpperCase()] ?? join(PROGRAMS, runtime)
  return existsSync(path) ? path : notRun(context, `${runtime} (npm ci in bench, or ${runtime.toUpperCase()} names it)`)
}

const CASES = (Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[]).flatMap((runtime) =>
  (['memory', 'file'] as const).map((kind) => [runtime, kind] as const),
)

test.for(CASES)('%s passes the suites, on %s', async ([runtime, kind], context) => {
  const path = pathOf(context, runtime)
  const { output } = await run(path, [...RUNTIMES[runtime], program, kind, makeFolder(`${runtime}-${kind}`)])
  const { passed, failed } = JSON.parse(output.trim().split('\n').at(-1)!) as { passed: number; failed: string[] }
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(150)
})
