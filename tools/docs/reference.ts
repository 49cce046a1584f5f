/**
 * Writes docs/reference: what the packages offer, from the snapshots of their interfaces in the folders `api`, so from the docstrings.
 * `npm run api` runs it after it has written the snapshots; a test compares.
 *
 * Each page has roots, which are named here. What they mention and is exported stands on the page that reaches it first.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDocstring } from './docstring.ts'
import { membersOf, statementsOf, withoutDocs, type Statement } from '../checks/statements.ts'
import { PACKAGES } from '../checks/packages.ts'
import { root } from './code-blocks.ts'

const GENERATED = '<!-- Generated from docstrings by npm run api. -->'
const FOLDER = join(root, 'docs/reference')

interface PageSpec {
  readonly file: string
  readonly title: string
  /** Said before the first declaration. */
  readonly intro: string
  /** Snapshots that the page describes, by the specifiers that people import. */
  readonly entries: readonly (readonly [specifier: string, snapshot: string])[]
  /** Of `pannier`, where several pages share it. */
  readonly roots?: readonly string[]
}

/** Entries with a page of their own, and what only our own packages may import. */
const APART: ReadonlySet<string> = new Set(['indexeddb', 'opfs', 'sqlite', 'memory', 'level', 'testing', 'internal'])

const LIBRARY = PACKAGES.filter(({ name }) => name === 'pannier')
  .flatMap(({ entries }) => entries)
  .filter(({ name }) => !APART.has(name))
  .map(({ name, specifier }) => [specifier, `packages/db/api/${name}.d.ts`] as const)

const PAGES: readonly PageSpec[] = [
  {
    file: 'open.md',
    title: 'Open, destroy, repair',
    intro: 'The functions of `pannier`.',
    entries: LIBRARY,
    roots: ['open', 'destroy', 'repair', 'firstOf', 'preload', 'registerCollation', 'isPannierError', 'PannierError'],
  },
  {
    file: 'database.md',
    title: 'Database',
    intro: 'What `open` resolves with. [Guide](../guide/documents.md)',
    entries: LIBRARY,
    roots: ['Database', 'Transaction'],
  },
  {
    file: 'collection.md',
    title: 'Collection',
    intro: 'What `db.collection(name)` returns. [Guide](../guide/documents.md)',
    entries: LIBRARY,
    roots: [
      'Collection',
      'TransactionCollection',
      'RevisionOperations',
      'LocalDocuments',
      'DocumentList',
      'Attachment',
      'ChangeFeed',
    ],
  },
  {
    file: 'query.md',
    title: 'Query, live query, search',
    intro: 'What `collection.find` and `collection.search` return. [Guide](../guide/queries.md)',
    entries: LIBRARY,
    roots: ['Query', 'LiveQuery', 'LiveCount', 'Groups', 'SearchQuery', 'where', 'Selector'],
  },
  {
    file: 'view.md',
    title: 'View',
    intro: 'What `collection.view` returns. [Guide](../guide/queries.md#views)',
    entries: LIBRARY,
    roots: ['View', 'ViewDefinition', 'ViewOptions'],
  },
  {
    file: 'replication.md',
    title: 'Replication',
    intro: 'What `sync` and `replicate` return. [Guide](../guide/sync.md)',
    entries: LIBRARY,
    roots: ['Replication', 'ReplicationOptions'],
  },
  {
    file: 'encryption.md',
    title: 'Encryption',
    intro: 'What `db.encryption` is. [Guide](../guide/encryption.md)',
    entries: LIBRARY,
    roots: ['Encryption', 'Credential'],
  },
  {
    file: 'storage.md',
    title: 'Storages',
    intro: 'Where a database can live. [Guide](../guide/storage.md)',
    entries: ['indexeddb', 'opfs', 'sqlite', 'memory', 'level'].map(
      (name) => [`pannier/${name}`, `packages/db/api/${name}.d.ts`] as const,
    ),
  },
  {
    file: 'testing.md',
    title: 'Testing',
    intro: 'Storages for tests, and a suite for storages of your own. [Guide](../guide/testing.md)',
    entries: [['pannier/testing', 'packages/db/api/testing.d.ts']],
  },
  {
    file: 'react.md',
    title: 'React',
    intro: 'The hooks. [README](../../packages/react/README.md)',
    entries: [['@pannier/react', 'packages/react/api/index.d.ts']],
  },
  {
    file: 'server.md',
    title: 'Server',
    intro: 'The server inside your own program. [Guide](../guide/server.md)',
    entries: [['@pannier/server', 'packages/server/api/index.d.ts']],
  },
  {
    file: 'jsonstore.md',
    title: 'JSONStore',
    intro: "IBM's API. [README](../../packages/jsonstore/README.md)",
    entries: [['@pannier/jsonstore', 'packages/jsonstore/api/index.d.ts']],
  },
]

/** What examples take from elsewhere. */
const OTHER_IMPORTS: readonly (readonly [specifier: string, names: readonly string[]])[] = [
  ['pannier', ['type Emit']],
  ['node:fs', ['createWriteStream', 'openAsBlob']],
  ['node:stream', ['Writable']],
  ['classic-level', ['ClassicLevel']],
]

