/**
 * Finds code that asks a type of field by its name: `field.type === 'json'`, a case of a switch, a list or a table of names. What a type
 * is stands in its file and in its row of a registry (docs/adr/0053-registry-of-kinds.md).
 */
import type { Module } from './module-graph.ts'

const TYPES = 'packages/backend/src/fields/types/'
/** The registries, and the files of the types. */
const REGISTRIES = [
  TYPES,
  'packages/backend/src/fields/field-definition.ts',
  'packages/rules/src/kinds.ts',
  'packages/client/src/plain-values.ts',
  'packages/admin/src/views/kinds.ts',
]
const SWITCH = /^( *)switch \([\w.]*\btype\) \{\n([^]*?)^\1\}/gm
const LIST = /\[(\s*'\w+',?)+\s*\]/g

/** The names come from the files: a new type is looked for as soon as it has one. */
export function namedFieldTypes(modules: ReadonlyMap<string, Module>): string[] {
  const all = [...modules.values()]
  const names = all.filter(({ path }) => path.startsWith(TYPES)).map(({ path }) => nameOf(path))
  const one = `'(?:${names.join('|')})'`
  const compared = new RegExp(`\\b\\w*[tT]ype(?:'\\])? [!=]== ${one}`, 'g')
  const cases = new RegExp(`case ${one}`, 'g')
  const listed = new RegExp(`^${one}$`)
  // These words mean nothing else.
  const own = names.filter((name) => name === 'autodate' || /[A-Z]/.test(name)).join('|')
  const words = new RegExp(`(?<!type: )'(?:${own})'|\\b(?:${own}):`, 'g')
  const sources = all.filter(
    ({ path }) => /^packages\/\w+\/src\//.test(path) && !REGISTRIES.some((registry) => path.startsWith(registry)),
  )
  return sources.flatMap(({ path, text }) => {
    const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    const lists = found(LIST, code).filter((list) => {
      const items = list.match(/'\w+'/g)!
      return items.length > 1 && items.every((item) => listed.test(item))
    })
    const switches = [...code.matchAll(SWITCH)].flatMap(([, , block]) => found(cases, block!))
    return [...found(compared, code), ...switches, ...lists, ...found(words, code)].map((what) => `${path} ${what}`)
  })
}

function found(pattern: RegExp, text: string): string[] {
  return Array.from(text.matchAll(pattern), ([what]) => what)
}

/** `geo-point.ts` is `geoPoint`. */
function nameOf(path: string): string {
  return path.slice(TYPES.length, -'.ts'.length).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
