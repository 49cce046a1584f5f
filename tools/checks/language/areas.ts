/** Counts offences against docs/style.md and docs/glossary.md by area, for the check (language.ts), its test and `npm run bars`. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../packages.ts'
import { proseOfMarkdown, proseOfSource, type Piece } from './extract.ts'
import { nounOffence, offencesIn, pronounOffence, stemsOf, type Limits, type Offence } from './wording.ts'

export type Area = (typeof AREAS)[number]

export const AREAS = [
  'errors',
  'readmes',
  'docstrings',
  'heads',
  'guide',
  'reference',
  'internals',
  'project',
  'tests',
  'comments',
  'pronouns',
  'nouns',
] as const

export interface Place extends Offence {
  readonly file: string
  readonly line: number
}

export type Findings = Readonly<Record<Area, readonly Place[]>>

const SHORT: Limits = { wordsMax: 25 }
const DOCS: Limits = { wordsMax: 30, columnsMax: 140 }

const MARKDOWN: readonly (readonly [Area, Limits, readonly string[]])[] = [
  [
    'readmes',
    { ...DOCS, wordsMax: SHORT.wordsMax },
    ['README.md', 'packages/*/README.md', 'demo/README.md', 'bench/README.md'],
  ],
  ['guide', DOCS, ['docs/guide/**/*.md']],
  ['reference', DOCS, ['docs/reference/**/*.md']],
  ['internals', DOCS, ['docs/internals/**/*.md']],
  ['project', DOCS, ['docs/*.md', 'CHANGELOG.md']],
]

/** Pages that are written from docstrings, which are counted themselves. */
const GENERATED = /^<!-- Generated from docstrings/

/** The page that lists the words which it bans. */
const NOT_READ = new Set(['docs/glossary.md', 'docs/style.md'])

/** Bars: what the counts have to come down to. */
export const BARS: readonly { readonly name: string; readonly areas: readonly Area[]; readonly max: number }[] = [
  { name: 'offenders in errors', areas: ['errors'], max: 0 },
  { name: 'offenders in READMEs', areas: ['readmes'], max: 0 },
  { name: 'offenders in docs', areas: ['guide', 'reference', 'internals'], max: 50 },
]

export function findOffences(): Findings {
  const findings = Object.fromEntries(AREAS.map((area) => [area, [] as Place[]])) as Record<Area, Place[]>
  const add = (area: Area, file: string, pieces: readonly Piece[], limits: Limits): void => {
    for (const { line, text } of pieces)
      for (const offence of offencesIn(text, limits)) findings[area].push({ ...offence, file, line })
  }
  for (const [area, limits, patterns] of MARKDOWN) {
    for (const file of filesOf(patterns)) {
      if (NOT_READ.has(file)) continue
      const source = readFileSync(join(root, file), 'utf8')
      if (GENERATED.test(source)) continue
      add(area, file, proseOfMarkdown(source), limits)
      for (const place of wideLines(source, limits)) findings[area].push({ ...place, file })
    }
  }
  const glossary = glossaryStems()
  for (const file of filesOf(['packages/*/{src,test,testing}/**/*.{ts,tsx}', '{tools,bench,demo}/**/*.{ts,tsx}'])) {
    const prose = proseOfSource(file, readFileSync(join(root, file), 'utf8'))
    if (file.includes('/src/')) {
      add('errors', file, prose.errors, SHORT)
      for (const { line, text } of prose.badForms)
        findings.errors.push({ file, line, rule: 'form of an argument error', sentence: text })
      add('docstrings', file, prose.docstrings, SHORT)
    } else add('comments', file, prose.docstrings, DOCS)
    if (!/^packages\/[^/]+\/test/.test(file))
      for (const { line, text, code } of prose.blocks) {
        const offences = { pronouns: pronounOffence(text), nouns: nounOffence(text, code, glossary) }
        for (const area of ['pronouns', 'nouns'] as const)
          if (offences[area] !== undefined) findings[area].push({ ...offences[area], file, line })
      }
    add('heads', file, prose.head, DOCS)
    add('comments', file, prose.comments, DOCS)
    add('tests', file, prose.tests, SHORT)
  }
  return findings
}

/** The words that the glossary defines. */
function glossaryStems(): ReadonlySet<string> {
  const rows = readFileSync(join(root, 'docs/glossary.md'), 'utf8').matchAll(/^\| ([a-zA-Z][^|]*)\|/gm)
  return stemsOf([...rows].map(([, word]) => word).join(' '))
}

function filesOf(patterns: readonly string[]): readonly string[] {
  return globSync([...patterns], {
    cwd: root,
    exclude: (name) => name.includes('node_modules') || name.includes('/dist/'),
  }).toSorted()
}

function wideLines(source: string, { columnsMax = Infinity }: Limits): Omit<Place, 'file'>[] {
  const places: Omit<Place, 'file'>[] = []
  let isCode = false
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    if (isCode || /^\s*\||^\[[^\]]+\]: /.test(line) || line.length <= columnsMax) continue
    places.push({ line: index + 1, rule: `${line.length} columns`, sentence: line })
  }
  return places
}