interface Declaration {
  readonly name: string
  readonly specifier: string
  /** Overloads, in their order. */
  readonly statements: readonly Statement[]
}

/** The pages by their file names. */
export function referencePages(): Map<string, string> {
  const limits: Declaration[] = []
  const declared = new Map<string, Declaration[]>()
  const library = PAGES.filter(({ entries }) => entries === LIBRARY)
  const ofLibrary = LIBRARY.flatMap(([specifier, path]) => exportsOf(specifier, path))
  const isLimit = ({ name }: Declaration): boolean => name.endsWith('_MAX')
  limits.push(...ofLibrary.filter(isLimit))
  const spread = spreadOver(
    library,
    ofLibrary.filter((one) => !isLimit(one)),
  )
  for (const page of PAGES) {
    const own = spread.get(page) ?? page.entries.flatMap(([specifier, path]) => exportsOf(specifier, path))
    declared.set(page.file, own)
  }
  const pages = new Map(PAGES.map((page) => [page.file, pageText(page, declared.get(page.file)!)]))
  pages.set('limits.md', limitsText(limits))
  pages.set('README.md', indexText(declared))
  return pages
}

export function writeReference(): void {
  for (const [file, text] of referencePages()) writeFileSync(join(FOLDER, file), text)
}

function exportsOf(specifier: string, path: string): Declaration[] {
  const byName = new Map<string, Statement[]>()
  const snapshot = readFileSync(join(root, path), 'utf8').replace(/^import type \{[^}]*\} from '.*'$/m, '')
  for (const statement of statementsOf(snapshot)) {
    const [, name] = /^export (?:abstract )?(?:const|function|class|interface|type) ([\w$]+)/.exec(statement.text) ?? []
    if (name !== undefined) byName.set(name, [...(byName.get(name) ?? []), statement])
  }
  return [...byName].map(([name, statements]) => ({ name, specifier, statements }))
}

/** From the roots of the pages to what they mention, step by step on all pages at once. What nothing reaches is on the first page. */
function spreadOver(pages: readonly PageSpec[], all: readonly Declaration[]): Map<PageSpec, Declaration[]> {
  const left = new Map(all.map((one) => [one.name, one]))
  const placed = new Map(pages.map((page) => [page, [] as Declaration[]]))
  const take = (page: PageSpec, name: string): Declaration[] => {
    const found = left.get(name)
    left.delete(name)
    if (found !== undefined) placed.get(page)!.push(found)
    return found === undefined ? [] : [found]
  }
  let edge = pages.map((page) => [page, page.roots!.flatMap((name) => take(page, name))] as const)
  while (edge.some(([, found]) => found.length > 0)) {
    edge = edge.map(([page, found]) => [page, found.flatMap(namesIn).flatMap((name) => take(page, name))] as const)
  }
  for (const name of left.keys()) take(pages[0]!, name)
  return placed
}

function namesIn({ statements }: Declaration): string[] {
  return statements.flatMap(({ text }) => withoutDocs(text).match(/\b[A-Z]\w+/g) ?? [])
}

function pageText({ title, intro }: PageSpec, declarations: readonly Declaration[]): string {
  const sections = declarations.map((one) => declarationText(one))
  return `${GENERATED}\n\n# ${title}\n\n${intro}\n\n${sections.join('\n')}`
}

