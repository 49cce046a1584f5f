/**
 * Describes what an entry offers, from the compiler's declarations: first its exports, then the other declarations that
 * they mention. Each part is sorted by name and has its docstrings, so the text depends only on the interface. A
 * declaration of the package's main entry is described there, and only named here. A statement that can't be read is an
 * error.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PACKAGES } from './packages.ts'
import { membersOf, statementsOf, withoutDocs, type Statement } from './statements.ts'

interface Declaration {
  readonly name: string
  /** With its docstring. An overload follows the one before it. */
  readonly text: string
  readonly module: Module
}

interface Module {
  /** By local name. */
  readonly declarations: ReadonlyMap<string, Declaration>
  /** Local name to where it comes from; only from files of the package. */
  readonly imports: ReadonlyMap<string, Reference>
  /** Exported name to local name or to where it comes from. */
  readonly exports: ReadonlyMap<string, string | Reference>
  /** Files that are exported again as a whole. */
  readonly stars: readonly string[]
}

interface Reference {
  readonly path: string
  readonly name: string
}

const modules = new Map<string, Module>()

/** `path` is that of the entry's declarations; `main`: the main entry, where this is another one. */
export function describeInterface(path: string, main?: { readonly specifier: string; readonly path: string }): string {
  const exported = new Map<Declaration, string>()
  for (const [name, declaration] of exportsOf(path)) exported.set(declaration, name)
  const elsewhere = new Map(main && [...exportsOf(main.path)].map(([name, declaration]) => [declaration, name]))
  const imported = new Set<string>()
  const reached = new Set(exported.keys())
  for (const declaration of reached) {
    for (const next of mentionedIn(declaration)) {
      const name = elsewhere.get(next)
      if (name === undefined || exported.has(next)) reached.add(next)
      else imported.add(name)
    }
  }
  const named = [...imported].toSorted().map((name) => `  ${name},\n`)
  const head = imported.size > 0 ? `import type {\n${named.join('')}} from '${main!.specifier}'\n\n` : ''
  const lines = [...exported].map(([declaration, name]) => ({ name, text: exportedText(declaration, name) }))
  const further = [...reached].filter((declaration) => !exported.has(declaration))
  return head + [...byName(lines), ...byName(further)].map(({ text }) => `${text}\n`).join('\n')
}

function byName<T extends { readonly name: string; readonly text: string }>(list: readonly T[]): readonly T[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return list.toSorted((a, b) => compare(a.name, b.name) || compare(a.text, b.text))
}

function exportedText({ name, text }: Declaration, exportedName: string): string {
  return statementsOf(text)
    .map((part) => {
      const docs = part.docs === '' ? '' : `${part.docs}\n`
      return `${docs}export ${name === exportedName ? part.text : part.text.replace(name, exportedName)}`
    })
    .join('\n')
}

function exportsOf(path: string): ReadonlyMap<string, Declaration> {
  const module = readModule(path)
  const found = new Map<string, Declaration>()
  for (const star of module.stars) for (const [name, declaration] of exportsOf(star)) found.set(name, declaration)
  for (const [name, target] of module.exports) {
    const declaration =
      typeof target === 'string' ? resolveName(module, target) : exportsOf(target.path).get(target.name)
    if (declaration === undefined) throw new Error(`${path} exports ${name}, which is nowhere declared`)
    found.set(name, declaration)
  }
  return found
}

function resolveName(module: Module, name: string): Declaration | undefined {
  const declaration = module.declarations.get(name)
  if (declaration !== undefined) return declaration
  const imported = module.imports.get(name)
  return imported === undefined ? undefined : exportsOf(imported.path).get(imported.name)
}

function mentionedIn({ text, module }: Declaration): readonly Declaration[] {
  const words = new Set(
    withoutDocs(text)
      .replaceAll(/(['"`]).*?\1/g, '')
      .match(/[A-Za-z_$][\w$]*/g),
  )
  return [...words].flatMap((word) => resolveName(module, word) ?? [])
}

function readModule(path: string): Module {
  const known = modules.get(path)
  if (known !== undefined) return known
  const declarations = new Map<string, Declaration>()
  const imports = new Map<string, Reference>()
  const exports = new Map<string, string | Reference>()
  const stars: string[] = []
  const module: Module = { declarations, imports, exports, stars }
  modules.set(path, module)
  const locate = (specifier: string): string =>
    specifier.startsWith('.')
      ? resolve(dirname(path), specifier.replace(/\.(js|ts)$/, '.d.ts'))
      : typesOfEntry(specifier, path)
  for (const statement of statementsOf(readFileSync(path, 'utf8'))) {
    const { text } = statement
    const [, from] = (text.startsWith('export') ? OF_EXPORT : OF_IMPORT).exec(text) ?? []
    const list = /^(?:import|export) (?:type )?\{([^]*?)\}/.exec(text)?.[1]
    if (text.startsWith('export *') && from !== undefined) stars.push(locate(from))
    else if (list !== undefined) addNames(text, list, from === undefined ? undefined : locate(from), imports, exports)
    else if (!AUGMENTATION.test(text)) addDeclaration(path, statement, module, declarations, exports)
  }
  return module
}

/** Another package's declarations that an entry exports are described with it; declarations that it only imports are not. */
const OF_EXPORT = /from ['"]((?:\.|@pannier\/).+)['"];$/
const OF_IMPORT = /from ['"](\..+)['"];$/

function typesOfEntry(specifier: string, path: string): string {
  for (const { folder, entries } of PACKAGES)
    for (const entry of entries) if (entry.specifier === specifier) return join(folder, entry.types)
  throw new Error(`${path} exports from ${specifier}, which no package offers`)
}

function addNames(
  statement: string,
  list: string,
  path: string | undefined,
  imports: Map<string, Reference>,
  exports: Map<string, string | Reference>,
): void {
  for (const item of list.split(',')) {
    const [name = '', alias = name] = item
      .trim()
      .replace(/^type /, '')
      .split(' as ')
    if (name === '') continue
    if (statement.startsWith('export')) exports.set(alias, path === undefined ? name : { path, name })
    else if (path !== undefined) imports.set(alias, { path, name })
  }
}

/** Lines that declare nothing new: an import of everything, and additions of a module to another. */
const AUGMENTATION = /^import |^declare (?:module|global) /
const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type) ([\w$]+)/

function addDeclaration(
  path: string,
  { docs, text }: Statement,
  module: Module,
  declarations: Map<string, Declaration>,
  exports: Map<string, string | Reference>,
): void {
  const name = DECLARATION.exec(text)?.[1]
  if (name === undefined || /=\s*;$/.test(text)) throw new Error(`${path} has a statement that says nothing: ${text}`)
  const bare = withoutPrivates(text.replace(/^export /, '').replace(/^declare /, ''))
  const described = docs === '' ? bare : `${docs}\n${bare}`
  // Overloads and an interface beside a value share a name.
  const before = declarations.get(name)
  declarations.set(name, { name, module, text: before === undefined ? described : `${before.text}\n${described}` })
  if (text.startsWith('export ')) exports.set(name, name)
}

/** Without the members that are private to a class. */
function withoutPrivates(text: string): string {
  let left = text
  for (const member of membersOf({ docs: '', text })) {
    if (!/^(#private|private )/.test(member.text)) continue
    const docs = member.docs === '' ? '' : `${member.docs}\n    `
    left = left.replace(`    ${docs}${member.text}\n`, '')
  }
  return left
}
