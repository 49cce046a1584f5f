/**
 * Finds plain objects that names of users are looked up in: what every object inherits, such as `constructor`, is found there.
 * A `Map` and `Object.hasOwn` find only what was put in.
 */
import type { Module } from './module-graph.ts'

/** `const TABLE: Record<string, …> = {`, with something in it. */
const TABLE = /^(export )?const (\w+): (?:Readonly<)?Record<string, [^\n]*> = \{(?!\})/gm
/** `const found = {}`, or a copy of another object: names are put in later. */
const FILLED = /^ *(?:const|let) (\w+)(?:: [^\n=]*)? = \{(?:\}| \.\.\.)/gm
/** `name in object`; what asks for the inherited ones names a prototype. */
const LOOK =
  /(?<=(?:[(!?:=>{]|&&|\|\||return) *)([a-z_$][\w$]*) in (?!Object\.prototype|Symbol\b|\w+\.prototype)[A-Za-z_$][\w$.]*/gm

export function namesInPlainObjects(modules: ReadonlyMap<string, Module>): string[] {
  const sources = [...modules.values()].filter(({ path }) => /^packages\/\w+\/src\//.test(path))
  const isRead = (name: string, files: readonly Module[]): boolean =>
    files.some(({ text }) => new RegExp(`\\b${name}\\[(?!')`).test(text) && !text.includes(`Object.hasOwn(${name}, `))
  return sources.flatMap((source) => {
    const { path } = source
    const code = withoutWords(source.text)
    const tables = [...code.matchAll(TABLE)].flatMap(([, exported, name]) =>
      isRead(name!, exported === undefined ? [source] : sources) ? [name] : [],
    )
    const looks = [...code.matchAll(LOOK)].map(([found]) => found)
    return [...tables, ...looks, ...askedOfFilled(code)].map((found) => `${path} ${found}`)
  })
}

/** `found[name] === undefined`, `found[name] ?? …` and `found[name] ??= …` ask whether the name was put in. */
function askedOfFilled(code: string): string[] {
  const filled = new Set([...code.matchAll(FILLED)].map(([, name]) => name!))
  return [...filled]
    .map((name) => new RegExp(`(?<![\\w.])${name}\\[(?!')[^\\]]+\\] (?:[!=]== undefined|\\?\\?)`).exec(code)?.[0])
    .filter((found) => found !== undefined)
}

/** Comments, texts, loops and types ask for nothing. */
function withoutWords(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|>[^<>={}()]*</g, "''")
    .replaceAll(/for \(const \w+ in /g, '')
}
