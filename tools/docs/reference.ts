/**
 * Writes docs/reference: what the packages offer, from the snapshots of their interfaces in the folders `api`, so from the docstrings.
 * `npm run api` runs it after it has written the snapshots; a test compares.
 *
 * Each page has roots, which are named here. What they mention and is exported stands on the page that reaches it first.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statementsOf, withoutDocs, type Statement } from '../checks/statements.ts'
import { PACKAGES } from '../checks/packages.ts'
import { root } from './code-blocks.ts'
import { cell, describeDeclaration, importable, type Declaration, type Imports } from './describe.ts'
import { readDocstring } from './docstring.ts'

const GENERATED = '<!-- Generated from docstrings by npm run api. -->'
const FOLDER = join(root, 'docs/reference')

interface PageSpec {
  readonly file: string
  readonly title: string
  /** Said before the first declaration. */
  readonly intro: string
  /** Snapshots that the page describes, by the specifiers that people import. */
  readonly entries: readonly (readonly [specifier: string, snapshot: string])[]
  /** Names of the roots of a page, where several pages share `pannier`. */
  readonly roots?: readonly string[]
}

/** Entries with a page of their own, and what only our own packages may import. */
const APART: ReadonlySet<string> = new Set([
  'indexeddb',
  'opfs',
  'sqlite',
  'memory',
  'level',
  'storage',
  'testing',
  'internal',
])

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
    roots: ['Collection', 'TransactionCollection', 'LocalDocuments', 'DocumentList', 'Attachment', 'ChangeFeed'],
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
    file: 'storage-contract.md',
    title: 'Writing a storage',
    intro:
      'What a storage of your own implements. `handleOn` and `Lease` are ready parts. `pageStoreSuite` of [Testing](testing.md) tests it. [Guide](../guide/storage.md)',
    entries: [['pannier/storage', 'packages/db/api/storage.d.ts']],
  },
  {
    file: 'testing.md',
    title: 'Testing',
    intro: 'Storages for tests, and a suite for storages of your own. [Guide](../guide/testing.md)',
    entries: [['pannier/testing', 'packages/db/api/testing.d.ts']],
  },
  {
    file: 'pouchdb.md',
    title: 'PouchDB adapter',
    intro: 'The adapter and its options. [README](../../packages/pouchdb/README.md)',
    entries: [
      ['pouchdb-adapter-pannier', 'packages/pouchdb/api/index.d.ts'],
      ['pouchdb-adapter-pannier/move', 'packages/pouchdb/api/move.d.ts'],
    ],
  },
  {
    file: 'react.md',
    title: 'React',
    intro: 'The hooks. [README](../../packages/react/README.md)',
    entries: [['@pannier/react', 'packages/react/api/index.d.ts']],
  },
  {
    file: 'vue.md',
    title: 'Vue',
    intro: 'The composables. [README](../../packages/vue/README.md)',
    entries: [['@pannier/vue', 'packages/vue/api/index.d.ts']],
  },
  {
    file: 'svelte.md',
    title: 'Svelte',
    intro: 'The runes. [README](../../packages/svelte/README.md)',
    entries: [['@pannier/svelte', 'packages/svelte/api/index.d.ts']],
  },
  {
    file: 'solid.md',
    title: 'Solid',
    intro: 'The primitives. [README](../../packages/solid/README.md)',
    entries: [['@pannier/solid', 'packages/solid/api/index.d.ts']],
  },
  {
    file: 'angular.md',
    title: 'Angular',
    intro: 'The signals. [README](../../packages/angular/README.md)',
    entries: [['@pannier/angular', 'packages/angular/api/index.d.ts']],
  },
  {
    file: 'tanstack-db.md',
    title: 'TanStack DB',
    intro: 'Options for its collections. [README](../../packages/tanstack-db/README.md)',
    entries: [['@pannier/tanstack-db', 'packages/tanstack-db/api/index.d.ts']],
  },
  {
    file: 'devtools.md',
    title: 'Devtools',
    intro: 'Devtools for the page of an app. [Guide](../guide/devtools.md)',
    entries: [
      ['@pannier/devtools', 'packages/devtools/api/index.d.ts'],
      ['@pannier/devtools/element', 'packages/devtools/api/element.d.ts'],
    ],
  },
  {
    file: 'stores.md',
    title: 'Stores',
    intro: 'For bindings to other frameworks. [README](../../packages/stores/README.md)',
    entries: [['@pannier/stores', 'packages/stores/api/index.d.ts']],
  },
  {
    file: 'client.md',
    title: 'Client',
    intro: 'The client for apps. [Guide](../guide/apps.md)',
    entries: [
      ['@pannier/client', 'packages/client/api/index.d.ts'],
      ['@pannier/client/report', 'packages/client/api/report.d.ts'],
    ],
  },
  {
    file: 'rules.md',
    title: 'Rules',
    intro: 'The language of rules and filters. [What it means](../internals/rules.md)',
    entries: [
      ['@pannier/rules', 'packages/rules/api/index.d.ts'],
      ['@pannier/rules/compile', 'packages/rules/api/compile.d.ts'],
      ['@pannier/rules/cut', 'packages/rules/api/cut.d.ts'],
    ],
  },
  {
    file: 'sqlite-storage.md',
    title: 'SQLite of other runtimes',
    intro: 'Databases in Expo, React Native and Durable Objects. [Guide](../guide/runtimes.md)',
    entries: [['@pannier/sqlite-storage', 'packages/sqlite-storage/api/index.d.ts']],
  },
  {
    file: 'postgres.md',
    title: 'PostgreSQL',
    intro: 'Databases on PostgreSQL. [README](../../packages/postgres/README.md)',
    entries: [['@pannier/postgres', 'packages/postgres/api/index.d.ts']],
  },
  {
    file: 'server.md',
    title: 'Server',
    intro: 'The server inside your own program. [Guide](../guide/server.md)',
    entries: [['@pannier/server', 'packages/server/api/index.d.ts']],
  },
  {
    file: 'pocketbase.md',
    title: "PocketBase's code",
    intro: 'Runs `pb_hooks` and `pb_migrations`. [README](../../packages/pocketbase/README.md)',
    entries: [['@pannier/pocketbase', 'packages/pocketbase/api/index.d.ts']],
  },
  {
    file: 'jsonstore.md',
    title: 'JSONStore',
    intro: "IBM's API. [README](../../packages/jsonstore/README.md)",
    entries: [['@pannier/jsonstore', 'packages/jsonstore/api/index.d.ts']],
  },
]

