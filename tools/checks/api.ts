/**
 * Checks that what a package offers is what api/ says it does: one file per entry, with every declaration that users can
 * reach from it. So a change of the public interface shows in review. `--update` writes the files again (npm run api).
 * Needs a build, and makes one when updating.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { styleText } from 'node:util'
import { describeInterface } from './public-interface.ts'
import { PACKAGES, root } from './packages.ts'

const LINES_SHOWN_MAX = 60

const update = process.argv.includes('--update')
if (update) await (await import('./build.ts')).build()

let differences = 0
for (const { folder, entries } of PACKAGES) {
  const api = join(folder, 'api')
  if (update) rmSync(api, { recursive: true, force: true })
  mkdirSync(api, { recursive: true })
  for (const { name, types, specifier } of entries) {
    const path = join(api, `${name}.d.ts`)
    const main = name === 'index' ? undefined : entries.find((entry) => entry.name === 'index')
    const described = describeInterface(
      join(folder, types),
      main && { specifier: main.specifier, path: join(folder, main.types) },
    )
    const text = `// What \`${specifier}\` offers. Written by \`npm run api\`.\n\n${described}`
    if (update) writeFileSync(path, text)
    else compare(path, text)
  }
  const expected = new Set(entries.map(({ name }) => `${name}.d.ts`))
  for (const file of globSync('*', { cwd: api })) {
    if (expected.has(file)) continue
    differences++
    console.error(`${relative(root, join(api, file))} belongs to no entry.`)
  }
}
if (differences > 0) console.error('The public interface has changed. If that is meant: npm run api')
if (update) (await import('../docs/reference.ts')).writeReference()
process.exitCode = differences > 0 ? 1 : 0

function compare(path: string, text: string): void {
  const committed = readIfThere(path)
  if (committed === text) return
  differences++
  console.error(`${relative(root, path)}${committed === '' ? ' is missing.' : ':'}`)
  if (committed === '') return
  const [before, after] = [committed.split('\n'), text.split('\n')]
  const [old, fresh] = [new Set(before), new Set(after)]
  const removed = before.filter((line) => !fresh.has(line)).map((line) => styleText('red', `  - ${line}`))
  const added = after.filter((line) => !old.has(line)).map((line) => styleText('green', `  + ${line}`))
  for (const line of [...removed, ...added].slice(0, LINES_SHOWN_MAX)) console.error(line)
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
