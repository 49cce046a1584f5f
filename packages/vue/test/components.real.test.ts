/** Goal: the components in the docs run. Method: Vue's compiler makes modules of them, which show a database in memory. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRenderer, createSSRApp, type Component } from 'vue'
import { compileScript, parse } from 'vue/compiler-sfc'
import { renderToString } from '@vue/server-renderer'
import type { Collection, Database } from 'pannier'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPages, root } from '../../../tools/docs/code-blocks.ts'
import { makeFolder, removeFolder } from '../../../tools/processes.ts'

const folder = makeFolder('vue-components')
const components = readPages().flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => language === 'vue').map(({ line, code }) => ({ name: `${path}:${line}`, code })),
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
export const db = await open('shop', { storage: memory() })
export const people = db.collection('people', { indexes: ['city'] })
`

/** An element that is never drawn. */
interface Drawn {
  text: string
  readonly props: Record<string, unknown>
  readonly children: Drawn[]
  parent: Drawn | null
}

const drawn = (text = ''): Drawn => ({ text, props: {}, children: [], parent: null })

const { createApp } = createRenderer<Drawn, Drawn>({
  createElement: () => drawn(),
  createText: drawn,
  createComment: () => drawn(),
  setText: (node, text) => void (node.text = text),
  setElementText: (node, text) => void (node.text = text),
  patchProp: (node, name, _before, value) => void (node.props[name] = value),
  insert(node, parent, anchor) {
    node.parent = parent
    const at = anchor ? parent.children.indexOf(anchor) : parent.children.length
    parent.children.splice(at, 0, node)
  },
  remove: (node) => void node.parent?.children.splice(node.parent.children.indexOf(node), 1),
  parentNode: ({ parent }) => parent,
  nextSibling: (node) => node.parent?.children[node.parent.children.indexOf(node) + 1] ?? null,
})

function textOf({ text, props, children }: Drawn): string {
  return [text, props['value'] as string | undefined, ...children.map(textOf)].join('')
}

test('there are components to look at', () => {
  expect(components.length).toBeGreaterThanOrEqual(3)
})

test.each(components)('$name', async ({ name, code }) => {
  const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.ts`)
  const { descriptor, errors } = parse(code, { filename: `${file}.vue` })
  expect(errors).toEqual([])
  writeFileSync(file, compileScript(descriptor, { id: 'docs', inlineTemplate: true }).content)
  const { db, people } = (await import(join(folder, 'database.ts'))) as {
    db: Database
    people: Collection<{ name: string; city: string }>
  }
  const { default: component } = (await import(file)) as { default: Component }
  await people.upsert({ _id: 'ann', name: 'Ann', city: 'Oslo' })
  const props = code.includes('id: string') ? { id: 'ann' } : { city: 'Oslo' }
  expect(await renderToString(createSSRApp(component, props))).toMatch(/^<|<!--/)
  const page = drawn()
  const app = createApp(component, props)
  app.mount(page)
  await expect.poll(() => textOf(page)).toContain('Ann')
  await people.upsert({ _id: 'ann', name: 'Anna', city: 'Oslo' })
  await expect.poll(() => textOf(page)).toContain('Anna')
  app.unmount()
  expect(db.name).toBe('shop')
})
