/** Goal: the components in the docs run. Method: Svelte's compiler makes modules of them, for a page and for a server, which renders them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from 'svelte/compiler'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPages, root } from '../../../tools/docs/code-blocks.ts'
import { makeFolder, removeFolder } from '../../../tools/processes.ts'

const folder = makeFolder('svelte-components')
const components = readPages().flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => language === 'svelte').map(({ line, code }) => ({ name: `${path}:${line}`, code })),
)

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'database.ts'), DATABASE)
})

afterAll(() => removeFolder(folder))

const DATABASE = `
import { open } from 'pannier'
import { memory } from 'pannier/memory'
export const people = (await open('shop', { storage: memory() })).collection('people', { indexes: ['city'] })
`

const PAGE = "export const { body } = await render(Component, { props: { city: 'Oslo', id: 'ann' } })"

test('there are components to look at', () => {
  expect(components.length).toBeGreaterThanOrEqual(3)
})

test.each(components)('$name', async ({ name, code }) => {
  const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.js`)
  for (const generate of ['client', 'server'] as const) {
    const { js, warnings } = compile(code, { generate, filename: file })
    expect(warnings.map(({ message }) => message)).toEqual([])
    writeFileSync(file, js.code)
  }
  const page = file.replace(/js$/, 'page.js')
  writeFileSync(page, `import { render } from 'svelte/server'\nimport Component from '${file}'\n${PAGE}`)
  const { body } = (await import(`${page}?server`)) as { body: string }
  expect(body).toMatch(/<(ul|input)/)
})
