/**
 * The code blocks of the pages that people read, as modules that can be run and type-checked.
 *
 * The `ts` blocks of one page are one module. Words after the language say what is different:
 *
 *     ts            run, and type-checked
 *     ts check      type-checked only: it needs a browser, a file or another product. `tsx` is always so
 *     ts signature  not tested here: the reference has these from the snapshot of the interface, or a test of its own compiles it
 *     ts new        begins another module of the page
 *     … file=NAME   a file of the tutorial, which its transcript runs; append=NAME adds to one
 *
 * A comment `<!-- prelude … -->` holds code that the block after it needs and that nobody wants to read. `// → text` in a block
 * is what `console.log` prints there; `…` stands for anything.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root: string = resolve(import.meta.dirname, '../..')

const PAGES = ['README.md', 'packages/*/README.md', 'docs/guide/**/*.md', 'docs/reference/**/*.md']

export interface CodeBlock {
  readonly language: string
  /** The words after the language. */
  readonly words: readonly string[]
  /** Where its code begins, from 0. */
  readonly line: number
  readonly code: string
}

export interface DocsPage {
  /** From the root: `docs/guide/queries.md`. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly CodeBlock[]
}

export interface DocsModule {
  readonly page: string
  /** A name for a file, with its extension. */
  readonly name: string
  /** The code, with its lines where they are in the page; all other lines are empty. */
  readonly code: string
  /** Without what is only type-checked; undefined if nothing is left. */
  readonly runnable: string | undefined
  /** Lines that the code prints. */
  readonly prints: readonly string[]
}

export function readPages(): DocsPage[] {
  return globSync(PAGES, { cwd: root })
    .filter((path) => !path.includes('node_modules'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, blocks: blocksOf(text) }
    })
}

function blocksOf(text: string): CodeBlock[] {
  return [...text.matchAll(/^(?:```(.*)|<!-- (prelude))\n([^]*?)^(?:```|-->)$/gm)].map(
    ({ 1: fence, 2: comment, 3: code, index }) => {
      const [language = '', ...words] = (fence ?? comment!).trim().split(/\s+/)
      return { language, words, line: text.slice(0, index).split('\n').length, code: code! }
    },
  )
}

/** The modules that the TypeScript of a page makes. */
export function modulesOf({ path, text, blocks }: DocsPage): DocsModule[] {
  const groups: CodeBlock[][] = []
  let pending: CodeBlock[] = []
  for (const block of blocks) {
    if (block.language === 'prelude') pending.push(block)
    if ((block.language !== 'ts' && block.language !== 'tsx') || block.words.includes('signature')) continue
    const begins = block.words.some((word) => word === 'new' || word.startsWith('file='))
    if (groups.length === 0 || begins) groups.push([])
    groups.at(-1)!.push(...pending, block)
    pending = []
  }
  const lineCount = text.split('\n').length
  return groups.map((group, at) => {
    const isTsx = group.some(({ language }) => language === 'tsx')
    const runs = group.filter(isRun)
    return {
      page: path,
      name: `${path.replace(/\.md$/, '').replaceAll('/', '-')}-${at}.${isTsx ? 'tsx' : 'ts'}`,
      code: path.startsWith('docs/reference/') ? withContext(joined(group, lineCount)) : joined(group, lineCount),
      runnable: runs.some(({ language }) => language === 'ts') ? joined(runs, lineCount) : undefined,
      prints: runs.flatMap(({ code }) => [...code.matchAll(/\/\/ → (.*)/g)].map(([, printed]) => printed!.trimEnd())),
    }
  })
}

function isRun({ language, words }: CodeBlock): boolean {
  return language !== 'tsx' && !words.some((word) => word === 'check' || /^(file|append)=/.test(word))
}

const CONTEXT = join(import.meta.dirname, 'example-context.ts')
const CONTEXT_NAMES = [
  ...readFileSync(CONTEXT, 'utf8').matchAll(/^export (?:declare )?(const|function|interface) (\w+)/gm),
].map(([, kind, name]) => ({ name: name!, imported: kind === 'interface' ? `type ${name}` : name! }))

/** An example of a docstring leaves out what everybody can guess: it is imported on the first line. */
function withContext(code: string): string {
  const isFree = (name: string): boolean => {
    const declared = `\\b(?:const|let|using|import) (?:${name}\\b|\\{[^}]*\\b${name}\\b|\\[[^\\]]*\\b${name}\\b)`
    return new RegExp(`(?<![.'])\\b${name}\\b`).test(code) && !new RegExp(declared).test(code)
  }
  const used = CONTEXT_NAMES.filter(({ name }) => isFree(name)).map(({ imported }) => imported)
  return `import { ${used.join(', ')} } from '${CONTEXT}'; ${code}`
}

/** Blocks in their places. Names that an earlier block has imported are not imported again. */
function joined(blocks: readonly CodeBlock[], lineCount: number): string {
  const lines = Array.from({ length: lineCount }, () => '')
  const imported = new Set<string>()
  for (const { code, line } of blocks) {
    for (const [at, one] of code.split('\n').entries()) lines[line + at] = withoutKnownImports(one, imported)
  }
  return lines.join('\n')
}

function withoutKnownImports(line: string, imported: Set<string>): string {
  const [, type = '', list, from] = /^import (type )?\{ (.*) \} from (.*)$/.exec(line) ?? []
  if (list === undefined) return line
  const fresh = list.split(', ').filter((name) => !imported.has(`${name} ${from}`))
  for (const name of fresh) imported.add(`${name} ${from}`)
  return fresh.length === 0 ? '' : `import ${type}{ ${fresh.join(', ')} } from ${from}`
}
