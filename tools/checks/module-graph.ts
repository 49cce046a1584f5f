/**
 * Imports and exports of each TypeScript file of the repository, read by patterns from formatted source: types, re-exports and `import()`
 * included.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { PACKAGES, root } from './packages.ts'

export interface Module {
  /** From the repository's root. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
  /** Names that it declares itself, and those that it exports again. */
  readonly exports: ReadonlySet<string>
}

export interface Import {
  readonly target: string
  /** Undefined: any name of the target may be used (`import()`, `* as x`, `export *`). */
  readonly names: readonly string[] | undefined
}

const FOLDERS = '{packages/*/{src,testing,test},bench,demo,tools}/**/*.ts{,x}'
const STATIC = /^(import|export) (?:type )?(?:\{([^}]*)\}|(\*)(?: as \w+)?) from '([^']+)'/gm
const BARE = /^import '([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*,?\s*\)|new URL\('(\.[^']+)', import\.meta\.url\)/g
const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum|namespace) ([\w$]+)/gm
const LISTED = /^export (?:type )?\{([^}]*)\}/gm

/** By path. */
export function readModules(): ReadonlyMap<string, Module> {
  const paths = globSync(FOLDERS, { cwd: root, exclude: (path) => /(^|\/)(node_modules|dist)(\/|$)/.test(path) })
  return new Map(paths.sort().map((path) => [path, readModule(path)]))
}

function readModule(path: string): Module {
  const text = readFileSync(join(root, path), 'utf8')
  const imports: Import[] = []
  const add = (specifier: string, names: readonly string[] | undefined): void => {
    for (const target of resolve(path, specifier)) imports.push({ target, names })
  }
  for (const [, , list, , specifier] of text.matchAll(STATIC))
    add(specifier!, list === undefined ? undefined : originals(list))
  for (const [, specifier] of text.matchAll(BARE)) add(specifier!, [])
  const code = text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '')
  for (const [, called, file] of code.matchAll(DYNAMIC)) add((called ?? file)!, undefined)
  // Texts of other programs have exports of their own.
  const own = code.replaceAll(/`(?:\\[^]|[^`\\])*`/g, '``')
  const declared = [...own.matchAll(DECLARED)].map(([, name]) => name!)
  const listed = [...text.matchAll(LISTED)].flatMap(([, list]) => namesIn(list!).map(([, alias]) => alias))
  return { path, text, imports, exports: new Set([...declared, ...listed]) }
}

function originals(list: string): readonly string[] {
  return namesIn(list).map(([name]) => name)
}

function namesIn(list: string): readonly (readonly [name: string, alias: string])[] {
  return list
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [name = '', alias = name] = item.split(' as ')
      return [name, alias]
    })
}

/** The files of the repository that a specifier may stand for; none for what is installed. */
function resolve(from: string, specifier: string): readonly string[] {
  if (specifier.startsWith('.')) return [join(dirname(from), specifier)]
  if (specifier.startsWith('#')) return conditional(from, specifier)
  const entry = PACKAGES.flatMap(({ folder, entries }) =>
    entries.map((one) => ({ ...one, path: relative(root, join(folder, one.source)) })),
  ).find((one) => one.specifier === specifier)
  return entry === undefined ? [] : [entry.path]
}

/** The paths that `imports` of package.json names for `#…` when the sources run. */
function conditional(from: string, specifier: string): readonly string[] {
  const folder = /^packages\/[^/]+/.exec(from)?.[0] ?? '.'
  const { imports = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    imports?: Record<string, Record<string, Record<string, string>>>
  }
  return [...new Set(Object.values(imports[specifier]?.['pannier-source'] ?? {}))].map((path) => join(folder, path))
}
