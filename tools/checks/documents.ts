/** Finds errors of fact in the docs: missing link targets, files, packages and dependencies. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from './packages.ts'

interface Line {
  /** `docs/a.md:7` */
  readonly at: string
  readonly path: string
  readonly text: string
}

/** Links to files that are not there, and to headings that a file does not have. */
export function brokenLinks(): string[] {
  return linesOf(documents()).flatMap(({ at, path, text }) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([, file, heading]) => {
        const target = file === '' ? path : join(dirname(path), file!)
        if (!existsSync(join(root, target))) return [`${at} links to ${file}`]
        return heading === undefined || headingsOf(target).has(heading) ? [] : [`${at} links to ${file}#${heading}`]
      },
    ),
  )
}

function headingsOf(path: string): ReadonlySet<string> {
  const headings = readFileSync(join(root, path), 'utf8').match(/^#+ .+$/gm) ?? []
  const slug = (heading: string): string =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  return new Set(headings.map(slug))
}

/** Names like `kv/writer.ts` that are the end of no path. The guide names files of its readers. */
export function missingFiles(): string[] {
  const paths = globSync('{packages,bench,demo,tools,docs}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist)(\/|$)/.test(path),
  })
  const read = documents().filter((path) => isCurrent(path) && !path.startsWith('docs/guide/'))
  const known = Map.groupBy([...paths, ...globSync('*.ts', { cwd: root })], (path) => basename(path))
  return linesOf(read, { isCodeRead: false }).flatMap(({ at, text }) =>
    [...text.matchAll(/(?<![\w*{}.:/-])(?:\.\.?\/)*((?:[a-z\d.-]+\/)*[a-z\d][a-z\d.-]*\.tsx?)\b(?!\w|\/)/g)].flatMap(
      ([, name]) =>
        known.get(basename(name!))?.some((path) => `/${path}`.endsWith(`/${name}`)) ? [] : [`${at} names ${name}`],
    ),
  )
}

/** Issues are closed while documents stay. */
export function staleIssues(): string[] {
  return linesOf(documents().filter(isCurrent)).flatMap(({ at, text }) =>
    /\bissue \d+/i.test(text) ? [`${at} names an issue: ${text.trim()}`] : [],
  )
}

/** A database that replicates has two kinds: storage checkpoints and replication checkpoints. */
export function bareCheckpoints(): string[] {
  const explained = ['docs/glossary.md', 'docs/style.md']
  const prose = linesOf(
    documents().filter((path) => isCurrent(path) && !explained.includes(path)),
    { isCodeRead: false },
  )
  const api = globSync('packages/*/api/*.d.ts', { cwd: root }).flatMap((path) =>
    (readFileSync(join(root, path), 'utf8').match(/\/\*\*[^]*?\*\//g) ?? []).map((text) => ({ at: path, path, text })),
  )
  return [...prose, ...api].flatMap(({ at, text }) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(/(\S+)[\s*]+checkpoints?\b/gi)].flatMap(([words, before]) =>
      /(?:storage|replication)$/i.test(before!) ? [] : [`${at}: ${words.replaceAll(/[\s*]+/g, ' ')}`],
    ),
  )
}

/** Packages that the table of docs/contributing.md omits, and published ones that the list of README.md does not have once. */
export function unlistedPackages(): string[] {
  const table = readFileSync(join(root, 'docs/contributing.md'), 'utf8')
  const [list = ''] = /^- \*\*Packages\*\*:[^]*?(?=^- )/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  return globSync('packages/*', { cwd: root }).flatMap((path) => {
    const { name, private: isPrivate = false } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly private?: boolean
    }
    const times = list.split(`[${name}](${path}/README.md)`).length - 1
    return [
      ...(table.includes(`\`${path}`) ? [] : [`docs/contributing.md omits ${path}`]),
      ...(times === (isPrivate ? 0 : 1) ? [] : [`README.md lists ${name} ${times} times`]),
    ]
  })
}

/** Dependencies without a reason in ADR 1. */
export function unexplainedDependencies(): string[] {
  const decision = readFileSync(join(root, 'docs/adr/0001-dependencies.md'), 'utf8')
  const own = new Set<string>()
  const wanted = ['package.json', ...globSync('{packages/*,bench,demo}/package.json', { cwd: root })].flatMap(
    (path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>
      own.add(manifest['name'] as string)
      const names = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap((kind) =>
        Object.keys((manifest[kind] as object | undefined) ?? {}),
      )
      return names.map((name) => ({ path, name }))
    },
  )
  return wanted.flatMap(({ path, name }) =>
    own.has(name) || decision.includes(`\`${name}\``) ? [] : [`${path} depends on ${name}`],
  )
}

/** Layers that docs/internals/architecture.md omits, or has in another order. `lists`: of each package that it draws, lowest first. */
export function undrawnLayers(lists: readonly (readonly string[])[]): string[] {
  const page = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8')
  const drawn = [...page.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block = '']) =>
    [...block.matchAll(/^(\w+)\/ /gm)].map(([, name]) => name),
  )
  const missing = lists.filter((list) => !drawn.some((names) => names.join() === list.toReversed().join()))
  return missing.map((list) => list.join(' < '))
}

function documents(): string[] {
  return globSync(['*.md', 'docs/**/*.md', '{packages/*,bench,demo}/README.md'], { cwd: root }).toSorted()
}

/** Dated notes, decisions and the log of changes tell what was. */
function isCurrent(path: string): boolean {
  return !/^docs\/(?:notes|adr)\/|^CHANGELOG/.test(path)
}

/** Without blocks of code, if these are not to be read. */
function linesOf(paths: readonly string[], { isCodeRead = true } = {}): Line[] {
  return paths.flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8')
    const text = isCodeRead ? source : source.replaceAll(/^```[^]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    return text.split('\n').map((line, at) => ({ at: `${path}:${at + 1}`, path, text: line }))
  })
}
