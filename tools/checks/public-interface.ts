/**
 * Describes what an entry offers, from the declarations that the compiler wrote: what it exports, then whatever else the
 * exported declarations mention, each part sorted by name and without comments, so that the text depends on nothing but
 * the interface; what the package's main entry offers is named, and described there. Relies on the compiler's layout: a
 * top-level statement begins in the first column, and what continues it does not, but for closing brackets.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

interface Declaration {
  readonly name: string
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
  /** Files all of whose exports are exported again. */
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
  const lines = [...exported].map(([declaration, name]) => ({ name, text: `export ${renamed(declaration, name)}` }))
  const further = [...reached].filter((declaration) => !exported.has(declaration))
  return head + [...byName(lines), ...byName(further)].map(({ text }) => `${text}\n`).join('\n')
}

function byName<T extends { readonly name: string; readonly text: string }>(list: readonly T[]): readonly T[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return list.toSorted((a, b) => compare(a.name, b.name) || compare(a.text, b.text))
}

function renamed({ name, text }: Declaration, exportedName: string): string {
  return name === exportedName ? text : text.replace(name, exportedName)
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
  const words = new Set(text.replaceAll(/(['"`]).*?\1/g, '').match(/[A-Za-z_$][\w$]*/g))
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
  const locate = (specifier: string): string => resolve(dirname(path), specifier.replace(/\.(js|ts)$/, '.d.ts'))
  for (const statement of statementsOf(readFileSync(path, 'utf8'))) {
    const [, from] = /from ['"](\..+)['"];?$/.exec(statement) ?? []
    const list = /^(?:import|export) (?:type )?\{([^]*?)\}/.exec(statement)?.[1]
    if (statement.startsWith('export *') && from !== undefined) stars.push(locate(from))
    else if (list !== undefined)
      addNames(statement, list, from === undefined ? undefined : locate(from), imports, exports)
    else addDeclaration(statement, module, declarations, exports)
  }
  return module
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

const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type) ([\w$]+)/

function addDeclaration(
  statement: string,
  module: Module,
  declarations: Map<string, Declaration>,
  exports: Map<string, string | Reference>,
): void {
  const name = DECLARATION.exec(statement)?.[1]
  if (name === undefined) return
  const text = statement.replace(/^export /, '').replace(/^declare /, '')
  // Overloads and an interface beside a value share a name.
  const before = declarations.get(name)
  declarations.set(name, { name, module, text: before === undefined ? text : `${before.text}\n${text}` })
  if (statement.startsWith('export ')) exports.set(name, name)
}

/** The top-level statements, without comments and without what is private to a class. */
function statementsOf(text: string): readonly string[] {
  const statements: string[][] = []
  for (const line of text.replaceAll(/^\s*\/\*\*[^]*?\*\/\n/gm, '').split('\n')) {
    if (line.trim() === '' || /^\s*(\/\/|#private|private )/.test(line)) continue
    if (/^[\s)}\]]/.test(line) && statements.length > 0) statements.at(-1)?.push(line)
    else statements.push([line])
  }
  return statements.map((lines) => lines.join('\n'))
}
