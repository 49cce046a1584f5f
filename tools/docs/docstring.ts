/** Reads a docstring: its text and its tags. */

export interface Docstring {
  readonly text: string
  readonly parameters: readonly (readonly [name: string, what: string])[]
  readonly failures: readonly string[]
  readonly examples: readonly string[]
}

/** @param docs With its marks; or an empty string. */
export function readDocstring(docs: string): Docstring {
  const bare = docs
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
  const [text = '', ...tags] = bare.split(/(?:^|\s)(?=@(?:param|throws|returns|example)\b)/)
  const of = (tag: string): string[] =>
    tags.filter((one) => one.startsWith(`@${tag}`)).map((one) => one.slice(tag.length + 1).trim())
  return {
    text: linked(text.trim()),
    parameters: of('param').map((one) => {
      const [name = '', ...words] = one.split(/\s/)
      return [name, linked(words.join(' '))]
    }),
    failures: of('throws').map(linked),
    examples: of('example'),
  }
}

/** Names of pages become links. */
function linked(text: string): string {
  return text.replaceAll(/\bdocs\/((?:internals|adr|guide)\/[\w-]+\.md)/g, '[$1](../$1)')
}
