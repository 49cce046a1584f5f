/** Goal: the checks of the structure find what they are for. */
import { expect, test } from 'vitest'
import { BUDGETS, unownedBudgets } from './budgets.ts'
import { importCycles } from './cycles.ts'
import { namedFieldTypes } from './field-types.ts'
import { layerOffences } from './layers.ts'
import type { Module } from './module-graph.ts'
import { namesInPlainObjects } from './name-maps.ts'
import { unusedExports } from './unused-exports.ts'

/** `imports`: a path and the names that are imported from it, or undefined for `import()`. */
function modules(
  files: Readonly<
    Record<string, { text?: string; exports?: string[]; imports?: Record<string, string[] | undefined> }>
  >,
): ReadonlyMap<string, Module> {
  return new Map(
    Object.entries(files).map(([path, { text = '', exports = [], imports = {} }]) => [
      path,
      {
        path,
        text,
        exports: new Set(exports),
        imports: Object.entries(imports).map(([target, names]) => ({ target, names })),
      },
    ]),
  )
}

const A = 'packages/db/src/kv/a.ts'
const B = 'packages/db/src/kv/b.ts'
const C = 'packages/db/src/kv/c.ts'
const T = 'packages/db/test/kv/a.test.ts'

test('a cycle through a dynamic import is found, once', () => {
  const graph = modules({
    [A]: { imports: { [B]: ['b'] } },
    [B]: { imports: { [C]: [] } },
    [C]: { imports: { [A]: undefined } },
  })
  expect(importCycles(graph)).toEqual([[A, B, C, A].join(' → ')])
})

test('files that import down only have no cycle', () => {
  expect(
    importCycles(modules({ [A]: { imports: { [B]: ['b'], [C]: ['c'] } }, [B]: { imports: { [C]: [] } }, [C]: {} })),
  ).toEqual([])
})

test('exports that nobody imports, and those that only tests import', () => {
  const graph = modules({
    [A]: { exports: ['used', 'tested', 'unused', 'handedOn'] },
    [B]: { imports: { [A]: ['used'] } },
    [C]: { text: 'x.handedOn()', imports: { [A]: undefined } },
    [T]: { imports: { [A]: ['tested', 'used'] } },
  })
  expect(unusedExports(graph)).toEqual({ byNobody: [`${A} unused`], byTestsOnly: [`${A} tested`] })
})

test('plain objects that names are looked up in are found, and what knows what was put in is not', () => {
  const found = (text: string): string[] => namesInPlainObjects(modules({ [A]: { text } }))
  const table = "const KNOWN: Readonly<Record<string, string>> = { a: 'b' }\n"
  expect(found(`${table}KNOWN[name]`)).toEqual([`${A} KNOWN`])
  expect(found(`${table}Object.hasOwn(KNOWN, name) ? KNOWN[name] : ''`)).toEqual([])
  expect(found('if (name in record) return')).toEqual([`${A} name in record`])
  expect(found('const isIn = name in own && !(other in own)')).toEqual([`${A} name in own`, `${A} other in own`])
  const filled = 'const errors: Record<string, string> = {}\n'
  expect(found(`${filled}if (errors[name] === undefined) f()`)).toEqual([`${A} errors[name] === undefined`])
  expect(found('let all = { ...given }\n(all[key.name] ??= []).push(1)')).toEqual([`${A} all[key.name] ??`])
  expect(found(`${filled}errors[name] = wrong\nif (Object.hasOwn(errors, name)) f(errors['a'] ?? '')`)).toEqual([])
  expect(found("if ('ok' in answer || #own in answer) return 'name in record' // name in record")).toEqual([])
  expect(found('type T = { [Name in Names]: 1 }\nfor (const name in record) f()')).toEqual([])
})

test('code that asks a type of field by its name is found, wherever no registry is', () => {
  const types = {
    'packages/backend/src/fields/types/geo-point.ts': {},
    'packages/backend/src/fields/types/text.ts': {},
  }
  const asked = (text: string, path = A): string[] => namedFieldTypes(modules({ ...types, [path]: { text } }))
  expect(asked("if (field.type === 'text') f()")).toEqual([`${A} type === 'text'`])
  expect(asked("if (field['type'] !== 'text' && fieldType === 'text') f()")).toHaveLength(2)
  expect(asked("switch (field.type) {\n  case 'text':\n    f()\n}\n")).toEqual([`${A} case 'text'`])
  expect(asked("new Set(['text', 'geoPoint'])")).toEqual([`${A} ['text', 'geoPoint']`, `${A} 'geoPoint'`])
  expect(asked('const EMPTY = { text: 1, geoPoint: 2 }')).toEqual([`${A} geoPoint:`])
  expect(asked("const field = { name: 'home', type: 'geoPoint' }")).toEqual([])
  expect(asked("// type === 'text'\nswitch (kind) {\n  case 'text':\n}\nreadTexts(['text', 'title'])")).toEqual([])
  expect(asked("if (type === 'text') f()", 'packages/rules/src/kinds.ts')).toEqual([])
})

test('files in no layer are found, and imports that point up, in packages with folders and without', () => {
  const offences = (from: string, to: string): string[] =>
    layerOffences(modules({ [`packages/${from}.ts`]: { imports: { [`packages/${to}.ts`]: [] } } }))
  const up = (from: string, to: string): string[] => [
    `packages/${from}.ts imports packages/${to}.ts, which is above it`,
  ]
  expect(offences('db/src/kv/a', 'db/src/btree/b')).toEqual([])
  expect(offences('db/src/btree/b', 'db/src/kv/a')).toEqual(up('db/src/btree/b', 'db/src/kv/a'))
  expect(offences('db/src/kv/a', 'db/src/index')).toEqual(up('db/src/kv/a', 'db/src/index'))
  expect(offences('server/src/couch/a', 'server/src/own-databases')).toEqual(
    up('server/src/couch/a', 'server/src/own-databases'),
  )
  expect(offences('server/src/cli/a', 'server/src/own-databases')).toEqual([])
  expect(offences('rules/src/parse', 'rules/src/bind')).toEqual(up('rules/src/parse', 'rules/src/bind'))
  expect(offences('client/src/client', 'db/src/index')).toEqual([])
  for (const path of ['backend/src/new/a', 'backend/src/new', 'rules/src/new', 'new/src/a', 'rules/src/parse/a'])
    expect(offences(path, 'db/src/index')).toEqual([`packages/${path}.ts: in no layer`])
})

test('a budget whose decision does not have its numbers is found', () => {
  expect(unownedBudgets()).toEqual([])
  const { files, lines, adr } = BUDGETS['backend']!
  expect(unownedBudgets((number) => (number === adr ? `| ${files} |` : ''))).toContain(
    `packages/backend: ADR ${adr} does not have ${lines.toLocaleString('en-US')}`,
  )
})