/** The pages by their file names. */
export function referencePages(): Map<string, string> {
  const library = LIBRARY.flatMap(([specifier, path]) => exportsOf(specifier, path))
  const limits = library.filter(isLimit)
  const spread = spreadOver(
    PAGES.filter(({ entries }) => entries === LIBRARY),
    library.filter((one) => !isLimit(one)),
  )
  const declared = new Map(
    PAGES.map((page) => [
      page,
      spread.get(page) ?? page.entries.flatMap(([specifier, path]) => exportsOf(specifier, path)),
    ]),
  )
  const imports = importable([...declared.values()].flat())
  const pages = [...declared].map(([page, own]) => [page.file, pageText(page, own, imports)] as const)
  return new Map([...pages, ['limits.md', limitsText(limits)], ['README.md', indexText(declared)]])
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

function isLimit({ name }: Declaration): boolean {
  return name.endsWith('_MAX')
}

function pageText({ title, intro }: PageSpec, declarations: readonly Declaration[], imports: Imports): string {
  const sections = declarations.map((one) => describeDeclaration(one, imports))
  return `${GENERATED}\n\n# ${title}\n\n${intro}\n\n${sections.join('\n')}`
}

function limitsText(limits: readonly Declaration[]): string {
  const rows = limits.map(({ name, statements: [statement] }) => {
    const what = readDocstring(statement!.docs).text.replaceAll('\n', ' ')
    return `| \`${name}\` | ${amountOf(name)} | ${cell(what)} |`
  })
  const head = `${GENERATED}\n\n# Limits\n\nEverything has a limit, so that nothing grows without end. What exceeds one fails with \`PANNIER_LIMIT_EXCEEDED\` or a code of its own.\n`
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

function indexText(declared: ReadonlyMap<PageSpec, readonly Declaration[]>): string {
  const lines = [...declared].map(([{ file, title }, own]) => {
    const names = own.filter(({ statements }) =>
      /^export (abstract )?(class|function|interface) /.test(statements[0]!.text),
    )
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

if (import.meta.main) writeReference()