function declarationText({ name, specifier, statements }: Declaration): string {
  const from = `From \`${specifier}\`.\n`
  const members = statements.length === 1 ? membersOf(statements[0]!) : []
  if (members.length === 0) return [`## ${name}\n`, from, describe(statements, (text) => text)].join('\n')
  const [head] = withoutDocs(statements[0]!.text).split('{\n')
  const data = members.filter((member) => !isMethod(member))
  const methods = Object.entries(Object.groupBy(members.filter(isMethod), ({ text }) => nameOf(text)))
  return [
    `## ${name}\n`,
    from,
    `${textOf(statements[0]!.docs)}`,
    code(`${head!.replace('export ', '').trim()} { … }`),
    table(data),
    ...methods
      .filter(([method]) => method !== 'constructor')
      .map(([method, overloads]) => `### ${name}.${method}\n\n${describe(withSharedDocs(overloads!))}`),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** The first overload that has a docstring speaks for all. */
function withSharedDocs(overloads: readonly Statement[]): Statement[] {
  const docs = overloads.find((one) => one.docs !== '')?.docs ?? ''
  return overloads.map(({ text }, at) => ({ text, docs: at === 0 ? docs : '' }))
}

function describe(statements: readonly Statement[], laidOut = outdented): string {
  const signatures = statements.map(({ text }) => withoutDocs(text).replace(/^export /, ''))
  return [code(signatures.map(laidOut).join('\n')), ...statements.map(({ docs }) => textOf(docs))]
    .filter((part) => part !== '')
    .join('\n')
}

function textOf(docs: string): string {
  const { text, parameters, failures, examples } = readDocstring(docs)
  return [
    text,
    ...parameters.map(([name, what]) => `- \`${name}\`: ${what}`),
    ...failures.map((what) => `**Throws** ${what.replaceAll(/\bPANNIER_\w+/g, '[`$&`](errors.md)')}`),
    ...examples.map((one) => `\`\`\`ts check new\n${withImports(one)}\n\`\`\``),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n')
}

/** What an example uses of the packages is imported, so that it can be copied. The library's own names come before others. */
function withImports(example: string): string {
  const code = example.replaceAll(/'[^'\n]*'|\/\/.*/g, '')
  const lines: string[] = []
  const imported = new Set(example.match(/(?<=import .*)\b\w+\b(?=.* from )/g))
  for (const [specifier, names] of [...importable(), ...OTHER_IMPORTS]) {
    const used = names.filter((name) => {
      const word = name.replace('type ', '')
      const after = /^[A-Z_]+$/.test(word) ? ',' : '[(<.]|\\)? &&'
      const isUsed = new RegExp(`(?<![.\\w])${word}(?=${after})`).test(code) && !imported.has(word)
      if (isUsed) imported.add(word)
      return isUsed
    })
    if (used.length > 0) lines.push(`import { ${used.join(', ')} } from '${specifier}'`)
  }
  return [...lines, example].join('\n')
}

let known: Map<string, string[]> | undefined

/** Functions, classes and constants by where they come from. */
function importable(): Map<string, string[]> {
  known ??= new Map(
    PAGES.flatMap(({ entries }) => entries).map(([specifier, path]) => [
      specifier,
      exportsOf(specifier, path).flatMap(({ name, statements }) =>
        /^export (?:function|class|const)/.test(statements[0]!.text) ? [name] : [],
      ),
    ]),
  )
  return known
}

function table(data: readonly Statement[]): string {
  if (data.length === 0) return ''
  const rows = data.map(({ docs, text }) => {
    const type = withoutDocs(text)
      .replace(/^(?:static |readonly |get )+/, '')
      .replace(/^(\w+)\(\): /, '$1: ')
      .replace(/;$/, '')
    const what = textOf(docs).trim().replaceAll('\n\n', '<br>').replaceAll('\n', ' ')
    return `| \`${cell(type.replaceAll(/\s+/g, ' '))}\` | ${cell(what)} |`
  })
  return ['| member | what it is |', '| --- | --- |', ...rows, ''].join('\n')
}

function limitsText(limits: readonly Declaration[]): string {
  const rows = limits.map(({ name, statements: [statement] }) => {
    const what = readDocstring(statement!.docs).text.replaceAll('\n', ' ')
    return `| \`${name}\` | ${amountOf(name)} | ${cell(what)} |`
  })
  const head = `${GENERATED}\n\n# Limits\n\nEverything has a limit, so that nothing grows without end. What exceeds one fails with \`PANNIER_LIMIT\` or a code of its own.\n`
  return [head, '| limit | value | what it bounds |', '| --- | ---: | --- |', ...rows, ''].join('\n')
}

const values = Object.assign(
  {},
  ...(await Promise.all(LIBRARY.map(([specifier]) => import(/* @vite-ignore */ specifier)))),
) as Readonly<Record<string, unknown>>

/** A limit with its unit, which is the last word of its name. */
function amountOf(name: string): string {
  const value = values[name] as number
  const [, unit = ''] = /_(BYTES|CHARS|DOCUMENTS)_MAX$/.exec(name) ?? []
  if (unit !== 'BYTES') return [value.toLocaleString('en'), unit === 'CHARS' ? 'characters' : ''].join(' ').trim()
  for (const [size, word] of [
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
  ] as const)
    if (value % size === 0) return `${value / size} ${word}`
  return `${value.toLocaleString('en')} bytes`
}

function indexText(declared: ReadonlyMap<string, readonly Declaration[]>): string {
  const lines = PAGES.map(({ file, title }) => {
    const names = declared
      .get(file)!
      .filter(({ statements }) => /^export (abstract )?(class|function|interface) /.test(statements[0]!.text))
    const shown = names.slice(0, 12).map(({ name }) => `[${name}](${file}#${name.toLowerCase()})`)
    return `- **[${title}](${file})**: ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`
  })
  const more = ['- **[Error codes](errors.md)**: each with cause and cure', '- **[Limits](limits.md)**']
  return [
    `${GENERATED}\n`,
    '# Reference\n',
    'What the packages offer, with every method. The [guide](../guide/README.md) explains how to use it.\n',
    ...lines,
    ...more,
    '',
  ].join('\n')
}

function isMethod({ text }: Statement): boolean {
  return (
    /^(?:static |abstract )*(?:\w+|\[[\w.]+\])\??(?:<|\()/.test(withoutDocs(text)) || text.startsWith('constructor')
  )
}

function nameOf(text: string): string {
  return /^(?:static |abstract )*(\w+|\[[\w.]+\])/.exec(withoutDocs(text))![1]!
}

function outdented(text: string): string {
  return text.replaceAll(/^ {4}/gm, '')
}

function code(text: string): string {
  return `\`\`\`ts signature\n${text}\n\`\`\`\n`
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}

if (import.meta.main) writeReference()
