/** A declaration of the public interface as Markdown: signature, text, parameters, errors, examples, members. */
import { membersOf, withoutDocs, type Statement } from '../checks/statements.ts'
import { readDocstring } from './docstring.ts'

export interface Declaration {
  readonly name: string
  readonly specifier: string
  /** Overloads, in their order. */
  readonly statements: readonly Statement[]
}

/** Names that can be imported, by where they come from: functions, classes and constants. */
export type Imports = ReadonlyMap<string, readonly string[]>

export function importable(declarations: readonly Declaration[]): Imports {
  const values = declarations.filter(({ statements }) => /^export (?:function|class|const)/.test(statements[0]!.text))
  const bySpecifier = Map.groupBy(values, ({ specifier }) => specifier)
  return new Map([...bySpecifier].map(([specifier, list]) => [specifier, list.map(({ name }) => name).toSorted()]))
}

/** Packages for several frameworks have the same names: an example takes those of its own package. */
function preferring(specifier: string, imports: Imports): Imports {
  const own = new Set(imports.get(specifier))
  const others = ([other, names]: readonly [string, readonly string[]]): [string, readonly string[]] => [
    other,
    other === specifier ? names : names.filter((name) => !own.has(name)),
  ]
  return new Map([...imports].map(others))
}

/** Names that examples take from elsewhere. */
const OTHER_IMPORTS: readonly (readonly [specifier: string, names: readonly string[]])[] = [
  ['pannier', ['type Emit']],
  ['node:fs', ['createWriteStream', 'openAsBlob']],
  ['node:stream', ['Writable']],
  ['classic-level', ['ClassicLevel']],
]

export function describeDeclaration({ name, specifier, statements }: Declaration, all: Imports): string {
  const imports = preferring(specifier, all)
  const from = `From \`${specifier}\`.\n`
  const members = statements.length === 1 ? membersOf(statements[0]!) : []
  if (members.length === 0) return [`## ${name}\n`, from, describe(statements, imports, (text) => text)].join('\n')
  const [head] = withoutDocs(statements[0]!.text).split('{\n')
  const data = members.filter((member) => !isMethod(member))
  const methods = Object.entries(Object.groupBy(members.filter(isMethod), ({ text }) => nameOf(text)))
  return [
    `## ${name}\n`,
    from,
    textOf(statements[0]!.docs, imports),
    code(`${head!.replace('export ', '').trim()} { … }`),
    table(data, imports),
    ...methods
      .filter(([method]) => method !== 'constructor')
      .map(([method, overloads]) => `### ${name}.${method}\n\n${describe(withSharedDocs(overloads!), imports)}`),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** The first overload that has a docstring speaks for all. */
function withSharedDocs(overloads: readonly Statement[]): Statement[] {
  const docs = overloads.find((one) => one.docs !== '')?.docs ?? ''
  return overloads.map(({ text }, at) => ({ text, docs: at === 0 ? docs : '' }))
}

function describe(statements: readonly Statement[], imports: Imports, laidOut = outdented): string {
  const signatures = statements.map(({ text }) => withoutDocs(text).replace(/^export /, ''))
  return [code(signatures.map(laidOut).join('\n')), ...statements.map(({ docs }) => textOf(docs, imports))]
    .filter((part) => part !== '')
    .join('\n')
}

function textOf(docs: string, imports: Imports): string {
  const { text, parameters, failures, examples } = readDocstring(docs)
  return [
    text,
    ...parameters.map(([name, what]) => `- \`${name}\`: ${what}`),
    ...failures.map((what) => `**Throws** ${what.replaceAll(/\bPANNIER_\w+/g, '[`$&`](errors.md)')}`),
    ...examples.map((one) => `\`\`\`ts check new\n${withImports(one, imports)}\n\`\`\``),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n')
}

/** The example with imports of the packages' names that it uses, so that it can be copied. The library's own names come before others. */
function withImports(example: string, imports: Imports): string {
  const code = example.replaceAll(/'[^'\n]*'|\/\/.*/g, '')
  const lines: string[] = []
  const imported = new Set(example.match(/(?<=import .*)\b\w+\b(?=.* from )/g))
  for (const [specifier, names] of [...imports, ...OTHER_IMPORTS]) {
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

function table(data: readonly Statement[], imports: Imports): string {
  if (data.length === 0) return ''
  const rows = data.map(({ docs, text }) => {
    const type = withoutDocs(text)
      .replace(/^(?:static |readonly |get )+/, '')
      .replace(/^(\w+)\(\): /, '$1: ')
      .replace(/;$/, '')
    const what = textOf(docs, imports).trim().replaceAll('\n\n', '<br>').replaceAll('\n', ' ')
    return `| \`${cell(type.replaceAll(/\s+/g, ' '))}\` | ${cell(what)} |`
  })
  return ['| member | what it is |', '| --- | --- |', ...rows, ''].join('\n')
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

export function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
