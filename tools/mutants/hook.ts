/**
 * Node loads it first in each process and thread that a test runs in or starts. It changes the sources that Node loads itself, and notes
 * the mutants that are reached.
 */
import fs from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { editor } from './edits.ts'

/** The variable of the environment that holds the file for numbers of mutants. */
const REACHED_FILE = 'MUTANT_REACHED_FILE'

interface Probes {
  /** Each mutant's statement calls it. */
  mutantReached?: (number: number) => void
  /** The test file changes. */
  mutantTest?: (reachedFile: string) => void
}

// Lanes forbid tests to write files: they replace other functions than these.
const { openSync, writeSync, closeSync } = fs
const probes = globalThis as Probes
const edited = editor()
let file: number | undefined
let seen = new Set<number>()

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:')) return nextLoad(url, context)
    const path = fileURLToPath(url.split('?')[0]!)
    const source = edited(path, () => fs.readFileSync(path, 'utf8'))
    return source === undefined ? nextLoad(url, context) : { format: 'module-typescript', source, shortCircuit: true }
  },
})

probes.mutantReached = (number) => {
  if (seen.has(number)) return
  seen.add(number)
  if (file !== undefined) writeSync(file, `${number}\n`)
}

probes.mutantTest = (reachedFile) => {
  if (file !== undefined) closeSync(file)
  file = openSync(reachedFile, 'a')
  seen = new Set()
  process.env[REACHED_FILE] = reachedFile
}

const reachedFile = process.env[REACHED_FILE]
if (reachedFile !== undefined) probes.mutantTest(reachedFile)
