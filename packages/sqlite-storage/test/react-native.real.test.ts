/**
 * Goal: the library runs in React Native, as far as that can be seen without a device. Method: Hermes' compiler reads it all; the suites run
 * in Node with the globals of React Native, on the shapes of both SQLites.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions } from 'esbuild'
import { expect, test, type TestContext } from 'vitest'
import { makeFolder, run } from '../../../tools/processes.ts'
import { notRun } from '../../../tools/test/not-run.ts'
import type { Outcome } from './run-suites.ts'

/** HERMESC names the program; else it is that of bench. */
function hermesc(context: TestContext): string {
  const bench = join(import.meta.dirname, '../../../bench/node_modules/hermes-compiler/hermesc/linux64-bin/hermesc')
  const [path] = globSync(process.env['HERMESC'] ?? bench)
  return path ?? notRun(context, 'hermesc (npm ci in bench, or HERMESC names it)')
}

const METRO: BuildOptions = { bundle: true, platform: 'neutral', conditions: ['pannier-source', 'react-native'] }

test('the compiler of Hermes takes all of the library', async (context) => {
  const compiler = hermesc(context)
  const outfile = join(makeFolder('hermes'), 'app.js')
  const contents =
    "export * from 'pannier/all'; export * from '@pannier/sqlite-storage'; export * from '@pannier/client'"
  await build({
    ...METRO,
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile,
    format: 'iife',
    globalName: 'app',
    // Babel's preset of React Native lowers these.
    supported: { 'async-generator': false, 'for-await': false },
  })
  const { code, output } = await run(compiler, ['-O', '-emit-binary', '-out', `${outfile}.hbc`, outfile])
  expect(output.split('\n').filter((line) => line.includes('error:'))).toEqual([])
  expect(code).toBe(0)
  expect(readFileSync(`${outfile}.hbc`).length).toBeGreaterThan(100_000)
})

test.for(['expo', 'op'])('the suites pass with the globals of React Native, on %s-sqlite', async (kind) => {
  const folder = makeFolder(`react-native-${kind}`)
  const program = join(folder, 'program.mjs')
  await build({
    ...METRO,
    entryPoints: [join(import.meta.dirname, 'react-native-program.ts')],
    // The surroundings are imported for what they do.
    ignoreAnnotations: true,
    format: 'esm',
    external: ['node:*'],
    outfile: program,
  })
  const { output } = await run(process.execPath, [program, folder, kind])
  const { passed, failed } = JSON.parse(output.trim().split('\n').at(-1)!) as Outcome
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(130)
})
