/**
 * Splits declarations that the compiler wrote into statements, each with its docstring. A statement ends where its brackets balance:
 * after a semicolon, or after the closing brace of a class, an interface or a namespace. It works on the members of a class, too.
 */

export interface Statement {
  /** The comment before it, with its marks; or an empty string. */
  readonly docs: string
  /** With the docstrings of its members. */
  readonly text: string
}

/** Imports before it have no semicolon. */
const ENDS_WITH_BRACE =
  /^(?:import type \{[^}]*\} from '[^']*'\s*)*(?:\/\*\*[^]*?\*\/\s*)?(?:export )?(?:declare )?(?:abstract )?(?:class|interface|namespace|module|global|enum)\b/
/** A comment, a string, or any other character. */
const TOKENS = /\/\*[^]*?\*\/|\/\/.*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[^]/g

/** Throws if the last statement does not end. */
export function statementsOf(source: string): readonly Statement[] {
  const statements: Statement[] = []
  let [docs, text, depth] = ['', '', 0]
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    const isComment = token.startsWith('//') || token.startsWith('/*')
    if (text === '' && (isComment || token.trim() === '')) {
      if (token.startsWith('/**')) docs = token
      continue
    }
    if (token.startsWith('//')) continue
    text += token
    if ('([{'.includes(token)) depth++
    if (')]}'.includes(token)) depth--
    // The brace of a type parameter has more after it.
    const endsBody = token === '}' && /^(\n|$)/.test(source.slice(index + 1, index + 2)) && ENDS_WITH_BRACE.test(text)
    if (depth > 0 || !(token === ';' || endsBody)) continue
    statements.push({ docs, text })
    ;[docs, text] = ['', '']
  }
  if (text !== '') throw new Error(`a statement does not end: ${text}`)
  return statements
}

export function withoutDocs(text: string): string {
  return text.replaceAll(/^[ \t]*\/\*\*[^]*?\*\/\n/gm, '').replaceAll(/\/\*\*[^]*?\*\/ ?/g, '')
}

/** The statements between the outer braces of a class or an interface; an empty list for any other statement. */
export function membersOf({ text }: Statement): readonly Statement[] {
  if (!/^(?:export )?(?:declare )?(?:abstract )?(?:class|interface)\b/.test(text)) return []
  return statementsOf(text.slice(bodyAt(text) + 1, text.lastIndexOf('}')))
}

/** The first brace outside of other brackets, those of type parameters included. */
function bodyAt(text: string): number {
  let depth = 0
  let at = 0
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' && depth === 0) return at
    if ('([{<'.includes(token)) depth++
    if (')]}'.includes(token) || (token === '>' && text[at - 1] !== '=')) depth--
    at += token.length
  }
  throw new Error(`no body: ${text}`)
}

/** Members without a docstring. An overload, and one half of a pair of accessors, has its docstring once. */
export function undocumentedMembers(statement: Statement): readonly string[] {
  const documented = new Map<string, boolean>()
  for (const { docs, text } of membersOf(statement)) {
    const [, name = text] = /^(?:(?:static|readonly|abstract|protected|get|set) )*(\[.+?\]|[\w$]+)/.exec(text) ?? []
    if (name !== 'constructor') documented.set(name, docs !== '' || documented.get(name) === true)
  }
  return [...documented].flatMap(([name, hasDocs]) => (hasDocs ? [] : [name]))
}
